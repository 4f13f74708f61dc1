// A grid cuts the public range of a numeric column into bins before any row is read. Edges come from the
// declared range alone; they are stored with the model (or recomputed from two numbers by exact IEEE
// operations), so that training and prediction agree bit for bit on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace dpboost {

enum class Scale : uint8_t {
    kLinear = 0,  // bins of equal width
    kLog = 1,  // one bin for values <= lower (for a range around 0: for exactly 0), the others by magnitude
    kAuto = 2  // one bin per integer if they fit; partly linear, mostly log for wide ranges; else linear
};

// 254 bins and the missing code fit into one byte.
constexpr uint32_t kDefaultBins = 254;
// With the missing code, every code fits into two bytes.
constexpr uint32_t kMaxBins = 65534;

// What is public about a numeric column. For dates and timestamps ask for kLinear: their zero means nothing.
struct NumericRange {
    double lower = 0;
    double upper = 1;
    Scale scale = Scale::kAuto;
    uint32_t bins = kDefaultBins;
    bool integer = false;  // the column's type holds whole numbers only
    double decades = 4;    // log and wide ranges around 0: magnitudes to tell apart below the largest one
};

// Bin j holds the values x with edge(j-1) < x <= edge(j): the code of x is the number of edges below x. There
// are bins - 1 inner edges, never decreasing, all within [lower, upper]; values outside are clamped.
struct Grid {
    std::vector<double> edges;
    bool uniform = false;  // edges[j] = first_edge + j * step, exactly
    double first_edge = 0;
    double step = 0;

    uint32_t bins() const { return static_cast<uint32_t>(edges.size()) + 1; }
};

// Throws Error(kInvalidParameter) if the range is not finite, reversed or too wide for a double, or if bins
// or decades are out of range.
Grid MakeGrid(const NumericRange& range);

// edges[j] = first_edge + j * step for j < count.
Grid MakeUniformGrid(double first_edge, double step, uint32_t count);

// Whether kAuto would give this range a grid that resolves small magnitudes.
bool IsWideRange(double lower, double upper);

}  // namespace dpboost
