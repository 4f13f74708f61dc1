#include "learner/pure/pure_trees.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/worker_pool.h"
#include "learner/rows/filtered_rows.h"
#include "learner/tree/exponential_growth.h"
#include "learner/tree/tree_options.h"

namespace dpboost {

const char kPureLeavesMechanism[] = "leaves";

namespace {

using O = PureOptions;
constexpr OptionRow kRows[] = {
    Whole<&O::ensembles>("ensembles", 1, 10000, "ensembles of trees, one after the other"),
    Whole<&O::trees_per_ensemble>("trees_per_ensemble", 1, 1000,
                                  "trees of an ensemble, each on people of its own"),
    kDepthRow<O>,
    kLearningRateRow<O>,
    kL2Row<O>,
    kGradientClipRow<O>,
    Number<&O::leaf_share>("leaf_share", 0.01, 0.99, "share of a tree's epsilon for its leaves"),
    kCandidateCountRow<O>,
};

PureOptions PaperTrees() {
    return {};
}

PureOptions SumTrees() {
    PureOptions options;
    options.leaves = LeafReleasePart::kSums;
    options.leaf_clip = LeafClipPart::kNone;
    options.depth = 3;
    options.trees_per_ensemble = 10;
    options.learning_rate = 0.3;
    options.l2 = 5;
    options.leaf_share = 0.6;
    return options;
}

PureOptions SequentialTrees() {
    PureOptions options;
    options.ensembles = 50;
    options.trees_per_ensemble = 1;
    options.leaf_clip = LeafClipPart::kNone;
    return options;
}

PureOptions ParallelTrees() {
    PureOptions options;
    options.subsets = SubsetPart::kHalving;
    options.leaf_clip = LeafClipPart::kNone;
    return options;
}

template <PureOptions (*preset)()>
std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext& context,
                              const std::vector<GivenOption>& given) {
    PureOptions options = preset();
    options.task = context.target.task();
    method.options.Apply(given, &options);
    return std::make_unique<PureLearner>(options, context.features);
}

constexpr MethodInfo Method(const char* name, const char* parts, const char* when_to_use,
                            decltype(MethodInfo::make) make) {
    return {name,        parts, "Li, Wu, Wen, He: Privacy-Preserving Gradient Boosting Decision Trees, 2020",
            when_to_use, true,  kRows,
            make};
}

}  // namespace

constexpr MethodInfo kPureTrees = Method(
    "pure_trees", "exponential mechanism, Laplace leaf values, gradient filter, geometric clips and subsets",
    "delta must be 0 and epsilon is large", Make<PaperTrees>);
// With noisy sums in place of the paper's noisy values.
constexpr MethodInfo kPureSums =
    Method("pure_sums", "exponential mechanism, Laplace leaf sums, gradient filter, geometric subsets",
           "delta must be 0; more accurate than pure_trees", Make<SumTrees>);
// [DPBOOST] 4, SEQ
constexpr MethodInfo kPureSeq =
    Method("pure_seq", "exponential mechanism, Laplace leaf values, gradient filter, all rows for every tree",
           "comparison with sequential composition", Make<SequentialTrees>);
// [DPBOOST] 4, PARA
constexpr MethodInfo kPurePara =
    Method("pure_para", "exponential mechanism, Laplace leaf values, gradient filter, halving subsets",
           "comparison with parallel composition", Make<ParallelTrees>);

void PureOptions::Check() const {
    if (trees() > 100000)
        RefuseOption("ensembles", "such that there are at most 100000 trees in all");
    CheckLargestScore(learning_rate * gradient_clip * trees(),
                      "The number of trees times \"learning_rate\" times \"gradient_clip\"");
}

LeafLattice PureOptions::Leaves(uint32_t k) const {
    double bound = gradient_clip;
    // Not below a thousandth: a bound of nothing would only make the lattice finer and finer.
    if (leaf_clip == LeafClipPart::kGeometric)
        bound *= std::max(1e-3, std::pow(1 - learning_rate, static_cast<double>(k)));
    return LeafLattice(leaves, l2, gradient_clip, bound);
}

std::vector<uint64_t> PureOptions::SubsetEnds() const {
    const double whole = 4294967296.0;
    std::vector<uint64_t> ends;
    for (uint32_t k = 0; k < trees_per_ensemble; k++) {
        const double next = static_cast<double>(k) + 1;
        double part = 1 - std::exp2(-next);
        if (subsets == SubsetPart::kGeometric) {
            const double log_left = std::log1p(-learning_rate);  // -infinity for eta = 1
            part = std::expm1(next * log_left) / std::expm1(trees_per_ensemble * log_left);
        }
        ends.push_back(static_cast<uint64_t>(std::nearbyint(std::clamp(part, 0.0, 1.0) * whole)));
    }
    ends.back() = uint64_t{1} << 32;
    return ends;
}

PureLearner::PureLearner(const PureOptions& options, const std::vector<FeatureSpec>& features)
    : options_(options) {
    options.Check();
    if (features.empty())
        throw Error(ErrorCode::kInvalidParameter, "trees need at least one feature");
    mechanisms_ = SplitsMechanisms(
        {options.depth, options.ensembles, options.trees_per_ensemble, 1 - options.leaf_share,
         SplitCandidates::MaxCells(features, options.candidates(), options.candidate_count)});
    MechanismRequest leaves;
    leaves.name = kPureLeavesMechanism;
    leaves.kind = EventKind::kLaplace;
    leaves.count = options.ensembles;
    leaves.parts = options.trees_per_ensemble;
    leaves.rest = options.leaf_share;
    leaves.dimensions = {{LeafLattice::Sensitivity(options.leaves), 1,
                          LeafLattice::Sums(options.leaves, std::size_t{1} << options.depth)}};
    mechanisms_.push_back(std::move(leaves));
}

Footprint PureLearner::footprint(bool) const {
    return {options_.trees(), static_cast<unsigned>(options_.depth), FilteredRows::kBytesPerRow, 0};
}

void PureLearner::Train(Run& run) const {
    CheckInternal(options_.task == run.model.target().task(),
                  "the options are for another task than the rows");
    const MechanismId leaves = run.releaser.Find(kPureLeavesMechanism);
    const SplitCandidates candidates(run.model.features(), options_.candidates(), options_.candidate_count);
    std::vector<uint16_t> features(run.model.features().size());
    std::iota(features.begin(), features.end(), uint16_t{0});
    WorkerPool pool(run.settings.threads);
    FilteredRows rows(run.rows, options_.SubsetEnds(), options_.gradient_clip, options_.depth,
                      run.settings.simd, pool);
    for (uint32_t index = 0; index < options_.trees(); index++) {
        const uint32_t k = index % options_.trees_per_ensemble;
        if (k == 0)
            rows.DrawSubsets(run.coins, run.interrupt);
        NodeSums& nodes = rows.Begin(k, run.interrupt);
        Tree tree = GrowByExponential(candidates, features, options_.depth, options_.l2, nodes, run.releaser,
                                      run.interrupt);
        nodes.Descend(tree, tree.depth - 1, run.interrupt);
        const LeafLattice lattice = options_.Leaves(k);
        const std::vector<double> values =
            lattice.Values(run.releaser.Release(leaves, nodes.Leaves(lattice, run.interrupt)));
        std::transform(values.begin(), values.end(), tree.leaves.begin(),
                       [&](double value) { return ToFixed(options_.learning_rate * value); });
        rows.AddTree(tree, run.interrupt);
        run.model.AddTree(std::move(tree));
        run.progress.Report(index + 1, options_.trees());
        run.interrupt.Poll();
    }
}

}  // namespace dpboost
