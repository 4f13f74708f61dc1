// Where a row ends in many trees, three levels of each at a time, with AVX2. A question compares one byte of the row with
// one byte of the question; the seven questions of three levels are a group, asked together, of four trees at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dpboost {

constexpr size_t kGroupLevels = 3;
constexpr size_t kGroupPaths = size_t{1} << kGroupLevels;  // ways out of a group; it has one question less
constexpr size_t kMostSlots = 128;                         // bytes of a row
constexpr size_t kWalkTrees = 128;                         // that are walked at once, at most
constexpr size_t kTreesOfTop = 4;

// A question in bytes: of a row's byte at `slot`. Right is above `test`; with kIsLevel in the slot it is any but `test`.
constexpr uint8_t kIsLevel = 0x80;
constexpr uint8_t kNeverRight = 255;  // as a test, without kIsLevel

// Questions in heap order from 0, and one that is never right.
struct alignas(16) QuestionGroup {
    uint8_t slots[kGroupPaths] = {};
    uint8_t tests[kGroupPaths] = {kNeverRight, kNeverRight, kNeverRight, kNeverRight,
                                  kNeverRight, kNeverRight, kNeverRight, kNeverRight};
};

// The first groups of trees that follow each other.
struct alignas(64) TopGroups {
    uint8_t slots[kTreesOfTop][kGroupPaths];
    uint8_t tests[kTreesOfTop][kGroupPaths];
};

// By path through the groups above, `paths` of them in a tree.
struct LowerGroups {
    const QuestionGroup* groups;
    size_t paths;
};

// leaves[t] is the number of the row's leaf in tree t, of kWalkTrees at most; room for kWalkTrees is used. `row` has
// `slots` bytes, kMostSlots to read, aligned to 32; tops and lower groups reach up to a multiple of kTreesOfTop trees.
// Only where there is AVX2.
void WalkBytes(const uint8_t* row, size_t slots, const TopGroups* tops, const LowerGroups* lower,
               size_t stages, size_t trees, uint16_t* leaves) noexcept;

}  // namespace dpboost
