// Who takes part in which tree of an ensemble ([DPBOOST] Alg 2, "ensemble of ensembles"): every unit in exactly one,
// drawn independently of all rows and of all other units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "mechanism/random.h"

namespace dpboost {

// Departure from the paper, which draws |D| eta (1 - eta)^k / (1 - (1 - eta)^T_e) rows without replacement:
// those sizes tell the number of rows, and with one row more every later draw changes, so that neighbours
// differ in more than one row of more than one tree and parallel composition does not apply under add/remove.
// Here, given the draws of all units, neighbours differ by one row of one tree, and the ensemble is as
// private as that tree; mixing over the draws keeps every bound, because hockey-stick and Renyi divergences
// are jointly (quasi-)convex and the draws have the same distribution with and without the unit.
class Subsets {
  public:
    // ends[k]: the probability of one of the trees 0 to k, times 2^32; the last is exactly that.
    explicit Subsets(std::vector<uint64_t> ends);

    // Draws a tree for every unit, and which of its rows represents it there.
    void Draw(const Dataset& dataset, PrivateRandom& coins, Interrupt& interrupt);
    // The rows of tree k, in the order of the units.
    const std::vector<uint32_t>& rows(std::size_t k) const { return rows_[k]; }

  private:
    std::vector<uint64_t> ends_;
    std::vector<std::vector<uint32_t>> rows_;
};

}  // namespace dpboost
