// The hinge loss max(0, 1 - sign score) of a binary target with the signs -1 and 1: its gradient is the sign where the
// margin is below 1, else 0. It has no probabilities; the model takes the logistic function of twice the margin.
#include <algorithm>

#include "base/error.h"
#include "learner/objective/losses.h"

namespace dpboost {
namespace {

class Hinge final : public Objective {
  public:
    using Objective::Objective;

    Link link() const override { return Link::kLogistic; }
    double link_scale() const override { return 2; }
    void Centre(const float* labels, size_t n, float* centred) const override {
        std::transform(labels, labels + n, centred, [](float label) { return 2 * label - 1; });
    }
    double StartScore(const MeanLabel& mean) const override { return mean.value; }
    double Correction(const MeanLabel&, double error) const override { return error; }

  private:
    void EvaluatePortable(Rows rows) const override {
        constexpr int32_t kOne = 1 << kFixedBits;
        for (size_t i = 0; i < rows.n; i++) {
            const bool positive = rows.labels[i] > 0.5F;
            const int32_t up = rows.scores[i] < kOne ? kClipSteps : 0;
            const int32_t down = rows.scores[i] > -kOne ? -kClipSteps : 0;
            rows.gradients[i] = positive ? up : down;
            rows.hessians[i] = kClipSteps;
        }
    }
};

}  // namespace

std::unique_ptr<const Objective> MakeHinge(double gradient_clip, double hessian_clip) {
    CheckInternal(gradient_clip == 1, "the gradient of the hinge loss is within -1 and 1");
    return std::make_unique<Hinge>(gradient_clip, hessian_clip);
}

}  // namespace dpboost
