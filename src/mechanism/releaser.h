// The one door for noise. Raw sums go in, noisy sums come out, against a charge of the Plan; there is no other way to
// read a raw sum and no other way to draw noise. Learners hold a Releaser and nothing that could replace it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mechanism/noise.h"
#include "privacy/plan.h"

namespace dpboost {

// Integer sums over units, exact, on their way to the releaser. Made where rows are read; it can be moved but neither
// copied nor looked into.
//
// `sensitivity`: add or remove one unit, and the vector of sums changes by at most so many lattice steps: in L2 norm for
// a Gaussian, in L1 norm for Laplace, in each entry for a selection. Whoever makes the sums has made that true by
// clipping and rounding, and the releaser refuses sums that may change by more than their charge accounts for. In a
// release of two dimensions the weighted squares of both changes add up to at most one (Dimension in privacy/plan.h).
class RawSums {
  public:
    RawSums(std::vector<int64_t> values, double sensitivity)
        : values_(std::move(values)), sensitivity_(sensitivity) {}
    RawSums(RawSums&&) noexcept = default;
    RawSums& operator=(RawSums&&) noexcept = default;
    RawSums(const RawSums&) = delete;
    RawSums& operator=(const RawSums&) = delete;

  private:
    friend class Releaser;
    std::vector<int64_t> values_;
    double sensitivity_;
};

// Who can say that sums are over units that no other draw of a training sees: those that hold the rows aside.
class AsideKey {
    friend class HeldOut;  // learner/evaluation/held_out.h
    AsideKey() {}
};

// Raw sums over such units, for the draw aside of a plan and for nothing else.
class AsideSums {
  public:
    AsideSums(AsideKey, RawSums&& sums) : sums_(std::move(sums)) {}

  private:
    friend class Releaser;
    RawSums sums_;
};

// What was released: sums with noise of this standard deviation (of Laplace: its scale b), all in lattice steps.
struct NoisySums {
    std::vector<int64_t> values;
    double sigma = 0;
};

// Two dimensions of one event.
struct RawPair {
    RawSums first;
    RawSums second;
};
struct NoisyPair {
    NoisySums first;
    NoisySums second;
};

class Releaser {
  public:
    // Both must outlive the releaser.
    Releaser(Plan& plan, NoiseSource& noise) : plan_(plan), noise_(noise) {}

    // Public facts about what may be drawn.
    const Plan& plan() const { return plan_; }
    MechanismId Find(const std::string& name) const { return plan_.Find(name); }

    // Each spends the next charge of the mechanism and adds its noise, of the kind that the Plan says. Neighbours: add
    // or remove one unit. Charge: one event of the plan, the rounded continuous noise being post-processing
    // (gaussian.h, laplace.h). The number of sums must not depend on rows. Throw kInternal, and release nothing, if no
    // charge is left, or if it has another number of dimensions, fewer sums or a smaller sensitivity.
    NoisySums Release(MechanismId id, RawSums&& sums);
    // Two dimensions with a standard deviation each, e.g. Hessian and gradient sums of the same leaves: one event, by
    // the weights of the mechanism's dimensions ([SBDT] Thm 16).
    NoisyPair Release(MechanismId id, RawSums&& first, RawSums&& second);
    // Several of these events, none of which waits for another's result: a charge each, drawn one after the other as by
    // Release, but by servers that train together in one exchange. Composition is adaptive, so it holds for questions
    // that were fixed beforehand.
    std::vector<NoisyPair> ReleaseAll(MechanismId id, std::vector<RawPair>&& pairs);

    // Spends the charge of the draw aside (Plan::Calibrate). Neighbours: add or remove one unit; each unit is in these
    // sums or in those of the other draws, never in both, which their type says.
    NoisySums Release(MechanismId id, AsideSums&& sums);

    // Spends `fraction` of a pool (privacy/pool.h) on sums of their own sensitivity; all that is left if the fraction is
    // beyond that, and at least so much that samplers have its noise: to refuse a draw would tell about earlier ones.
    NoisySums ReleasePart(MechanismId id, double fraction, RawSums&& sums);

    // Chooses i with probability proportional to exp(utilities[i] / T), T = 2 sensitivity / epsilon: epsilon-DP and of
    // epsilon-bounded range ([DPXGB] Thm 1).
    std::size_t Select(MechanismId id, RawSums&& utilities);

  private:
    void CheckSensitivity(MechanismId id, std::size_t dimension, const RawSums& sums) const;
    NoisySums AddNoise(MechanismId id, Charge&& charge, RawSums&& sums);

    Plan& plan_;
    NoiseSource& noise_;
};

}  // namespace dpboost
