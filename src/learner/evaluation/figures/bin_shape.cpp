#include "learner/evaluation/figures/bin_shape.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace dpboost {
namespace {

double Square(double x) {
    return x * x;
}

// In the middle of its weight.
const ScoreNode& Middle(const std::vector<ScoreNode>& nodes) {
    double left = 0;
    for (const ScoreNode& node : nodes)
        left += node.weight / 2;
    for (const ScoreNode& node : nodes)
        if ((left -= node.weight) <= 0)
            return node;
    return nodes.back();
}

// The standard deviation of the scores that are expected.
double SpreadOf(const ScoreBins& bins) {
    double rows = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < bins.size(); i++)
        for (const ScoreNode& node : bins.nodes(i)) {
            rows += node.weight;
            sum += node.weight * node.odds;
            squares += node.weight * Square(node.odds);
        }
    const double variance = squares / rows - Square(sum / rows);
    return variance > 1e-12 ? std::sqrt(variance) : 1;
}

// The bins of a class, over what the reference and the model's probabilities expect in them.
TiltChain ChainOf(const ScoreBins& bins, const ClassCounts& counts, bool positive, double spread) {
    std::vector<TiltBin> chain(bins.size());
    for (size_t i = 0; i < bins.size(); i++) {
        const double middle = Middle(bins.nodes(i)).odds;
        chain[i].at = middle / spread;
        for (const ScoreNode& node : bins.nodes(i))
            chain[i].nodes.push_back(
                {(node.odds - middle) / spread, node.weight * (positive ? node.p : 1 - node.p)});
        chain[i].count = counts.Of(i, positive);
        chain[i].variance = Square(counts.sigma) + std::max(1.0, chain[i].count);  // noise, and chance
    }
    return TiltChain(chain);
}

}  // namespace

BinShape::BinShape(const ScoreBins& bins, const ClassCounts& counts)
    : bins_(bins),
      spread_(SpreadOf(bins)),
      positives_(ChainOf(bins, counts, true, spread_)),
      negatives_(ChainOf(bins, counts, false, spread_)) {}

ScoreTilt BinShape::TiltOf(size_t bin) const {
    return {positives_.tilt(bin) / spread_, negatives_.tilt(bin) / spread_};
}

std::vector<ScoreBin> BinShape::Bins() const {
    std::vector<ScoreBin> shaped;
    for (size_t i = 0; i < bins_.size(); i++)
        shaped.push_back(bins_.Tilted(i, TiltOf(i)));
    return shaped;
}

ScoreBin BinShape::Doubted(size_t bin, bool positive, int direction) const {
    ScoreTilt tilt = TiltOf(bin);
    (positive ? tilt.positive : tilt.negative) +=
        direction * (positive ? positives_ : negatives_).doubt(bin) / spread_;
    return bins_.Tilted(bin, tilt);
}

double BinShape::Variance(bool positive, const std::vector<double>& changes) const {
    const TiltChain& chain = positive ? positives_ : negatives_;
    std::vector<double> gradient(changes.size());
    for (size_t bin = 0; bin < changes.size(); bin++)
        if (chain.doubt(bin) > 0)
            gradient[bin] = changes[bin] / chain.doubt(bin);
    return chain.Variance(gradient);
}

}  // namespace dpboost
