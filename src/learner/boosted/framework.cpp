#include "learner/boosted/framework.h"

#include <algorithm>

#include "base/error.h"
#include "learner/boosted/framework_plan.h"
#include "learner/boosted/histogram_growth.h"
#include "learner/tree/exponential_growth.h"
#include "learner/tree/live_splits.h"

namespace dpboost {
namespace {

BoostedRowsOptions RowsOptions(const FrameworkOptions& options, int32_t base) {
    BoostedRowsOptions rows = options.RowsOptions(base);
    // Averages: the squared loss at a score that never moves, whose gradient is the centred label.
    rows.objective = options.averages() ? ObjectiveKind::kSquared : DefaultObjective(options.task);
    rows.count_rows = options.hessian_is_count();
    rows.keep_gradients = true;
    return rows;
}

LeafValueOptions LeafOptions(const FrameworkOptions& options) {
    const double scale =
        options.averages() ? 1.0 / options.trees : options.learning_rate / options.batch_size();
    return {options.leaf, scale, options.l2, options.leaf_clip, options.task == Task::kBinary ? 0.5 : 0.0,
            true};
}

// What rows start with: for averaging the label that centring takes off.
int32_t StartOf(Run& run, const FrameworkOptions& options) {
    if (!options.averages())
        return DrawStart(run, options);
    return options.task == Task::kBinary ? ToFixed(0.5) : 0;
}

// One training: the parts, and the order in which they act.
class Boosting {
  public:
    Boosting(Run& run, const FrameworkOptions& options, int32_t base)
        : run_(run),
          options_(options),
          pool_(ThreadsFor(run.rows, run.settings.threads)),
          rows_(run.rows, RowsOptions(options, base), run.settings.simd, pool_),
          candidates_(run.model.features(), options.candidates, options.candidate_count),
          nodes_(run.rows, pool_),
          histograms_(options, nodes_),
          leaf_values_(LeafOptions(options)),
          refined_(RefinedFeatures(run.model.features())) {}

    // Tree number `index`, with its leaf values.
    Tree Next(uint32_t index) {
        if (index % options_.batch_size() == 0)
            rows_.EvaluateAll(run_.interrupt);
        if (options_.uses_sketch() && index < options_.sketch_rounds() && !refined_.empty())
            RefineBySketch();
        const std::vector<uint16_t> chosen =
            ChooseFeatures(options_.features, run_.model.features().size(), options_.features_per_tree, index,
                           run_.structure);
        std::vector<NoisySide> noisy_leaves;
        Tree tree = Grow(chosen, &noisy_leaves);
        if (options_.candidates == CandidatePart::kIterativeHessian && !options_.uses_sketch() &&
            index < options_.sketch_rounds())
            RefineByHistogram(chosen);
        const bool moves_scores = index + 1 < options_.trees && !options_.averages();
        if (!options_.leaves_from_structure() || moves_scores)
            rows_.Begin(&tree, 1, run_.interrupt);
        if (!options_.leaves_from_structure())
            noisy_leaves =
                ReleaseLeaves(run_, run_.releaser.Find(kLeavesMechanism), rows_, 0, options_.units()).All();
        tree.leaves = leaf_values_.Next(noisy_leaves);
        if (moves_scores)
            rows_.SetLeaves(0, tree.leaves);
        return tree;
    }

    // How many trees from number `index` on can be grown at once: those of random structure that do not wait for each
    // other's leaves, as far as their sums make one message of a reasonable size.
    uint32_t Together(uint32_t index) const {
        constexpr size_t kMostSums = 1 << 16;
        if (options_.structure != StructurePart::kTotallyRandom ||
            options_.candidates == CandidatePart::kIterativeHessian)
            return 1;
        const uint32_t batch = options_.averages() ? options_.trees : options_.batch_size();
        const auto most = static_cast<uint32_t>(std::max<size_t>(1, kMostSums / (2 * options_.leaves())));
        return std::min({most, batch - index % batch, options_.trees - index});
    }

    // Trees from number `first` on, with their leaf values: the same events as one by one, drawn at once.
    std::vector<Tree> NextTogether(uint32_t first, uint32_t count) {
        if (first % options_.batch_size() == 0)
            rows_.EvaluateAll(run_.interrupt);
        std::vector<Tree> trees;
        for (uint32_t index = first; index < first + count; index++)
            trees.push_back(DrawRandomTree(candidates_,
                                           ChooseFeatures(options_.features, run_.model.features().size(),
                                                          options_.features_per_tree, index, run_.structure),
                                           options_.depth, run_.structure));
        const std::vector<NoisySides> leaves =
            ReleaseTrees(run_, run_.releaser.Find(kLeavesMechanism), rows_, trees, options_.units());
        for (size_t t = 0; t < trees.size(); t++)
            trees[t].leaves = leaf_values_.Next(leaves[t].All());
        if (first + count < options_.trees && !options_.averages())
            AddTrees(run_, rows_, trees);
        return trees;
    }

  private:
    Tree Grow(const std::vector<uint16_t>& chosen, std::vector<NoisySide>* noisy_leaves) {
        switch (options_.structure) {
            case StructurePart::kTotallyRandom:
                return DrawRandomTree(candidates_, chosen, options_.depth, run_.structure);
            case StructurePart::kExponential:
                nodes_.Begin(rows_.gradients(), NodeSums::Weight::kRow, SamplingRate::All(), run_.coins,
                             run_.interrupt);
                return GrowByExponential(candidates_, chosen, options_.depth, options_.l2, nodes_,
                                         run_.releaser, run_.interrupt);
            default:
                return histograms_.Grow(candidates_, chosen, rows_.gradients(), run_, noisy_leaves);
        }
    }

    // The noisy Hessian histogram over the candidates of every refined feature ([FEDGBDT] 4.5.2).
    //
    // Neighbours: add or remove one unit, which takes part by one row. Sensitivity: the row adds at most S
    // steps to one cell of each feature (node_sums.h). Charge: one Gaussian event.
    void RefineBySketch() {
        nodes_.Begin(rows_.gradients(), NodeSums::Weight::kHessian, SamplingRate::All(), run_.coins,
                     run_.interrupt);
        const NoisySums noisy =
            run_.releaser.Release(run_.releaser.Find(kCandidatesMechanism),
                                  nodes_.RootHessians(candidates_, refined_, run_.interrupt));
        size_t first = 0;
        for (const uint16_t feature : refined_) {
            const size_t cells = candidates_.Cells(feature) - 1;
            RefineFeature(feature, noisy, first);
            first += cells;
        }
    }

    // Post-processing of the tree's first histogram ([FEDGBDT] Table 1: kappa_c = 0).
    void RefineByHistogram(const std::vector<uint16_t>& chosen) {
        const CellLayout layout(candidates_, chosen);
        for (size_t j = 0; j < chosen.size(); j++) {
            if (std::binary_search(refined_.begin(), refined_.end(), chosen[j]))
                RefineFeature(chosen[j], histograms_.root_hessians(), layout.offset[j]);
        }
    }

    void RefineFeature(uint16_t feature, const NoisySums& noisy, size_t first) {
        const auto begin = noisy.values.begin() + static_cast<std::ptrdiff_t>(first);
        const auto cells = static_cast<std::ptrdiff_t>(candidates_.Cells(feature) - 1);
        candidates_.Refine(feature, std::vector<double>(begin, begin + cells), noisy.sigma);
    }

    Run& run_;
    const FrameworkOptions& options_;
    WorkerPool pool_;
    BoostedRows rows_;
    SplitCandidates candidates_;
    NodeSums nodes_;
    HistogramGrowth histograms_;
    LeafValues leaf_values_;
    const std::vector<uint16_t> refined_;
};

}  // namespace

std::vector<uint16_t> ChooseFeatures(FeaturePart part, size_t features, size_t per_tree, uint64_t tree_index,
                                     PublicRandom& random) {
    std::vector<uint16_t> chosen;
    const size_t count = part == FeaturePart::kAll ? features : std::min(per_tree, features);
    if (part == FeaturePart::kSubset) {
        std::vector<uint32_t> order(features);
        random.Permutation(order.data(), features);
        chosen.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    } else {
        for (size_t i = 0; i < count; i++)
            chosen.push_back(static_cast<uint16_t>((tree_index * count + i) % features));
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

FrameworkLearner::FrameworkLearner(const FrameworkOptions& options, const std::vector<FeatureSpec>& features)
    : options_((options.Check(), options)),
      mechanisms_(FrameworkMechanisms(options, features)),
      max_cells_(SplitCandidates::MaxCells(features, options.candidates, options.candidate_count)) {}

Footprint FrameworkLearner::footprint(bool) const {
    Footprint footprint{options_.trees, static_cast<unsigned>(options_.depth),
                        BoostedRows::BytesPerRow(RowsOptions(options_, 0)), 0};
    if (options_.structure != StructurePart::kTotallyRandom || options_.uses_sketch())
        footprint.bytes_per_row += NodeSums::kBytesPerRow;
    if (options_.leaves_from_structure())  // both sums of every cell
        footprint.bytes = (size_t{1} << (options_.depth - 1)) * max_cells_ * 2 * sizeof(int64_t);
    return footprint;
}

Link FrameworkLearner::link() const {
    return options_.task == Task::kBinary && !options_.averages() ? Link::kLogistic : Link::kIdentity;
}

void FrameworkLearner::Train(Run& run) const {
    CheckInternal(options_.task == run.model.target().task(),
                  "the options are for another task than the rows");
    const int32_t base = StartOf(run, options_);
    if (!options_.averages())
        run.model.AddToBase(base);
    Boosting boosting(run, options_, base);
    for (uint32_t index = 0; index < options_.trees;) {
        const uint32_t together = run.across_servers ? boosting.Together(index) : 1;
        if (together > 1) {
            for (Tree& tree : boosting.NextTogether(index, together))
                run.model.AddTree(std::move(tree));
        } else {
            run.model.AddTree(boosting.Next(index));
        }
        index += together;
        run.progress.Report(index, options_.trees);
        run.interrupt.Poll();
    }
}

}  // namespace dpboost
