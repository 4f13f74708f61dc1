// Gradients of classes on the lattice: the vector of a row within its bound, exactly, for any scores and label; in the
// direction of the exact one; and of two classes what the logistic loss says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "learner/objective/losses.h"
#include "learner/objective/objective.h"
#include "unit/learner/objective/lattice.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

struct Rows {
    size_t classes = 0;
    std::vector<int32_t> scores;
    std::vector<float> labels;

    // Scores from all over int32, most of them near zero.
    Rows(size_t k, size_t count) : classes(k) {
        ChaChaSource source = TestSource(static_cast<unsigned char>(k));
        Random random(source);
        for (size_t i = 0; i < count; i++) {
            const int shift = static_cast<int>(random.Below(32));
            for (size_t c = 0; c < k; c++)
                scores.push_back(static_cast<int32_t>(random.Next32()) >> shift);
            labels.push_back(static_cast<float>(random.Below(k)));
        }
        constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
        for (const int32_t extreme : {kMost, -kMost - 1, 0}) {
            for (size_t c = 0; c < k; c++)
                scores.push_back(c == 0 ? extreme : -1 - extreme);
            labels.push_back(static_cast<float>(extreme < 0 ? 0 : k - 1));
        }
    }
};

int64_t NormSquared(const Lattice& lattice, size_t classes, size_t row) {
    int64_t norm = 0;
    for (size_t k = 0; k < classes; k++)
        norm += int64_t{lattice.gradients[row * classes + k]} * lattice.gradients[row * classes + k];
    return norm;
}

constexpr size_t kClasses[] = {2, 3, 7, 15, 64};

TEST(Softmax, TheVectorOfARowIsWithinItsClipExactly) {
    constexpr int64_t kBound = int64_t{kClipSteps} * kClipSteps;
    for (const size_t classes : kClasses) {
        const Rows rows(classes, 20000);
        for (const double clip : {0.001, 0.02, 0.1, 0.3, 0.7, 1.0, std::sqrt(2.0)}) {
            const Lattice got =
                Evaluate(*MakeSoftmax(classes, clip, 0.1), Simd::kPortable, rows.scores, rows.labels);
            int64_t longest = 0;
            for (size_t row = 0; row < rows.labels.size(); row++) {
                const int64_t norm = NormSquared(got, classes, row);
                ASSERT_LE(norm, kBound) << classes << " classes, clip " << clip;
                longest = std::max(longest, norm);
                ASSERT_GE(got.hessians[row], 0);
                ASSERT_LE(got.hessians[row], kClipSteps);
            }
            // No noise is wasted either: the bound is reached.
            EXPECT_GT(longest, kBound - int64_t{kClipSteps} * 32) << classes << " classes, clip " << clip;
        }
    }
}

TEST(Softmax, IsWithinTwoStepsOfTheExactClippedVector) {
    const double hessian_clip = 0.2;
    for (const size_t classes : kClasses) {
        const Rows rows(classes, 5000);
        for (const double clip : {0.1, 0.7, std::sqrt(2.0)}) {
            const Lattice got = Evaluate(*MakeSoftmax(classes, clip, hessian_clip), Simd::kPortable,
                                         rows.scores, rows.labels);
            for (size_t row = 0; row < rows.labels.size(); row++) {
                const int32_t* const scores = rows.scores.data() + row * classes;
                const int32_t top = *std::max_element(scores, scores + classes);
                std::vector<double> g(classes);
                double sum = 0, squares = 0, hessian = 0;
                for (size_t k = 0; k < classes; k++)
                    sum += g[k] = std::exp(FromFixed(int64_t{scores[k]} - top));
                for (size_t k = 0; k < classes; k++) {
                    const double p = g[k] / sum;
                    hessian = std::max(hessian, p * (1 - p));
                    g[k] = (k == static_cast<size_t>(rows.labels[row]) ? 1 : 0) - p;
                    squares += g[k] * g[k];
                }
                const double scale = std::min(1.0, clip / std::sqrt(squares)) / clip * kClipSteps;
                for (size_t k = 0; k < classes; k++)
                    ASSERT_NEAR(got.gradients[row * classes + k], g[k] * scale, 2) << classes << " " << clip;
                ASSERT_NEAR(got.hessians[row], std::min(hessian, hessian_clip) / hessian_clip * kClipSteps,
                            1);
            }
        }
    }
}

TEST(Softmax, VectorFormGivesTheSameBits) {
    for (const size_t classes : {2, 3, 7, 8, 9, 16, 64}) {
        const Rows rows(classes, 3001);
        const auto objective = MakeSoftmax(classes, 0.37, 0.11);
        SCOPED_TRACE(classes);
        ExpectSameBits(*objective, rows.scores, rows.labels);
    }
}

// With a clip that is sqrt(2) as large, for the two entries of a vector are as long as each other.
TEST(Softmax, OfTwoClassesIsTheLogisticLoss) {
    const Rows rows(2, 20000);
    std::vector<int32_t> odds;
    for (size_t row = 0; row < rows.labels.size(); row++)
        odds.push_back(static_cast<int32_t>((int64_t{rows.scores[2 * row + 1]} - rows.scores[2 * row]) / 2));
    std::vector<int32_t> halves;
    for (const int32_t score : odds) {
        halves.push_back(-score / 2);
        halves.push_back(score - score / 2);
    }
    Rows two(2, 0);
    two.scores = halves;
    two.labels = rows.labels;
    for (const double clip : {0.2, 0.5, 1.0}) {
        const Lattice got =
            Evaluate(*MakeSoftmax(2, std::sqrt(2.0) * clip, 0.25), Simd::kPortable, two.scores, two.labels);
        const auto logistic = MakeObjective(ObjectiveKind::kLogistic, TargetSpec::Binary(), clip, 0.25);
        std::vector<int32_t> gradients(odds.size()), hessians(odds.size());
        logistic->Evaluate(Simd::kPortable, odds.data(), rows.labels.data(), odds.size(), gradients.data(),
                           hessians.data());
        for (size_t row = 0; row < odds.size(); row++) {
            ASSERT_NEAR(got.gradients[2 * row + 1] * std::sqrt(2.0), gradients[row], 3) << odds[row];
            ASSERT_NEAR(got.gradients[2 * row] * std::sqrt(2.0), -gradients[row], 3) << odds[row];
            ASSERT_NEAR(got.hessians[row], hessians[row], 1);
        }
    }
}

}  // namespace
}  // namespace dpboost
