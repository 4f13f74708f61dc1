// Intervals around predictions of a number, from the noisy histogram of what the final model left over. Post-processing of
// released figures: the histogram is smoothed as far as its noise asks for, and intervals are made wider by what noise may
// have hidden of the tails.
#pragma once

#include <cstdint>
#include <vector>

#include "model/model.h"

namespace dpboost {

// What a model's score predicts on the label's scale.
double PredictedLabel(const Model& model, int64_t score) noexcept;

class Intervals {
  public:
    struct Ends {
        double lower;
        double upper;
    };

    // The model must hold residuals (model.evidence()).
    explicit Intervals(const Model& model);

    // Where the target of a row with this score lies with probability `level`, 0 < level < 1; within the target's range.
    Ends Around(int64_t score, double level) const;

  private:
    // What is left over, on the label's scale, below which `part` of the rows lie; `part` below 1/2 is a tail.
    double Quantile(double part) const;

    const TargetSpec target_;
    const Link link_;
    double lower_, width_;       // of the bins
    std::vector<double> below_;  // part of the rows up to the end of each bin, ascending to 1
    double slack_;               // part of the rows that noise may have hidden of a tail
};

}  // namespace dpboost
