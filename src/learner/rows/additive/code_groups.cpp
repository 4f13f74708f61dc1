#include "learner/rows/additive/code_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dataset/dataset.h"

namespace dpboost {
namespace {

constexpr uint16_t kUnseen = UINT16_MAX;
constexpr std::size_t kTries = 8;                        // groups that a feature may join
constexpr std::size_t kMaxPairs = std::size_t{1} << 20;  // of a group's cells and a feature's codes

}  // namespace

CodeGroups::CodeGroups(const Dataset& dataset, bool merge, std::size_t max_cells, Interrupt& interrupt)
    : dataset_(dataset) {
    std::vector<uint32_t> order(dataset.columns());
    std::iota(order.begin(), order.end(), 0);
    // Fine features first: each then takes in the coarse ones that it has room for.
    if (merge)
        std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
            return dataset.features()[a].cells() > dataset.features()[b].cells();
        });
    Scratch scratch;
    for (const uint32_t feature : order) {
        bool merged = false;
        const std::size_t first = groups_.size() < kTries ? 0 : groups_.size() - kTries;
        for (std::size_t g = first; merge && g < groups_.size() && !merged; g++)
            merged = TryMerge(g, feature, max_cells, &scratch, interrupt);
        if (!merged)
            groups_.push_back({{feature}, dataset.features()[feature].cells(), {}, {}});
    }
}

bool CodeGroups::TryMerge(std::size_t index, uint32_t feature, std::size_t max_cells, Scratch* scratch,
                          Interrupt& interrupt) {
    Group* const group = &groups_[index];
    const std::size_t width = dataset_.features()[feature].cells();
    if (group->cells * width > kMaxPairs)
        return false;
    auto& [number, pairs, codes, block_codes] = *scratch;
    number.assign(group->cells * width, kUnseen);
    pairs.clear();
    codes.resize(dataset_.rows());
    block_codes.resize(kBlockRows);
    for (std::size_t block = 0; block < dataset_.blocks(); block++) {
        const uint16_t* const cells = Codes(index, block, block_codes.data());
        for (std::size_t i = 0; i < dataset_.block_rows(block); i++) {
            const uint16_t code = dataset_.Code(block * kBlockRows + i, feature);
            uint16_t& known = number[cells[i] * width + code];
            if (known == kUnseen) {
                if (pairs.size() == max_cells)
                    return false;
                known = static_cast<uint16_t>(pairs.size());
                pairs.emplace_back(cells[i], code);
            }
            codes[block * kBlockRows + i] = known;
        }
        interrupt.Poll();
    }
    std::vector<uint16_t> member_codes;
    for (std::size_t k = 0; k < group->features.size(); k++) {
        for (const auto& pair : pairs)
            member_codes.push_back(group->features.size() == 1
                                       ? pair.first
                                       : group->member_codes[k * group->cells + pair.first]);
    }
    for (const auto& pair : pairs)
        member_codes.push_back(pair.second);
    group->features.push_back(feature);
    group->cells = pairs.size();
    group->member_codes = std::move(member_codes);
    group->codes = codes;
    return true;
}

const uint16_t* CodeGroups::Codes(std::size_t group, std::size_t block, uint16_t* scratch) const {
    const Group& own = groups_[group];
    if (own.features.size() > 1)
        return own.codes.data() + block * kBlockRows;
    const uint32_t feature = own.features[0];
    if (dataset_.wide(feature))
        return dataset_.Codes16(block, feature);
    const uint8_t* const codes = dataset_.Codes8(block, feature);
    for (std::size_t i = 0; i < dataset_.block_rows(block); i++)
        scratch[i] = codes[i];
    return scratch;
}

void CodeGroups::Expand(std::size_t group, const std::vector<std::vector<int32_t>>& tables,
                        int32_t* cell_values) const {
    const Group& own = groups_[group];
    const std::vector<int32_t>& first = tables[own.features[0]];
    if (own.features.size() == 1) {
        std::copy(first.begin(), first.end(), cell_values);
        return;
    }
    for (std::size_t k = 0; k < own.features.size(); k++) {
        const int32_t* const table = tables[own.features[k]].data();
        const uint16_t* const codes = own.member_codes.data() + k * own.cells;
        for (std::size_t cell = 0; cell < own.cells; cell++)
            cell_values[cell] = (k == 0 ? 0 : cell_values[cell]) + table[codes[cell]];
    }
}

void CodeGroups::Project(std::size_t group, const int64_t* cell_sums,
                         std::vector<std::vector<int64_t>>* sums) const {
    const Group& own = groups_[group];
    for (std::size_t k = 0; k < own.features.size(); k++) {
        int64_t* const out = (*sums)[own.features[k]].data();
        for (std::size_t cell = 0; cell < own.cells; cell++)
            out[own.features.size() == 1 ? cell : own.member_codes[k * own.cells + cell]] += cell_sums[cell];
    }
}

}  // namespace dpboost
