// Calibration can take tenths of a second. Whoever waits for it can cancel it at any moment, and nothing of it stays behind.
#include <gtest/gtest.h>

#include <chrono>

#include "base/current_interrupt.h"
#include "privacy/accountant/calibrate.h"
#include "support/cancel_after.h"

namespace dpboost {
namespace {

std::vector<Demand> ManyTrees() {
    Demand start, trees;
    start.share = 0.03;
    trees.sampling_rate = 0.1;
    trees.count = 5000;
    trees.rest = 1;
    return {start, trees};
}

TEST(CalibrationCancel, EndsItAtAnyPoll) {
    const double sigma = Calibrate(ManyTrees(), 1, 1e-6).events[1].parameter;
    int polls = 0;
    for (;; polls += 1 + polls / 3) {
        CancelAfter cancel(polls);
        const InterruptScope scope(cancel);
        try {
            EXPECT_EQ(Calibrate(ManyTrees(), 1, 1e-6).events[1].parameter, sigma);
            break;
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::kCanceled);
        }
    }
    EXPECT_GT(polls, 100);
    EXPECT_EQ(Calibrate(ManyTrees(), 1, 1e-6).events[1].parameter, sigma);  // no scope is left open
}

// The longest time between two polls; ten times what it takes here, for loaded machines and sanitizers.
class Longest final : public Interrupt {
  public:
    void Poll() override {
        const auto now = std::chrono::steady_clock::now();
        longest = std::max(longest, std::chrono::duration<double>(now - last_).count());
        last_ = now;
    }
    double longest = 0;

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

TEST(CalibrationCancel, IsPolledOften) {
    Longest interrupt;
    const InterruptScope scope(interrupt);
    Calibrate(ManyTrees(), 1, 1e-6);
    RecordProperty("longest_ms", static_cast<int>(interrupt.longest * 1e3));
    EXPECT_LT(interrupt.longest, 0.5);
}

}  // namespace
}  // namespace dpboost
