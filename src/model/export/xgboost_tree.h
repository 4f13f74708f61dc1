// One tree of XGBoost while it is made, and as its JSON wants it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dpboost {

// A number of single precision in the fewest digits that give it back, as XGBoost reads one.
struct NumberText {
    uint8_t size = 0;
    char text[20];
};

// Remembers them: thresholds come again and again, and every leaf twice.
class NumberTexts {
  public:
    NumberTexts() : entries_(size_t{1} << kBits) {}
    // Valid until the next call.
    const NumberText& Of(float value);

  private:
    static constexpr unsigned kBits = 12;
    struct Entry {
        uint32_t bits = 0;
        NumberText text;
    };
    std::vector<Entry> entries_;
};

struct XgboostNode {
    int32_t left = -1;
    int32_t right = -1;
    uint32_t feature = 0;
    float value = 0;  // condition of a split, or the leaf's value
    bool missing_left = false;
    std::vector<uint32_t> categories;  // those that go right; none: a split of numbers
};

// A tree, its nodes in the order in which they were made; the first one is the root.
class XgboostTree {
  public:
    int32_t Add(XgboostNode node);
    int32_t AddLeaf(float value) {
        XgboostNode leaf;
        leaf.value = value;
        return Add(std::move(leaf));
    }
    void Reserve(size_t nodes) { nodes_.reserve(nodes); }
    // x < condition goes left.
    int32_t AddSplit(uint32_t feature, float condition, bool missing_left) {
        XgboostNode split;
        split.feature = feature;
        split.value = condition;
        split.missing_left = missing_left;
        return Add(std::move(split));
    }
    // Throws Error(kLimitExceeded) when its splits name too many categories.
    void CountCategories(size_t count);
    XgboostNode& operator[](int32_t index) { return nodes_[static_cast<size_t>(index)]; }

    // As an object of the model's JSON.
    void AppendTo(std::string* json, size_t id, size_t features, NumberTexts* texts) const;

  private:
    std::vector<XgboostNode> nodes_;
    size_t categories_ = 0;
};

}  // namespace dpboost
