// A charge is the right to one draw of one mechanism of a Plan, at the noise that the Plan accounted for.
// Only a Plan issues charges; it can be moved but not copied, and it is spent by the draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "privacy/events.h"

namespace dpboost {

// The noise of one mechanism, fixed when the Plan was calibrated.
struct MechanismNoise {
    static constexpr int kScaleFractionBits = 20;

    EventKind kind = EventKind::kGaussian;  // kGaussian, kLaplace or kExponential
    // Per dimension, in units of 2^-20 lattice steps, rounded up: the Gaussian's standard deviation, the
    // Laplace scale b, or the exponential mechanism's temperature (2 * sensitivity / epsilon).
    std::vector<uint64_t> scale_units;
    std::vector<std::size_t> max_sums;  // per dimension
};

class Charge {
  public:
    Charge(Charge&& other) noexcept = default;
    Charge& operator=(Charge&& other) noexcept = default;
    Charge(const Charge&) = delete;
    Charge& operator=(const Charge&) = delete;

    // Spends the charge and returns the scale of each dimension in units of 2^-20 steps; there is no other
    // way to learn it. `sums` says how many values are drawn in each dimension (of a selection: how many
    // candidates). Throws kInternal if the charge was spent before, moved from, is of another kind, or has
    // other dimensions or fewer sums. A failed attempt spends nothing. The reference is valid as long as the
    // charge.
    const std::vector<uint64_t>& Spend(EventKind kind, std::initializer_list<std::size_t> sums);

    bool spent() const noexcept { return noise_ == nullptr || spent_; }

  private:
    friend class Plan;
    explicit Charge(std::shared_ptr<const MechanismNoise> noise) : noise_(std::move(noise)) {}

    std::shared_ptr<const MechanismNoise> noise_;
    bool spent_ = false;
};

}  // namespace dpboost
