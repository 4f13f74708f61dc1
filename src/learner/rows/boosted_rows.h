// The rows of a boosted ensemble as its method sees them: trees go in, raw sums per leaf come out. Scores, gradients and
// who is sampled stay inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interrupt.h"
#include "base/simd.h"
#include "base/worker_pool.h"
#include "learner/objective/objective.h"
#include "learner/rows/leaf/leaf_sums.h"
#include "mechanism/random.h"
#include "model/tree.h"

namespace dpboost {

class Dataset;
class Model;
class UnitRounds;
struct KeptGradients;

struct BoostedRowsOptions {
    ObjectiveKind objective = ObjectiveKind::kSquared;
    double gradient_clip = 1;
    double hessian_clip = 1;
    bool count_rows = false;  // the Hessian is a count
    double hessian_share = 0.5;
    int depth = 1;
    int32_t base = 0;                  // the score that all rows start with
    std::vector<int32_t> class_bases;  // of several outputs: those that they start with
    bool keep_gradients =
        false;  // of all rows, from EvaluateAll to EvaluateAll; else of sampled rows, when needed
    uint64_t filter_limit = 0;  // a Renyi filter lets a unit take part in rounds worth so many; 0: no filter
    UnitRounds* unit_rounds = nullptr;  // with a filter: and each unit only as far as its own account lets it
};

// Threads that are worth it: of few blocks of rows, a second thread's own memory costs more than it gains.
int ThreadsFor(const Dataset& dataset, int threads);

class BoostedRows {
  public:
    static size_t BytesPerRow(const BoostedRowsOptions& options);

    // Dataset and pool must outlive the object. Throws kOutOfMemory if its state would not fit.
    BoostedRows(const Dataset& dataset, const BoostedRowsOptions& options, Simd simd, WorkerPool& pool);
    ~BoostedRows();

    // Before the first tree: rows start at what the model says about them, instead of at the options' base.
    void StartFrom(const Model& model, Interrupt& interrupt);

    // How many trees can be given at once.
    int trees_per_group() const;

    // The next trees, whose leaf values are still unknown. Those before that have got theirs are part of the scores from now
    // on; the others are forgotten.
    void Begin(const Tree* trees, int count, Interrupt& interrupt);

    // Sums over the leaves of tree `slot` of the group, of each unit with probability `rate`, by the scores of all trees so
    // far that have got their values.
    //
    // Neighbours: add or remove one unit. Sensitivity: a row adds at most kClipSteps to one Hessian sum and one gradient
    // sum, or a vector of at most that length to the K gradient sums of a leaf (softmax.cpp); a unit of several rows is
    // scaled down to the same weighted norm (leaf_sums.h).
    RawGradientSums LeafSums(int slot, SamplingRate rate, PrivateRandom& coins, Interrupt& interrupt);

    // The values of one tree of the group; slots are set in ascending order.
    void SetLeaves(int slot, const std::vector<int32_t>& leaves);

    // Evaluates the gradients of all rows at the scores of all trees so far. With keep_gradients only.
    void EvaluateAll(Interrupt& interrupt);
    const KeptGradients& gradients() const;

    // After the last tree, with unit_rounds: tells them what each unit has lost.
    void SettleUnits();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace dpboost
