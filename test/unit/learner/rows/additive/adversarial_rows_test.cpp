// Sums over rows that are made to be at their bounds: largest norms and weights, tables up to the ends of 32 bits, codes at both
// ends of 256 cells, persons with one row or thousands. All forms of the code give what a loop over rows gives, and no row or
// person adds more than the sums are charged for, both in integers.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "learner/rows/additive/basis_rows.h"
#include "learner/rows/clip_norm.h"
#include "support/audit/audit.h"
#include "support/exact_sums.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

constexpr int64_t kMostEntry = 1 << 14;  // of a basis
constexpr int32_t kCapUnit = 1 << 14;

struct Rows {
    std::vector<FeatureSpec> features;
    std::vector<AuditRow> rows;
    bool units;
};

uint16_t CodeAtAnEnd(Random& random, uint32_t cells) {
    const uint64_t kind = random.Below(4);
    return static_cast<uint16_t>(kind == 0 ? 0 : kind == 1 ? cells - 1 : random.Below(cells));
}

// Enough of them for byte tables, and a last block that is not full.
Rows MakeRows(Random& random, bool units, bool weighted) {
    Rows made;
    made.units = units;
    for (const uint32_t bins : {255U, 1U, 63U, 64U, 254U, 128U, 3U, 300U})
        made.features.push_back(AuditColumn(("c" + std::to_string(bins)).c_str(), bins));
    const size_t count = 4 * kBlockRows + 1 + random.Below(kBlockRows);
    for (size_t i = 0; i < count; i++) {
        AuditRow row{{}, static_cast<float>(random.Below(2)), 0};
        for (const FeatureSpec& feature : made.features)
            row.codes.push_back(CodeAtAnEnd(random, feature.cells()));
        // The first person has a third of all rows, others have about four, one or a hundred.
        const uint64_t kind = random.Below(3);
        row.unit = static_cast<int64_t>(kind == 0 ? 0 : kind == 1 ? 1 + i / 8 : 10000 + random.Below(50));
        if (weighted) {
            const uint16_t weights[] = {0, 1, kFullWeight - 1, kFullWeight};
            row.weight = weights[random.Below(4)];
        }
        made.rows.push_back(row);
    }
    return made;
}

std::vector<int32_t> Entries(Random& random, int64_t reach, size_t cells) {
    std::vector<int32_t> entries(cells);
    for (int32_t& entry : entries) {
        const uint64_t kind = random.Below(4);
        entry = static_cast<int32_t>(
            kind == 0   ? -reach
            : kind == 1 ? reach
                        : static_cast<int64_t>(random.Below(2 * static_cast<uint64_t>(reach) + 1)) - reach);
    }
    return entries;
}

CodeView Product(Random& random, const std::vector<FeatureSpec>& features, uint32_t cells) {
    CodeView view;
    view.cells = cells;
    uint32_t room = cells;
    for (int k = 0; k < 2; k++) {
        ProductFactor factor;
        factor.column = static_cast<uint32_t>(random.Below(features.size()));
        const uint32_t most =
            k == 0 ? cells / 2 : room;  // offsets of all factors stay below `cells` together
        for (uint32_t cell = 0; cell < features[factor.column].cells(); cell++)
            factor.offsets.push_back(static_cast<uint16_t>(random.Below(most)));
        room -= *std::max_element(factor.offsets.begin(), factor.offsets.end());
        view.factors.push_back(std::move(factor));
    }
    return view;
}

// reach: of its entries; norms are beyond 31 bits with the largest.
Basis MakeBasis(Random& random, const std::vector<FeatureSpec>& features, int64_t reach) {
    Basis basis;
    const auto add = [&](CodeView view) {
        BasisBlock block;
        block.view = std::move(view);
        const uint64_t columns = random.Below(6);
        for (uint64_t k = 0; k < columns; k++)
            block.columns.push_back({Entries(random, reach, block.view.cells)});
        const uint32_t leaves[] = {0, 2, 16, 200};
        block.partition.leaves = columns == 0 ? leaves[1 + random.Below(3)] : leaves[random.Below(4)];
        for (uint32_t cell = 0; block.partition.leaves > 0 && cell < block.view.cells; cell++)
            block.partition.leaf.push_back(random.Below(8) == 0
                                               ? BasisPartition::kNoLeaf
                                               : static_cast<uint32_t>(random.Below(block.partition.leaves)));
        if (block.partition.leaves > 0 && random.Below(2) == 0)
            block.partition.Centre();
        basis.Add(std::move(block));
    };
    for (uint32_t f = 0; f < features.size(); f++)
        add(CodeView::Column(f, features[f].cells()));
    for (const uint32_t cells : {4U, 64U, 256U, 257U})
        add(Product(random, features, cells));
    if (random.Below(2) == 0)
        basis.SetIntercept(kBasisOne);
    return basis;
}

uint32_t CodeOf(const CodeView& view, const AuditRow& row) {
    if (!view.IsProduct())
        return row.codes[view.column];
    uint32_t code = 0;
    for (const ProductFactor& factor : view.factors)
        code += factor.offsets[row.codes[factor.column]];
    return code;
}

struct Adversary {
    Rows rows;
    Basis basis;
    uint64_t limit;
    LongRows long_rows;
    int shift;
    std::vector<std::vector<int32_t>> tables;  // of the features, what is added to scores
};

struct Exact {
    std::vector<int64_t> sums;
    double norm = 0;  // the largest that a unit adds, squared, to what is charged for
};

using Vector = std::vector<int64_t>;

// What a row adds, by the definition.
void AddRow(const Adversary& made, const AuditRow& row, int32_t gradient, Vector& vector) {
    int64_t weight = int64_t{gradient} * row.weight / kFullWeight;
    uint64_t norm = static_cast<uint64_t>(int64_t{made.basis.intercept()} * made.basis.intercept());
    for (const BasisBlock& block : made.basis.blocks())
        norm += block.cell_norms[CodeOf(block.view, row)];
    const uint64_t limit = std::min(made.limit, made.basis.MaxNormSquared());
    if (!made.rows.units && limit < made.basis.MaxNormSquared()) {
        const int64_t cap = ScaleDown(static_cast<double>(norm), static_cast<double>(limit), kCapUnit);
        const int64_t most = kClipSteps / kCapUnit * cap;
        weight = made.long_rows == LongRows::kCut ? std::clamp(weight, -most, most) : weight * cap / kCapUnit;
    }
    weight /= 1 << made.shift;
    for (size_t b = 0; b < made.basis.blocks().size(); b++)
        made.basis.AddRow(b, CodeOf(made.basis.blocks()[b].view, row), weight, vector.data());
    if (made.basis.intercept() != 0)
        vector.back() += made.basis.intercept() * weight;
}

double SquaredNorm(const Vector& vector) {
    __extension__ unsigned __int128 squares = 0;
    for (const int64_t entry : vector)
        squares += static_cast<unsigned __int128>(static_cast<__int128>(entry) * entry);
    return static_cast<double>(squares);
}

Exact ByDefinition(const Adversary& made, const std::vector<int32_t>& gradients) {
    const double clip = kClipSteps >> made.shift;
    const double limit = static_cast<double>(std::min(made.limit, made.basis.MaxNormSquared())) * clip * clip;
    Exact exact{Vector(made.basis.coordinates(), 0)};
    std::vector<size_t> order(gradients.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (made.rows.units)
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return made.rows.rows[a].unit < made.rows.rows[b].unit; });
    Vector vector(exact.sums.size(), 0), added(exact.sums.size(), 0);
    for (size_t k = 0; k < order.size(); k++) {
        const AuditRow& row = made.rows.rows[order[k]];
        AddRow(made, row, gradients[order[k]], vector);
        if (made.rows.units && k + 1 < order.size() && made.rows.rows[order[k + 1]].unit == row.unit)
            continue;
        std::fill(added.begin(), added.end(), 0);
        if (made.rows.units)
            AddWithin(limit, vector, added);
        else
            added = vector;
        exact.norm = std::max(exact.norm, SquaredNorm(added) / limit);
        for (size_t i = 0; i < added.size(); i++)
            exact.sums[i] += added[i];
        std::fill(vector.begin(), vector.end(), 0);
    }
    return exact;
}

Adversary MakeAdversary(Random& random, int number) {
    Rows rows = MakeRows(random, number % 3 == 2, number % 2 == 1);
    const int64_t reaches[] = {1, 700, kMostEntry};
    Basis basis = MakeBasis(random, rows.features, reaches[number / 2 % 3]);
    const uint64_t most = basis.MaxNormSquared();
    const uint64_t limits[] = {most / 20 + 1, most, most - 1, 1, most / 3};
    Adversary made{std::move(rows),
                   std::move(basis),
                   limits[static_cast<size_t>(number) % 5],
                   number % 4 == 3 ? LongRows::kCut : LongRows::kScale,
                   number % 4 == 1 ? 5 : 0,
                   {}};
    // Sums of tables stay within 32 bits, one of them goes to the ends.
    for (size_t f = 0; f < made.rows.features.size(); f++)
        made.tables.push_back(Entries(random, f == 2 ? (int64_t{1} << 31) - (1 << 24) : 1 << 20,
                                      made.rows.features[f].cells()));
    return made;
}

// Gradients and then counts.
std::vector<Vector> InForm(const Adversary& made, const Dataset& dataset, const Objective& objective,
                           Simd simd, int threads, double* sensitivity) {
    NoInterrupt interrupt;
    BasisRows rows(dataset, simd, interrupt, made.shift, 1, threads);
    rows.SetBasis(made.basis, made.limit, made.long_rows);
    for (size_t f = 0; f < made.tables.size(); f++)
        rows.AddTable(CodeView::Column(static_cast<uint32_t>(f), made.rows.features[f].cells()),
                      made.tables[f]);
    Vector gradients = ExactSums(rows.GradientSums(objective), sensitivity);
    return {std::move(gradients), ExactSums(rows.CountSums())};
}

TEST(AdversarialRows, AllFormsGiveWhatALoopGives) {
    ChaChaSource source = TestSource(21);
    Random random(source);
    bool scaled = false, small = false, large = false;
    for (int number = 0; number < 8; number++) {
        SCOPED_TRACE(number);
        const Adversary made = MakeAdversary(random, number);
        const Dataset dataset =
            AuditTable(made.rows.features, Task::kBinary, made.rows.units, made.rows.rows);
        const std::unique_ptr<const Objective> objective =
            MakeObjective(ObjectiveKind::kLogistic, dataset.target(), 0.3, 1);
        const size_t count = made.rows.rows.size();
        std::vector<int32_t> scores(count, 0), gradients(count), hessians(count);
        std::vector<float> labels;
        for (size_t i = 0; i < count; i++) {
            labels.push_back(made.rows.rows[i].label);
            for (size_t f = 0; f < made.tables.size(); f++)
                scores[i] += made.tables[f][made.rows.rows[i].codes[f]];
        }
        objective->Evaluate(Simd::kPortable, scores.data(), labels.data(), count, gradients.data(),
                            hessians.data());
        const Exact of_gradients = ByDefinition(made, gradients);
        const Exact of_counts = ByDefinition(made, std::vector<int32_t>(count, kClipSteps));
        EXPECT_LE(of_gradients.norm, 1);
        EXPECT_LE(of_counts.norm, 1);
        scaled |= of_counts.norm > 0.99;
        small |= made.basis.MaxNormSquared() < uint64_t{1} << 31;
        large |= made.basis.MaxNormSquared() >= uint64_t{1} << 31;
        for (const Simd simd :
             {Simd::kPortable, Simd::kAvx2, Simd::kAvx512, Simd::kAvx512Vnni, Simd::kAvx512Vbmi}) {
            for (const int threads : {1, 3}) {
                if (simd > BestSimd())
                    continue;
                double sensitivity = 0;
                const std::vector<Vector> sums =
                    InForm(made, dataset, *objective, simd, threads, &sensitivity);
                EXPECT_EQ(sums[0], of_gradients.sums) << static_cast<int>(simd);
                EXPECT_EQ(sums[1], of_counts.sums) << static_cast<int>(simd);
                const double clip = kClipSteps >> made.shift;
                const auto limit = static_cast<double>(std::min(made.limit, made.basis.MaxNormSquared()));
                EXPECT_GE(sensitivity * (1 + 1e-12), clip * std::sqrt(limit));
            }
        }
    }
    EXPECT_TRUE(scaled && small && large) << "the tables do not go to the bounds";
}

}  // namespace
}  // namespace dpboost
