// Prints what randomness costs: the stream, the samplers, and the sampling of units. Best of several runs
// each.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "mechanism/chacha_source.h"
#include "mechanism/exponential.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "support/draw_key.h"

namespace dpboost {
namespace {

// Processor time, which a busy machine disturbs less than the clock on the wall.
double CpuSeconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename Work>
double BestSeconds(Work work) {
    double best = 1e9;
    for (int run = 0; run < 7; ++run) {
        const double start = CpuSeconds();
        work();
        best = std::min(best, CpuSeconds() - start);
    }
    return best;
}

void BenchStream() {
    ChaChaSource source(ChaChaSource::Seed{1});
    std::vector<unsigned char> buffer(8192);
    constexpr int kFills = 4096;
    const double seconds = BestSeconds([&] {
        for (int i = 0; i < kFills; ++i) {
            source.Fill(buffer.data(), buffer.size());
        }
    });
    std::printf("stream                        %8.0f MB/s\n", kFills * 8192 / seconds / 1e6);
}

template <int kFirstDigits>
void BenchGaussian(Random& random, double sigma, const char* label) {
    std::vector<int64_t> values(kFirstDigits == 51 ? 1 << 20 : 1 << 16);
    GaussianSampler<kFirstDigits> sampler(TestDrawKey::Make(), random, GaussianScale::FromSteps(sigma));
    const double seconds = BestSeconds([&] { sampler.AddTo(values.data(), values.size()); });
    std::printf("gaussian %-20s %8.1f million draws/s\n", label, values.size() / seconds / 1e6);
}

void BenchLaplace(Random& random) {
    std::vector<int64_t> values(1 << 18);
    LaplaceSampler sampler(TestDrawKey::Make(), random, LaplaceScale::FromSteps(65536.3));
    const double seconds = BestSeconds([&] { sampler.AddTo(values.data(), values.size()); });
    std::printf("laplace                       %8.1f million draws/s\n", values.size() / seconds / 1e6);
}

void BenchSelection(Random& random) {
    std::vector<int64_t> utilities(100000);
    for (int64_t& utility : utilities) {
        utility = static_cast<int64_t>(random.Below(1 << 20));
    }
    std::vector<uint64_t> bars;
    ExponentialSampler sampler(TestDrawKey::Make(), random, SelectionScale::FromSteps(100000));
    const double seconds = BestSeconds([&] { sampler.Draw(utilities.data(), utilities.size(), &bars); });
    std::printf("selection among 100000        %8.2f ms, %.0f ns per candidate\n", seconds * 1e3,
                seconds * 1e9 / utilities.size());
}

void BenchPoisson(Random& random, double gamma) {
    constexpr std::size_t kRows = 48842;
    constexpr int kRounds = 1000;
    std::vector<uint32_t> out(kRows);
    const SamplingRate rate = SamplingRate::FromProbability(gamma);
    const double seconds = BestSeconds([&] {
        for (int round = 0; round < kRounds; ++round) {
            random.PoissonSample(rate, kRows, out.data());
        }
    });
    const double portable = BestSeconds([&] { random.PoissonSamplePortable(rate, kRows, out.data()); });
    std::printf(
        "poisson gamma %-6.3g          %8.0f million rows/s, 48842 x 1000 in %.1f ms (portable %.0f)\n",
        gamma, kRows * kRounds / seconds / 1e6, seconds * 1e3, portable * kRounds * 1e3);
}

}  // namespace
}  // namespace dpboost

int main() {
    using namespace dpboost;
    BenchStream();
    ChaChaSource source(ChaChaSource::Seed{2});
    Random random(source);
    BenchGaussian<51>(random, 0.3, "sigma 0.3");
    BenchGaussian<51>(random, 1e6, "sigma 1e6");
    BenchGaussian<51>(random, 1099511627776.0, "sigma 2^40");
    BenchGaussian<4>(random, 1e6, "4 first digits");
    BenchLaplace(random);
    BenchSelection(random);
    for (const double gamma : {0.5, 0.1, 0.005}) {
        BenchPoisson(random, gamma);
    }
    return 0;
}
