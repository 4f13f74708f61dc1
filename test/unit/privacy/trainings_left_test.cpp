// How many more trainings a limit lets through: as many as charging them one by one.
#include "privacy/trainings_left.h"

#include <gtest/gtest.h>

namespace dpboost {
namespace {

int OneByOne(Budget budget, const Cost& cost) {
    int count = 0;
    for (; count < kMostTrainingsLeft && budget.Fits(cost); count++)
        budget.Spend(cost);
    return count;
}

TEST(TrainingsLeftTest, IsWhatChargingOneByOneLetsThrough) {
    for (const double delta : {1e-6, 0.0})
        for (const double limit : {0.1, 0.25, 1.0, 3.0, 20.0})
            for (const double epsilon : {0.02, 0.1, 0.7, 5.0}) {
                Budget budget(limit, delta);
                EXPECT_EQ(TrainingsLeft(budget, epsilon, delta),
                          OneByOne(budget, TrainingCost(epsilon, delta)))
                    << limit << " " << epsilon << " " << delta;
                const Cost earlier = TrainingCost(0.09, delta);
                if (!budget.Fits(earlier))
                    continue;
                budget.Spend(earlier);
                EXPECT_EQ(TrainingsLeft(budget, epsilon, delta),
                          OneByOne(budget, TrainingCost(epsilon, delta)))
                    << limit << " " << epsilon << " " << delta << " after another";
            }
}

TEST(TrainingsLeftTest, CountsNoFurtherThanAsked) {
    EXPECT_EQ(TrainingsLeft(Budget(1000, 1e-6), 0.001, 1e-6, 77), 77);
    EXPECT_EQ(TrainingsLeft(Budget(1000, 1e-6), 0.001, 1e-6), kMostTrainingsLeft);
}

// What is no Gaussian counts by its Renyi divergence from then on.
TEST(TrainingsLeftTest, AfterOtherNoise) {
    Budget budget(3, 1e-6);
    budget.Spend(TrainingCost(0.5, 0));
    EXPECT_EQ(TrainingsLeft(budget, 0.1, 1e-6), OneByOne(budget, TrainingCost(0.1, 1e-6)));
}

}  // namespace
}  // namespace dpboost
