#include "model/scaled.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dpboost {
namespace {

void Multiply(double factor, std::vector<int32_t>* values) {
    for (int32_t& value : *values)
        value = ToFixed(factor * FromFixed(value));
}

void Multiply(double factor, std::vector<float>* sds) {
    constexpr double kMost = std::numeric_limits<float>::max();
    for (float& sd : *sds)
        sd = static_cast<float>(std::min(std::fabs(factor) * static_cast<double>(sd), kMost));
}

}  // namespace

Model Scaled(const Model& model, double factor, double base_factor) {
    if (factor == 1 && base_factor == 1)
        return model;
    Model scaled(model.features(), model.target(), model.link());
    for (size_t output = 0; output < model.outputs(); output++)
        scaled.AddToBase(output, ToFixed(base_factor * FromFixed(model.base(output))));
    for (size_t feature = 0; feature < model.features().size(); feature++) {
        std::vector<int32_t> table = model.table(feature);
        Multiply(factor, &table);
        if (!table.empty())
            scaled.AddTable(feature, table);
    }
    for (Tree tree : model.trees()) {
        Multiply(factor, &tree.leaves);
        Multiply(factor, &tree.leaf_sds);
        scaled.AddTree(std::move(tree));
    }
    scaled.SetLoss(model.loss());
    Evidence evidence = model.evidence();
    for (std::vector<float>& sds : evidence.bands)
        Multiply(factor, &sds);
    scaled.SetEvidence(std::move(evidence));
    return scaled;
}

}  // namespace dpboost
