#include "learner/evaluation/figures/score_masses.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// Where rows lie between two knots differs from what is expected by about this part of what it could, from knot to knot
// anew, and by this part everywhere alike.
constexpr double kOwnDoubt = 0.5;
constexpr double kCommonDoubt = 0.1;
// Rows that count for an outermost knot lie beyond it by about this part of the distance to the next.
constexpr double kBeyond = 0.2;
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
ScoreMasses::ScoreMasses(const ScoreBins& bins, const ClassCounts& counts) : bins_(bins), counts_(counts) {
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
    return DoubtOf(false, terms.negatives) + DoubtOf(true, terms.positives);
}

// By how much a sum may be off because rows beyond the outermost knots count as if they were there: the terms go on as
// they do between the last two knots.
double ScoreMasses::Beyond(bool positive, const Eigen::VectorXd& told) const {
    const std::vector<double>& counts = positive ? counts_.positives : counts_.negatives;
    const Eigen::Index last = told.size() - 1;
    double far = 0;
    if (bins_.open_below())
        far += std::max(0.0, counts.front()) * std::fabs(told[0] - told[1]);
    if (bins_.open_above())
        far += std::max(0.0, counts.back()) * std::fabs(told[last] - told[last - 1]);
    return kBeyond * far;
}

// The terms are some function that is linear between knots, which counts tell but for their noise, and a rest, of which
// they tell nothing.
double ScoreMasses::DoubtOf(bool positive, const std::vector<double>& terms) const {
    const std::vector<double>& masses = masses_.of(positive);
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
    return Square(counts_.sigma) * told.squaredNorm() + own + Square(common) + Square(Beyond(positive, told));
}

}  // namespace dpboost
