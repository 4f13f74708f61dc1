#include "model/intervals.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace dpboost {
namespace {

// A tail is taken to be smaller by so many standard deviations of noise, but by no more than this part of it.
constexpr double kSlack = 0.6;
constexpr double kMostSlack = 0.6;

// A bell with its own width on either side: the logistic distribution, whose tails are between those of the normal and of
// Laplace's.
struct Bell {
    double middle, left, right;

    double Below(double x) const {
        const double sum = left + right;
        const double side = x < middle ? left : right;
        const double z = std::clamp((x - middle) / side, -500.0, 500.0);
        const double part = 2 / (1 + std::exp(-z)) - 1;  // of this side, -1 .. 1
        return x < middle ? left / sum * (1 + part) : left / sum + right / sum * part;
    }
};

struct Fit {
    std::vector<double> parts;  // of each bin
    double distance = 0;        // squared, to the counts
};

Fit Compare(const Bell& bell, const ResidualHistogram& histogram, double rows) {
    const size_t bins = histogram.counts.size();
    const double width = (histogram.upper - histogram.lower) / static_cast<double>(bins);
    Fit fit;
    double before = 0;
    for (size_t k = 0; k < bins; k++) {
        const double end =
            k + 1 == bins ? 1 : bell.Below(histogram.lower + width * static_cast<double>(k + 1));
        fit.parts.push_back(end - before);
        before = end;
        const double miss = static_cast<double>(histogram.counts[k]) - rows * fit.parts.back();
        fit.distance += miss * miss;
    }
    return fit;
}

// The nearest bell, by steps that shrink.
Fit NearestBell(const ResidualHistogram& histogram, double rows) {
    const double range = histogram.upper - histogram.lower;
    const double middle = (histogram.upper + histogram.lower) / 2;
    Bell best{middle, range / 16, range / 16};
    Fit fit = Compare(best, histogram, rows);
    for (const double size : {0.05, 0.1, 0.2}) {
        const Bell bell{middle, size * range / 4, size * range / 4};
        const Fit other = Compare(bell, histogram, rows);
        if (other.distance < fit.distance) {
            fit = other;
            best = bell;
        }
    }
    for (double step = 0.5; step > 0.01; step /= 2) {
        bool moved = true;
        for (int round = 0; moved && round < 20; round++) {
            moved = false;
            for (int what = 0; what < 6; what++) {
                Bell bell = best;
                const double factor = what % 2 == 0 ? 1 + step : 1 / (1 + step);
                if (what < 2)
                    bell.left = std::max(bell.left * factor, range * 1e-4);
                else if (what < 4)
                    bell.right = std::max(bell.right * factor, range * 1e-4);
                else
                    bell.middle =
                        std::clamp(bell.middle + (what == 4 ? step : -step) * std::min(bell.left, bell.right),
                                   histogram.lower, histogram.upper);
                Fit other = Compare(bell, histogram, rows);
                if (other.distance < fit.distance) {
                    fit = std::move(other);
                    best = bell;
                    moved = true;
                }
            }
        }
    }
    return fit;
}

double LabelOf(const TargetSpec& target, Link link, int64_t score) noexcept {
    const double value = FromFixed(score);
    return std::clamp(link == Link::kLog ? 2 * value / target.LogWidth() - 1 : value, -1.0, 1.0);
}

}  // namespace

double PredictedLabel(const Model& model, int64_t score) noexcept {
    return LabelOf(model.target(), model.link(), score);
}

Intervals::Intervals(const Model& model) : target_(model.target()), link_(model.link()) {
    CheckInternal(model.evidence().residuals.has_value() && model.outputs() == 1,
                  "the model has no residuals");
    const ResidualHistogram& histogram = *model.evidence().residuals;
    const size_t bins = histogram.counts.size();
    const double sigma = histogram.count_sd;
    double rows = std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
    if (model.evidence().reference && sigma > 0)
        rows = model.evidence().reference->rows;
    rows = std::max({rows, sigma, 1.0});
    const Fit fit = NearestBell(histogram, rows);
    // James-Stein: as much of what the bell misses as noise does not explain.
    const double keep =
        fit.distance > 0 ? std::max(0.0, 1 - (static_cast<double>(bins) - 5) * sigma * sigma / fit.distance)
                         : 0;
    lower_ = histogram.lower;
    width_ = (histogram.upper - histogram.lower) / static_cast<double>(bins);
    double total = 0;
    for (size_t k = 0; k < bins; k++) {
        const double miss = static_cast<double>(histogram.counts[k]) - rows * fit.parts[k];
        below_.push_back(total += std::max(0.0, rows * fit.parts[k] + keep * miss));
    }
    for (double& part : below_)
        part = total > 0 ? part / total : 1;
    // A tail is about a quarter of the bins; a bell's tail is known as well as about four counts.
    slack_ = kSlack * sigma / rows * std::sqrt(keep * static_cast<double>(bins) / 4 + (1 - keep) * 4);
}

double Intervals::Quantile(double part) const {
    const size_t k =
        static_cast<size_t>(std::lower_bound(below_.begin(), below_.end(), part) - below_.begin());
    if (k == below_.size())
        return lower_ + width_ * static_cast<double>(below_.size());
    const double before = k == 0 ? 0 : below_[k - 1];
    const double inside = below_[k] > before ? (part - before) / (below_[k] - before) : 0;
    return lower_ + width_ * (static_cast<double>(k) + inside);
}

Intervals::Ends Intervals::Around(int64_t score, double level) const {
    const double tail = (1 - level) / 2;
    const double safe = std::max(tail - slack_, tail * (1 - kMostSlack));
    const double label = LabelOf(target_, link_, score);
    return {target_.Unscale(label + Quantile(safe)), target_.Unscale(label + Quantile(1 - safe))};
}

}  // namespace dpboost
