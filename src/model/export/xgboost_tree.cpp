#include "model/export/xgboost_tree.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr int32_t kNoParent = std::numeric_limits<int32_t>::max();  // as XGBoost writes it
constexpr size_t kMostDigits = 24;  // of a whole number of 64 bits or a NumberText
constexpr size_t kMaxNodes = size_t{1} << 20;
constexpr size_t kMaxCategories = size_t{1} << 24;

[[noreturn]] void RaiseTooLarge() {
    throw Error(ErrorCode::kLimitExceeded, "a tree of the model is too large for XGBoost");
}

char* Write(int64_t value, char* digits) {
    if (value >= 0 && value < 100) {  // nearly all of them
        if (value >= 10)
            *digits++ = static_cast<char>('0' + value / 10);
        *digits++ = static_cast<char>('0' + value % 10);
        return digits;
    }
    return std::to_chars(digits, digits + kMostDigits, value).ptr;
}

char* Write(const NumberText& number, char* digits) {
    std::memcpy(digits, number.text, number.size);
    return digits + number.size;
}

// "name":[value of each item],
template <typename Items, typename Value>
void AppendArray(const char* name, const Items& items, const Value& value, std::string* text) {
    text->append("\"").append(name).append("\":[");
    char some[64 * (kMostDigits + 3)];
    char* end = some;
    for (const auto& item : items) {
        if (end > some + sizeof some - (kMostDigits + 3)) {
            text->append(some, end);
            end = some;
        }
        end = Write(value(item), end);
        *end++ = ',';
    }
    text->append(some, end);
    if (!items.empty())
        text->pop_back();
    *text += "],";
}

// XGBoost's predictor takes the left child's neighbour for the right one, so nodes are numbered level by level.
struct NumberedNodes {
    std::vector<const XgboostNode*> nodes;
    std::vector<int32_t> parents;
    std::vector<int32_t> left;  // new numbers; -1 for leaves

    explicit NumberedNodes(const std::vector<XgboostNode>& list) {
        nodes.reserve(list.size());
        parents.reserve(list.size());
        left.reserve(list.size());
        nodes.push_back(&list[0]);
        parents.push_back(kNoParent);
        for (size_t i = 0; i < nodes.size(); i++) {
            const XgboostNode& node = *nodes[i];
            left.push_back(node.left < 0 ? -1 : static_cast<int32_t>(nodes.size()));
            if (node.left < 0)
                continue;
            for (const int32_t child : {node.left, node.right}) {
                nodes.push_back(&list[static_cast<size_t>(child)]);
                parents.push_back(static_cast<int32_t>(i));
            }
        }
    }
};

void AppendCategories(const NumberedNodes& numbered, std::string* text) {
    std::vector<size_t> categories, nodes, segments, sizes;
    for (size_t i = 0; i < numbered.nodes.size(); i++) {
        const std::vector<uint32_t>& right = numbered.nodes[i]->categories;
        if (right.empty())
            continue;
        nodes.push_back(i);
        segments.push_back(categories.size());
        sizes.push_back(right.size());
        categories.insert(categories.end(), right.begin(), right.end());
    }
    const auto same = [](size_t value) { return static_cast<int64_t>(value); };
    AppendArray("categories", categories, same, text);
    AppendArray("categories_nodes", nodes, same, text);
    AppendArray("categories_segments", segments, same, text);
    AppendArray("categories_sizes", sizes, same, text);
}

}  // namespace

const NumberText& NumberTexts::Of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    Entry& entry = entries_[(bits * 2654435761U) >> (32 - kBits)];
    if (entry.text.size > 0 && entry.bits == bits)
        return entry.text;
    char* const begin = entry.text.text;
    char* end = std::to_chars(begin, begin + sizeof entry.text.text - 2, value).ptr;
    // XGBoost takes no whole number where it wants another, and tells them by how they are written.
    if (std::string_view(begin, static_cast<size_t>(end - begin)).find_first_of(".e") ==
        std::string_view::npos) {
        *end++ = '.';
        *end++ = '0';
    }
    entry.bits = bits;
    entry.text.size = static_cast<uint8_t>(end - begin);
    return entry.text;
}

int32_t XgboostTree::Add(XgboostNode node) {
    if (nodes_.size() == kMaxNodes)
        RaiseTooLarge();
    nodes_.push_back(std::move(node));
    return static_cast<int32_t>(nodes_.size() - 1);
}

void XgboostTree::CountCategories(size_t count) {
    if ((categories_ += count) > kMaxCategories)
        RaiseTooLarge();
}

void XgboostTree::AppendTo(std::string* json, size_t id, size_t features, NumberTexts* texts) const {
    using Node = const XgboostNode*;
    const NumberedNodes numbered(nodes_);
    const std::vector<Node>& nodes = numbered.nodes;
    const auto zeros = [&](const char* name) {
        json->append("\"").append(name).append("\":[");
        const size_t begin = json->size(), size = 4 * nodes.size();
        json->resize(begin + size);
        for (size_t i = 0; i < size; i += 4)
            std::memcpy(json->data() + begin + i, "0.0,", 4);
        json->back() = ']';
        *json += ',';
    };
    *json += '{';
    AppendArray(
        "base_weights", nodes, [&](Node n) { return texts->Of(n->left < 0 ? n->value : 0.0f); }, json);
    AppendCategories(numbered, json);
    AppendArray(
        "default_left", nodes, [](Node n) { return int64_t{n->missing_left}; }, json);
    *json += "\"id\":" + std::to_string(id) + ",";
    AppendArray(
        "left_children", numbered.left, [](int32_t i) { return int64_t{i}; }, json);
    zeros("loss_changes");
    AppendArray(
        "parents", numbered.parents, [](int32_t i) { return int64_t{i}; }, json);
    AppendArray(
        "right_children", numbered.left, [](int32_t i) { return int64_t{i < 0 ? -1 : i + 1}; }, json);
    AppendArray(
        "split_conditions", nodes, [&](Node n) { return texts->Of(n->value); }, json);
    AppendArray(
        "split_indices", nodes, [](Node n) { return int64_t{n->feature}; }, json);
    AppendArray(
        "split_type", nodes, [](Node n) { return int64_t{!n->categories.empty()}; }, json);
    zeros("sum_hessian");
    *json += "\"tree_param\":{\"num_deleted\":\"0\",\"num_feature\":\"" + std::to_string(features) +
             "\",\"num_nodes\":\"" + std::to_string(nodes.size()) + "\",\"size_leaf_vector\":\"0\"}}";
}

}  // namespace dpboost
