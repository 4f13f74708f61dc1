// How often the bands of shapes hold the mean over trainings, weighted by rows, and how wide they are: `auto` on public
// tables, delta 1e-6. Usage: utility_bands [trainings]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "mechanism/chacha_source.h"
#include "support/band_coverage.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

void Measure(const char* name, const std::vector<double>& epsilons, uint32_t trainings) {
    const EncodedTable table = LoadNamed(name);
    std::vector<uint32_t> rows(table.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    const Dataset dataset = table.Build(rows);
    for (const double epsilon : epsilons) {
        BandCoverage bands(dataset);
        for (uint32_t training = 0; training < trainings; training++) {
            ChaChaSource::Seed seed{};
            std::memcpy(seed.data(), &training, sizeof training);
            ChaChaSource source(std::move(seed));
            Random random(source);
            ExactNoise noise(random);
            bands.Add(TrainWith(kAuto, dataset, epsilon, 1e-6, {}, random, noise));
        }
        const BandCoverage::Figures all = bands.OfAll();
        double worst = 1;
        size_t worst_feature = 0;
        for (size_t f = 0; f < dataset.columns(); f++) {
            const double coverage = bands.OfFeature(f).coverage;
            if (coverage < worst) {
                worst = coverage;
                worst_feature = f;
            }
        }
        std::printf("%-10s %7g %9.3f %9.3f %9.3f %7.2f   %.2f (%s)\n", name, epsilon, all.coverage,
                    all.true_sd, all.band_sd, all.Ratio(), worst,
                    dataset.features()[worst_feature].name().c_str());
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    const uint32_t trainings = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 20;
    std::printf("%u trainings of each\n%-10s %7s %9s %9s %9s %7s   %s\n", trainings, "data", "epsilon",
                "coverage", "true sd", "band sd", "ratio", "worst feature");
    dpboost::Measure("adult", {1, 0.1, 0.02}, trainings);
    dpboost::Measure("abalone", {1, 0.25}, trainings);
    dpboost::Measure("spambase", {0.5}, trainings);
    return 0;
}
