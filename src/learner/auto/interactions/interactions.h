// Interactions in `auto`: what the one-feature tables cannot say. A query asks which products of two or three features
// the gradients follow, by a few smooth functions of their ranks, which takes far less noise than asking about cells.
// The products that stand out then get a part of the pool: smooth steps, and trees on random intervals of their ranks.
// Additive data pay for the query only.
#pragma once

#include <cstdint>
#include <vector>

#include "learner/auto/interactions/product_tables.h"

namespace dpboost {

// The smooth functions of a product's ranks and how much each weighs in a row's vector.
struct SmoothWeights {
    SmoothWeights(const AutoSchedule& schedule, const std::vector<std::vector<uint32_t>>& products);

    const std::vector<double>& Of(size_t features) const { return features == 2 ? pair : triple; }

    std::vector<double> pair, triple;
    double norm = 0;  // squared, of a row's vector on average
};

// How much all pairs together reduce the loss, to what gradients could be at the most, and its noise.
struct PairsTogether {
    double explained = 0;
    double sd = 0;
};
// For `fraction` of the pool, by the same query.
PairsTogether AskPairs(const AdditiveStage& stage, double fraction);
// About the noise it has for all of the pool; the less of it, the more, in proportion.
double NoiseOfPairs(const AdditiveStage& stage);

class Interactions {
  public:
    explicit Interactions(const AdditiveStage& stage);

    // Asks about products of at most `max_features` (2 or 3), for `fraction` of the pool.
    void Find(double fraction, uint32_t max_features);
    // Of what the residual stage has left; 0: nothing was found.
    double share() const { return share_; }
    // Spends the pool down to `leave`.
    void Grow(double leave);
    const ProductTables& tables() const { return tables_; }

  private:
    struct Group {
        std::vector<uint32_t> features;
        double weight = 0;          // of its trees among all
        uint32_t intervals = 0;     // of each feature
        std::vector<size_t> pairs;  // of found_: one for a pair, two for a chain, none for a triple
        double signal = 0;          // to noise, summed over its trees so far
        double trees = 0;
        std::vector<double> cells;  // rows that are expected per cell of the groups that are told apart
    };
    struct Found {
        std::vector<uint32_t> features;
        double score = 0;                   // reduction of the loss beyond noise, about
        std::vector<double> coarse, cells;  // of a pair: rows per pair of digits and of rank groups
    };

    struct Scores {
        std::vector<std::vector<uint32_t>> products;
        std::vector<double> scores;  // reduction of the loss beyond noise, about,
        std::vector<double> sigmas;  // and its noise
        double most;                 // what it could be at the most
    };
    friend PairsTogether AskPairs(const AdditiveStage& stage, double fraction);

    // Neighbours: add or remove one unit. Sensitivity: a row adds its clipped gradient times a vector of bounded norm
    // (BasisRows::SetBasis), a unit is scaled down to the same. Charge: one draw.
    Scores Ask(double fraction, uint32_t max_features) const;
    void Smooth(const NoisyGradients& gradients, double unit, const Basis& basis,
                const SmoothWeights& weights);
    void TakeSmoothSteps(double leave);
    // A row is in one cell of each pair: sensitivity sqrt(pairs). Charge: one draw.
    void CountPairs(double fraction);
    std::vector<Group> MakeGroups() const;
    struct ProductTree {
        Group* group;
        std::vector<ProductFactorGroups> factors;
    };
    ProductTree DrawTree(Group& group) const;
    // Trees from the same scores. A row is in one leaf of each: sensitivity the clip times the root of their number.
    // Charge: one draw.
    void GrowTrees(const std::vector<ProductTree>& trees, double fraction, double rate, double kappa);
    std::vector<double> LeafRows(const ProductTree& tree, uint32_t leaves) const;
    void AddTree(const ProductTree& tree, const NoisyGradients& sums, const Basis& basis, size_t block,
                 double rate, double kappa);
    std::vector<double> ExpectedRows(const Group& group) const;
    // By how much trees go further where the signal is strong and noise small; 1 at least.
    double StrengthBeyond() const;

    Basis SmoothBasis(const std::vector<std::vector<uint32_t>>& products, const SmoothWeights& weights) const;
    uint64_t NormLimit(const SmoothWeights& weights) const;

    const AdditiveStage& stage_;
    const AutoSchedule& schedule_;
    ProductTables tables_;
    double clip_;
    std::unique_ptr<const Objective> objective_;
    std::vector<Found> found_;
    double share_ = 0;
};

}  // namespace dpboost
