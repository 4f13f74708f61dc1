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

// Sums of what the model says, over draws or one score that stands for them.
struct Said {
    double count = 0, predicted = 0, square = 0, log_positive = 0, log_negative = 0;
    double log_odds = 0, log_odds_square = 0;

    void Add(double p) {
        count += 1;
        predicted += p;
        square += p * p;
        log_positive += LogLoss(p);
        log_negative += LogLoss(1 - p);
        log_odds += LogOdds(p);
        log_odds_square += LogOdds(p) * LogOdds(p);
    }
    // Of an even spread with the same standard deviation.
    double Width() const {
        const double mean = log_odds / count;
        return std::sqrt(12 * std::max(0.0, log_odds_square / count - mean * mean));
    }
};

// The middle of a bin; of an outer one a bit beyond its edge.
int64_t MiddleScore(const std::vector<int64_t>& edges, size_t bin) {
    const int64_t spread = edges.back() - edges.front();
    const int64_t beyond = std::min<int64_t>(ToFixed(kOuterWidth / 2), spread / 8 + 1);
    if (bin == 0)
        return edges.front() - beyond;
    if (bin == edges.size())
        return edges.back() + beyond;
    return edges[bin - 1] + (edges[bin] - edges[bin - 1]) / 2;
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
    for (int64_t score : reference.scores())
        said[Find(score)].Add(model.Respond(score));
    for (size_t i = 0; i < said.size(); i++) {
        const bool enough = said[i].count > kEnoughDraws;
        if (!enough) {
            said[i] = {};
            said[i].Add(model.Respond(MiddleScore(edges_, i)));
        }
        const double n = said[i].count;
        ScoreBin bin{};
        bin.lower = i == 0 ? 0 : model.Respond(edges_[i - 1]);
        bin.upper = i == edges_.size() ? 1 : model.Respond(edges_[i]);
        bin.predicted = said[i].predicted / n;
        bin.square = said[i].square / n;
        bin.log_positive = said[i].log_positive / n;
        bin.log_negative = said[i].log_negative / n;
        bin.log_odds = LogOdds(bin.predicted);
        const bool outer = i == 0 || i == edges_.size();
        bin.width = enough ? said[i].Width() : outer ? kOuterWidth : LogOdds(bin.upper) - LogOdds(bin.lower);
        bin.above_half = i > 0 && edges_[i - 1] >= HalfScore(model.link());
        bins_.push_back(bin);
    }
}

}  // namespace dpboost
