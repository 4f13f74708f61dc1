// Features whose codes are looked up together: columns that share few combinations of codes become one column
// of combination numbers, so that a round of boosting reads and adds to a table once per group instead of
// once per feature. Exact: only the order of integer additions changes. Internal to a training; nothing of it
// is released.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"

namespace dpboost {

class Dataset;

class CodeGroups {
  public:
    // At most `max_cells` combinations per group of several features. With merge = false, every feature is a
    // group of its own, and nothing is copied. The dataset must outlive the groups.
    CodeGroups(const Dataset& dataset, bool merge, std::size_t max_cells, Interrupt& interrupt);

    std::size_t groups() const { return groups_.size(); }
    std::size_t cells(std::size_t group) const { return groups_[group].cells; }
    const std::vector<uint32_t>& features(std::size_t group) const { return groups_[group].features; }

    // The codes of a group's rows in a block, as they are or widened into `scratch` (kBlockRows).
    const uint16_t* Codes(std::size_t group, std::size_t block, uint16_t* scratch) const;

    // cell_values[cell] = sum over the group's features of tables[feature][code of the cell].
    void Expand(std::size_t group, const std::vector<std::vector<int32_t>>& tables,
                int32_t* cell_values) const;
    // sums[feature][code] += cell_sums[cell] for every feature of the group.
    void Project(std::size_t group, const int64_t* cell_sums, std::vector<std::vector<int64_t>>* sums) const;

  private:
    struct Group {
        std::vector<uint32_t> features;
        std::size_t cells = 0;
        std::vector<uint16_t> member_codes;  // [feature of the group][cell]; empty for one feature
        std::vector<uint16_t> codes;         // per row; empty for one feature
    };

    // Memory of one attempt.
    struct Scratch {
        std::vector<uint16_t> number;                      // of each pair of a cell and a code
        std::vector<std::pair<uint16_t, uint16_t>> pairs;  // (cell of the group, code) of each combination
        std::vector<uint16_t> codes;
        std::vector<uint16_t> block;
    };

    bool TryMerge(std::size_t group, uint32_t feature, std::size_t max_cells, Scratch* scratch,
                  Interrupt& interrupt);

    const Dataset& dataset_;
    std::vector<Group> groups_;
};

}  // namespace dpboost
