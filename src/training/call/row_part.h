// Rows that another process reads for a training: it is told how to encode them, not what the call is, and sends them as
// they come, a block at a time. It needs no catalog, holds no plan and cannot draw.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/encoder.h"
#include "training/columns.h"
#include "training/row_buffer.h"

namespace dpboost {

// What RowPart is made of: the encodings of the call's columns, that of the weights among them.
std::string WriteRecipe(const std::vector<FeatureSpec>& columns, const TargetRule& target,
                        const RowWeights& weights, bool has_units);

class RowPart {
  public:
    // Throws Error(kCorrupted) for bytes that WriteRecipe did not make.
    explicit RowPart(std::string_view recipe);
    RowPart(const RowPart&) = delete;
    RowPart& operator=(const RowPart&) = delete;

    const TargetRule& target() const { return target_; }
    const std::vector<Encoder>& encoders() const { return encoders_; }
    RowBuffer* buffer() { return &*buffer_; }

    // Takes the buffered rows. When a block of them is complete, or with `last` whatever there is: the rows for
    // TrainingCore::AppendPart, valid until the next call. Else nothing.
    std::string_view AppendRows(bool last);

  private:
    TargetRule target_;
    std::vector<Encoder> encoders_;
    std::optional<RowBuffer> buffer_;
    std::optional<DatasetBuilder> builder_;
    size_t rows_ = 0;  // in the builder
    std::string sent_;
};

}  // namespace dpboost
