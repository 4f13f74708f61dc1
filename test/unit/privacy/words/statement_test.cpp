#include "privacy/words/statement.h"

#include <gtest/gtest.h>

namespace dpboost {
namespace {

StatedLoss Limit(double epsilon, double delta, int64_t releases, double spent) {
    StatedLoss stated;
    stated.subject = "All trainings on table \"visits\" together.";
    stated.person = PersonInWords("patient_id");
    stated.loss = ProvenLoss::OfPair(epsilon, delta);
    stated.is_limit = true;
    stated.releases = releases;
    stated.spent_epsilon = spent;
    stated.spent_delta = delta;
    return stated;
}

bool Says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Statement, SaysWhatALimitMeansAndWhatWasSpent) {
    const std::string text = WriteStatement({Limit(2, 1e-6, 3, 0.5)}, {0, 0});
    EXPECT_TRUE(Says(text, "table \"visits\"")) << text;
    EXPECT_TRUE(Says(text, "the same \"patient_id\"")) << text;
    EXPECT_TRUE(Says(text, "a factor of 7.39")) << text;
    EXPECT_TRUE(Says(text, "3 releases have cost epsilon 0.5")) << text;
    EXPECT_TRUE(Says(text, "at most 62.3 of 100")) << text;  // of what was spent: e^.5 / (e^.5 + 1)
    EXPECT_TRUE(Says(text, "Who can still be harmed")) << text;
    EXPECT_FALSE(Says(text, "together, for someone")) << text;
    EXPECT_TRUE(Says(WriteStatement({Limit(2, 0, 0, 0)}, {0, 0}), "Nothing was released so far."));
}

// As the statement of the release itself says, where all noise was Gaussian.
TEST(Statement, SaysTheBestGuessOfGaussianReleasesExactly) {
    StatedLoss limit = Limit(2, 1e-6, 1, 0.5);
    limit.spent_mu = 1 / 8.058;
    const std::string text = WriteStatement({limit}, {0, 0});
    EXPECT_TRUE(Says(text, "1 release has cost epsilon 0.5: the best guess is right in at most 52.5 of 100"))
        << text;
    EXPECT_TRUE(Says(text, "at most 88.1 of 100 cases, even if"))
        << text;  // the limit is for any method: e^2 / (e^2 + 1)
}

// Releases add up to more than a person can lose who is left out of the later ones.
TEST(Statement, OfALimitThatEachPersonHasSaysNotWhatAllHaveCost) {
    StatedLoss limit = Limit(1, 1e-6, 5, 2.2);
    limit.by_unit = true;
    const std::string text = WriteStatement({limit}, {0, 0});
    EXPECT_TRUE(Says(text, "So far there were 5 releases. Whoever has used up the limit is left out"))
        << text;
    EXPECT_FALSE(Says(text, "2.2")) << text;
    limit.releases = 1;
    EXPECT_TRUE(Says(WriteStatement({limit}, {0, 0}), "So far there was 1 release."));
}

// What renews lets through more than it says, and forgets what was before.
TEST(Statement, OfALimitThatRenewsSaysWhatWasSpentSince) {
    StatedLoss renewing = Limit(4, 1e-6, 0, 0);
    renewing.renews = true;
    EXPECT_TRUE(Says(WriteStatement({renewing}, {0, 0}), "Nothing was released since it was renewed."));
    renewing.releases = 1;
    renewing.spent_epsilon = 0.5;
    renewing.spent_delta = 1e-2;
    const std::string text = WriteStatement({renewing}, {0, 0});
    EXPECT_TRUE(Says(text, "Since it was renewed 1 release has cost epsilon 0.5")) << text;
    EXPECT_TRUE(Says(text, "at most 62.7 of 100")) << text;  // with that delta
}

TEST(Statement, AddsUpForSomeoneWhoIsInAllTables) {
    const std::string text = WriteStatement({Limit(1, 1e-6, 0, 0), Limit(2, 1e-6, 0, 0)}, {3, 2e-6});
    EXPECT_TRUE(Says(text, "at most epsilon 3.")) << text;
    EXPECT_TRUE(Says(text, "once in 500,000 times")) << text;
    EXPECT_TRUE(Says(text, "20.09")) << text;
}

}  // namespace
}  // namespace dpboost
