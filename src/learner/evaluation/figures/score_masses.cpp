#include "learner/evaluation/figures/score_masses.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// Where rows lie between two knots differs from what is expected by about this part of what it could, from knot to knot
// anew, and by this part everywhere alike.
constexpr double kOwnDoubt = 0.5;
constexpr double kCommonDoubt = 0.1;
constexpr double kRidge = 1e-9;

double Square(double x) {
    return x * x;
}

// The value at a node of what is linear between knots.
double Between(const Eigen::VectorXd& at_knots, const ScoreNode& node) {
    const auto at = static_cast<Eigen::Index>(node.bin);
    return at_knots[at] * (1 - node.part) + (node.part > 0 ? at_knots[at + 1] * node.part : 0);
}

}  // namespace

// With w the rows that are expected at nodes and B how they count for bins, B' w B d = counts is solved by the density d at
// knots, over what is expected; masses are w B d.
ScoreMasses::ScoreMasses(const ScoreBins& bins, const ClassCounts& counts)
    : bins_(bins), sigma_(counts.sigma) {
    const auto size = static_cast<Eigen::Index>(bins.size());
    Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
    for (const ScoreNode& node : bins.nodes()) {
        const auto at = static_cast<Eigen::Index>(node.bin);
        const double here = 1 - node.part;
        products(at, at) += node.weight * here * here;
        if (node.part > 0) {
            products(at, at + 1) += node.weight * here * node.part;
            products(at + 1, at) += node.weight * here * node.part;
            products(at + 1, at + 1) += node.weight * node.part * node.part;
        }
    }
    products.diagonal() *= 1 + kRidge;
    fit_.compute(products);
    for (const bool positive : {false, true}) {
        const std::vector<double>& told = positive ? counts.positives : counts.negatives;
        const Eigen::VectorXd density = fit_.solve(Eigen::Map<const Eigen::VectorXd>(told.data(), size));
        for (const ScoreNode& node : bins.nodes())
            masses_.of(positive).push_back(node.weight * Between(density, node));
    }
}

double ScoreMasses::Doubt(const ByClass& terms) const {
    return DoubtOf(masses_.negatives, terms.negatives) + DoubtOf(masses_.positives, terms.positives);
}

// The terms are some function that is linear between knots, which counts tell but for their noise, and a rest, of which
// they tell nothing.
double ScoreMasses::DoubtOf(const std::vector<double>& masses, const std::vector<double>& terms) const {
    const std::vector<ScoreNode>& nodes = bins_.nodes();
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(bins_.size()));
    for (size_t i = 0; i < nodes.size(); i++) {
        const auto at = static_cast<Eigen::Index>(nodes[i].bin);
        sums[at] += nodes[i].weight * (1 - nodes[i].part) * terms[i];
        if (nodes[i].part > 0)
            sums[at + 1] += nodes[i].weight * nodes[i].part * terms[i];
    }
    const Eigen::VectorXd told = fit_.solve(sums);
    double own = 0, common = 0;
    for (size_t i = 0; i < nodes.size();) {
        const size_t bin = nodes[i].bin;
        double rows = 0, rest = 0, expected = 0;
        for (; i < nodes.size() && nodes[i].bin == bin; i++) {
            rest += nodes[i].weight * Square(terms[i] - Between(told, nodes[i]));
            expected += nodes[i].weight;
            rows += masses[i];
        }
        const double far = std::max(0.0, rows) * std::sqrt(rest / expected);
        own += Square(kOwnDoubt * far);
        common += kCommonDoubt * far;
    }
    return Square(sigma_) * told.squaredNorm() + own + Square(common);
}

}  // namespace dpboost
