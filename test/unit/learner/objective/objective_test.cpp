// Gradients on the lattice: right within a step of the exact value, inside the clip bounds for any input, and
// the same bits with and without vector instructions.
#include "learner/objective/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "dataset/target.h"
#include "unit/learner/objective/lattice.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr ObjectiveKind kKinds[] = {ObjectiveKind::kSquared, ObjectiveKind::kLogistic, ObjectiveKind::kHinge,
                                    ObjectiveKind::kSigns};

TargetSpec Numeric() {
    return TargetSpec::Regression(-1, 1);
}

// Scores over the whole range of int32, dense around zero, and labels of the task.
void MakeInput(bool binary, std::vector<int32_t>* scores, std::vector<float>* labels) {
    ChaChaSource source = TestSource(7);
    Random random(source);
    for (int i = 0; i < 20003; i++) {
        const int shift = static_cast<int>(random.Below(32));
        scores->push_back(static_cast<int32_t>(random.Next32()) >> shift);
        labels->push_back(binary ? static_cast<float>(random.Below(2))
                                 : static_cast<float>(random.Below(1 << 21)) / (1 << 20) - 1.0F);
    }
    for (const int32_t extreme :
         {0, 1, -1, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
        scores->push_back(extreme);
        labels->push_back(1.0F);
    }
}

TEST(Objective, LogisticIsWithinOneStepOfTheExactValue) {
    const double gradient_clip = 0.7, hessian_clip = 0.2;
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(true, &scores, &labels);
    const auto objective =
        MakeObjective(ObjectiveKind::kLogistic, TargetSpec::Binary(), gradient_clip, hessian_clip);
    const Lattice got = Evaluate(*objective, Simd::kPortable, scores, labels);
    for (size_t i = 0; i < scores.size(); i++) {
        const double p = 1 / (1 + std::exp(-FromFixed(scores[i])));
        const double g = std::min(std::max(labels[i] - p, -gradient_clip), gradient_clip);
        const double h = std::min(p * (1 - p), hessian_clip);
        EXPECT_NEAR(got.gradients[i], g / gradient_clip * kClipSteps, 0.75) << scores[i];
        EXPECT_NEAR(got.hessians[i], h / hessian_clip * kClipSteps, 0.75) << scores[i];
    }
}

TEST(Objective, SquaredIsWithinOneStepOfTheExactValueAndCountsRows) {
    const double gradient_clip = 0.1;
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(false, &scores, &labels);
    const auto objective = MakeObjective(ObjectiveKind::kSquared, Numeric(), gradient_clip, 1);
    const Lattice got = Evaluate(*objective, Simd::kPortable, scores, labels);
    for (size_t i = 0; i < scores.size(); i++) {
        const double g = std::min(std::max(labels[i] - FromFixed(scores[i]), -gradient_clip), gradient_clip);
        EXPECT_NEAR(got.gradients[i], g / gradient_clip * kClipSteps, 1) << scores[i];
        EXPECT_EQ(got.hessians[i], kClipSteps);
    }
}

// The signs of a binary target: the squared loss and the hinge loss of them, exactly where floats are.
TEST(Objective, SignsAreMinusOneAndOne) {
    const auto squared = MakeObjective(ObjectiveKind::kSigns, TargetSpec::Binary(), 2, 1);
    const auto hinge = MakeObjective(ObjectiveKind::kHinge, TargetSpec::Binary(), 1, 1);
    const int32_t one = 1 << kFixedBits;
    const std::vector<int32_t> scores = {0, 0, one / 2, one / 2, one, one, one - 1, -one, 1 - one, 2 * one};
    const std::vector<float> labels = {0, 1, 0, 1, 0, 1, 1, 0, 0, 1};
    const Lattice got = Evaluate(*squared, Simd::kPortable, scores, labels);
    const std::vector<double> expected = {-1, 1, -1.5, 0.5, -2, 0, 0, 0, 0, -1};
    for (size_t i = 0; i < scores.size(); i++)
        EXPECT_NEAR(got.gradients[i], expected[i] / 2 * kClipSteps, 0.51) << i;
    const std::vector<int> steps = {-1, 1, -1, 1, -1, 0, 1, 0, -1, 0};
    const Lattice of_hinge = Evaluate(*hinge, Simd::kPortable, scores, labels);
    for (size_t i = 0; i < scores.size(); i++)
        EXPECT_EQ(of_hinge.gradients[i], steps[i] * kClipSteps) << i;
}

TEST(Objective, StaysWithinTheClipBounds) {
    std::vector<int32_t> scores;
    std::vector<float> labels;
    MakeInput(true, &scores, &labels);
    for (const ObjectiveKind kind : kKinds) {
        for (const double clip : {0.001, 0.1, 1.0}) {
            if (kind == ObjectiveKind::kHinge && clip != 1)
                continue;
            const auto objective = MakeObjective(kind, TargetSpec::Binary(), clip, clip);
            ExpectWithinClips(Evaluate(*objective, Simd::kPortable, scores, labels));
        }
    }
}

TEST(Objective, VectorFormGivesTheSameBits) {
    if (BestSimd() == Simd::kPortable)
        GTEST_SKIP() << "no vector instructions here";
    for (const ObjectiveKind kind : kKinds) {
        const bool binary = kind != ObjectiveKind::kSquared;
        std::vector<int32_t> scores;
        std::vector<float> labels;
        MakeInput(binary, &scores, &labels);
        const double clip = kind == ObjectiveKind::kHinge ? 1 : 0.37;
        const auto objective = MakeObjective(kind, binary ? TargetSpec::Binary() : Numeric(), clip, 0.11);
        ExpectSameBits(*objective, scores, labels);
    }
}

// A model that predicts the mean has no gradient on average, and a correction takes a small one away.
TEST(Objective, StartsAtTheMeanAndCorrectsAConstant) {
    for (const ObjectiveKind kind :
         {ObjectiveKind::kSquared, ObjectiveKind::kSigns, ObjectiveKind::kLogistic}) {
        const bool binary = kind != ObjectiveKind::kSquared;
        const auto objective = MakeObjective(kind, binary ? TargetSpec::Binary() : Numeric(), 2, 1);
        std::vector<float> labels;
        for (int i = 0; i < 1000; i++)
            labels.push_back(binary ? static_cast<float>(i % 4 == 0) : static_cast<float>(i % 5) / 8 - 0.5F);
        std::vector<float> centred(labels.size());
        objective->Centre(labels.data(), labels.size(), centred.data());
        MeanLabel mean{0, 1e-4};
        for (const float label : centred)
            mean.value += label / static_cast<double>(labels.size());
        const auto mean_gradient = [&](double score) {
            const std::vector<int32_t> scores(labels.size(), ToFixed(score));
            double sum = 0;
            for (const int32_t g : Evaluate(*objective, Simd::kPortable, scores, labels).gradients)
                sum += g * 2.0 / kClipSteps / static_cast<double>(labels.size());
            return sum;
        };
        const double start = objective->StartScore(mean);
        EXPECT_NEAR(mean_gradient(start), 0, 1e-4);
        const double error = mean_gradient(start - 0.1);
        EXPECT_GT(error, 0.01);
        EXPECT_NEAR(objective->Correction(mean, error), 0.1, 1e-3);
    }
}

}  // namespace
}  // namespace dpboost
