// Who takes part in which tree of an ensemble ([DPBOOST] Alg 2, "ensemble of ensembles"): every unit
// in exactly one, drawn independently of all rows and of all other units.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/pure/pure_options.h"
#include "mechanism/random.h"

namespace dpboost {

// Draws the subsets of one ensemble: a unit gets tree k with the probability of SubsetPart, on a grid of
// 2^-32, and is represented by one of its rows, drawn as well.
//
// Departure from the paper, which draws |D| eta (1 - eta)^k / (1 - (1 - eta)^T_e) rows without replacement:
// those sizes tell the number of rows, and with one row more every later draw changes, so that neighbours
// differ in more than one row of more than one tree and parallel composition does not apply under add/remove.
// Here, given the draws of all units, neighbours differ by one row of one tree, and the ensemble is as
// private as that tree; mixing over the draws keeps every bound, because hockey-stick and Renyi divergences
// are jointly (quasi-)convex and the draws have the same distribution with and without the unit.
class Subsets {
  public:
    explicit Subsets(const PureOptions& options);

    // rows(k) are the rows of tree k, in the order of the units.
    void Draw(const Dataset& dataset, Random& random, Interrupt& interrupt);
    const std::vector<uint32_t>& rows(std::size_t tree) const { return rows_[tree]; }

    // Probability of each tree, times 2^32; they sum to exactly that.
    std::vector<uint64_t> Probabilities() const;

  private:
    std::size_t TreeOf(uint32_t draw) const;

    std::vector<uint64_t> ends_;  // cumulated probabilities
    std::vector<std::vector<uint32_t>> rows_;
};

}  // namespace dpboost
