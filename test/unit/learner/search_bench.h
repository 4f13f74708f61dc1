// Everything that a search for splits needs, on random rows with random gradients, and plain sums to compare with.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "learner/boosted/framework.h"
#include "learner/boosted/presets.h"
#include "learner/rows/node/node_rows.h"
#include "learner/rows/row_gradients.h"
#include "support/train_with.h"
#include "support/zero_noise.h"
#include "unit/learner/random_data.h"

namespace dpboost {

inline FrameworkOptions SearchOptions(StructurePart structure) {
    FrameworkOptions options;
    options.structure = structure;
    options.trees = 1;
    options.depth = 3;
    options.candidate_count = 9;
    return options;
}

struct SearchBench {
    explicit SearchBench(FrameworkOptions chosen_options, DataShape shape = {})
        : options(chosen_options),
          dataset(RandomDataset(shape)),
          candidates(dataset.features(), options.candidates, options.candidate_count),
          source(TestSource(8)),
          random(source),
          plan(PlanOf(FrameworkLearner(options, dataset.features()), 1, 1e-6)),
          releaser(plan, noise),
          structure(random),
          coins(random),
          model(dataset.features(), dataset.target(), Link::kLogistic),
          pool(1),
          sums(dataset, pool),
          run{dataset, releaser, structure, coins, model, progress, interrupt, {}},
          chosen(dataset.columns()) {
        for (size_t row = 0; row < dataset.rows(); row++) {
            const auto gradient = static_cast<int32_t>(random.Below(2 * kClipSteps + 1)) - kClipSteps / 2 * 3;
            rows.gradients.push_back(std::max(gradient, -kClipSteps));
            rows.hessians.push_back(static_cast<int32_t>(random.Below(kClipSteps + 1)));
        }
        std::iota(chosen.begin(), chosen.end(), uint16_t{0});
    }

    void Begin(NodeSums::Weight weight) { sums.Begin(rows, weight, SamplingRate::All(), coins, interrupt); }

    // The node of a row at a level.
    size_t NodeOf(const Tree& tree, size_t row, unsigned level) const {
        size_t node = 0;
        for (unsigned l = 0; l < level; l++) {
            const uint16_t feature = tree.splits[node].feature;
            const bool left =
                tree.SplitGoesLeft(node, dataset.Code(row, feature), dataset.features()[feature].missing());
            node = 2 * node + (left ? 1 : 2);
        }
        return node;
    }

    // Plain sums of gradients and Hessians in the leaves, natural units.
    std::vector<NoisySide> PlainLeaves(const Tree& tree) const {
        std::vector<NoisySide> leaves(tree.leaf_count());
        for (size_t row = 0; row < dataset.rows(); row++) {
            NoisySide& leaf = leaves[NodeOf(tree, row, tree.depth) - tree.split_count()];
            leaf.gradient += options.units().gradient * rows.gradients[row];
            leaf.hessian += options.units().hessian * rows.hessians[row];
        }
        return leaves;
    }

    // Plain sums left and right of a split among the rows of a node, which count one each.
    void Sides(const Tree& tree, size_t node, unsigned level, const Split& split, CellSum sides[2]) const {
        const uint16_t missing = dataset.features()[split.feature].missing();
        sides[0] = sides[1] = CellSum{};
        for (size_t row = 0; row < dataset.rows(); row++) {
            if (NodeOf(tree, row, level) != node)
                continue;
            const bool left = GoesLeft(split, nullptr, dataset.Code(row, split.feature), missing);
            sides[left ? 0 : 1].Add({rows.gradients[row], 1});
        }
    }

    FrameworkOptions options;
    Dataset dataset;
    SplitCandidates candidates;
    ChaChaSource source;
    Random random;
    ZeroNoise noise;
    NoInterrupt interrupt;
    NoProgress progress;
    Plan plan;
    Releaser releaser;
    PublicRandom structure;
    PrivateRandom coins;
    Model model;
    WorkerPool pool;
    NodeSums sums;
    Run run;
    KeptGradients rows;
    std::vector<uint16_t> chosen;
};

}  // namespace dpboost
