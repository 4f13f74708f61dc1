// What labels are to scores, for a target whose scores are logarithms (BasisRows::RatioSums).
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "dataset/dataset.h"
#include "learner/rows/additive/basis_rows.h"

namespace dpboost {

RawSums BasisRows::RatioSums(const ScoreLine& of_labels, const ScoreLine& of_scores, double reach) {
    ApplyAllPending();
    const int64_t step = static_cast<int64_t>(kClipSteps >> lattice_shift_) * kBasisOne;
    int64_t sum = 0, unit_sum = 0;
    const auto add = [&](size_t row) {
        const double ratio =
            portable::Exp(of_labels.At(dataset_.Label(row)) - of_scores.At(FromFixed(scores_[row])));
        const double centred = std::clamp(ratio / (reach / 2) - 1, -1.0, 1.0);
        unit_sum +=
            static_cast<int64_t>(centred * static_cast<double>(step)) * dataset_.Weight(row) / kFullWeight;
    };
    for (size_t unit = 0; unit < dataset_.units(); unit++) {
        if (!dataset_.has_units())
            add(unit);
        for (size_t k = dataset_.has_units() ? dataset_.unit_begin()[unit] : 1;
             dataset_.has_units() && k < dataset_.unit_begin()[unit + 1]; k++)
            add(dataset_.unit_rows()[k]);
        sum += std::clamp(unit_sum, -step, step);
        unit_sum = 0;
        if (unit % kBlockRows == 0)
            interrupt_.Poll();
    }
    return {{sum}, static_cast<double>(step)};
}

}  // namespace dpboost
