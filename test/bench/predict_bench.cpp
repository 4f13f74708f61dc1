// Prints what one prediction costs from codes: random trees, random trees with level and subset splits, and
// tables only. Usage: predict_bench [trees] [depth] [features]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/predictor.h"
#include "support/xorshift.h"

namespace {

using namespace dpboost;

enum class Shape { kThresholds, kMixed, kSubsets, kOneFeature };

std::vector<FeatureSpec> Features(unsigned count, Shape shape) {
    std::vector<FeatureSpec> features;
    for (unsigned i = 0; i < count; i++) {
        std::string name = "f" + std::to_string(i);
        bool levels = shape != Shape::kThresholds && shape != Shape::kOneFeature && i % 2 == 1;
        if (levels)
            features.push_back(FeatureSpec::Hashed(name, 5 + 3 * (i % 13)));
        else
            features.push_back(FeatureSpec::Numeric(name, {0, 1, Scale::kLinear}));
    }
    return features;
}

Model RandomModel(unsigned trees, unsigned depth, unsigned count, Shape shape) {
    Xorshift random;
    Model model(Features(count, shape), TargetSpec::Binary(), Link::kLogistic);
    for (unsigned t = 0; t < trees; t++) {
        Tree tree = Tree::OfDepth(depth);
        for (Split& split : tree.splits) {
            split.feature =
                static_cast<uint16_t>(shape == Shape::kOneFeature ? t % count : random.Below(count));
            const FeatureSpec& feature = model.features()[split.feature];
            split.threshold = static_cast<uint16_t>(random.Below(feature.bins()));
            split.missing_left = random.Below(2);
            if (feature.ordered())
                continue;
            split.kind = shape == Shape::kMixed ? SplitKind::kLevel : SplitKind::kSubset;
            if (split.kind == SplitKind::kSubset) {
                split.subset = tree.AddSubset(feature);
                for (uint32_t code = 0; code < feature.cells(); code++)
                    if (random.Below(2))
                        tree.AddToSubset(split.subset, code);
            }
        }
        for (int32_t& leaf : tree.leaves)
            leaf = static_cast<int32_t>(random.Below(1000)) - 500;
        model.AddTree(tree);
    }
    return model;
}

double Seconds(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Measure(const char* what, unsigned trees, unsigned depth, unsigned count, Shape shape,
             const char* target = "") {
    Model model = RandomModel(trees, depth, count, shape);
    std::string bytes = model.Serialize();
    auto start = std::chrono::steady_clock::now();
    Model parsed = Model::Parse(bytes);
    double parse = Seconds(start);
    start = std::chrono::steady_clock::now();
    Predictor predictor(parsed);
    double compile = Seconds(start);

    constexpr size_t kRows = 2000;
    Xorshift random;
    std::vector<uint16_t> codes(kRows * count);
    for (size_t i = 0; i < codes.size(); i++)
        codes[i] = static_cast<uint16_t>(random.Below(model.features()[i % count].cells()));
    std::vector<double> out(kRows);
    double best = 1e9;
    for (int repeat = 0; repeat < 15; repeat++) {
        start = std::chrono::steady_clock::now();
        for (size_t row = 0; row < kRows; row++)
            out[row] = predictor.Predict(codes.data() + row * count);
        best = std::min(best, Seconds(start));
    }
    std::printf(
        "%-34s %7.3f us/row   parse %6.2f ms   compile %6.2f ms   %8zu bytes stored   %8zu in memory%s\n",
        what, best / kRows * 1e6, parse * 1e3, compile * 1e3, bytes.size(), predictor.memory_used(), target);
}

}  // namespace

int main(int argc, char** argv) {
    unsigned trees = argc > 1 ? std::atoi(argv[1]) : 1000;
    unsigned depth = argc > 2 ? std::atoi(argv[2]) : 6;
    unsigned count = argc > 3 ? std::atoi(argv[3]) : 14;
    std::printf("%u trees of depth %u on %u features\n", trees, depth, count);
    Measure("thresholds", trees, depth, count, Shape::kThresholds,
            trees == 1000 && depth == 6 ? "   <= 2.5 us/row" : "");
    Measure("thresholds and levels", trees, depth, count, Shape::kMixed);
    Measure("thresholds and random subsets", trees, depth, count, Shape::kSubsets);
    Measure("one feature per tree (tables)", trees, depth, count, Shape::kOneFeature);
    return 0;
}
