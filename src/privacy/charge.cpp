// Spending a charge: every check that a draw is the one that was planned.
#include "privacy/charge.h"

#include "base/error.h"

namespace dpboost {

const std::vector<uint64_t>& Charge::Spend(EventKind kind, std::initializer_list<std::size_t> sums) {
    CheckInternal(noise_ != nullptr && !spent_, "a privacy charge can be spent only once");
    CheckInternal(noise_->kind == kind, "a privacy charge was issued for another mechanism");
    CheckInternal(noise_->scale_units.size() == sums.size(), "a privacy charge has other dimensions");
    std::size_t dimension = 0;
    for (std::size_t count : sums)
        CheckInternal(count <= noise_->max_sums[dimension++], "a privacy charge covers fewer sums");
    spent_ = true;
    return noise_->scale_units;
}

}  // namespace dpboost
