// The bands of auto's shapes against what trainings on the same rows do scatter, where columns say the same: there noise
// of one column that another has answered stays. Fixed seeds: the figures are the same on every run.
#include <gtest/gtest.h>

#include <cmath>

#include "bench/synthetic.h"
#include "learner/auto/auto.h"
#include "mechanism/chacha_source.h"
#include "support/band_coverage.h"
#include "support/train_with.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// Six columns of which three are near-copies, a column of levels that goes with them, and one that says nothing.
Dataset CorrelatedRows(Task task, size_t rows) {
    std::vector<FeatureSpec> features;
    for (const char* name : {"a", "b", "c", "d", "e", "nothing"})
        features.push_back(FeatureSpec::Numeric(name, {-4, 4}));
    features.push_back(FeatureSpec::Levels("kind", {"low", "middle", "high"}));
    const TargetSpec target = task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-6, 6);
    std::vector<Encoder> encoders(features.begin(), features.end());
    DatasetBuilder builder(features, target, false);
    Synthetic random(7);
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        const double a = random.Normal(), d = random.Normal();
        const double values[] = {a,     a + random.Normal() / 8, a - random.Normal() / 8, d,
                                 d + a, random.Normal()};
        for (size_t f = 0; f < 6; f++)
            builder.SetCode(f, encoders[f].Number(values[f]));
        builder.SetCode(6, static_cast<uint16_t>(a < -1 ? 0 : a < 1 ? 1 : 2));
        const double score = a + 0.5 * d * d - 0.5;
        float label = 0;
        target.Label(task == Task::kBinary ? random.Positive(score) : score + random.Normal() / 2, &label);
        builder.AppendRow(label);
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

TEST(Bands, HoldTheMeanOverTrainings) {
    struct Case {
        Task task;
        double epsilon;
    };
    for (const Case& c : {Case{Task::kBinary, 1}, Case{Task::kBinary, 0.2}, Case{Task::kRegression, 1},
                          Case{Task::kRegression, 0.3}}) {
        const Dataset dataset = CorrelatedRows(c.task, 5000);
        BandCoverage bands(dataset);
        for (unsigned char training = 0; training < 40; training++) {
            ChaChaSource source = TestSource(static_cast<unsigned char>(training + 1));
            Random random(source);
            ExactNoise noise(random);
            bands.Add(TrainWith(kAuto, dataset, c.epsilon, 1e-6, {}, random, noise));
        }
        const BandCoverage::Figures all = bands.OfAll();
        EXPECT_GE(all.coverage, 0.92) << c.epsilon;
        EXPECT_LE(all.Ratio(), 2.2) << c.epsilon;
        // Half as wide they would not do.
        EXPECT_LE(bands.OfAll(0.5).coverage, 0.9) << c.epsilon;
    }
}

}  // namespace
}  // namespace dpboost
