// Prints what it costs to turn values into codes and to append rows, and the memory that rows take.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/encoder.h"

namespace {

using namespace dpboost;

double Seconds(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename Work>
double BestNs(size_t items, Work work) {
    double best = 1e9;
    for (int repeat = 0; repeat < 15; repeat++) {
        auto start = std::chrono::steady_clock::now();
        work();
        best = std::min(best, Seconds(start));
    }
    return best / static_cast<double>(items) * 1e9;
}

uint64_t Next(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

double Uniform(uint64_t* state) {
    return static_cast<double>(Next(state) >> 11) * 0x1p-53;
}

void MeasureNumbers(const char* what, const NumericRange& range) {
    constexpr size_t kValues = 20000;
    Encoder encoder(FeatureSpec::Numeric("x", range));
    uint64_t state = 1;
    std::vector<double> values(kValues);
    for (double& value : values) {
        double u = Uniform(&state);
        value =
            range.lower + (range.upper - range.lower) * (range.scale == Scale::kLinear ? u : u * u * u * u);
        if (range.integer)
            value = std::floor(value);
    }
    std::vector<uint16_t> codes(kValues);
    double ns = BestNs(kValues, [&] {
        for (size_t i = 0; i < kValues; i++)
            codes[i] = encoder.Number(values[i]);
    });
    std::printf("encode %-32s %6.2f ns/value\n", what, ns);
}

void MeasureTexts(const char* what, const FeatureSpec& spec) {
    const std::vector<std::string> texts = {"Married-civ-spouse", "Divorced", "Never-married",
                                            "Separated",          "Widowed",  "Married-spouse-absent",
                                            "Married-AF-spouse",  "unknown"};
    constexpr size_t kValues = 20000;
    Encoder encoder(spec);
    uint64_t state = 1;
    std::vector<const std::string*> values(kValues);
    for (auto& value : values)
        value = &texts[Next(&state) % texts.size()];
    std::vector<uint16_t> codes(kValues);
    double ns = BestNs(kValues, [&] {
        for (size_t i = 0; i < kValues; i++)
            codes[i] = encoder.Text(values[i]->data(), values[i]->size());
    });
    std::printf("encode %-32s %6.2f ns/value\n", what, ns);
}

void MeasureRows(size_t rows, size_t columns, bool units) {
    std::vector<FeatureSpec> features;
    std::vector<Encoder> encoders;
    for (size_t i = 0; i < columns; i++) {
        features.push_back(FeatureSpec::Numeric("f" + std::to_string(i), {0, 1, Scale::kLinear}));
        encoders.emplace_back(features.back());
    }
    TargetSpec target = TargetSpec::Binary();
    uint64_t state = 1;
    std::vector<double> values(1024 * columns);
    for (double& value : values)
        value = Uniform(&state);

    auto start = std::chrono::steady_clock::now();
    DatasetBuilder builder(features, target, units);
    size_t peak = 0;
    for (size_t row = 0; row < rows; row++) {
        if (builder.Full()) {
            builder.Grow();
            peak = builder.memory_used();
        }
        const double* at = values.data() + row % 1024 * columns;
        for (size_t i = 0; i < columns; i++)
            builder.SetCode(i, encoders[i].Number(at[i]));
        float label = 0;
        if (target.Label(static_cast<double>(row % 2), &label))
            builder.AppendRow(label, UnitKeyOf(static_cast<int64_t>(Next(&state) % (rows / 2))));
    }
    double append = Seconds(start);
    start = std::chrono::steady_clock::now();
    NoInterrupt no_interrupt;
    Dataset dataset = builder.Finish(no_interrupt);
    double finish = Seconds(start);
    std::printf(
        "append %zu x %zu%s: %.2f ns/value, finish %.1f ns/row, %.2f bytes/value at the end (peak %.2f)\n",
        rows, columns, units ? " with units" : "", append / double(rows * columns) * 1e9,
        finish / double(rows) * 1e9, double(dataset.memory_used()) / double(rows * columns),
        double(std::max(peak, dataset.memory_used())) / double(rows * columns));
}

}  // namespace

int main() {
    MeasureNumbers("linear 0..1", {0, 1, Scale::kLinear});
    MeasureNumbers("integers 17..90", {17, 90, Scale::kAuto, kDefaultBins, true});
    MeasureNumbers("log 0..99999", {0, 99999, Scale::kLog});
    MeasureNumbers("auto 0..100", {0, 100, Scale::kAuto});
    MeasureNumbers("auto integers -5000..99999", {-5000, 99999, Scale::kAuto, kDefaultBins, true});
    MeasureNumbers("linear, 65534 bins", {0, 1, Scale::kLinear, kMaxBins});
    MeasureTexts("7 levels",
                 FeatureSpec::Levels("x", {"Married-civ-spouse", "Divorced", "Never-married", "Separated",
                                           "Widowed", "Married-spouse-absent", "Married-AF-spouse"}));
    MeasureTexts("hashed to 64 buckets", FeatureSpec::Hashed("x"));
    MeasureRows(500000, 28, false);
    MeasureRows(500000, 28, true);
    return 0;
}
