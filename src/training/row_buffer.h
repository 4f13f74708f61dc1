// Rows on their way into the dataset, and the memory that the trainings of one process hold together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/encoder.h"

namespace dpboost {

// How much rows count, as a share of the largest weight that the public ranges allow.
struct RowWeights {
    int column = -1;  // of the call, that holds a number from `least` to `most`; -1: none
    double least = 0;
    double most = 1;
    std::vector<double> classes;  // a factor of at most 1 for each class; empty: none

    bool any() const { return column >= 0 || !classes.empty(); }
    // In units of 1 / kFullWeight, never above that: a value out of range is clamped, a missing one (NaN) counts nothing.
    uint16_t Of(double value, float label) const;
};

// Rows are kept by column, so that a column's values are encoded in one go: numbers as they are (NaN: missing),
// everything else as codes. The caller fills row after row and lets the training take a full buffer.
struct RowBuffer {
    static constexpr size_t kRows = 128;

    // One column for each of `features`, of which that of the weights does not reach the dataset.
    RowBuffer(const std::vector<FeatureSpec>& features, bool has_units, RowWeights row_weights = {});
    RowBuffer(const RowBuffer&) = delete;
    RowBuffer& operator=(const RowBuffer&) = delete;

    size_t rows = 0;
    std::vector<double> numbers;  // kRows per numeric feature
    std::vector<uint16_t> codes;  // kRows per other feature
    std::vector<float> labels;
    std::vector<UnitKey> units;  // empty without privacy units
    // Where each feature's values begin; one of the two is null.
    struct Column {
        double* numbers;
        uint16_t* codes;
    };
    std::vector<Column> columns;
    RowWeights row_weights;

    // Gives `count` rows from `first` on to the builder, which has room for them.
    void Append(const std::vector<Encoder>& encoders, size_t first, size_t count,
                DatasetBuilder& builder) const;

    size_t bytes() const;
};

// Gives all buffered rows to the builder, and calls grown() whenever it has taken more memory. Throws kOutOfMemory.
template <typename Grown>
void AppendBuffered(const std::vector<Encoder>& encoders, RowBuffer* buffer, DatasetBuilder* builder,
                    const Grown& grown) {
    for (size_t done = 0; done < buffer->rows;) {
        if (builder->Full()) {
            builder->Grow();
            grown();
        }
        const size_t count = std::min(buffer->rows - done, builder->room());
        buffer->Append(encoders, done, count, *builder);
        done += count;
    }
    buffer->rows = 0;
}

// What one training holds. All of a process share dpboost.max_memory (GROUP BY trains one model per group).
class HeldMemory {
  public:
    // `alone`: the limit is for this training alone. With rows that the caller may not see, what he holds besides
    // must not decide whether they still fit, or he could count them.
    HeldMemory(size_t limit, bool alone) : limit_(limit), alone_(alone) {}
    ~HeldMemory();
    HeldMemory(const HeldMemory&) = delete;
    HeldMemory& operator=(const HeldMemory&) = delete;

    // Counts so many bytes instead of those before. Throws kOutOfMemory beyond the limit, and then changes nothing.
    void Count(size_t bytes);

  private:
    size_t limit_;
    bool alone_;
    size_t bytes_ = 0;
};

}  // namespace dpboost
