// Models with so few cells that a test can go through every row that there can be.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "model/explain/explain.h"
#include "unit/model/random_model.h"

namespace dpboost {

// Calls visit(codes, probability) for every row that there can be.
inline void ForEachRow(const Model& model, const ReferenceMasses& masses,
                       const std::function<void(const std::vector<uint16_t>&, double)>& visit) {
    std::vector<uint16_t> codes(model.features().size(), 0);
    for (;;) {
        double probability = 1;
        for (size_t f = 0; f < codes.size(); f++)
            probability *= masses.of(f)[codes[f]];
        visit(codes, probability);
        size_t f = 0;
        while (f < codes.size() && ++codes[f] == model.features()[f].cells())
            codes[f++] = 0;
        if (f == codes.size())
            return;
    }
}

// The mean score of rows that agree with `row` in the features of the subset.
inline double MeanGiven(const Model& model, const ReferenceMasses& masses, const std::vector<uint16_t>& row,
                        unsigned subset, size_t output) {
    double mean = 0;
    ForEachRow(model, masses, [&](const std::vector<uint16_t>& codes, double probability) {
        std::vector<uint16_t> mixed = codes;
        for (size_t f = 0; f < codes.size(); f++) {
            if ((subset >> f & 1) != 0)
                mixed[f] = row[f];
        }
        mean += probability * static_cast<double>(model.Score(mixed.data(), output));
    });
    return mean;
}

inline std::vector<FeatureSpec> FewCells() {
    return {FeatureSpec::Numeric("a", {0, 10, Scale::kLinear, 4}), FeatureSpec::Levels("b", {"F", "I", "M"}),
            FeatureSpec::Numeric("c", {-1, 1, Scale::kLinear, 3}), FeatureSpec::Hashed("d", 5)};
}

inline Model ManyTrees(uint64_t seed, bool classes) {
    Model model = classes ? RandomClassModel(FewCells(), 3, 8, 6, seed) : RandomModel(FewCells(), 8, 6, seed);
    if (seed % 2 == 0)
        model.SetEvidence(RandomEvidence(model, seed));
    return model;
}

}  // namespace dpboost
