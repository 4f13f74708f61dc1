// Scores of an additive learner that goes on from a model.
#include <algorithm>

#include "base/error.h"
#include "dataset/dataset.h"
#include "learner/rows/additive/basis_rows.h"
#include "learner/rows/start_scores.h"

namespace dpboost {

void BasisRows::Blend(const Model& model, double weight, const std::vector<int32_t>& bases, double unit) {
    constexpr double kMost = kMostStart;
    constexpr size_t kRowsPerPoll = 512;
    CheckInternal(model.outputs() == outputs_ && bases.size() == outputs_, "the model has other outputs");
    ApplyAllPending();
    StartScores old(model, dataset_);
    for (size_t row = 0; row < dataset_.rows(); row++) {
        if (row % kRowsPerPoll == 0)
            interrupt_.Poll();
        const int32_t* const start = old.Of(row);
        for (size_t k = 0; k < outputs_; k++) {
            int32_t& score = scores_[row * outputs_ + k];
            const double before = (static_cast<double>(start[k]) - model.base(k)) / unit;
            const double after = static_cast<double>(score) - bases[k];
            score = bases[k] +
                    static_cast<int32_t>((1 - weight) * after + weight * std::clamp(before, -kMost, kMost));
        }
    }
}

void BasisRows::Restart(const std::vector<int32_t>& bases) {
    for (size_t i = 0; i < scores_.size(); i++)
        scores_[i] = bases[i % outputs_];
    ForgetPending();
}

}  // namespace dpboost
