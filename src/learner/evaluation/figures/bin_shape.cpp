#include "learner/evaluation/figures/bin_shape.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// The constants below were chosen by hand on simulated scores (`utility_intervals` draws such), with looks at Adult on the way:
// kFurtherOut was halved because its slope was covered always, and kFurtherSpreads suits our own coverage test.

// Log densities are taken to be straight over about so much of the range of all bins.
constexpr double kReachOfLine = 0.1;
// By so much a slope differs from what the reference and the model say, before a count is seen.
constexpr double kTiltSpread = 0.7;
// And so much stays in doubt whatever the counts say, since no density is straight.
constexpr double kLeastDoubt = 0.3;
// That rows lie further out on both sides is in doubt more, and twice that where the reference does not reach; and by at
// least so many standard deviations of scores that are spread evenly over their bin.
constexpr double kFurtherOut = 1.5;
constexpr double kFurtherSpreads = 0.2;
constexpr double kMostTilt = 4;
constexpr double kRateDoubt = 0.1;  // relative variance of a rate of decay

double Square(double x) {
    return x * x;
}

// A bin as a point of a line: where it is, the log of its density over what was expected, and how sure that is.
struct Point {
    double odds;
    double log_density;
    double sureness;  // inverse variance
};

// A line through log densities at one place.
struct Slope {
    double value;
    double doubt;  // standard deviation
    double level;  // the log density there
};

// The slope of the line through the points about `odds`, drawn towards zero by how little they say.
Slope SlopeAt(double odds, double reach, const std::vector<Point>& points) {
    double weights = 0, odds_sum = 0, log_sum = 0;
    const auto each = [&](const auto& action) {
        for (const Point& point : points)
            action(point, point.sureness * std::exp(-Square((point.odds - odds) / reach) / 2));
    };
    each([&](const Point& point, double weight) {
        weights += weight;
        odds_sum += weight * point.odds;
        log_sum += weight * point.log_density;
    });
    if (!(weights > 0))
        return {0, kTiltSpread, 0};
    double products = 0, squares = 1 / Square(kTiltSpread);
    each([&](const Point& point, double weight) {
        const double far = point.odds - odds_sum / weights;
        products += weight * far * (point.log_density - log_sum / weights);
        squares += weight * Square(far);
    });
    const double slope = std::clamp(products / squares, -kMostTilt, kMostTilt);
    return {slope, std::sqrt(1 / squares + Square(kLeastDoubt)),
            (log_sum + slope * (odds * weights - odds_sum)) / weights};
}

double Middle(const std::vector<ScoreNode>& nodes) {
    return nodes[nodes.size() / 2].odds;
}

// The standard deviation of scores that are spread evenly over a bin, as far as there are nodes.
double EvenSpread(const ScoreBins& bins, size_t bin) {
    const std::vector<ScoreNode>& nodes = bins.nodes(bin);
    const bool outer = bin == 0 || bin + 1 == bins.size();
    const double width = outer ? nodes.back().odds - nodes.front().odds
                               : LogOdds(bins.bins()[bin].upper) - LogOdds(bins.bins()[bin].lower);
    return width / std::sqrt(12.0);
}

// The reference's rows of a class in a bin that it reaches; of another one its width, as the model splits it.
double Expected(const ScoreBins& bins, size_t bin, bool positive) {
    double sum = 0;
    for (const ScoreNode& node : bins.nodes(bin))
        sum += node.weight * (positive ? node.p : 1 - node.p);
    const std::vector<ScoreNode>& nodes = bins.nodes(bin);
    const double step = (nodes.back().odds - nodes.front().odds) / static_cast<double>(nodes.size());
    return bins.drawn(bin) ? sum : sum * step;
}

// The points of a class. Bins that the reference reaches are compared with it; the others with an even density, to which
// the former say something too.
std::vector<Point> PointsOf(const ScoreBins& bins, const ClassCounts& counts, bool positive, bool drawn) {
    std::vector<Point> points;
    for (size_t i = 0; i < bins.size(); i++) {
        const bool outer = i == 0 || i + 1 == bins.size();
        if (drawn ? !bins.drawn(i) : outer)
            continue;
        const double count = (positive ? counts.positives : counts.negatives)[i];
        const std::vector<ScoreNode>& nodes = bins.nodes(i);
        double expected = Expected(bins, i, positive);
        if (!drawn && bins.drawn(i)) {  // over an even density of the same width
            const double p = bins.bins()[i].predicted;
            expected =
                (LogOdds(bins.bins()[i].upper) - LogOdds(bins.bins()[i].lower)) * (positive ? p : 1 - p);
        }
        if (!(count > 0) || !(expected > 0))
            continue;
        points.push_back(
            {Middle(nodes), std::log(count / expected), Square(count) / (count + Square(counts.sigma))});
    }
    return points;
}

// Of an outer bin that the reference does not reach: how quickly rows become fewer beyond its edge is also told by how many
// there are, since that is their density at the edge over the rate.
Slope TailSlope(const ScoreBins& bins, size_t bin, const ClassCounts& counts, bool positive,
                const Slope& inner) {
    const double count = (positive ? counts.positives : counts.negatives)[bin];
    const std::vector<ScoreNode>& nodes = bins.nodes(bin);
    const bool upper = bin > 0;
    const double p = (upper ? nodes.front() : nodes.back()).p;
    const double density = std::exp(inner.level) * (positive ? p : 1 - p);
    if (!(count > 0) || !(density > 0))
        return inner;
    const double rate = std::clamp(density / count, 0.1, 10.0);
    const double own = positive ? 1 - p : -p;  // what the model says of the class
    const double tilt = (upper ? -rate + ScoreBins::kOuterDecay : rate - ScoreBins::kOuterDecay) - own;
    const double variance =
        Square(rate) * ((count + Square(counts.sigma)) / Square(count) + kRateDoubt) + Square(kLeastDoubt);
    const double sure = 1 / variance, sure_inner = 1 / Square(inner.doubt);
    return {std::clamp((tilt * sure + inner.value * sure_inner) / (sure + sure_inner), -kMostTilt, kMostTilt),
            std::sqrt(1 / (sure + sure_inner)), inner.level};
}

}  // namespace

BinShape::BinShape(const ScoreBins& bins, const ClassCounts& counts)
    : bins_(bins), tilts_(bins.size()), doubts_(bins.size()) {
    const double reach =
        std::max(1e-6, kReachOfLine * (Middle(bins.nodes(bins.size() - 1)) - Middle(bins.nodes(0))));
    for (const bool positive : {true, false})
        for (const bool drawn : {true, false}) {
            const std::vector<Point> points = PointsOf(bins, counts, positive, drawn);
            for (size_t i = 0; i < bins.size(); i++) {
                if (bins.drawn(i) != drawn)
                    continue;
                const bool upper = i + 1 == bins.size(), outer = !drawn && (upper || i == 0);
                const std::vector<ScoreNode>& nodes = bins.nodes(i);
                const double at = !outer ? Middle(nodes) : upper ? nodes.front().odds : nodes.back().odds;
                Slope slope = SlopeAt(at, reach, points);
                if (outer)
                    slope = TailSlope(bins, i, counts, positive, slope);
                (positive ? tilts_[i].positive : tilts_[i].negative) = slope.value;
                (positive ? doubts_[i].positive : doubts_[i].negative) = slope.doubt;
            }
        }
    double rows = 0, sum = 0;
    for (size_t i = 0; i < bins.size(); i++) {
        const double count = std::max(0.0, counts.positives[i] + counts.negatives[i]);
        rows += count;
        sum += count * Middle(bins.nodes(i));
    }
    middle_ = rows > 0 ? sum / rows : 0;
}

std::vector<ScoreBin> BinShape::Bins() const {
    std::vector<ScoreBin> shaped;
    for (size_t i = 0; i < bins_.size(); i++)
        shaped.push_back(bins_.Tilted(i, tilts_[i]));
    return shaped;
}

std::vector<ScoreBin> BinShape::Doubted(size_t doubt) const {
    std::vector<ScoreBin> shaped;
    for (size_t i = 0; i < bins_.size(); i++) {
        const double outwards = Middle(bins_.nodes(i)) < middle_ ? -1 : 1;
        const double doubts = bins_.drawn(i) ? kFurtherOut : 2 * kFurtherOut;
        const double even = EvenSpread(bins_, i);
        const auto further = [&](double doubted, double spread) {
            const double tilt = kFurtherSpreads * std::max(even, spread) / std::max(Square(spread), 1e-9);
            return outwards * std::min(kMostTilt, std::max(doubts * doubted, tilt));
        };
        const ScoreBin& bin = bins_.bins()[i];
        ScoreTilt tilt = doubts_[i];
        if (doubt == 1)
            tilt.negative = -tilt.negative;
        if (doubt == 2)
            tilt = {further(tilt.positive, bin.odds_positive_spread),
                    further(tilt.negative, bin.odds_negative_spread)};
        shaped.push_back(
            bins_.Tilted(i, {tilts_[i].positive + tilt.positive, tilts_[i].negative + tilt.negative}));
    }
    return shaped;
}

}  // namespace dpboost
