// A test that methods share: whatever the rows and the epsilon, training ends with a model that predicts within its target.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {

// For a shape whose task is classification.
inline void ExpectTrainsAtAnyEpsilon(const MethodInfo& method, const DataShape& shape, double delta,
                                     const std::vector<GivenOption>& given = {}) {
    const Dataset dataset = RandomDataset(shape);
    for (const double epsilon : {0.001, 1.0, 50.0}) {
        ChaChaSource source = TestSource(3);
        Random random(source);
        ExactNoise noise(random);
        const Model model = TrainWith(method, dataset, epsilon, delta, given, random, noise);
        EXPECT_GT(model.Serialize().size(), 0u);
        const std::vector<uint16_t> codes(dataset.columns(), 0);
        const double prediction = model.Predict(codes.data());
        EXPECT_GE(prediction, 0) << method.name << " at " << epsilon;
        EXPECT_LE(prediction, 1) << method.name << " at " << epsilon;
    }
}

}  // namespace dpboost
