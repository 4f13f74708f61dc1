#include "training/private_bounds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/portable_math.h"
#include "dataset/encoder.h"

namespace dpboost {

const char kPrivateBoundsMechanism[] = "bounds";

namespace {

constexpr int kLowestExponent = -30;
constexpr int kHighestExponent = 60;
constexpr size_t kExponents = kHighestExponent - kLowestExponent;
constexpr size_t kZeroCell = kExponents;  // between the negative cells and the positive ones
constexpr size_t kCells = 2 * kExponents + 1;
constexpr uint32_t kFineBins = 16384;
constexpr int64_t kCountSteps = int64_t{1} << 16;  // lattice steps of one count
// Chance that noise alone lets any cell of any column stand out.
constexpr double kFalseCells = 0.01;

// Negative values of large magnitude come first. Anything below the lowest power counts as zero.
size_t CellOf(double value) {
    const double magnitude = std::fabs(value);
    if (magnitude < std::ldexp(1.0, kLowestExponent))
        return kZeroCell;
    const int exponent = std::min(std::ilogb(magnitude), kHighestExponent - 1) - kLowestExponent;
    return value < 0 ? kZeroCell - 1 - static_cast<size_t>(exponent)
                     : kZeroCell + 1 + static_cast<size_t>(exponent);
}

double LowerEdge(size_t cell) {
    if (cell == kZeroCell)
        return 0;
    if (cell > kZeroCell)
        return std::ldexp(1.0, static_cast<int>(cell - kZeroCell - 1) + kLowestExponent);
    return -std::ldexp(1.0, static_cast<int>(kZeroCell - cell) + kLowestExponent);
}

double UpperEdge(size_t cell) {
    return -LowerEdge(2 * kZeroCell - cell);
}

// The coarse cell of every fine code; the missing code has none (kCells).
std::vector<size_t> CellsOfCodes(const FeatureSpec& fine) {
    std::vector<size_t> cells(fine.cells(), kCells);
    for (uint32_t code = 0; code < fine.bins(); code++)
        cells[code] = CellOf(fine.CellCenter(code));
    return cells;
}

// By how much a unit may change all counts together, in L2 norm: by one in each column.
double Sensitivity(size_t columns) {
    return static_cast<double>(kCountSteps) * std::sqrt(static_cast<double>(columns)) * (1 + 1e-12);
}

// One count per unit and column: of its row, or of the first of its rows.
RawSums CountRows(const Dataset& dataset, const std::vector<size_t>& columns, Interrupt& interrupt) {
    std::vector<int64_t> raw_counts(columns.size() * kCells, 0);
    std::vector<std::vector<size_t>> cells;
    for (size_t column : columns) {
        cells.push_back(CellsOfCodes(dataset.features()[column]));
        interrupt.Poll();
    }
    for (size_t unit = 0; unit < dataset.units(); unit++) {
        const size_t row = dataset.has_units() ? dataset.unit_rows()[dataset.unit_begin()[unit]] : unit;
        for (size_t i = 0; i < columns.size(); i++) {
            const size_t cell = cells[i][dataset.Code(row, columns[i])];
            if (cell < kCells)
                raw_counts[i * kCells + cell] += kCountSteps;
        }
        if (unit % kBlockRows == 0)
            interrupt.Poll();
    }
    return {std::move(raw_counts), Sensitivity(columns.size())};
}

// Post-processing of noisy counts.
Bounds BoundsOf(const int64_t* noisy_counts, double threshold, double sigma) {
    const double largest = static_cast<double>(*std::max_element(noisy_counts, noisy_counts + kCells));
    // In a small table nothing may pass; then what is clearly more than the rest will do.
    if (largest < threshold)
        threshold = std::max(largest / 2, 2 * sigma);
    size_t first = kCells, last = 0;
    for (size_t cell = 0; cell < kCells; cell++)
        if (static_cast<double>(noisy_counts[cell]) >= threshold) {
            first = std::min(first, cell);
            last = cell;
        }
    if (first == kCells || (first == kZeroCell && last == kZeroCell))
        return {-1, 1};
    return {LowerEdge(first), UpperEdge(last)};
}

}  // namespace

FeatureSpec AnyNumberSpec(std::string name) {
    NumericRange range;
    range.upper = std::ldexp(1.0, kHighestExponent);
    range.lower = -range.upper;
    range.scale = Scale::kLog;
    range.bins = kFineBins;
    range.decades = (kHighestExponent - kLowestExponent) * std::log10(2.0);
    return FeatureSpec::Numeric(std::move(name), range);
}

MechanismRequest PrivateBoundsRequest(size_t columns) {
    MechanismRequest request;
    request.name = kPrivateBoundsMechanism;
    request.kind = EventKind::kGaussian;
    request.count = 1;
    request.share = kPrivateBoundsShare;
    request.dimensions = {{Sensitivity(columns), 1.0, columns * kCells}};
    return request;
}

std::vector<Bounds> FindBounds(const Dataset& dataset, const std::vector<size_t>& columns, Releaser& releaser,
                               Interrupt& interrupt) {
    const NoisySums noisy =
        releaser.Release(releaser.Find(kPrivateBoundsMechanism), CountRows(dataset, columns, interrupt));
    const double threshold =
        noisy.sigma * std::sqrt(2 * portable::Log(static_cast<double>(noisy.values.size()) / kFalseCells));
    std::vector<Bounds> bounds;
    for (size_t i = 0; i < columns.size(); i++)
        bounds.push_back(BoundsOf(noisy.values.data() + i * kCells, threshold, noisy.sigma));
    return bounds;
}

size_t RecodeBytesPerRow(size_t columns, bool has_units) {
    return columns * sizeof(uint16_t) + sizeof(float) + (has_units ? sizeof(UnitKey) : 0);
}

Dataset Recode(Dataset dataset, std::vector<FeatureSpec> features, const std::vector<size_t>& columns,
               const DatasetLimits& limits, Interrupt& interrupt) {
    std::vector<std::vector<uint16_t>> recoded(features.size());
    for (size_t column : columns) {
        const Encoder encoder(features[column]);
        const FeatureSpec& fine = dataset.features()[column];
        recoded[column].assign(fine.cells(), encoder.Missing());
        for (uint32_t code = 0; code < fine.bins(); code++)
            recoded[column][code] = encoder.Number(fine.CellCenter(code));
        interrupt.Poll();
    }
    DatasetBuilder builder(std::move(features), dataset.target(), dataset.has_units(), limits,
                           dataset.has_weights());
    for (size_t row = 0; row < dataset.rows(); row++) {
        if (builder.Full()) {
            builder.Grow();
            interrupt.Poll();
        }
        for (size_t column = 0; column < dataset.columns(); column++) {
            const uint16_t code = dataset.Code(row, column);
            builder.SetCode(column, recoded[column].empty() ? code : recoded[column][code]);
        }
        builder.AppendRow(dataset.Label(row), UnitKeyOf(static_cast<int64_t>(dataset.Unit(row))),
                          dataset.Weight(row));
    }
    return builder.Finish(interrupt);
}

}  // namespace dpboost
