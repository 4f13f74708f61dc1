// Also run under ThreadSanitizer by `make unit-tsan`.
#include "base/fiber.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/thrown.h"

namespace dpboost {
namespace {

TEST(Fiber, GoesOnWhereItPaused) {
    std::vector<std::string> heard;
    std::unique_ptr<Fiber> fiber;
    fiber = std::make_unique<Fiber>([&] {
        for (const char* word : {"one", "two", "three"}) {
            heard.emplace_back(word);
            fiber->Pause();
        }
    });
    EXPECT_FALSE(fiber->begun());
    EXPECT_TRUE(heard.empty());
    for (size_t i = 1; i <= 3; ++i) {
        fiber->Resume();
        EXPECT_EQ(heard.size(), i);
        EXPECT_FALSE(fiber->ended());
    }
    fiber->Resume();
    EXPECT_TRUE(fiber->ended());
    EXPECT_EQ(heard, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(CodeOf([&] { fiber->Resume(); }), ErrorCode::kInternal);
}

TEST(Fiber, WhatTheWorkThrowsLeavesResume) {
    bool unwound = false;
    struct Guard {
        bool& flag;
        ~Guard() { flag = true; }
    };
    std::unique_ptr<Fiber> fiber;
    fiber = std::make_unique<Fiber>([&] {
        const Guard guard{unwound};
        fiber->Pause();
        throw Error(ErrorCode::kCanceled, "enough");
    });
    fiber->Resume();
    EXPECT_FALSE(unwound);
    EXPECT_EQ(Thrown([&] { fiber->Resume(); }), "enough |  | ");
    EXPECT_TRUE(unwound);
    EXPECT_TRUE(fiber->ended());
}

// Exceptions that are thrown and caught inside, on both stacks in turn, do not meet.
TEST(Fiber, ManyAtOnce) {
    constexpr int kFibers = 50, kTurns = 20;
    std::vector<std::unique_ptr<Fiber>> fibers(kFibers);
    std::vector<int> caught(kFibers, 0);
    for (int i = 0; i < kFibers; ++i)
        fibers[i] = std::make_unique<Fiber>([&, i] {
            for (int turn = 0; turn < kTurns; ++turn) {
                try {
                    throw i;
                } catch (int number) {
                    caught[i] += number == i;
                }
                fibers[i]->Pause();
            }
        });
    for (int turn = 0; turn <= kTurns; ++turn)
        for (const auto& fiber : fibers) {
            EXPECT_EQ(Thrown([&] { throw Error(ErrorCode::kInternal, "outside"); }), "outside |  | ");
            fiber->Resume();
        }
    for (int i = 0; i < kFibers; ++i) {
        EXPECT_TRUE(fibers[i]->ended());
        EXPECT_EQ(caught[i], kTurns);
    }
}

size_t Deep(size_t left) {
    volatile char frame[1024];
    frame[left % 1024] = static_cast<char>(left);
    return left == 0 ? 0 : Deep(left - 1) + (frame[left % 1024] == static_cast<char>(left));
}

TEST(Fiber, HasAStackAsAThreadHas) {
    size_t depth = 0;
    Fiber fiber([&] { depth = Deep(4000); });
    fiber.Resume();
    EXPECT_EQ(depth, 4000u);
}

TEST(Fiber, NeedNotBegin) {
    const Fiber fiber([] { FAIL(); });
    EXPECT_FALSE(fiber.ended());
}

}  // namespace
}  // namespace dpboost
