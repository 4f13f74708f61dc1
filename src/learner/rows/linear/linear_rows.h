// The rows of `adassp`: X'X, and X'g for the gradients of a linear model, as raw integer sums on a lattice. Every row's
// part in them is an integer vector within the bounds of learner/rows/design.h, exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "learner/objective/objective.h"
#include "learner/rows/additive/code_groups.h"
#include "learner/rows/linear/design.h"
#include "mechanism/releaser.h"

namespace dpboost {

class Dataset;

class LinearRows {
  public:
    // Bytes per row of codes and weights.
    static std::size_t BytesPerRow(std::size_t features, bool has_units) {
        return features + sizeof(uint16_t) + (has_units ? sizeof(uint16_t) : 0);
    }

    // Rounds to come decide whether grouping codes pays. All references must outlive the rows. Throws
    // kLimitExceeded if there is no memory for them. Sums are the same with any number of threads.
    LinearRows(const Dataset& dataset, const Design& design, const Objective& objective, uint32_t rounds,
               Simd simd, Interrupt& interrupt, int threads = 1);

    // The entries design.products() of sum_r w_r x_r x_r'.
    RawSums Products();

    // sum_r trunc(g_r w_r / W) x_r, g_r = the clipped negative gradient at score base + sum of tables, in
    // units of clip / kClipSteps.
    RawSums Gradients(int32_t base, const std::vector<std::vector<int32_t>>& tables);

  private:
    // Of one worker: what it has summed in a round, and its block.
    struct Worker {
        int64_t total = 0;
        std::vector<std::vector<int64_t>> sums;  // of each group
        std::vector<std::vector<uint16_t>> scratch;
        std::vector<const uint16_t*> codes;
        std::vector<int32_t> scores, gradients, hessians;
    };

    void FindWeights();
    void AddProducts(std::size_t first, std::size_t end, std::vector<int64_t>& matrix) const;
    void Prepare(Worker& worker) const;
    void SumBlock(std::size_t block, int32_t base, Worker& worker) const;
    static void SumGroups(std::size_t rows, Worker& worker);

    const Dataset& dataset_;
    const Design& design_;
    const Simd simd_;
    Interrupt& interrupt_;
    const Objective& objective_;
    CodeGroups groups_;
    WorkerPool pool_;
    std::vector<Worker> workers_;
    std::vector<uint16_t> weights_;                   // per row; empty without units: all kUnitWeight
    std::vector<std::vector<int32_t>> group_tables_;  // of one round
};

}  // namespace dpboost
