// Tables in registers give what loops over rows give, for every range of entries; and sums over rows are the same in all forms
// of the code, whichever way a part's are taken.
#include "learner/rows/additive/byte_tables.h"

#include <gtest/gtest.h>

#include <limits>

#include "learner/rows/additive/basis_rows.h"
#include "support/exact_sums.h"
#include "unit/learner/random_data.h"

namespace dpboost {
namespace {

// Entries between -reach and reach, and the ends themselves.
std::vector<int32_t> Entries(int64_t reach, size_t cells, Random& random) {
    std::vector<int32_t> entries;
    for (size_t cell = 0; cell < cells; cell++)
        entries.push_back(static_cast<int32_t>(
            static_cast<int64_t>(random.Below(2 * static_cast<uint64_t>(reach) + 1)) - reach));
    entries.front() = static_cast<int32_t>(-reach);
    entries.back() = static_cast<int32_t>(reach);
    return entries;
}

std::vector<uint8_t> Codes(size_t cells, Random& random) {
    std::vector<uint8_t> codes(ByteWeights::kRows);
    for (uint8_t& code : codes)
        code = static_cast<uint8_t>(random.Below(cells));
    return codes;
}

// In every form that this machine has.
class ByteTables : public ::testing::TestWithParam<Simd> {
  protected:
    void SetUp() override {
        if (GetParam() > BestSimd())
            GTEST_SKIP() << "no vector instructions for it";
    }
    ChaChaSource source_ = TestSource(11);
    Random random_{source_};
};

TEST_P(ByteTables, AreLookedUp) {
    const int64_t reaches[] = {0, 1, 127, 128, 300, 40000, 1 << 23, std::numeric_limits<int32_t>::max()};
    const size_t cells[] = {256, 255, 2, 64, 65, 129, 10, 200};
    std::vector<std::vector<int32_t>> tables;
    std::vector<std::vector<uint8_t>> codes;
    std::vector<ByteTable> bytes;
    for (size_t c = 0; c < 8; c++) {
        tables.push_back(Entries(reaches[c], cells[c], random_));
        codes.push_back(Codes(cells[c], random_));
        bytes.emplace_back(tables.back());
    }
    for (const size_t rows : {size_t{1}, size_t{127}, size_t{128}, size_t{1000}, ByteWeights::kRows}) {
        for (size_t first = 0; first < 8; first++) {
            std::vector<ByteLookup> lookups;
            std::vector<int32_t> scores(ByteWeights::kRows, 7), plain = scores;
            for (size_t c = first; c < 8; c++) {
                lookups.push_back({{codes[c].data(), tables[c].data()}, &bytes[c]});
                for (size_t i = 0; i < rows; i++)
                    plain[i] = static_cast<int32_t>(static_cast<uint32_t>(plain[i]) +
                                                    static_cast<uint32_t>(tables[c][codes[c][i]]));
            }
            AddByteLookups(GetParam(), lookups, rows, scores.data());
            ASSERT_EQ(scores, plain) << rows << " rows, columns from " << first << " on";
        }
    }
}

TEST_P(ByteTables, AreSummedUp) {
    ByteWeights weights;
    const struct {
        int64_t reach;
        size_t cells;
    } kinds[] = {{0, 255},       {1, 255},  {100, 256},    {600, 255},
                 {1 << 14, 255}, {100, 64}, {1 << 14, 64}, {600, 33}};
    for (const auto& [reach, cells] : kinds) {
        const std::vector<int32_t> table = Entries(reach, cells, random_);
        const std::vector<uint8_t> codes = Codes(cells, random_);
        for (const size_t rows : {size_t{1}, size_t{63}, size_t{64}, size_t{1000}, ByteWeights::kRows}) {
            for (const int64_t most : {int64_t{1}, int64_t{200}, int64_t{kClipSteps}}) {
                const std::vector<int32_t> of_rows = Entries(most, rows, random_);
                int64_t plain = 0, total = 0;
                for (size_t i = 0; i < rows; i++) {
                    plain += static_cast<int64_t>(of_rows[i]) * table[codes[i]];
                    total += of_rows[i];
                }
                weights.Split(GetParam(), of_rows.data(), rows);
                EXPECT_EQ(SumProducts(GetParam(), codes.data(), rows, ByteTable(table), weights, total),
                          plain);
            }
        }
    }
}

TEST_P(ByteTables, AreJoined) {
    const std::vector<uint8_t> a = Codes(256, random_), b = Codes(100, random_);
    std::vector<int32_t> first, second;
    for (int32_t cell = 0; cell < 256; cell++)
        first.push_back(cell % 16 * 16);
    for (int32_t cell = 0; cell < 100; cell++)
        second.push_back(cell * 7 % 16);
    std::vector<uint8_t> joined(ByteWeights::kRows);
    JoinCodes(GetParam(), a.data(), ByteTable(first), b.data(), ByteTable(second), joined.size(),
              joined.data());
    for (size_t i = 0; i < joined.size(); i++)
        ASSERT_EQ(joined[i], first[a[i]] + second[b[i]]);
}

TEST_P(ByteTables, AreMapped) {
    for (const size_t cells : {256, 254, 130, 64, 33, 1}) {
        for (const int32_t least : {0, 3}) {
            const std::vector<uint8_t> codes = Codes(cells, random_);
            std::vector<int32_t> table;
            for (size_t cell = 0; cell < cells; cell++)
                table.push_back(least + static_cast<int32_t>(random_.Below(253)));
            std::vector<uint8_t> mapped(ByteWeights::kRows);
            MapCodes(GetParam(), codes.data(), ByteTable(table), mapped.size(), mapped.data());
            for (size_t i = 0; i < mapped.size(); i++)
                ASSERT_EQ(mapped[i], table[codes[i]]) << cells << " cells from " << least;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, ByteTables, ::testing::Values(Simd::kAvx512Vnni, Simd::kAvx512Vbmi),
                         [](const auto& form) {
                             return form.param == Simd::kAvx512Vbmi ? "Bytes" : "Words";
                         });

// Parts with one, two and three columns, few and many leaves, cells of no leaf, and both.
Basis EveryPart(const std::vector<FeatureSpec>& features, Random& random) {
    Basis basis;
    const struct {
        size_t columns;
        uint32_t leaves;
    } kinds[] = {{1, 0}, {0, 16}, {2, 0}, {0, 15}, {3, 0}, {0, 200}, {1, 5}, {0, 9}};
    for (uint32_t f = 0; f < features.size(); f++) {
        const uint32_t cells = features[f].cells();
        const auto& kind = kinds[f % 8];
        BasisBlock block;
        block.view = CodeView::Column(f, cells);
        for (size_t k = 0; k < kind.columns; k++)
            block.columns.push_back({Entries(k == 1 ? 1 << 14 : 700, cells, random)});
        block.partition.leaves = kind.leaves;
        for (uint32_t cell = 0; kind.leaves > 0 && cell < cells; cell++)
            block.partition.leaf.push_back(cell % 11 == 10 ? BasisPartition::kNoLeaf
                                                           : cell * 5 % kind.leaves);
        if (kind.leaves > 0 && f % 2 == 1)
            block.partition.Centre();
        basis.Add(std::move(block));
    }
    // Products, by coordinates and by cells.
    for (const auto& kind : {kinds[0], kinds[2], kinds[1]}) {
        BasisBlock block;
        block.view.cells = 64;
        for (uint32_t f = 0; f < 2; f++) {
            ProductFactor factor;
            factor.column = f;
            for (uint32_t cell = 0; cell < features[f].cells(); cell++)
                factor.offsets.push_back(static_cast<uint16_t>(cell % 8 * (f == 0 ? 8 : 1)));
            block.view.factors.push_back(factor);
        }
        for (size_t k = 0; k < kind.columns; k++)
            block.columns.push_back({Entries(600, block.view.cells, random)});
        block.partition.leaves = kind.leaves;
        for (uint32_t cell = 0; kind.leaves > 0 && cell < block.view.cells; cell++)
            block.partition.leaf.push_back(cell % kind.leaves);
        basis.Add(std::move(block));
    }
    basis.SetIntercept(100);
    return basis;
}

TEST(NarrowParts, SumsAreTheSameInAllForms) {
    DataShape shape;
    shape.rows = 9 * kBlockRows + 333;  // more blocks than fit 32 bits
    shape.numeric = 12;
    shape.levels = 3;
    shape.wide = 1;
    const Dataset dataset = RandomDataset(shape);
    ChaChaSource source = TestSource(12);
    Random random(source);
    const Basis basis = EveryPart(dataset.features(), random);
    std::vector<std::vector<int32_t>> tables;
    for (size_t f = 0; f < dataset.columns(); f++)
        tables.push_back(Entries(int64_t{1} << (2 * f % 20), dataset.features()[f].cells(), random));
    const std::unique_ptr<const Objective> objective =
        MakeObjective(ObjectiveKind::kLogistic, dataset.target(), 0.3, 1);
    NoInterrupt interrupt;
    const auto sums = [&](Simd simd, int threads, uint64_t limit) {
        BasisRows rows(dataset, simd, interrupt, 0, 1, threads);
        rows.SetBasis(basis, limit);
        for (size_t f = 0; f < dataset.columns(); f++)
            rows.AddTable(CodeView::Column(static_cast<uint32_t>(f), dataset.features()[f].cells()),
                          tables[f]);
        std::vector<int64_t> all = ExactSums(rows.GradientSums(*objective));
        for (const std::vector<int64_t>& more :
             {ExactSums(rows.GradientSums(*objective)), ExactSums(rows.CountSums()),
              ExactSums(rows.LabelSums(*objective))})
            all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    for (const uint64_t limit : {basis.MaxNormSquared(), basis.MaxNormSquared() / 20}) {
        const std::vector<int64_t> plain = sums(Simd::kPortable, 1, limit);
        for (const Simd simd : {Simd::kAvx2, Simd::kAvx512, Simd::kAvx512Vnni, Simd::kAvx512Vbmi}) {
            if (simd > BestSimd())
                continue;
            EXPECT_EQ(sums(simd, 1, limit), plain);
            EXPECT_EQ(sums(simd, 3, limit), plain);
        }
    }
}

}  // namespace
}  // namespace dpboost
