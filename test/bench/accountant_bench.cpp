// What accounting costs and how tight it is: time to calibrate a plan, time of a ledger check, the individual
// filter's time per unit, and by how much our epsilon exceeds the exact one of test/reference. Times are
// the smallest CPU times of several runs.
#include <ctime>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "privacy/accountant/pld.h"
#include "privacy/budget.h"
#include "privacy/filter/renyi_filter.h"
#include "privacy/plan.h"

namespace dpboost {
namespace {

double CpuMilliseconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <typename Work>
double Fastest(int runs, Work work) {
    double fastest = 1e300;
    for (int run = 0; run < runs; ++run) {
        const double start = CpuMilliseconds();
        work();
        fastest = std::min(fastest, CpuMilliseconds() - start);
    }
    return fastest;
}

PlanRequest Trees(double epsilon, double delta, double gamma, uint64_t trees, uint64_t filter_rounds = 0) {
    MechanismRequest leaves;
    leaves.name = "leaves";
    leaves.count = trees;
    leaves.sampling_rate = gamma;
    leaves.rest = 1;
    leaves.filter_rounds = filter_rounds;
    leaves.dimensions = {{65536, 0.3, 64}, {65536, 0.7, 64}};
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = {leaves};
    return request;
}

void Calibration(const char* what, const PlanRequest& request, const char* expected) {
    double multiplier = 0;
    std::string by;
    const double time = Fastest(5, [&] {
        const Plan plan = Plan::Calibrate(request);
        multiplier = plan.NoiseMultiplier(0);
        by = plan.calibrated_by();
    });
    std::printf("  %-52s %8.3f ms  multiplier %-10.4f %-6s %s\n", what, time, multiplier, by.c_str(),
                expected);
}

void Calibrations() {
    std::printf(
        "calibrating a plan (target 50 ms sampled with gamma >= 0.05, 1 ms full batch, 2 s anywhere)\n");
    Calibration("eps 0.105, delta 5e-8, gamma 0.1, T 150", Trees(0.105, 5e-8, 0.1, 150), "expected 50.154");
    Calibration("eps 0.02, delta 5e-8, gamma 0.005, T 200", Trees(0.02, 5e-8, 0.005, 200), "expected 14.050");
    Calibration("eps 1, delta 5e-8, gamma 0.2, T 600", Trees(1, 5e-8, 0.2, 600), "expected 23.641");
    Calibration("eps 1, delta 5e-8, full batch, T 600", Trees(1, 5e-8, 1, 600), "closed form");
    Calibration("eps 0.105, delta 5e-8, gamma 0.1, T 150 + 100 filtered", Trees(0.105, 5e-8, 0.1, 150, 100),
                "");
    Calibration("eps 2, delta 5e-8, gamma 0.005, T 50", Trees(2, 5e-8, 0.005, 50), "reference 0.75966");
    Calibration("eps 1, delta 1e-6, gamma 0.01, T 10000000", Trees(1, 1e-6, 0.01, 10'000'000), "");
}

void Tightness() {
    std::ifstream table("test/reference/pld_subsampled_gaussian.csv");
    std::string line;
    if (!std::getline(table, line)) {
        std::printf("test/reference could not be read: run it in the project's folder\n");
        return;
    }
    double least = 1e300, most = -1e300, sum = 0;
    int rows = 0;
    while (std::getline(table, line)) {
        double gamma, count, delta, multiplier, remove, add;
        if (std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf,%lf", &gamma, &count, &delta, &multiplier, &remove,
                        &add) != 6)
            continue;
        const double ours =
            PldEpsilon({Event::Gaussian(multiplier, static_cast<uint64_t>(count), gamma)}, delta);
        const double excess = ours / std::max(remove, add) - 1;
        least = std::min(least, excess);
        most = std::max(most, excess);
        sum += excess;
        ++rows;
    }
    std::printf("epsilon over the exact one, %d rows: %.1e to %.1e, mean %.1e (target 0 to 1e-4)\n", rows,
                least, most, sum / rows);
}

void Ledger() {
    const Plan plan = Plan::Calibrate(Trees(0.1, 1e-6, 0.1, 150));
    const std::vector<std::string> ledger(1000, plan.Serialize());
    const double check = Fastest(5, [&] {
        Spent spent;
        const Budget limit(10, 1e-6);
        for (const std::string& bytes : ledger)
            spent.Add(Cost::Parse(bytes));
        (void)limit.WithSpent(spent.At(limit.order())).Fits(plan.release());
    });
    std::printf("budget check over 1,000 stored releases: %.3f ms (target 5)\n", check);
    Spent spent;
    for (int i = 0; i < 50; ++i)
        spent.Add(plan.release());
    std::printf("50 trainings at epsilon 0.1: %.3f by PLD, %.3f for an analyst who adapts\n",
                ComposedEpsilon(spent, 1e-6), AdaptiveEpsilon(spent, 1e-6));
}

void Filter() {
    const std::size_t units = 48842;
    const RenyiFilter filter(1000, {65536, 0.3}, {65536, 0.7});
    std::vector<int32_t> hessian(units), gradient(units);
    for (std::size_t i = 0; i < units; ++i) {
        hessian[i] = static_cast<int32_t>(i * 31 % 65537);
        gradient[i] = static_cast<int32_t>(i * 7919 % 131073) - 65536;
    }
    std::vector<uint32_t> spent(units);
    std::vector<uint8_t> active(units);
    const int rounds = 200;
    const double time = Fastest(5, [&] {
        std::fill(spent.begin(), spent.end(), 0);
        for (int round = 0; round < rounds; ++round)
            filter.Round(hessian.data(), gradient.data(), units, spent.data(), active.data());
    });
    std::printf("Renyi filter: %.2f ns per unit and round\n",
                time * 1e6 / rounds / static_cast<double>(units));
}

}  // namespace
}  // namespace dpboost

int main() {
    try {
        dpboost::Calibrations();
        dpboost::Tightness();
        dpboost::Ledger();
        dpboost::Filter();
    } catch (const dpboost::Error& error) {
        std::fprintf(stderr, "%s %s\n", error.what(), error.detail().c_str());
        return 1;
    }
    return 0;
}
