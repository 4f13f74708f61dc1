#include "learner/evaluation/score_bins.h"

#include <algorithm>
#include <cmath>

#include "mechanism/fixed_point.h"

namespace dpboost {
namespace {

constexpr double kRowsPerBin = 15;  // in standard deviations of the noise, of the smaller class
constexpr size_t kFewerQuantiles = 2;
constexpr double kLeastGap = 1e-3;  // of two knots, in parts of all
// How rows are expected to lie between two knots: half as the reference has it, half further out by this factor, and
// beside them this part evenly; and this part of all rows evenly between some two knots, whatever the reference says.
constexpr double kStretch = 1.3;
constexpr double kEvenPart = 0.15;
constexpr double kLeastPart = 0.02;
constexpr size_t kNodes = 8;  // of the reference between two knots, and as many of the even part

// The score at which the prediction is 1/2; at most that is predicted to be negative.
int64_t HalfScore(Link link) {
    return link == Link::kLog ? ToFixed(std::log(0.5)) : 0;
}

struct ScoreRange {
    int64_t low;
    int64_t high;
};

// The scores that the model can give at all.
ScoreRange RangeOf(const Model& model) {
    ScoreRange range{model.base(), model.base()};
    const auto add = [&](const std::vector<int32_t>& values) {
        if (values.empty())
            return;
        const auto ends = std::minmax_element(values.begin(), values.end());
        range.low += *ends.first;
        range.high += *ends.second;
    };
    for (size_t feature = 0; feature < model.features().size(); feature++)
        add(model.table(feature));
    for (const Tree& tree : model.trees())
        add(tree.leaves);
    return range;
}

std::vector<int64_t> Knots(const Model& model, const ReferenceDraws& reference, size_t count) {
    const int64_t half = HalfScore(model.link());
    const ScoreRange range = RangeOf(model);
    const double reach = ScoreBins::ReachOf(count);
    const auto middle = static_cast<double>(reference.Quantile(0.5));
    const double low = std::max(static_cast<double>(range.low),
                                middle - reach * (middle - static_cast<double>(reference.Quantile(0.05))));
    const double high = std::min(static_cast<double>(range.high),
                                 middle + reach * (static_cast<double>(reference.Quantile(0.95)) - middle));
    std::vector<int64_t> knots{half};
    const size_t quantiles = (count - 1) / 2 - kFewerQuantiles;
    for (size_t i = 1; i <= quantiles; i++)
        knots.push_back(reference.Quantile(static_cast<double>(i) / static_cast<double>(quantiles + 1)));
    const size_t even = count - 1 - quantiles;
    for (size_t i = 0; i < even; i++)
        knots.push_back(static_cast<int64_t>(low + (high - low) * static_cast<double>(i) /
                                                       static_cast<double>(even - 1)));
    std::sort(knots.begin(), knots.end());
    // Those that are too near to the one before, or to 1/2, say nothing.
    const auto gap = static_cast<int64_t>(kLeastGap * static_cast<double>(knots.back() - knots.front())) + 1;
    std::vector<int64_t> apart;
    for (const int64_t knot : knots)
        if (knot != half && std::max(knot - half, half - knot) >= gap &&
            (apart.empty() || knot - apart.back() >= gap))
            apart.push_back(knot);
    apart.insert(std::lower_bound(apart.begin(), apart.end(), half), 2, half);
    return apart;
}

// Scores, ascending, and once more further from their middle.
std::vector<int64_t> Stretched(std::vector<int64_t> scores) {
    const size_t count = scores.size();
    const auto middle = static_cast<double>(scores[count / 2]);
    for (size_t i = 0; i < count; i++)
        scores.push_back(static_cast<int64_t>(middle + kStretch * (static_cast<double>(scores[i]) - middle)));
    std::sort(scores.begin(), scores.end());
    return scores;
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

double ScoreBins::ReachOf(size_t count) {
    return kReach + (kFarReach - kReach) * static_cast<double>(count - kMinBins) /
                        static_cast<double>(kMaxBins - kMinBins);
}

ScoreBins::ScoreBins(const Model& model, const ReferenceDraws& reference, size_t count)
    : knots_(Knots(model, reference, std::clamp(count, kMinBins, kMaxBins))) {
    const int64_t half = HalfScore(model.link());
    open_below_ = RangeOf(model).low < knots_.front();
    open_above_ = RangeOf(model).high > knots_.back();
    half_ = static_cast<size_t>(std::lower_bound(knots_.begin(), knots_.end(), half) - knots_.begin());
    AddNodes(model, reference);
    std::vector<double> rows(size()), sums(size());
    for (const ScoreNode& node : nodes_)
        for (const bool next : {false, true}) {
            const double weight = node.weight * (next ? node.part : 1 - node.part);
            if (!(weight > 0))
                continue;
            rows[node.bin + next] += weight;
            sums[node.bin + next] += weight * node.p;
        }
    const auto border = [&](size_t bin) {  // below it
        return bin == half_ + 1 ? model.Respond(half)
                                : model.Respond(knots_[bin - 1] + (knots_[bin] - knots_[bin - 1]) / 2);
    };
    for (size_t i = 0; i < size(); i++)
        bins_.push_back({i == 0 ? 0 : border(i), i + 1 == size() ? 1 : border(i + 1),
                         rows[i] > 0 ? sums[i] / rows[i] : model.Respond(knots_[i])});
}

ScorePlace ScoreBins::Place(int64_t score, int64_t one) const {
    // Either side of 1/2 by itself.
    size_t low = score <= knots_[half_] ? 0 : half_ + 1;
    size_t high = low == 0 ? half_ : size() - 1;
    if (score <= knots_[low])
        return {low, 0};
    if (score >= knots_[high])
        return {high, 0};
    while (low + 1 < high) {
        const size_t middle = (low + high) / 2;
        (knots_[middle] <= score ? low : high) = middle;
    }
    // Scores of a model that somebody made up are as far apart as 64 bits allow. A part of `one`, whatever they are: a row
    // must not add more than it is charged for.
    const Wide far = static_cast<uint64_t>(score) - static_cast<uint64_t>(knots_[low]);
    const Wide gap = static_cast<uint64_t>(knots_[low + 1]) - static_cast<uint64_t>(knots_[low]);
    return {low, static_cast<int64_t>(std::min(far * static_cast<Wide>(one) / gap, static_cast<Wide>(one)))};
}

// Between two knots: the reference's draws, as few nodes that stand for equally many each, and an even grid. A side of 1/2
// that no knot is beyond has one node.
void ScoreBins::AddNodes(const Model& model, const ReferenceDraws& reference) {
    const std::vector<int64_t> scores = Stretched(reference.scores());
    const auto all = static_cast<double>(scores.size());
    const double least = kLeastPart * all / static_cast<double>(size());
    const auto node_at = [&](size_t bin, double score, double weight) {
        const double p = std::clamp(model.Respond(static_cast<int64_t>(score)), 0.0, 1.0);
        const double width = bin + 1 < size() ? static_cast<double>(knots_[bin + 1] - knots_[bin]) : 0;
        const double part = width > 0 ? (score - static_cast<double>(knots_[bin])) / width : 0;
        nodes_.push_back({LogOdds(p), p, weight, bin, std::clamp(part, 0.0, 1.0)});
    };
    for (size_t bin = 0; bin < size(); bin++) {
        if (bin == half_ || bin + 1 == size()) {
            const bool alone = bin == half_ ? bin == 0 : bin == half_ + 1;
            if (alone)
                node_at(bin, static_cast<double>(knots_[bin]), least);
            continue;
        }
        // Scores beyond the outermost knots count as those.
        const auto begin =
            bin == 0 ? scores.begin() : std::upper_bound(scores.begin(), scores.end(), knots_[bin]);
        const auto end = bin + 2 == size() ? scores.end()
                                           : std::upper_bound(scores.begin(), scores.end(), knots_[bin + 1]);
        const auto draws = static_cast<size_t>(std::max<std::ptrdiff_t>(0, end - begin));
        const size_t groups = std::min(draws, kNodes);
        for (size_t group = 0; group < groups; group++) {
            const size_t first = group * draws / groups, last = (group + 1) * draws / groups;
            double sum = 0;
            for (size_t i = first; i < last; i++)
                sum += static_cast<double>(begin[static_cast<std::ptrdiff_t>(i)]);
            const auto count = static_cast<double>(last - first);
            node_at(bin, sum / count, count);
        }
        const double even = least + kEvenPart * static_cast<double>(draws);
        for (size_t i = 0; i < kNodes; i++)
            node_at(bin,
                    static_cast<double>(knots_[bin]) + static_cast<double>(knots_[bin + 1] - knots_[bin]) *
                                                           (static_cast<double>(i) + 0.5) / kNodes,
                    even / kNodes);
    }
    std::stable_sort(nodes_.begin(), nodes_.end(), [](const ScoreNode& a, const ScoreNode& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.part < b.part;
    });
}

}  // namespace dpboost
