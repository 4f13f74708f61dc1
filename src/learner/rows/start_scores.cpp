#include "learner/rows/start_scores.h"

#include <algorithm>

#include "base/error.h"

namespace dpboost {

StartScores::StartScores(const Model& model, const Dataset& rows)
    : rows_(rows),
      predictor_(model),
      codes_(rows.columns()),
      exact_(model.outputs()),
      scores_(model.outputs()) {
    CheckInternal(rows.features() == model.features(), "the rows are of another model");
}

const int32_t* StartScores::Of(size_t row) {
    rows_.CopyRow(row, codes_.data());
    predictor_.Scores(codes_.data(), exact_.data());
    for (size_t output = 0; output < exact_.size(); output++)
        scores_[output] = static_cast<int32_t>(std::clamp<int64_t>(exact_[output], -kMostStart, kMostStart));
    return scores_.data();
}

}  // namespace dpboost
