#include "learner/evaluation/score_bins.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

constexpr double kRowsPerBin = 15;  // in standard deviations of the noise, of the smaller class
constexpr double kReach = 2.2;
constexpr double kOuterWidth = 1.4;  // of an outer bin that the reference hardly reaches, in log odds
constexpr size_t kEnoughDraws = 20;

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

// A loss over rows of one class, each with a weight.
class WeightedLoss {
  public:
    void Add(double weight, double loss) {
        weight_ += weight;
        sum_ += weight * loss;
        squares_ += weight * loss * loss;
    }
    double Mean(double otherwise) const { return weight_ > 0 ? sum_ / std::max(weight_, 1e-12) : otherwise; }
    double Spread() const {
        const double mean = Mean(0);
        return weight_ > 0 ? std::sqrt(std::max(0.0, squares_ / std::max(weight_, 1e-12) - mean * mean)) : 0;
    }

  private:
    double weight_ = 0, sum_ = 0, squares_ = 0;
};

// What the model says, over draws in ascending order or scores that stand for them; a draw is p positive rows and
// 1 - p negative ones.
class Said {
  public:
    double draws() const { return draws_; }

    void Add(double p) {
        pairs_ += p * (negative_ + (1 - p) / 2);  // of equal ones half, summed up
        draws_ += 1;
        positive_ += p;
        negative_ += 1 - p;
        log_positive_.Add(p, LogLoss(p));
        log_negative_.Add(1 - p, LogLoss(1 - p));
        square_positive_.Add(p, (1 - p) * (1 - p));
        square_negative_.Add(1 - p, p * p);
        log_odds_.Add(1, LogOdds(p));
    }

    ScoreBin Bin() const {
        ScoreBin bin{};
        bin.predicted = positive_ / draws_;
        bin.log_positive = log_positive_.Mean(kMaxLogLoss);
        bin.log_negative = log_negative_.Mean(kMaxLogLoss);
        bin.square_positive = square_positive_.Mean(1);
        bin.square_negative = square_negative_.Mean(1);
        bin.log_positive_spread = log_positive_.Spread();
        bin.log_negative_spread = log_negative_.Spread();
        bin.square_positive_spread = square_positive_.Spread();
        bin.square_negative_spread = square_negative_.Spread();
        bin.log_odds = LogOdds(bin.predicted);
        bin.log_odds_spread = log_odds_.Spread();
        const double pairs = std::max(positive_, 1e-12) * std::max(negative_, 1e-12);
        bin.order = positive_ > 0 && negative_ > 0 ? pairs_ / pairs - 0.5 : 0;
        return bin;
    }

  private:
    double draws_ = 0, positive_ = 0, negative_ = 0, pairs_ = 0;
    WeightedLoss log_positive_, log_negative_, square_positive_, square_negative_, log_odds_;
};

// ScoreBin::order of scores that are spread evenly over a width in log odds, about.
double EvenOrder(double width) {
    return std::tanh(width / 6) / 2;
}

// Scores that stand for a bin which the reference hardly reaches, ascending; of an outer one a bit beyond its edge.
std::vector<int64_t> ScoresWithin(const std::vector<int64_t>& edges, size_t bin) {
    const int64_t spread = edges.back() - edges.front();
    const int64_t beyond = std::min<int64_t>(ToFixed(kOuterWidth), spread / 4 + 2);
    const int64_t low = bin == 0 ? edges.front() - beyond : edges[bin - 1];
    const int64_t high = bin == edges.size() ? edges.back() + beyond : edges[bin];
    const int64_t sixth = (high - low) / 6;
    return {low + sixth, low + (high - low) / 2, high - sixth};
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
    std::vector<Said> said(edges_.size() + 1);
    for (size_t i = 0; i < reference.scores().size(); i++)
        said[Find(reference.scores()[i])].Add(reference.predictions()[i]);
    for (size_t i = 0; i < said.size(); i++) {
        const bool enough = said[i].draws() > kEnoughDraws;
        if (!enough) {
            said[i] = {};
            for (const int64_t score : ScoresWithin(edges_, i))
                said[i].Add(model.Respond(score));
        }
        ScoreBin bin = said[i].Bin();
        bin.lower = i == 0 ? 0 : model.Respond(edges_[i - 1]);
        bin.upper = i == edges_.size() ? 1 : model.Respond(edges_[i]);
        const bool outer = i == 0 || i == edges_.size();
        if (!enough)
            bin.order = EvenOrder(outer ? kOuterWidth : LogOdds(bin.upper) - LogOdds(bin.lower));
        bin.above_half = i > 0 && edges_[i - 1] >= HalfScore(model.link());
        bins_.push_back(bin);
    }
}

}  // namespace dpboost
