// Spends charges on selections.
#include "mechanism/selection.h"

#include "base/error.h"
#include "mechanism/exponential.h"

namespace dpboost {

static_assert(MechanismNoise::kScaleFractionBits == SelectionScale::kFractionBits, "one unit of scale");

std::size_t SelectPrivately(Charge&& charge, NoiseSource& noise, const int64_t* raw_utilities,
                            std::size_t count) {
    // Checked before spending, for every noise source alike.
    if (count == 0 || count > ExponentialSampler::kMaxCandidates)
        throw Error(ErrorCode::kInvalidParameter, "number of candidates must be between 1 and 4194304");
    const uint64_t units = charge.Spend(EventKind::kExponential, {count})[0];
    return noise.Select(SelectionScale::FromUnits(units), raw_utilities, count);
}

}  // namespace dpboost
