// What training releases: public encodings, a base score, one additive table per feature and trees; and beside them
// what it released on the way (Evidence). A score is the integer sum of base, tables and leaves; the link turns it into a
// prediction. A model of several classes has a score for each. Its bytes are versioned, checksummed, independent of the
// machine, and of a length that does not depend on rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "dataset/feature.h"
#include "dataset/target.h"
#include "model/reference.h"
#include "model/tree.h"

namespace dpboost {

enum class Link : uint8_t {
    kIdentity = 0,  // score in [-1, 1] -> the target's range, clamped ([0, 1] for binary)
    kLogistic = 1,  // score = log odds -> probability
    kLog =
        2,  // score = logarithm of the mean -> the mean, clamped to the target's range; of a logarithmic target the
            // logarithm of 1 + mean - lower
    kSoftmax = 3  // a score per class of the target -> a probability per class
};

// What was minimised, where the link does not say it.
enum class LossKind : uint8_t { kOfLink = 0, kHuber = 1, kQuantile = 2 };

constexpr size_t kMaxParameters = 8;

struct LossNote {
    LossKind kind = LossKind::kOfLink;
    std::vector<double> parameters;  // of the loss and of the link, in an order of their own; finite
};

// What the exponential function of a score of Link::kLog is above the prediction.
inline double LogOffset(const TargetSpec& target) noexcept {
    return target.logarithmic() ? target.lower() - 1 : 0;
}

// The prediction of a model's one score: a finite value within the target's range, or a probability, whatever the score.
double Respond(Link link, const TargetSpec& target, int64_t score) noexcept;
// The probabilities of the classes: each in [0, 1], finite, whatever the scores.
void Softmax(const int64_t* scores, size_t classes, double* probabilities) noexcept;

class Model {
  public:
    // Throws Error(kInvalidParameter) without features or with more than kMaxFeatures. Softmax is for classes, and
    // classes for softmax.
    Model(std::vector<FeatureSpec> features, const TargetSpec& target, Link link);

    const std::vector<FeatureSpec>& features() const noexcept { return features_; }
    const TargetSpec& target() const noexcept { return target_; }
    Link link() const noexcept { return link_; }
    // K, the scores of a row: 1, or one per class. Where K > 1, values of tables and leaves for the K outputs stand side
    // by side.
    size_t outputs() const noexcept { return bases_.size(); }
    int32_t base(size_t output = 0) const noexcept { return bases_[output]; }
    const std::vector<Tree>& trees() const noexcept { return trees_; }
    // K entries per cell of the feature, or empty if nothing was added to it.
    const std::vector<int32_t>& table(size_t feature) const noexcept { return tables_[feature]; }

    // Sums saturate at the limits of int32 (a score of 2048), so they are exact for any sensible model.
    void AddToBase(int32_t value) noexcept { AddToBase(0, value); }
    void AddToBase(size_t output, int32_t value) noexcept;
    // values: K per cell of the feature, the missing cell last; added to what the table holds.
    void AddTable(size_t feature, const std::vector<int32_t>& values);
    // A tree whose splits all are on one feature is added to that feature's table instead (depth 0: the
    // base). Throws Error(kInternal) if the tree does not fit the features and outputs.
    void AddTree(Tree tree);

    // What else was released or is public. The setters throw Error(kInternal) for what does not fit the model.
    const LossNote& loss() const noexcept { return loss_; }
    void SetLoss(LossNote loss);
    const Evidence& evidence() const noexcept { return evidence_; }
    void SetEvidence(Evidence evidence);

    // Plain computation: base + tables + leaves. For many rows use Predictor, which gives the same, faster.
    int64_t Score(const uint16_t* codes, size_t output = 0) const noexcept;
    void Scores(const uint16_t* codes, int64_t* scores) const noexcept;  // all K
    // Of a model with one output.
    double Predict(const uint16_t* codes) const noexcept { return Respond(Score(codes)); }
    double Respond(int64_t score) const noexcept { return dpboost::Respond(link_, target_, score); }

    std::string Serialize() const;
    // Throws Error(kCorrupted) unless the bytes are exactly what Serialize makes of some model, or made of one in format
    // 1, and Error(kUnsupported) for a version of the format that this code does not know.
    static Model Parse(std::string_view bytes, Interrupt* interrupt = nullptr);

  private:
    void Collapse(const Tree& tree, size_t feature);

    std::vector<FeatureSpec> features_;
    TargetSpec target_;
    Link link_;
    LossNote loss_;
    std::vector<int32_t> bases_;
    std::vector<std::vector<int32_t>> tables_;
    std::vector<Tree> trees_;
    Evidence evidence_;
};

}  // namespace dpboost
