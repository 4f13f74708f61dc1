#include "learner/evaluation/score_bins.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kRowsPerBin = 15;  // in standard deviations of the noise, of the smaller class
constexpr double kReach = 2.2;
constexpr double kOuterWidth = 1.4;  // of an outer bin that the reference hardly reaches, in log odds
constexpr size_t kEnoughDraws = 20;
constexpr size_t kNodes = 12;

// The score at which the prediction is 1/2; at most that is predicted to be negative.
int64_t HalfScore(Link link) {
    return link == Link::kLog ? ToFixed(std::log(0.5)) : 0;
}

std::vector<int64_t> Edges(const Model& model, const ReferenceDraws& reference, size_t count) {
    std::vector<int64_t> edges{HalfScore(model.link())};
    const size_t quantiles = count / 2;
    for (size_t i = 1; i <= quantiles; i++)
        edges.push_back(reference.Quantile(static_cast<double>(i) / static_cast<double>(quantiles + 1)));
    const auto middle = static_cast<double>(reference.Quantile(0.5));
    const double low = middle - kReach * (middle - static_cast<double>(reference.Quantile(0.05)));
    const double high = middle + kReach * (static_cast<double>(reference.Quantile(0.95)) - middle);
    const size_t even = count - 1 - quantiles;
    for (size_t i = 0; i < even; i++)
        edges.push_back(static_cast<int64_t>(low + (high - low) * static_cast<double>(i) /
                                                       static_cast<double>(even - 1)));
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

// A figure over rows of one class, each with a weight.
class Weighted {
  public:
    void Add(double weight, double value) {
        weight_ += weight;
        sum_ += weight * value;
        squares_ += weight * value * value;
    }
    double weight() const { return weight_; }
    double Mean(double otherwise) const { return weight_ > 0 ? sum_ / weight_ : otherwise; }
    double Spread() const {
        const double mean = Mean(0);
        return weight_ > 0 ? std::sqrt(std::max(0.0, squares_ / weight_ - mean * mean)) : 0;
    }

  private:
    double weight_ = 0, sum_ = 0, squares_ = 0;
};

// What is said of rows, over scores in ascending order.
class Said {
  public:
    void Add(double p, double odds, double positive, double negative) {
        pairs_ += positive * (odds_negative_.weight() + negative / 2);  // of equal ones half, summed up
        log_positive_.Add(positive, LogLoss(p));
        log_negative_.Add(negative, LogLoss(1 - p));
        square_positive_.Add(positive, (1 - p) * (1 - p));
        square_negative_.Add(negative, p * p);
        odds_positive_.Add(positive, odds);
        odds_negative_.Add(negative, odds);
    }

    ScoreBin Bin() const {
        ScoreBin bin{};
        bin.log_positive = log_positive_.Mean(kMaxLogLoss);
        bin.log_negative = log_negative_.Mean(kMaxLogLoss);
        bin.square_positive = square_positive_.Mean(1);
        bin.square_negative = square_negative_.Mean(1);
        bin.log_positive_spread = log_positive_.Spread();
        bin.log_negative_spread = log_negative_.Spread();
        bin.square_positive_spread = square_positive_.Spread();
        bin.square_negative_spread = square_negative_.Spread();
        bin.odds_positive = odds_positive_.Mean(odds_negative_.Mean(0));
        bin.odds_negative = odds_negative_.Mean(odds_positive_.Mean(0));
        bin.odds_positive_spread = odds_positive_.Spread();
        bin.odds_negative_spread = odds_negative_.Spread();
        const double pairs = odds_positive_.weight() * odds_negative_.weight();
        bin.order = pairs > 0 ? pairs_ / pairs - 0.5 : 0;
        return bin;
    }

  private:
    double pairs_ = 0;
    Weighted log_positive_, log_negative_, square_positive_, square_negative_, odds_positive_, odds_negative_;
};

ScoreNode NodeOf(double p, double weight) {
    const double inside = std::clamp(p, 0.0, 1.0);
    return {LogOdds(inside), inside, weight};
}

// Draws of a bin, ascending, as few nodes that stand for equally many each.
std::vector<ScoreNode> NodesOf(const double* predictions, size_t count) {
    std::vector<ScoreNode> nodes;
    const size_t groups = std::min(count, kNodes);
    for (size_t group = 0; group < groups; group++) {
        const size_t begin = group * count / groups, end = (group + 1) * count / groups;
        double p = 0, odds = 0;
        for (size_t i = begin; i < end; i++) {
            const ScoreNode draw = NodeOf(predictions[i], 1);
            p += draw.p;
            odds += draw.odds;
        }
        const auto draws = static_cast<double>(end - begin);
        nodes.push_back({odds / draws, p / draws, draws});
    }
    return nodes;
}

// An even grid over a bin that the reference hardly reaches; of an outer one, some way beyond its edge.
std::vector<ScoreNode> GridOver(const Model& model, const std::vector<int64_t>& edges, size_t bin) {
    const int64_t spread = edges.back() - edges.front();
    const int64_t beyond = 3 * std::min<int64_t>(ToFixed(kOuterWidth), spread / 4 + 2);
    const int64_t low = bin == 0 ? edges.front() - beyond : edges[bin - 1];
    const int64_t high = bin == edges.size() ? edges.back() + beyond : edges[bin];
    std::vector<ScoreNode> nodes;
    for (size_t i = 0; i < kNodes; i++) {
        const auto part = static_cast<double>(2 * i + 1) / (2 * kNodes);
        nodes.push_back(
            NodeOf(model.Respond(low + static_cast<int64_t>(part * static_cast<double>(high - low))), 1));
    }
    return nodes;
}

}  // namespace

double LogLoss(double probability) {
    return probability > 0 ? std::min(-std::log(probability), kMaxLogLoss) : kMaxLogLoss;
}

double LogOdds(double probability) {
    return LogLoss(1 - probability) - LogLoss(probability);
}

size_t ScoreBins::CountFor(double nu, double mean_prediction) {
    const double minor = std::clamp(std::min(mean_prediction, 1 - mean_prediction), 0.0, 0.5);
    return static_cast<size_t>(
        std::clamp(nu * minor / kRowsPerBin, static_cast<double>(kMinBins), static_cast<double>(kMaxBins)));
}

ScoreBins::ScoreBins(const Model& model, const ReferenceDraws& reference, size_t count)
    : edges_(Edges(model, reference, std::clamp(count, kMinBins, kMaxBins))) {
    size_t draw = 0;
    for (size_t i = 0; i <= edges_.size(); i++) {
        const size_t first = draw;
        while (draw < reference.scores().size() && Find(reference.scores()[draw]) == i)
            draw++;
        drawn_.push_back(draw - first > kEnoughDraws);
        nodes_.push_back(drawn_[i] ? NodesOf(reference.predictions().data() + first, draw - first)
                                   : GridOver(model, edges_, i));
        ScoreBin frame{};
        frame.lower = i == 0 ? 0 : model.Respond(edges_[i - 1]);
        frame.upper = i == edges_.size() ? 1 : model.Respond(edges_[i]);
        frame.above_half = i > 0 && edges_[i - 1] >= HalfScore(model.link());
        bins_.push_back(frame);
        bins_[i] = Tilted(i, {});
    }
}

ScoreBin ScoreBins::Tilted(size_t bin, const ScoreTilt& tilt) const {
    const std::vector<ScoreNode>& nodes = nodes_[bin];
    const double middle = nodes[nodes.size() / 2].odds;
    // Beyond the outer edges rows become fewer.
    const double decay =
        drawn_[bin] || (bin > 0 && bin < edges_.size()) ? 0 : (bin == 0 ? kOuterDecay : -kOuterDecay);
    Said said;
    Weighted predicted;
    for (const ScoreNode& node : nodes) {
        const double far = node.odds - middle, weight = node.weight * std::exp(decay * far);
        const double positive = weight * node.p * std::exp(tilt.positive * far);
        const double negative = weight * (1 - node.p) * std::exp(tilt.negative * far);
        said.Add(node.p, node.odds, positive, negative);
        predicted.Add(weight, node.p);
    }
    ScoreBin tilted = said.Bin();
    tilted.predicted = predicted.Mean(0);
    tilted.lower = bins_[bin].lower;
    tilted.upper = bins_[bin].upper;
    tilted.above_half = bins_[bin].above_half;
    return tilted;
}

}  // namespace dpboost
