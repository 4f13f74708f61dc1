// Why a model says what it says, from the model alone: what each feature contributes to a row's score, how a feature's
// contribution runs over its cells and how far noise may have moved it, which features matter and which go together.
// Post-processing of what a training released and paid for: no row of the training, no charge.
//
// A contribution is relative to the reference (reference_masses.h): the base value is the score's mean under it. For
// tables a contribution is the entry minus the table's mean; for trees on several features it is the Shapley value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.h"
#include "model/explain/forest/forest_pairs.h"
#include "model/explain/part_grids.h"
#include "model/explain/reference_masses.h"
#include "model/explain/tree_groups.h"
#include "model/explain/tree_shapley.h"
#include "model/model.h"

namespace dpboost {

constexpr double kNotKnown =
    std::numeric_limits<double>::quiet_NaN();         // of figures that a model does not have
constexpr double kBandSds = 1.959963984540054;        // a band of 95 %: so many sds to both sides
constexpr double kMeanOfNormal = 0.7978845608028654;  // of its absolute value, in sds: sqrt(2 / pi)

// What a feature by itself does: the mean score of rows with the cell's value, minus the mean score. Bins or levels in
// order, missing last.
struct ShapeCell {
    uint32_t code = 0;
    std::string label;
    double lower = kNotKnown;  // of a numeric bin
    double upper = kNotKnown;
    double contribution = 0;
    double sd = kNotKnown;    // of the contribution, by noise alone
    double rows = kNotKnown;  // noisy number; unknown without released histograms
    bool enough_rows =
        true;  // the noisy count of the coarse cell is at least twice its sd: else little is known here
};

// A feature, or several that go together: then what is left once each feature's own contribution is taken away.
struct Importance {
    std::vector<size_t> features;
    double importance = 0;     // mean absolute contribution
    double share = 0;          // of the sum over all
    double noise = kNotKnown;  // what noise alone would give; below twice of it the importance may be noise
};

// The most important first.
void SortByImportance(std::vector<Importance>* importances);

// What features that go together do beyond their own contributions, in parts of neighbouring codes.
struct Interaction {
    std::vector<size_t> features;
    std::vector<std::vector<std::string>> parts;  // labels, per feature
    std::vector<double> contributions;            // by part of the first feature, then of the second, ...
    std::vector<double> rows;  // expected if features were independent; empty without a reference
};

// One per query: it owns scratch memory. The model and the interrupt must outlive it. Contributions are in the units of
// users: log odds, logarithms of means, log probabilities of classes; where the score is the target itself, the target's.
class Explainer {
  public:
    // for_all: whether Interactions will be asked for, which a forest then measures on the way.
    Explainer(const Model& model, Interrupt& interrupt, bool for_all = false);

    const Model& model() const noexcept { return model_; }
    const ReferenceMasses& masses() const noexcept { return masses_; }
    // Bytes held beside the model, about.
    size_t memory_used() const noexcept;
    // Whether trees combine more than three features, or very many groups of them.
    bool is_forest() const noexcept { return is_forest_; }
    // "noisy histograms" or "declared ranges".
    const char* reference_name() const noexcept;

    // A contribution of one unit of the score (2^-20) and what a score of 0 means, in users' units.
    double unit() const noexcept { return unit_; }
    double offset() const noexcept { return offset_; }
    double InUnits(int64_t score) const noexcept { return static_cast<double>(score) * unit_; }

    // One row, exactly, in units of the score: base_value(k) plus the contributions of all features to output k is the
    // row's score k. contributions and sds: [feature * outputs + output]; sds (in users' units, kNotKnown where the model
    // does not know) may be null.
    int64_t base_value(size_t output = 0) const noexcept { return base_values_[output]; }
    void Explain(const uint16_t* codes, int64_t* contributions, double* sds);

    std::vector<ShapeCell> Shape(size_t feature, size_t output = 0);
    // Every feature, and every group of features that trees combine; the most important first. In a forest what a
    // feature does in trees is counted with the feature, as the mean over rows drawn from the reference.
    std::vector<Importance> Importances(size_t output = 0);
    // The groups of Importances, or the strongest pairs of a forest; empty if the model adds up single features.
    std::vector<Interaction> Interactions(size_t output = 0);

  private:
    void MeasureTables();
    void MeasureGroups();
    bool KnowsNoise(size_t feature) const noexcept;
    static void CountRows(const Marginal& marginal, std::vector<ShapeCell>* cells);
    const std::vector<Importance>& ForestImportances(size_t output);
    // Calls add(feature, output, contribution in units of the score, sd) for rows one behind the other.
    template <typename Add>
    void AddRowByRow(const std::vector<uint16_t>& rows, const Add& add);
    template <typename Add>
    void AddManyRows(const std::vector<uint16_t>& rows, const Add& add);
    Importance FeatureImportance(size_t feature, size_t output);
    std::vector<Interaction> ForestInteractions(size_t output);
    // Of the features that matter most to any output, where there are many.
    std::vector<uint16_t> FeaturesOfPairs();
    void MeasureForest(bool with_pairs);
    void MakeParts(const std::vector<uint16_t>& features);
    // contributions in units of the score.
    Interaction MakeInteraction(const std::vector<size_t>& features,
                                const std::vector<const CodeParts*>& parts,
                                std::vector<double> contributions) const;
    const std::vector<Importance>& GroupImportances(size_t output);

    const Model& model_;
    Interrupt& interrupt_;
    const ReferenceMasses masses_;
    const size_t outputs_;
    double unit_;
    double offset_;
    std::vector<int64_t> table_means_;  // [feature * outputs + output]
    std::vector<int64_t> tree_means_;
    std::vector<int64_t> base_values_;
    std::unique_ptr<TreeShapley> trees_;  // null without trees
    bool knows_leaf_noise_ = true;
    bool is_forest_ = false;
    std::vector<bool> in_trees_;     // per feature
    std::vector<TreeGroup> groups_;  // one of all trees where they are a forest
    bool groups_measured_ = false;
    std::vector<std::vector<Importance>> forest_importances_;  // per output, once they were asked for
    std::vector<std::vector<Importance>> group_importances_;   // likewise, of groups of several features
    const std::vector<Importance> none_;
    std::vector<CodeParts> forest_parts_;                // per feature, once interactions were measured
    std::vector<std::vector<PairEffect>> forest_pairs_;  // per output, likewise
    std::vector<double> values_, variances_;             // scratch, as contributions
};

}  // namespace dpboost
