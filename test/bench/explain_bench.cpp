// Prints what an explanation costs from codes, in CPU time: contributions of one row with their noise, and importances
// and shapes of a whole model; tables only, tables with trees on pairs, and a forest. Usage: explain_bench [features]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "model/explain/explain.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

double CpuSeconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<FeatureSpec> Features(size_t count) {
    std::vector<FeatureSpec> features;
    for (size_t f = 0; f < count; f++) {
        const std::string name = "f" + std::to_string(f);
        features.push_back(f % 3 == 2 ? FeatureSpec::Hashed(name, 20) : FeatureSpec::Numeric(name, {0, 1}));
    }
    return features;
}

// As sbdt makes them: random thresholds and levels, and nobody knows the noise of a leaf.
Tree PlainTree(const std::vector<FeatureSpec>& features, unsigned depth, Xorshift* random) {
    Tree tree = RandomTree(features, depth, random);
    for (Split& split : tree.splits) {
        const FeatureSpec& feature = features[split.feature];
        split.kind = feature.ordered() ? SplitKind::kThreshold : SplitKind::kLevel;
        split.threshold = static_cast<uint16_t>(random->Below(feature.bins()));
        split.missing_left = feature.ordered() && random->Below(2) == 1;
    }
    return tree;
}

Model MakeForest(size_t features, int trees, unsigned depth, size_t together) {
    Xorshift random;
    Model model(Features(features), TargetSpec::Binary(), Link::kLogistic);
    for (int t = 0; t < trees; t++) {
        const size_t first = together < features ? static_cast<size_t>(t) % features : 0;
        const std::vector<FeatureSpec> some(
            model.features().begin() + static_cast<ptrdiff_t>(first),
            model.features().begin() + static_cast<ptrdiff_t>(first + together));
        Tree tree = PlainTree(some, depth, &random);
        for (Split& split : tree.splits)
            split.feature = static_cast<uint16_t>(split.feature + first);
        model.AddTree(tree);
    }
    return model;
}

// Trees on some neighbouring features each, or on all.
Model MakeModel(size_t features, int trees, unsigned depth, size_t together) {
    Xorshift random;
    Model model(Features(features), TargetSpec::Binary(), Link::kLogistic);
    for (size_t f = 0; f < features; f++) {
        std::vector<int32_t> table(model.features()[f].cells());
        for (int32_t& value : table)
            value = static_cast<int32_t>(random.Below(1000000));
        model.AddTable(f, table);
    }
    for (int t = 0; t < trees; t++) {
        const size_t first =
            together < features ? random.Below(static_cast<uint32_t>(features - together)) : 0;
        const std::vector<FeatureSpec> some(
            model.features().begin() + static_cast<ptrdiff_t>(first),
            model.features().begin() + static_cast<ptrdiff_t>(first + together));
        Tree tree = RandomTree(some, depth, &random);
        for (Split& split : tree.splits)
            split.feature = static_cast<uint16_t>(split.feature + first);
        tree.leaf_sds.assign(tree.leaves.size(), 0.1F);
        model.AddTree(tree);
    }
    model.SetEvidence(RandomEvidence(model, 1));
    return model;
}

void Measure(const char* what, const Model& model, int rows) {
    const size_t features = model.features().size();
    NoInterrupt interrupt;
    double start = CpuSeconds();
    Explainer explainer(model, interrupt);
    const double made = CpuSeconds() - start;
    Xorshift random;
    std::vector<uint16_t> codes(features);
    std::vector<int64_t> contributions(features);
    std::vector<double> sds(features);
    start = CpuSeconds();
    for (int row = 0; row < rows; row++) {
        for (size_t f = 0; f < features; f++)
            codes[f] = static_cast<uint16_t>(random.Below(model.features()[f].cells()));
        explainer.Explain(codes.data(), contributions.data(), sds.data());
    }
    const double per_row = (CpuSeconds() - start) / rows;
    start = CpuSeconds();
    explainer.Importances();
    const double importances = CpuSeconds() - start;
    start = CpuSeconds();
    explainer.Interactions();
    const double interactions = CpuSeconds() - start;
    start = CpuSeconds();
    for (size_t f = 0; f < features; f++)
        explainer.Shape(f);
    std::printf(
        "%-38s %9.2f us/row   made in %7.2f ms   importances %8.2f ms   interactions %8.2f ms   shapes %8.2f "
        "ms\n",
        what, per_row * 1e6, made * 1e3, importances * 1e3, interactions * 1e3, (CpuSeconds() - start) * 1e3);
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    const size_t features = argc > 1 ? static_cast<size_t>(std::atoi(argv[1])) : 14;
    std::printf("%zu features\n", features);
    dpboost::Measure("tables", dpboost::MakeModel(features, 0, 0, 1), 100000);
    dpboost::Measure("tables and 30 trees on pairs", dpboost::MakeModel(features, 30, 4, 2), 10000);
    dpboost::Measure("tables and 30 trees on triples", dpboost::MakeModel(features, 30, 6, 3), 3000);
    dpboost::Measure("1000 trees of depth 6 on all", dpboost::MakeModel(features, 1000, 6, features), 100);
    dpboost::Measure("1000 trees as sbdt makes them, any", dpboost::MakeForest(features, 1000, 6, features),
                     100);
    dpboost::Measure("1000 trees as sbdt makes them, cyclic", dpboost::MakeForest(features, 1000, 6, 1), 100);
    return 0;
}
