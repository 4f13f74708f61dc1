// What scores a model gives to rows nobody has: codes drawn from public distributions of its features, each feature by
// itself, and the model's score of them. Where score bins lie is decided by these, never by rows. They are the same
// whenever and wherever a model is asked: drawn with a key that is no secret, every feature in exact proportions (a Latin
// hypercube, [MBC79]), so that fewer of them say as much as many independent ones.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "model/model.h"

namespace dpboost {

class ReferenceDraws {
  public:
    static constexpr size_t kDraws = 8192;

    ReferenceDraws(const Model& model, Interrupt& interrupt);

    // Ascending, kDraws of them.
    const std::vector<int64_t>& scores() const { return scores_; }
    // What the model predicts at each of them.
    const std::vector<double>& predictions() const { return predictions_; }
    // Below which this part of the scores lies, where positive and negative rows, as the model expects them, are equally
    // many: bins are needed where either class is.
    int64_t Quantile(double part) const;
    // The mean prediction.
    double mean() const { return mean_; }
    // How many rows the model was trained on, noisy as it was released; 0: nobody knows.
    double rows() const { return rows_; }

  private:
    std::vector<int64_t> scores_;
    std::vector<double> predictions_;
    std::vector<double> shares_;  // cumulated: of the balanced classes up to each score
    double mean_ = 0;
    double rows_ = 0;
};

}  // namespace dpboost
