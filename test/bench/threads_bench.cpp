// Prints what a second thread gains: the same training with one thread and with two, in turn, wall-clock, and the ratio
// of their best times. The models are compared too.
//     threads_bench [rows...]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "bench/synthetic.h"
#include "learner/methods.h"
#include "mechanism/chacha_source.h"
#include "support/train_with.h"

namespace dpboost {
namespace {

constexpr size_t kColumns = 28;

Dataset Rows(size_t rows) {
    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < kColumns; i++)
        features.push_back(NumericFeature("f" + std::to_string(i), 0, 1, Scale::kLinear, 254));
    DatasetBuilder builder(features, TargetSpec::Binary(), false);
    Synthetic random(1);
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full())
            builder.Grow();
        double score = -2;
        for (size_t i = 0; i < kColumns; i++) {
            const double x = random.Uniform();
            score += i < 8 ? x / 2 : 0;
            builder.SetCode(i, static_cast<uint16_t>(x * 254));
        }
        builder.AppendRow(static_cast<float>(random.Positive(score)));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

struct Timed {
    double seconds;
    std::string model;
};

Timed TrainTimed(const MethodInfo& method, const Dataset& rows, const std::vector<GivenOption>& given,
                 int threads) {
    const std::unique_ptr<Learner> learner = LearnerOf(method, rows, 1, 1e-6, given);
    Plan plan = PlanOf(*learner, 1, 1e-6);
    ChaChaSource source(ChaChaSource::Seed{7});
    Random random(source);
    ExactNoise noise(random);
    TrainingSettings settings;
    settings.threads = threads;
    const auto start = std::chrono::steady_clock::now();
    const Model model = TrainLearner(*learner, rows, plan, random, noise, settings);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    return {taken.count(), model.Serialize()};
}

bool Compare(const char* name, const std::vector<GivenOption>& given, const Dataset& rows) {
    const MethodInfo& method = *AllMethods().Find(name);
    double best[2] = {1e9, 1e9};
    bool same = true;
    const int runs = rows.rows() > 500000 ? 3 : 15;
    for (int run = 0; run < runs; run++) {
        const Timed one = TrainTimed(method, rows, given, 1);
        const Timed two = TrainTimed(method, rows, given, 2);
        best[0] = std::min(best[0], one.seconds);
        best[1] = std::min(best[1], two.seconds);
        same = same && one.model == two.model;
    }
    std::printf("%-8s %9zu rows   one thread %9.2f ms   two %9.2f ms   ratio %.2f%s\n", name, rows.rows(),
                best[0] * 1e3, best[1] * 1e3, best[0] / best[1], same ? "" : "   MODELS DIFFER");
    std::fflush(stdout);
    return same;
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    std::vector<size_t> sizes = {300, 3000, 17000, 30000, 300000, 1000000};
    if (argc > 1)
        sizes.clear();
    for (int i = 1; i < argc; i++)
        sizes.push_back(std::strtoull(argv[i], nullptr, 10));
    bool same = true;
    try {
        for (const size_t size : sizes) {
            const Dataset rows = Rows(size);
            same &= Compare("sbdt", {Given("trees", 200)}, rows);
            same &= Compare("auto", {}, rows);
            same &= Compare("adassp", {}, rows);
        }
    } catch (const Error& error) {
        std::fprintf(stderr, "%s %s\n", error.message().c_str(), error.hint().c_str());
        return 1;
    }
    return same ? 0 : 1;
}
