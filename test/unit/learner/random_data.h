// Small synthetic datasets for the learner's tests: numeric, level and two-byte columns, missing values,
// units.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "mechanism/chacha_source.h"
#include "mechanism/random.h"
#include "support/copy_rows.h"

namespace dpboost {

inline ChaChaSource TestSource(unsigned char key) {
    ChaChaSource::Seed seed{};
    seed[0] = key;
    return ChaChaSource(std::move(seed));
}

struct DataShape {
    Task task = Task::kBinary;
    size_t rows = 500;
    int numeric = 3;   // byte columns, 2 to 254 bins
    int levels = 2;    // level columns
    int wide = 0;      // two-byte numeric columns
    size_t units = 0;  // 0: every row is its own unit
    int missing_percent = 10;
    unsigned char key = 1;
    bool product = false;  // labels depend on whether the first two columns are on the same side
    bool counts = false;   // of a regression: whole numbers from 0 to 20, most of them small
    size_t classes = 4;    // of Task::kClasses
    bool amounts = false;  // of a regression: on a logarithmic scale, from 0 to 100000
};

inline TargetSpec TestTarget(const DataShape& shape) {
    if (shape.task == Task::kBinary)
        return TargetSpec::Binary();
    if (shape.task == Task::kClasses) {
        std::vector<std::string> labels;
        for (size_t k = 0; k < shape.classes; k++)
            labels.push_back("class " + std::to_string(k));
        return TargetSpec::Classes(labels);
    }
    if (shape.amounts)
        return TargetSpec::Logarithmic(0, 100000);
    return shape.counts ? TargetSpec::Regression(0, 20) : TargetSpec::Regression(-1, 1);
}

inline std::vector<FeatureSpec> TestFeatures(const DataShape& shape) {
    std::vector<FeatureSpec> features;
    const uint32_t bins[] = {254, 40, 2, 129, 255, 1};
    for (int i = 0; i < shape.numeric; i++) {
        NumericRange range;
        range.scale = Scale::kLinear;
        range.bins = bins[i % 6];
        features.push_back(FeatureSpec::Numeric("n" + std::to_string(i), range));
    }
    for (int i = 0; i < shape.levels; i++) {
        std::vector<std::string> names;
        for (int level = 0; level < 3 + 20 * i; level++)
            names.push_back("level " + std::to_string(level));
        features.push_back(FeatureSpec::Levels("l" + std::to_string(i), names));
    }
    for (int i = 0; i < shape.wide; i++) {
        NumericRange range;
        range.scale = Scale::kLinear;
        range.bins = 1000;
        features.push_back(FeatureSpec::Numeric("w" + std::to_string(i), range));
    }
    return features;
}

// Codes are uniform, labels depend on the first column; a unit's rows lie anywhere.
inline Dataset RandomDataset(const DataShape& shape) {
    ChaChaSource source = TestSource(shape.key);
    Random random(source);
    const TargetSpec target = TestTarget(shape);
    DatasetBuilder builder(TestFeatures(shape), target, shape.units > 0);
    for (size_t row = 0; row < shape.rows; row++) {
        if (builder.Full())
            builder.Grow();
        double signal = 0;
        for (size_t column = 0; column < builder.features().size(); column++) {
            const FeatureSpec& spec = builder.features()[column];
            uint16_t code = static_cast<uint16_t>(random.Below(spec.bins()));
            if (random.Bernoulli(static_cast<uint64_t>(shape.missing_percent), 100))
                code = spec.missing();
            if (column == 0)
                signal = static_cast<double>(code) / spec.bins();
            if (column == 1 && shape.product)
                signal = (signal < 0.5) == (2 * code < spec.bins()) ? 0.9 : 0.1;
            builder.SetCode(column, code);
        }
        double value = 0;
        if (shape.task == Task::kBinary)
            value = static_cast<double>(random.Bernoulli(static_cast<uint64_t>(signal * 90) + 5, 100));
        else if (shape.task == Task::kClasses)  // the one that the signal points to, or any
            value = static_cast<double>(
                random.Below(10) > 0
                    ? static_cast<uint64_t>(0.999 * signal * static_cast<double>(shape.classes))
                    : random.Below(shape.classes));
        else if (shape.counts)
            value = static_cast<double>(random.Below(1 + static_cast<uint64_t>(6 * signal * signal)));
        else if (shape.amounts)
            value = 20 * (1 + 40 * signal * signal) * (1 + static_cast<double>(random.Below(1000)) / 200);
        else
            value = 2 * signal - 1 + (static_cast<double>(random.Below(1000)) / 1000 - 0.5) / 5;
        float label = 0;
        target.Label(value, &label);
        const int64_t unit = shape.units > 0 ? static_cast<int64_t>(random.Below(shape.units)) : 0;
        builder.AppendRow(label, UnitKeyOf(unit));
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

// The same rows but those of one unit; of none if that is UINT32_MAX.
inline Dataset WithoutUnit(const Dataset& all, bool units, uint32_t left_out) {
    return ChosenRows(all, units, [&](size_t row) { return all.Unit(row) != left_out; });
}

}  // namespace dpboost
