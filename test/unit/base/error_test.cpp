// The one exception of the core carries everything that a caller will see, and survives being copied and
// rethrown.
#include "base/error.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "base/interrupt.h"

namespace dpboost {
namespace {

TEST(Error, KeepsItsTextsWhenRethrown) {
    try {
        try {
            throw Error(ErrorCode::kBudgetExhausted, "message", "Detail.", "Hint.");
        } catch (const std::exception&) {
            throw;
        }
    } catch (const Error& error) {
        const Error copy = error;
        EXPECT_EQ(copy.code(), ErrorCode::kBudgetExhausted);
        EXPECT_STREQ(copy.what(), "message");
        EXPECT_EQ(copy.message(), "message");
        EXPECT_EQ(copy.detail(), "Detail.");
        EXPECT_EQ(copy.hint(), "Hint.");
    }
}

TEST(Error, CheckInternalThrowsOnlyWhenTheConditionFails) {
    EXPECT_NO_THROW(CheckInternal(true, "fine"));
    try {
        CheckInternal(false, "broken");
        FAIL() << "did not throw";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInternal);
        EXPECT_EQ(error.message(), "broken");
    }
}

// A thrown error that can throw again while it is copied would end the server.
TEST(Error, MovesWithoutThrowing) {
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<Error>);
    EXPECT_TRUE(std::is_nothrow_destructible_v<Error>);
}

TEST(Interrupt, TheTestDoublesDoNothing) {
    NoInterrupt interrupt;
    NoProgress progress;
    EXPECT_NO_THROW(interrupt.Poll());
    EXPECT_NO_THROW(progress.Report(1, 2));
}

}  // namespace
}  // namespace dpboost
