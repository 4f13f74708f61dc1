// Where a target far narrower than its range is looked for: noise far out must not count as rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/synthetic.h"
#include "learner/auto/targets/target_window.h"

namespace dpboost {
namespace {

constexpr size_t kBins = 254;

AutoSchedule Schedule() {
    return MakeAutoSchedule(ObjectiveKind::kSquared, 16000, 0.2, 9);
}

// Even bins with these rows, and noise of one sigma in all.
TargetCounts NoisyCounts(const std::vector<double>& rows, double sigma, Synthetic& random) {
    TargetCounts counts{rows, {}, sigma};
    for (size_t bin = 0; bin <= kBins; bin++)
        counts.ends.push_back(2.0 * static_cast<double>(bin) / kBins - 1);
    for (double& count : counts.bins)
        count += sigma * random.Normal();
    return counts;
}

std::vector<double> Cluster(size_t first, size_t end, double count) {
    std::vector<double> rows(kBins, 0.0);
    std::fill(rows.begin() + static_cast<std::ptrdiff_t>(first),
              rows.begin() + static_cast<std::ptrdiff_t>(end), count);
    return rows;
}

// One cluster in 4 of 254 bins. By the union bound that stands at the code, one in 10,000 windows reaches further than 1.5
// widths of it; a random walk of sums against 2.5 sigmas goes astray in hundreds of these.
TEST(TargetWindow, NoiseFarOutIsNotTakenForRows) {
    Synthetic random(7);
    const AutoSchedule schedule = Schedule();
    int astray = 0, lost = 0;
    for (int k = 0; k < 20000; k++) {
        const BinRun held = HeldBins(NoisyCounts(Cluster(40, 44, 4000), 29, random), 16000, schedule);
        astray += held.first < 34 || held.end > 50;
        lost += held.first > 40 || held.end < 44;
    }
    EXPECT_LE(astray, 8);  // 2 are allowed on average
    EXPECT_EQ(lost, 0);
}

// A second cluster of 2 % far out is sure; a tail next to the first that is not, bin by bin, is held all the same.
TEST(TargetWindow, RowsFarOutAndThinTailsAreHeld) {
    Synthetic random(8);
    const AutoSchedule schedule = Schedule();
    int clusters = 0, tails = 0;
    for (int k = 0; k < 500; k++) {
        const std::vector<double> rows = Cluster(40, 52, 1300);
        std::vector<double> far = rows, tail = rows;
        far[200] = 320;
        for (size_t bin = 52; bin < 64; bin++)
            tail[bin] = 45;
        clusters += HeldBins(NoisyCounts(far, 29, random), 16000, schedule).end > 200;
        tails += HeldBins(NoisyCounts(tail, 29, random), 16000, schedule).end > 54;
    }
    EXPECT_EQ(clusters, 500);
    EXPECT_GT(tails, 400);
}

TEST(TargetWindow, NothingIsHeldOfNoise) {
    Synthetic random(9);
    const AutoSchedule schedule = Schedule();
    int held = 0;
    for (int k = 0; k < 20000; k++)
        held += !HeldBins(NoisyCounts(std::vector<double>(kBins, 0.0), 29, random), 16000, schedule).empty();
    EXPECT_LE(held, 8);
}

}  // namespace
}  // namespace dpboost
