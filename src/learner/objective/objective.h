// A loss and all that follows from it: what a score and a label mean, gradients and Hessians within their bounds, where
// to start, and the link of the model. One file per loss; a new one is its file, a kind here and a line in the factory.
//
// Gradients and Hessians are clipped and rounded to the lattice row by row, before any sum ([SBDT] Alg 5 lines 2 and 4).
// A clip bound is exactly kClipSteps lattice steps, so a row's contribution is an integer vector whose bound is exact
// whatever floating point did before the rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/simd.h"
#include "dataset/target.h"
#include "model/model.h"

namespace dpboost {

constexpr int kClipBits = 16;
constexpr int32_t kClipSteps = int32_t{1} << kClipBits;

enum class ObjectiveKind {
    kSquared,   // (label - score)^2 / 2, labels as they are
    kLogistic,  // of a binary target; the score is the log odds
    kPoisson,   // of counts; the score is the logarithm of the mean
    kHinge,     // of a binary target with the signs -1 and 1
    kSigns,     // the squared loss of these signs
    kSoftmax,   // of classes; a score for each
    kHuber,     // of labels as they are: squared, but linear beyond the clip
    kQuantile   // of labels as they are; the score is a quantile
};

// What the target calls for where nothing else is asked for.
inline ObjectiveKind DefaultObjective(Task task) {
    if (task == Task::kClasses)
        return ObjectiveKind::kSoftmax;
    return task == Task::kBinary ? ObjectiveKind::kLogistic : ObjectiveKind::kSquared;
}

// A released mean of centred labels.
struct MeanLabel {
    double value = 0;  // in [-1, 1]
    double edge = 0;   // probabilities are taken to be at least so far from 0 and 1
    double sigma = 0;  // the standard deviation of its noise
};

// Scores are fixed-point numbers of 2^-20 (model/tree.h), so sums of leaf values are exact in any order. Signs as in the
// paper: the gradient points to where the score should go.
class Objective {
  public:
    Objective(double gradient_clip, double hessian_clip)
        : gradient_scale_(static_cast<float>(kClipSteps / gradient_clip)),
          hessian_scale_(static_cast<float>(kClipSteps / hessian_clip)) {}
    virtual ~Objective() = default;
    Objective(const Objective&) = delete;
    Objective& operator=(const Objective&) = delete;

    // K, the scores of a row: those of row i and its gradients are entries K i to K i + K - 1. It has one Hessian.
    virtual size_t outputs() const { return 1; }
    virtual Link link() const = 0;
    // What scores are multiplied by before the link.
    virtual double link_scale() const { return 1; }
    // A bound of the loss's second derivative, or what it is about.
    virtual double curvature() const { return 1; }
    // What clips of gradients are multiples of: how far gradients scatter, where that is known.
    virtual double spread() const { return 1; }
    // Gradients beyond this need not be counted in full, even where sums are to be right on average.
    virtual double reach() const { return 1; }

    // Labels as means are taken of them: within [-1, 1], a small mean of which is small.
    virtual void Centre(const float* labels, size_t n, float* centred) const = 0;
    // The constant score with this mean label; finite.
    virtual double StartScore(const MeanLabel& mean) const = 0;
    // How far a constant score must move to take a mean gradient of `error` away, where the mean label is `mean`.
    virtual double Correction(const MeanLabel& mean, double error) const = 0;

    // Writes the gradients, clipped to +-gradient_clip, and the Hessians, clipped to [0, hessian_clip], of n rows, each in
    // units of its clip / kClipSteps: |gradients| <= kClipSteps and 0 <= hessians <= kClipSteps, whatever the rows. With
    // several scores the gradients of a row are a vector that is clipped to gradient_clip: |q| <= kClipSteps. Both forms give the same bits; the arrays may be unaligned.
    void Evaluate(Simd simd, const int32_t* scores, const float* labels, size_t n, int32_t* gradients,
                  int32_t* hessians) const;
    // The same gradients, for who has no use for Hessians: what is in `hessians` then is nobody's business.
    void EvaluateGradients(Simd simd, const int32_t* scores, const float* labels, size_t n,
                           int32_t* gradients, int32_t* hessians) const;

  protected:
    struct Rows {
        const int32_t* scores;
        const float* labels;
        size_t n;
        int32_t* gradients;
        int32_t* hessians;
    };

    // Rows by value: what a vector writes could alias anything that is referred to, which would be read anew each time.
    virtual void EvaluatePortable(Rows rows) const = 0;
    // Does as many of the first rows as its vectors hold and returns how many; needs AVX2.
    virtual size_t EvaluateAvx2(Rows) const { return 0; }
    // The same of gradients alone, and needs AVX-512.
    virtual size_t GradientsAvx512(Rows) const { return 0; }

    const float gradient_scale_;  // lattice steps per unit of the gradient
    const float hessian_scale_;
};

// The target must fit the kind (CheckObjective); the squared loss also takes the labels 0 and 1 as they are. `start`: the
// score that rows start with, for losses whose gradients are multiples of what they start with. `quantile`: of kQuantile.
std::unique_ptr<const Objective> MakeObjective(ObjectiveKind kind, const TargetSpec& target,
                                               double gradient_clip, double hessian_clip, int32_t start = 0,
                                               double quantile = 0.5);

// The option "objective" of methods that know these: words for the first kinds.
constexpr const char* kObjectiveWords[] = {"squared", "logistic", "poisson"};
constexpr char kObjectiveHelp[] =
    "what is minimised; \"poisson\" is for counts, the others follow from the target";

// Labels are multiples of 2^-20 over half the target's range: up to here a count is off by a quarter at most.
constexpr double kMaxCount = 1e6;

// Throws Error(kInvalidParameter) for an "objective" that does not fit the target.
void CheckObjective(ObjectiveKind kind, const TargetSpec& target);

}  // namespace dpboost
