#include "learner/rows/linear/linear_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dataset/dataset.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dpboost {
namespace {

constexpr uint32_t kRoundsWorthGrouping = 16;
constexpr std::size_t kGroupCells = 2048;

void AddLookupsPortable(const uint16_t* codes, const int32_t* table, std::size_t rows, int32_t* scores) {
    for (std::size_t i = 0; i < rows; i++)
        scores[i] += table[codes[i]];
}

#if defined(__x86_64__)
// Returns how many rows were done.
__attribute__((target("avx2"))) std::size_t AddLookupsAvx2(const uint16_t* codes, const int32_t* table,
                                                           std::size_t rows, int32_t* scores) {
    std::size_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        const __m256i index =
            _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + i)));
        const __m256i found = _mm256_i32gather_epi32(table, index, 4);
        __m256i* const score = reinterpret_cast<__m256i*>(scores + i);
        _mm256_storeu_si256(score, _mm256_add_epi32(_mm256_loadu_si256(score), found));
    }
    return i;
}
#endif

void AddLookups(Simd simd, const uint16_t* codes, const int32_t* table, std::size_t rows, int32_t* scores) {
    std::size_t done = 0;
#if defined(__x86_64__)
    if (simd != Simd::kPortable)
        done = AddLookupsAvx2(codes, table, rows, scores);
#else
    (void)simd;
#endif
    AddLookupsPortable(codes + done, table, rows - done, scores + done);
}

// Several groups at once: rows in the same cell wait for each other's stores, rows of other groups do not.
template <std::size_t kGroups>
void AddToSums(const uint16_t* const* codes, std::vector<int64_t>* sums, const int32_t* values,
               std::size_t rows) {
    int64_t* cells[kGroups];
    const uint16_t* own[kGroups];
    for (std::size_t g = 0; g < kGroups; g++) {
        cells[g] = sums[g].data();
        own[g] = codes[g];
    }
    for (std::size_t i = 0; i < rows; i++) {
        const int64_t value = values[i];
        for (std::size_t g = 0; g < kGroups; g++)
            cells[g][own[g][i]] += value;
    }
}

// Before anything is copied.
const Dataset& WithRoom(const Dataset& dataset) {
    dataset.RequireMemory(dataset.rows() * LinearRows::BytesPerRow(dataset.columns(), dataset.has_units()));
    return dataset;
}

}  // namespace

LinearRows::LinearRows(const Dataset& dataset, const Design& design, const Objective& objective,
                       uint32_t rounds, Simd simd, Interrupt& interrupt, int threads)
    : dataset_(WithRoom(dataset)),
      design_(design),
      simd_(simd),
      interrupt_(interrupt),
      objective_(objective),
      groups_(dataset, rounds >= kRoundsWorthGrouping, kGroupCells, interrupt),
      pool_(threads),
      workers_(static_cast<std::size_t>(pool_.workers())),
      group_tables_(groups_.groups()) {
    for (std::size_t g = 0; g < groups_.groups(); g++)
        group_tables_[g].resize(groups_.cells(g));
    if (dataset.has_units())
        FindWeights();
}

void LinearRows::FindWeights() {
    weights_.assign(dataset_.rows(), 0);
    for (std::size_t unit = 0; unit < dataset_.units(); unit++) {
        const std::size_t begin = dataset_.unit_begin()[unit];
        const std::size_t size = dataset_.unit_begin()[unit + 1] - begin;
        if (unit % (std::size_t{1} << 16) == 0)
            interrupt_.Poll();
        const std::size_t taken = std::min<std::size_t>(size, kUnitWeight);
        for (std::size_t i = 0; i < taken; i++)
            weights_[dataset_.unit_rows()[begin + i]] = static_cast<uint16_t>(kUnitWeight / taken);
    }
}

void LinearRows::AddProducts(std::size_t first, std::size_t end, std::vector<int64_t>& matrix) const {
    const std::size_t p = design_.columns();
    const std::size_t features = design_.features();
    matrix.resize(p * p);
    std::vector<uint16_t> row(features + 1);  // the columns of its ones
    row[features] = static_cast<uint16_t>(design_.intercept());
    for (std::size_t r = first; r < end; r++) {
        for (std::size_t f = 0; f < features; f++)
            row[f] = design_.columns_of(f)[dataset_.Code(r, f)];
        const int64_t weight = weights_.empty() ? kUnitWeight : weights_[r];
        for (std::size_t a = 0; a <= features; a++) {
            int64_t* const line = &matrix[row[a] * p];
            for (std::size_t b = a; b <= features; b++)
                line[row[b]] += weight;
        }
    }
}

RawSums LinearRows::Products() {
    const std::size_t p = design_.columns();
    const std::size_t rows = 1 + (std::size_t{1} << 20) / (design_.features() * design_.features());
    std::vector<std::vector<int64_t>> matrices(workers_.size());
    pool_.Run((dataset_.rows() + rows - 1) / rows, interrupt_, [&](int worker, std::size_t item) {
        AddProducts(item * rows, std::min(dataset_.rows(), (item + 1) * rows),
                    matrices[static_cast<std::size_t>(worker)]);
    });
    std::vector<int64_t> sums;
    sums.reserve(design_.product_count());
    for (const auto& product : design_.products()) {
        int64_t sum = 0;
        for (const std::vector<int64_t>& matrix : matrices)
            sum += matrix.empty() ? 0 : matrix[product.first * p + product.second];
        sums.push_back(sum * kDesignOne * kDesignOne);
    }
    return {std::move(sums), design_.ProductSensitivity()};
}

void LinearRows::Prepare(Worker& worker) const {
    const std::size_t groups = groups_.groups();
    worker.scratch.assign(groups, std::vector<uint16_t>(kBlockRows));
    worker.codes.resize(groups);
    worker.scores.resize(kBlockRows);
    worker.gradients.resize(kBlockRows);
    worker.hessians.resize(kBlockRows);
    for (std::size_t g = 0; g < groups; g++)
        worker.sums.emplace_back(groups_.cells(g), 0);
}

void LinearRows::SumGroups(std::size_t rows, Worker& worker) {
    const int32_t* const gradients = worker.gradients.data();
    const uint16_t* const* const codes = worker.codes.data();
    std::vector<int64_t>* const sums = worker.sums.data();
    const std::size_t groups = worker.codes.size();
    std::size_t g = 0;
    for (; g + 4 <= groups; g += 4)
        AddToSums<4>(codes + g, sums + g, gradients, rows);
    if (groups - g == 3)
        AddToSums<3>(codes + g, sums + g, gradients, rows);
    else if (groups - g == 2)
        AddToSums<2>(codes + g, sums + g, gradients, rows);
    else if (groups - g == 1)
        AddToSums<1>(codes + g, sums + g, gradients, rows);
}

void LinearRows::SumBlock(std::size_t block, int32_t base, Worker& worker) const {
    const std::size_t rows = dataset_.block_rows(block);
    if (worker.sums.empty())
        Prepare(worker);
    std::fill(worker.scores.begin(), worker.scores.end(), base);
    for (std::size_t g = 0; g < groups_.groups(); g++) {
        worker.codes[g] = groups_.Codes(g, block, worker.scratch[g].data());
        AddLookups(simd_, worker.codes[g], group_tables_[g].data(), rows, worker.scores.data());
    }
    std::vector<int32_t>& gradients = worker.gradients;
    objective_.Evaluate(simd_, worker.scores.data(), dataset_.Labels(block), rows, gradients.data(),
                        worker.hessians.data());
    if (!weights_.empty()) {
        const uint16_t* const weights = &weights_[block * kBlockRows];
        for (std::size_t i = 0; i < rows; i++)
            gradients[i] = gradients[i] * weights[i] / kUnitWeight;  // below 2^27, and towards zero
    }
    worker.total = std::accumulate(gradients.begin(), gradients.begin() + static_cast<std::ptrdiff_t>(rows),
                                   worker.total);
    SumGroups(rows, worker);
}

RawSums LinearRows::Gradients(int32_t base, const std::vector<std::vector<int32_t>>& tables) {
    for (std::size_t g = 0; g < groups_.groups(); g++)
        groups_.Expand(g, tables, group_tables_[g].data());
    for (Worker& worker : workers_) {
        worker.total = 0;
        for (std::vector<int64_t>& sums : worker.sums)
            std::fill(sums.begin(), sums.end(), 0);
    }
    pool_.Run(dataset_.blocks(), interrupt_, [&](int worker, std::size_t block) {
        SumBlock(block, base, workers_[static_cast<std::size_t>(worker)]);
    });
    int64_t total = 0;
    std::vector<std::vector<int64_t>> code_sums(design_.features());
    for (std::size_t f = 0; f < code_sums.size(); f++)
        code_sums[f].assign(design_.columns_of(f).size(), 0);
    for (const Worker& worker : workers_) {
        total += worker.total;
        for (std::size_t g = 0; g < worker.sums.size(); g++)
            groups_.Project(g, worker.sums[g].data(), &code_sums);
    }
    std::vector<int64_t> sums(design_.columns(), 0);
    for (std::size_t f = 0; f < code_sums.size(); f++)
        for (std::size_t code = 0; code < code_sums[f].size(); code++)
            sums[design_.columns_of(f)[code]] += code_sums[f][code] * kDesignOne;
    sums[design_.intercept()] = total * kDesignOne;
    return {std::move(sums), design_.GradientSensitivity()};
}

}  // namespace dpboost
