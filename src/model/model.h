// What training releases: public encodings, a base score, one additive table per feature and trees. A score
// is the integer sum of base, tables and leaves; the link turns it into a prediction. Its bytes are
// versioned, checksummed, independent of the machine, and of a length that does not depend on rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/feature.h"
#include "dataset/target.h"
#include "model/tree.h"

namespace dpboost {

enum class Link : uint8_t {
    kIdentity = 0,  // score in [-1, 1] -> the target's range, clamped ([0, 1] for binary)
    kLogistic = 1,  // score = log odds -> probability
    kLog = 2        // score = logarithm of the mean -> the mean, clamped to the target's range
};

// The prediction of a score: a finite value within the target's range, or a probability, whatever the score.
double Respond(Link link, const TargetSpec& target, int64_t score) noexcept;

class Model {
  public:
    // Throws Error(kInvalidParameter) without features or with more than kMaxFeatures.
    Model(std::vector<FeatureSpec> features, const TargetSpec& target, Link link);

    const std::vector<FeatureSpec>& features() const noexcept { return features_; }
    const TargetSpec& target() const noexcept { return target_; }
    Link link() const noexcept { return link_; }
    int32_t base() const noexcept { return base_; }
    const std::vector<Tree>& trees() const noexcept { return trees_; }
    // One entry per cell of the feature, or empty if nothing was added to it.
    const std::vector<int32_t>& table(size_t feature) const noexcept { return tables_[feature]; }

    // Sums saturate at the limits of int32 (a score of 2048), so they are exact for any sensible model.
    void AddToBase(int32_t value) noexcept;
    // values: one per cell of the feature, the missing cell last; added to what the table holds.
    void AddTable(size_t feature, const std::vector<int32_t>& values);
    // A tree whose splits all are on one feature is added to that feature's table instead (depth 0: the
    // base). Throws Error(kInternal) if the tree does not fit the features.
    void AddTree(Tree tree);

    // Plain computation: base + tables + leaves. For many rows use Predictor, which gives the same, faster.
    int64_t Score(const uint16_t* codes) const noexcept;
    double Predict(const uint16_t* codes) const noexcept { return Respond(Score(codes)); }
    double Respond(int64_t score) const noexcept { return dpboost::Respond(link_, target_, score); }

    std::string Serialize() const;
    // Throws Error(kCorrupted) unless the bytes are exactly what Serialize makes of some model, and
    // Error(kUnsupported) for a version of the format that this code does not know.
    static Model Parse(std::string_view bytes);

  private:
    void Collapse(const Tree& tree, size_t feature);

    std::vector<FeatureSpec> features_;
    TargetSpec target_;
    Link link_;
    int32_t base_ = 0;
    std::vector<std::vector<int32_t>> tables_;
    std::vector<Tree> trees_;
};

}  // namespace dpboost
