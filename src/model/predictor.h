// Prediction of many rows, one at a time, from a model's codes. Trees on two or three features may be ProductGrids; where a
// ByteForest can hold the others, it does. Else every distinct question that they ask is answered once per row into a byte
// array; a step down a tree is then two loads and an add. Scores equal Model::Score bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/byte_forest.h"
#include "model/model.h"
#include "model/product_grids.h"

namespace dpboost {

// Keeps no reference to the model. Not const: it owns scratch memory, so one per thread.
class Predictor {
  public:
    explicit Predictor(const Model& model, Simd simd = BestSimd(), Interrupt* interrupt = nullptr);

    size_t outputs() const noexcept { return bases_.size(); }
    // codes: one per feature, in order; a code beyond the feature's cells counts as missing. Scores writes those of all
    // outputs; the others are for models with one.
    void Scores(const uint16_t* codes, int64_t* scores) noexcept;
    int64_t Score(const uint16_t* codes) noexcept;
    double Predict(const uint16_t* codes) noexcept { return Respond(link_, target_, Score(codes)); }

    // Bytes held, nearly exact.
    size_t memory_used() const noexcept;

  private:
    struct Table {
        uint32_t feature;
        uint16_t missing;
        size_t offset;
    };
    // The questions about one feature are neighbours in answers_: first the thresholds in ascending order,
    // then levels and subsets. An answer is 1 for "goes right".
    struct Questions {
        uint32_t feature;
        uint16_t missing;
        uint32_t begin;
        uint32_t thresholds;
        uint32_t others;
        size_t rank_offset;     // into ranks_: by code, how many thresholds are below it
        size_t missing_offset;  // into missing_answers_: the thresholds' answers for the missing code
        size_t other_offset;    // into other_answers_: by code, the answers of the others
    };
    // Trees of one depth. Nodes are question numbers in heap order from 1, the tree's 0th entry unused.
    struct Forest {
        unsigned depth;
        size_t trees;
        size_t node_offset;
        size_t leaf_offset;
    };

    class Compiler;

    void Compile(const Model& model, Simd simd, Polling* polling);
    void Answer(const uint16_t* codes) noexcept;
    template <typename Id>
    int64_t SumForest(const Forest& forest, const Id* nodes) const noexcept;
    template <typename Id>
    void AddForest(const Forest& forest, const Id* nodes, int64_t* scores) const noexcept;

    Link link_;
    TargetSpec target_;
    std::vector<int32_t> bases_;
    std::vector<Table> tables_;
    std::vector<int32_t> table_values_;  // values of all outputs side by side, as in leaves_

    std::vector<Questions> questions_;
    std::vector<uint32_t> ranks_;  // twice the bins at most: 16 bits do not always suffice
    std::vector<uint8_t> window_;  // as many 1s as any feature has thresholds, then as many 0s
    std::vector<uint8_t> missing_answers_;
    std::vector<uint8_t> other_answers_;
    std::vector<uint8_t> answers_;

    std::vector<Forest> forests_;
    std::vector<uint16_t> narrow_nodes_;  // if question numbers fit into 16 bits
    std::vector<uint32_t> wide_nodes_;    // else
    std::vector<int32_t> leaves_;

    std::optional<ProductGrids> grids_;
    std::optional<ByteForest> bytes_;
    std::optional<Model> plain_;  // for models whose questions would take too much memory
};

}  // namespace dpboost
