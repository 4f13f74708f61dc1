#include "learner/pure/pure_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/objective/objective.h"
#include "learner/pure/growth.h"
#include "learner/pure/leaf.h"
#include "learner/pure/subsets.h"

namespace dpboost {

const MethodPreset kPurePresets[] = {
    {"pure_trees", "exponential mechanism, Laplace leaf values, gradient filter, geometric clips and subsets",
     "[DPBOOST] (DPBoost)", "delta must be 0 and epsilon is large"},
    {"pure_sums", "exponential mechanism, Laplace leaf sums, gradient filter, geometric subsets",
     "[DPBOOST], with noisy sums in place of noisy values", "delta must be 0; more accurate than dpboost"},
    {"pure_seq", "exponential mechanism, Laplace leaf values, gradient filter, all rows for every tree",
     "[DPBOOST] 4 (SEQ)", "comparison with sequential composition"},
    {"pure_para", "exponential mechanism, Laplace leaf values, gradient filter, halving subsets",
     "[DPBOOST] 4 (PARA)", "comparison with parallel composition"},
};
const std::size_t kPurePresetCount = sizeof(kPurePresets) / sizeof(kPurePresets[0]);

std::size_t PureBytesPerRow(const PureOptions&) {
    // Score, gradient, the row's place in a subset, in the tree's rows with its value, and scratch.
    return sizeof(int32_t) * 2 + sizeof(uint32_t) * 3 + sizeof(RowValue);
}

GradientFilter::GradientFilter(double bound)
    : bound_fixed_(static_cast<int64_t>(std::floor(bound * kFixedScale))) {}

int32_t GradientFilter::Steps(int64_t label_fixed, int64_t score_fixed) const {
    // |gradient| <= bound, so that the quotient is at most kClipSteps; truncation makes it no larger.
    return static_cast<int32_t>((label_fixed - score_fixed) * kClipSteps / bound_fixed_);
}

namespace {

class Boosting {
  public:
    Boosting(const Dataset& dataset, const PureOptions& options, Plan& plan, NoiseSource& noise,
             Interrupt& interrupt)
        : dataset_(dataset),
          plan_(plan),
          noise_(noise),
          interrupt_(interrupt),
          filter_(options.gradient_bound),
          grower_(dataset, options, plan, noise, interrupt),
          leaves_(options),
          scores_(dataset.rows(), 0),
          gradients_(dataset.rows(), 0) {}

    // Tree number k of an ensemble, on its subset of rows.
    Tree Next(const std::vector<uint32_t>& subset, uint32_t k) {
        Tree tree = grower_.Grow(Filter(subset), gradients_.data());
        tree.leaves =
            leaves_.Draw(grower_.leaf_sums(), k, plan_.Take(plan_.Find(kPureLeavesMechanism)), noise_);
        AddToScores(tree);
        return tree;
    }

  private:
    int64_t LabelFixed(std::size_t row) const {
        const double label = dataset_.Label(row);
        return ToFixed(dataset_.target().task() == Task::kBinary ? 2 * label - 1 : label);
    }

    std::vector<uint32_t> Filter(const std::vector<uint32_t>& subset) {
        std::vector<uint32_t> rows;
        rows.reserve(subset.size());
        for (const uint32_t row : subset) {
            const int64_t label = LabelFixed(row);
            if (!filter_.Passes(label, scores_[row]))
                continue;
            gradients_[row] = filter_.Steps(label, scores_[row]);
            rows.push_back(row);
            if (rows.size() % (std::size_t{1} << 16) == 0)
                interrupt_.Poll();
        }
        return rows;
    }

    void AddToScores(const Tree& tree) {
        for (std::size_t row = 0; row < scores_.size(); row++) {
            std::size_t node = 0;
            for (unsigned level = 0; level < tree.depth; level++) {
                const std::size_t feature = tree.splits[node].feature;
                const bool left = tree.SplitGoesLeft(node, dataset_.Code(row, feature),
                                                     dataset_.features()[feature].missing());
                node = 2 * node + (left ? 1 : 2);
            }
            scores_[row] += tree.leaves[node - tree.splits.size()];
            if (row % (std::size_t{1} << 16) == 0)
                interrupt_.Poll();
        }
    }

    const Dataset& dataset_;
    Plan& plan_;
    NoiseSource& noise_;
    Interrupt& interrupt_;
    const GradientFilter filter_;
    TreeGrower grower_;
    const LeafRelease leaves_;
    std::vector<int32_t> scores_;
    std::vector<int32_t> gradients_;
};

}  // namespace

Model TrainPureTrees(const Dataset& dataset, const PureOptions& options, Plan& plan, Random& random,
                     NoiseSource& noise, Interrupt& interrupt, Progress& progress) {
    options.Check();
    CheckInternal(options.task == dataset.target().task(),
                  "the options are for another task than the dataset");
    dataset.RequireMemory(dataset.rows() * PureBytesPerRow(options));
    Model model(dataset.features(), dataset.target(), Link::kIdentity);
    Boosting boosting(dataset, options, plan, noise, interrupt);
    Subsets subsets(options);
    uint32_t done = 0;
    for (uint32_t ensemble = 0; ensemble < options.ensembles; ensemble++) {
        subsets.Draw(dataset, random, interrupt);
        for (uint32_t k = 0; k < options.trees_per_ensemble; k++) {
            model.AddTree(boosting.Next(subsets.rows(k), k));
            progress.Report(++done, options.trees());
            interrupt.Poll();
        }
    }
    CheckInternal(plan.Finished(), "the plan was made for other options");
    return model;
}

}  // namespace dpboost
