#include "dataset/grid.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/error.h"
#include "base/portable_math.h"

namespace dpboost {
namespace {

// Above this, halves between whole numbers are not exact.
constexpr double kMaxExactInteger = 4503599627370496.0;  // 2^52

// Share of a wide range's bins that are spread by value; the others by magnitude. Columns with long tails
// want less, columns that gather far from 0 want more.
constexpr double kWideLinearWeight = 0.35;

[[noreturn]] void Refuse(const char* message, const char* hint) {
    throw Error(ErrorCode::kInvalidParameter, message, {}, hint);
}

void CheckRange(const NumericRange& range) {
    if (!std::isfinite(range.lower) || !std::isfinite(range.upper))
        Refuse("range must be finite", "Give a lower and an upper bound that are numbers.");
    if (range.lower > range.upper)
        Refuse("lower bound must not be greater than upper bound", "Swap the two bounds.");
    if (!std::isfinite(range.upper - range.lower))
        Refuse("range is too wide", "Give bounds that values can really reach.");
    if (range.bins < 1 || range.bins > kMaxBins)
        Refuse("number of bins must be between 1 and 65534", "Leave it out for the default of 254.");
    if (!(range.decades > 0 && range.decades <= 100))
        Refuse("decades of a log scale must be between 0 and 100", "Leave them out for the default of 4.");
}

// The coordinate in which the bins of a log or partly linear grid are equally wide: it rises from 0 at lower
// to 1 at upper, `linear_weight` of it by value and the rest by order of magnitude. Around 0 magnitudes count
// from `floor` on: sign(x) log(1 + |x|/floor).
class Warp {
  public:
    Warp(const NumericRange& range, double linear_weight)
        : lower_(range.lower), upper_(range.upper), linear_weight_(linear_weight) {
        around_zero_ = lower_ <= 0 && upper_ >= 0;
        double largest = std::max(-lower_, upper_);
        floor_ = std::max(largest * portable::Pow(10.0, -range.decades), 4 * DBL_MIN);
        log_lower_ = Magnitude(lower_);
        log_span_ = Magnitude(upper_) - log_lower_;
    }

    double At(double x) const {
        return linear_weight_ * ((x - lower_) / (upper_ - lower_)) +
               (1 - linear_weight_) * ((Magnitude(x) - log_lower_) / log_span_);
    }

    // The x at a coordinate, found between `from` and upper by Newton's method inside a shrinking bracket.
    double Inverse(double coordinate, double from) const {
        double low = from, high = upper_, x = from;
        for (int i = 0; i < 100; i++) {
            double miss = coordinate - At(x);
            (miss > 0 ? low : high) = x;
            double next = x + miss / Slope(x);
            if (!(next > low && next < high))
                next = low + (high - low) / 2;
            double moved = std::fabs(next - x);
            x = next;
            if (moved <= 1e-13 * std::max(std::fabs(x), around_zero_ ? floor_ : 0.0))
                break;
        }
        return x;
    }

  private:
    double Magnitude(double x) const {
        if (around_zero_)
            return x < 0 ? -portable::Log1p(-x / floor_) : portable::Log1p(x / floor_);
        return lower_ > 0 ? portable::Log(x) : -portable::Log(-x);
    }
    double Slope(double x) const {
        double log_slope = around_zero_ ? 1 / (floor_ + std::fabs(x)) : 1 / std::fabs(x);
        return linear_weight_ / (upper_ - lower_) + (1 - linear_weight_) * log_slope / log_span_;
    }

    double lower_, upper_, linear_weight_;
    bool around_zero_;
    double floor_, log_lower_, log_span_;
};

// Keeps 24 bits: nothing of where Newton's method stopped is in them.
double RoundToFloatPrecision(double x) {
    int exponent;
    double mantissa = std::frexp(x, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(mantissa, 24)), exponent - 24);
}

// Edges that give frequent special values a bin of their own: the smallest value of a range that starts at or
// above 0, and 0 inside a range. -DBL_MIN and 0 together enclose 0 alone.
std::vector<double> SpecialEdges(const NumericRange& range) {
    if (range.lower >= 0)
        return {range.lower};
    if (range.upper > 0)
        return {-DBL_MIN, 0};
    if (range.upper == 0)
        return {-DBL_MIN};
    return {};
}

std::vector<double> WarpedEdges(const NumericRange& range, double linear_weight) {
    std::vector<double> edges = SpecialEdges(range);
    uint32_t wanted = range.bins - 1;
    if (edges.size() > wanted)
        edges.clear();
    uint32_t regular = wanted - static_cast<uint32_t>(edges.size());
    Warp warp(range, linear_weight);
    double previous = range.lower;
    for (uint32_t j = 1; j <= regular; j++) {
        previous = warp.Inverse(static_cast<double>(j) / (regular + 1), previous);
        edges.push_back(std::clamp(RoundToFloatPrecision(previous), range.lower, range.upper));
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

// Moves edges to the middle between whole numbers, each at least 1 from the next; there are more whole
// numbers than bins, so all edges find a place between first + 1/2 and last - 1/2.
void MoveBetweenIntegers(std::vector<double>* edges, double first, double last) {
    double at_least = first + 0.5;
    for (size_t j = 0; j < edges->size(); j++) {
        double at_most = last - 0.5 - static_cast<double>(edges->size() - 1 - j);
        (*edges)[j] = std::clamp(std::floor((*edges)[j]) + 0.5, at_least, std::max(at_least, at_most));
        at_least = (*edges)[j] + 1;
    }
}

Grid LinearGrid(const NumericRange& range) {
    if (range.bins == 1)
        return {};
    double width = (range.upper - range.lower) / range.bins;
    Grid grid = MakeUniformGrid(range.lower + width, width, range.bins - 1);
    if (grid.edges.back() > range.upper) {  // only if the width is lost in rounding
        for (double& edge : grid.edges)
            edge = std::min(edge, range.upper);
        grid.uniform = false;
    }
    return grid;
}

bool HasExactIntegers(const NumericRange& range) {
    return range.integer && range.lower >= -kMaxExactInteger && range.upper <= kMaxExactInteger &&
           std::ceil(range.lower) <= std::floor(range.upper);
}

}  // namespace

bool IsWideRange(double lower, double upper) {
    if (lower > 0)
        return upper / lower >= 100;
    if (upper < 0)
        return lower / upper >= 100;
    return std::max(-lower, upper) >= 50;
}

Grid MakeUniformGrid(double first_edge, double step, uint32_t count) {
    Grid grid;
    grid.uniform = true;
    grid.first_edge = first_edge;
    grid.step = step;
    grid.edges.resize(count);
    for (uint32_t j = 0; j < count; j++)
        grid.edges[j] = first_edge + step * j;
    return grid;
}

Grid MakeGrid(const NumericRange& range) {
    CheckRange(range);
    if (range.lower == range.upper)
        return {};
    bool integers = HasExactIntegers(range);
    double first = std::ceil(range.lower), last = std::floor(range.upper);
    if (integers && last - first < range.bins)
        return MakeUniformGrid(first + 0.5, 1, static_cast<uint32_t>(last - first));

    bool wide = range.scale == Scale::kAuto && IsWideRange(range.lower, range.upper);
    Grid grid;
    if (range.scale == Scale::kLog)
        grid.edges = WarpedEdges(range, 0);
    else if (wide)
        grid.edges = WarpedEdges(range, kWideLinearWeight);
    else
        grid = LinearGrid(range);

    if (integers) {
        MoveBetweenIntegers(&grid.edges, first, last);
        grid.uniform = false;
    }
    return grid;
}

}  // namespace dpboost
