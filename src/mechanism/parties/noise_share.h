// How k servers share the noise of one draw. Each adds the same part of it, so that the noise of any k - t of them is
// enough: t servers may tell their share, or leave it out, and what the others added still hides every person.
//
// k parties, at most t of them collude, h = k - t are honest. A draw of standard deviation sigma (lattice steps) that a
// Plan accounts for becomes k draws of standard deviation s >= sigma / sqrt(h), each rounded to the lattice by its party.
//
// Theorem (sums of rounded Gaussian shares). N_1 .. N_h independent N(0, s^2), N their sum, X an integer that does not
// depend on them, S = X + sum round(N_i), where round(x) = floor(x + 1/2). There is a randomised map G that does not depend
// on X such that for every event A
//     (1 - theta) P[G(X + N) in A] <= P[S in A] <= (1 + theta) P[G(X + N) in A],
//     theta = sum over m in Z^(h-1), m != 0, of exp(-2 pi^2 s^2 (|m|^2 - (sum m)^2 / h)).
// Proof. r(x) = x - round(x) has period 1. Let U_i = N_i mod 1 for i < h. N_h = N - sum_{i<h} N_i, which is
// N - sum_{i<h} U_i up to an integer, so sum round(N_i) = N - sum_{i<h} r(U_i) - r(N - sum_{i<h} U_i); and since X is an
// integer, S = g(X + N, U) with g(y, u) = y - sum r(u_i) - r(y - sum u_i). Given N = n, (N_1 .. N_{h-1}) is Gaussian with mean
// n/h in each entry and covariance s^2 (I - J/h), J all ones, whatever n is. Its density wrapped to the torus is the Fourier
// series 1 + sum_{m != 0} exp(-2 pi^2 s^2 (|m|^2 - (sum m)^2 / h)) cos(2 pi m (u - mean)), within 1 +- theta of the uniform
// density, for every n. Let G(y) = g(y, V) with V uniform and independent: S given N has a density ratio to G(X + N) given N
// within 1 +- theta, hence also after averaging over N. []
//
// Used as follows. A vector of D sums has independent shares in each entry, so the factor is (1 +- theta)^D; over rounds
// that an adversary chooses one after the other, the likelihood of every transcript is the product of those of its
// rounds, so D counts all sums of the training. What remains, G(X + N), is post-processing of the continuous Gaussian
// mechanism with N(0, h s^2), h s^2 >= sigma^2, on the honest parties' sum: all that the accountant proves of it (Renyi
// curves, privacy loss distributions, Gaussian DP, sampling, filters, pools, adaptive composition) holds with
// epsilon + D log((1 + theta) / (1 - theta)) and (1 + theta)^D delta. For h = 1 theta is 0.
//
// Condition, kept by ShareOf: sigma >= 32 h steps. I - J/h has the eigenvalues 1 and 1/h, so theta is at most the sum over
// m != 0 of q^(|m|^2), q = exp(-2 pi^2 s^2 / h) <= exp(-2 pi^2 (sigma / h)^2) <= exp(-20212), and thus at most
// (1 + 2.1 q)^(h-1) - 1 < 10^-8000 for any h below a million: nothing beside the accountant's own 1e-12. Without it the claim
// is false (s = 0.25, h = 4: delta up to 1.36 times the Gaussian's; the unit test has it). A draw with less noise than that
// (counts, whose lattice has one step per person) goes to a finer lattice: X 2^j with noise sigma 2^j, and the noisy total is
// rounded back, which is post-processing.
//
// A person at several parties: each party's sums change by at most C, so the total by at most m C if a person has rows at
// up to m of them. Drawing m times the noise makes that the event that was accounted for, with sampling rate 1. With a
// smaller rate the parties' coins are independent, for which there is no proof: refused (CheckSharedPlan).
#pragma once

#include <cstdint>

#include "mechanism/noise.h"
#include "privacy/plan.h"

namespace dpboost {

// Who shares the noise of a training; the same at all parties.
struct NoiseParties {
    static constexpr uint32_t kMost = 200;

    uint32_t parties = 1;    // k
    uint32_t colluding = 0;  // t < k: how many may work together against the others' persons
    uint32_t per_unit = 1;   // m <= k: at how many parties one person may have rows

    uint32_t honest() const { return parties - colluding; }
    // The total noise of k shares in standard deviations that the Plan accounts for: m sqrt(k / h).
    double Factor() const;

    // Throws kInvalidParameter outside 0 < k <= 200, t < k, 0 < m <= k.
    void Check() const;
};

// One party's part of a draw, on a lattice that is finer by 2^finer.
struct NoiseShare {
    GaussianScale scale;
    int finer;
};

// Rounded up in integers: scale^2 h >= (m sigma 2^finer)^2, and m sigma 2^finer >= 32 h steps. Throws kInvalidParameter for
// a scale that cannot be drawn.
NoiseShare ShareOf(GaussianScale sigma, const NoiseParties& parties);

// value 2^finer, and the nearest to value 2^-finer; both modulo 2^64.
inline uint64_t ToFiner(uint64_t value, int finer) {
    return value << finer;
}
inline int64_t FromFiner(uint64_t value, int finer) {
    if (finer == 0)
        return static_cast<int64_t>(value);
    return static_cast<int64_t>(value + (uint64_t{1} << (finer - 1))) >> finer;
}

// Throws kUnsupported for a plan that parties cannot share: other noise than Gaussian, and persons at several parties
// with sampling or under a filter.
void CheckSharedPlan(const Plan& plan, const NoiseParties& parties);

}  // namespace dpboost
