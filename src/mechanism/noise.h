// The noise of every release: a NoiseSource adds exactly distributed integers to sums on a lattice and
// chooses among candidates. Only the releaser (and the functions of noisy_sum.h) can draw from it, against a
// Charge of the Plan. ExactNoise is the only implementation in src/ that makes noise; parties/shared_noise.h adds it up
// over servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mechanism/random.h"

namespace dpboost {

// A positive scale in lattice steps, a multiple of 2^-20 up to 2^40. The tag keeps a standard deviation, a
// Laplace scale and a selection's temperature from being taken for each other.
template <typename Tag>
class NoiseScale {
  public:
    static constexpr int kFractionBits = 20;
    static constexpr uint64_t kMaxUnits = uint64_t{1} << 60;

    // The smallest scale >= steps: rounding adds noise, never takes any away. This is the only place where a
    // floating-point number meets the noise path; it runs once per mechanism, on public figures. Throws
    // kInvalidParameter for zero, negative, NaN, infinite, or above 2^40.
    static NoiseScale FromSteps(double steps);
    // units * 2^-20 steps.
    static NoiseScale FromUnits(uint64_t units);

    uint64_t units() const noexcept { return units_; }
    double steps() const noexcept { return static_cast<double>(units_) / (uint64_t{1} << kFractionBits); }

  private:
    explicit NoiseScale(uint64_t units) : units_(units) {}
    uint64_t units_;
};

// Standard deviation of the Gaussian before it is rounded to the lattice.
using GaussianScale = NoiseScale<struct GaussianTag>;
// b of the Laplace density exp(-|x| / b) / 2b before it is rounded to the lattice.
using LaplaceScale = NoiseScale<struct LaplaceTag>;
// T in P(i) proportional to exp(u_i / T); 2 * sensitivity / epsilon for the exponential mechanism.
using SelectionScale = NoiseScale<struct SelectionTag>;

extern template class NoiseScale<GaussianTag>;
extern template class NoiseScale<LaplaceTag>;
extern template class NoiseScale<SelectionTag>;

class Charge;

// A block of sums of one dimension (all leaves' gradient sums, all cells of a feature's histogram, ...).
struct SumBlock {
    int64_t* values;
    std::size_t count;
};

// And its standard deviation.
struct GaussianBlock {
    GaussianScale sigma;
    SumBlock sums;
};

class NoiseSource {
  public:
    virtual ~NoiseSource() = default;

  private:
    friend class Releaser;
    friend class SharedNoise;  // parties/shared_noise.h: of its own party's source
    friend void AddGaussianNoise(Charge&&, NoiseSource&, SumBlock);
    friend void AddGaussianNoise(Charge&&, NoiseSource&, SumBlock, SumBlock);
    friend void AddLaplaceNoise(Charge&&, NoiseSource&, SumBlock);

    // values[i] += round(N(0, sigma^2)), independent; saturates at the ends of int64, which is
    // post-processing.
    virtual void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) = 0;
    // Blocks of one event, or of several that do not wait for each other: servers that train together exchange them at once.
    virtual void AddGaussianBlocks(const std::vector<GaussianBlock>& blocks) {
        for (const GaussianBlock& block : blocks)
            AddGaussian(block.sigma, block.sums.values, block.sums.count);
    }
    // values[i] += round(Laplace(b)), independent; saturates likewise.
    virtual void AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) = 0;
    // An index i < n with probability proportional to exp(utilities[i] / temperature). n > 0.
    virtual std::size_t Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) = 0;
};

// Exact noise from random bits (gaussian.h, laplace.h, exponential.h have the samplers and their proofs).
class ExactNoise final : public NoiseSource {
  public:
    explicit ExactNoise(Random& random) : random_(random) {}

  private:
    void AddGaussian(GaussianScale sigma, int64_t* values, std::size_t n) override;
    void AddLaplace(LaplaceScale b, int64_t* values, std::size_t n) override;
    std::size_t Select(SelectionScale temperature, const int64_t* utilities, std::size_t n) override;

    Random& random_;
    std::vector<uint64_t> bars_;
};

}  // namespace dpboost
