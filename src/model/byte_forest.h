// Forests whose questions fit into bytes, for machines with AVX2: a row becomes some tens of bytes, and its way down a
// tree is found three levels at a time (byte_walk.h). Sums equal those of Model::Scores exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/simd.h"
#include "model/byte_walk.h"
#include "model/model.h"
#include "model/polling.h"

namespace dpboost {

// Keeps no reference to the model.
class ByteForest {
  public:
    // Of some of the model's trees. Nothing without AVX2, and nothing for few trees, with subsets, or with more questions
    // than the bytes of a row can answer.
    static std::optional<ByteForest> Of(const Model& model, const std::vector<const Tree*>& trees, Simd simd,
                                        Polling* polling);

    // Adds the leaves of a row to the scores of all outputs. Codes as in Predictor.
    void AddLeaves(const uint16_t* codes, int64_t* scores) const noexcept;

    size_t memory_used() const noexcept;

  private:
    // A byte of a row: how a feature's code answers up to 255 questions of one kind.
    struct Slot {
        uint32_t feature;
        uint16_t missing;
        size_t offset;  // into slot_bytes_, by code
    };
    // Trees of one depth.
    struct Forest {
        unsigned depth;
        size_t trees;
        size_t top_offset;
        size_t lower_offsets[kMaxDepth / kGroupLevels];  // of each stage below the top
        size_t leaf_offset;
    };

    class Compiler;

    ByteForest() = default;
    void AddForest(const Forest& forest, const uint8_t* row, int64_t* scores) const noexcept;

    size_t outputs_ = 1;
    std::vector<Slot> slots_;
    std::vector<uint8_t> slot_bytes_;
    std::vector<Forest> forests_;
    std::vector<TopGroups> tops_;
    std::vector<QuestionGroup> lower_;
    std::vector<int32_t> leaves_;
};

}  // namespace dpboost
