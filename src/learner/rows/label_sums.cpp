#include "learner/rows/label_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "learner/objective/objective.h"
#include "learner/rows/clip_norm.h"

namespace dpboost {
namespace {

// A label in steps of its clip bound, centred.
int32_t LabelSteps(float label, Task task, bool counts, double label_clip) {
    const double centred = counts                  ? (1.0 + label) / 2
                           : task == Task::kBinary ? 2.0 * label - 1.0
                                                   : label / label_clip;
    return static_cast<int32_t>(std::nearbyint(std::clamp(centred, -1.0, 1.0) * kClipSteps));
}

}  // namespace

LeafWeights LabelWeights() {
    // The error of the mean is least at |mean| / clip to 1, and means are mostly below half the clip bound.
    return LeafWeights(0.25);
}

RawGradientSums LabelSums(const Dataset& dataset, bool counts, double label_clip, Interrupt& interrupt) {
    LeafSums sums(1);
    const Task task = dataset.target().task();
    if (!dataset.has_units()) {
        for (size_t block = 0; block < dataset.blocks(); block++) {
            const float* labels = dataset.Labels(block);
            int64_t raw_sum = 0;
            for (size_t i = 0; i < dataset.block_rows(block); i++)
                raw_sum += LabelSteps(labels[i], task, counts, label_clip);
            sums.AddOne(0, raw_sum, static_cast<int64_t>(dataset.block_rows(block)) * kClipSteps);
            interrupt.Poll();
        }
        return sums.Raw();
    }
    UnitSum unit_sum(1, LabelWeights());
    for (size_t unit = 0; unit < dataset.units(); unit++) {
        for (uint32_t k = dataset.unit_begin()[unit]; k < dataset.unit_begin()[unit + 1]; k++) {
            unit_sum.AddRow(0, LabelSteps(dataset.Label(dataset.unit_rows()[k]), task, counts, label_clip),
                            kClipSteps);
            if (k % kBlockRows == 0)
                interrupt.Poll();
        }
        unit_sum.Clip(0);
        unit_sum.AddTo(&sums);
        unit_sum.Clear();
    }
    return sums.Raw();
}

RawSums ClassCounts(const Dataset& dataset, Interrupt& interrupt) {
    constexpr double kLimit = static_cast<double>(kClipSteps) * kClipSteps;
    std::vector<int64_t> sums(dataset.target().classes().size()), unit_sums(sums.size());
    for (size_t row = 0; !dataset.has_units() && row < dataset.rows(); row++) {
        sums[static_cast<size_t>(dataset.Label(row))] += kClipSteps;
        if (row % kBlockRows == 0)
            interrupt.Poll();
    }
    for (size_t unit = 0; dataset.has_units() && unit < dataset.units(); unit++) {
        std::fill(unit_sums.begin(), unit_sums.end(), 0);
        for (uint32_t k = dataset.unit_begin()[unit]; k < dataset.unit_begin()[unit + 1]; k++) {
            unit_sums[static_cast<size_t>(dataset.Label(dataset.unit_rows()[k]))] += kClipSteps;
            if (k % kBlockRows == 0)
                interrupt.Poll();
        }
        AddWithin(kLimit, unit_sums, sums);
    }
    return {std::move(sums), kClipSteps};
}

}  // namespace dpboost
