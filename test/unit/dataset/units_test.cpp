#include "dataset/units.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace dpboost {
namespace {

std::pair<uint64_t, uint64_t> Pair(const UnitKey& key) {
    return {key.low, key.high};
}

TEST(Units, DifferentValuesHaveDifferentKeys) {
    std::set<std::pair<uint64_t, uint64_t>> keys;
    size_t values = 0;
    for (int64_t value = -2000; value < 2000; value++, values++)
        keys.insert(Pair(UnitKeyOf(value)));
    // Every length around the change from kept to hashed bytes, also bytes that are all zero.
    for (size_t size = 0; size < 40; size++) {
        if (size == 8)
            continue;  // eight bytes are the same as a number of eight bytes
        for (char fill : {'\0', 'a', '\xff'}) {
            std::string text(size, fill);
            keys.insert(Pair(UnitKeyOf(text.data(), size)));
            values += size > 0 || fill == 'a';
        }
    }
    EXPECT_EQ(keys.size(), values);
}

TEST(Units, EqualBytesHaveEqualKeys) {
    std::string name = "a rather long name of a person";
    std::string copy = name;
    EXPECT_TRUE(UnitKeyOf(name.data(), name.size()) == UnitKeyOf(copy.data(), copy.size()));
    EXPECT_TRUE(UnitKeyOf(int64_t{5}) == UnitKeyOf(int64_t{5}));
}

}  // namespace
}  // namespace dpboost
