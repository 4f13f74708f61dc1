#include "model/export/export_xgboost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/json_text.h"
#include "model/code_runs.h"
#include "model/export/xgboost_tree.h"

namespace dpboost {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

// The largest single precision number that is not above the value.
float FloatBelow(double value) noexcept {
    if (value >= kLargest)
        return kLargest;
    if (value < -kLargest)
        return -kInfinite;
    const float nearest = static_cast<float>(value);
    return nearest > value ? std::nextafter(nearest, -kInfinite) : nearest;
}

// x <= edge is x < JustAbove(edge), for every x of single precision.
float JustAbove(double edge) noexcept {
    return std::nextafter(FloatBelow(edge), kInfinite);
}

constexpr size_t kBytesPerNode = 64;  // of text, about

// Makes the trees of one output.
class TreeMaker {
  public:
    TreeMaker(const Model& model, size_t output, Interrupt& interrupt);

    XgboostTree Base() const;
    XgboostTree OfTable(size_t feature) const;
    XgboostTree OfTree(const Tree& tree) const;

  private:
    float Value(int64_t fixed) const { return static_cast<float>(FromFixed(fixed) * scale_); }
    float Cut(size_t feature, uint16_t code) const;
    template <typename MakeRun>
    int32_t AddRuns(XgboostTree* list, size_t feature, const std::vector<CodeRun>& runs, size_t begin,
                    size_t end, size_t missing_run, const MakeRun& make_run) const;
    int32_t AddNode(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const;
    int32_t AddNumberSplit(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const;
    int32_t AddLevelSplit(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const;

    const Model& model_;
    Interrupt& interrupt_;
    size_t output_;
    size_t outputs_;
    double scale_ = 1;  // from scores to margins
    double shift_ = 0;
    std::vector<std::vector<uint16_t>> codes_;
};

TreeMaker::TreeMaker(const Model& model, size_t output, Interrupt& interrupt)
    : model_(model), interrupt_(interrupt), output_(output), outputs_(model.outputs()) {
    if (model.link() == Link::kIdentity) {
        scale_ = (model.target().upper() - model.target().lower()) / 2;
        shift_ = model.target().lower() + scale_;
    }
    for (const FeatureSpec& feature : model.features()) {
        interrupt.Poll();
        codes_.push_back(ReachableCodes(feature));
    }
}

XgboostTree TreeMaker::Base() const {
    XgboostTree list;
    list.AddLeaf(static_cast<float>(FromFixed(model_.base(output_)) * scale_ + shift_));
    return list;
}

// What tells a code from the next one.
float TreeMaker::Cut(size_t feature, uint16_t code) const {
    const FeatureSpec& spec = model_.features()[feature];
    return spec.ordered() ? JustAbove(spec.grid().edges[code]) : static_cast<float>(code) + 0.5f;
}

// Splits by halves among the runs from `begin` to before `end`; make_run(i) adds what run i leads to. Missing goes the
// way of missing_run. A parent stands before its children.
template <typename MakeRun>
int32_t TreeMaker::AddRuns(XgboostTree* list, size_t feature, const std::vector<CodeRun>& runs, size_t begin,
                           size_t end, size_t missing_run, const MakeRun& make_run) const {
    if (end - begin == 1)
        return make_run(begin);
    const size_t middle = (begin + end) / 2;
    const int32_t split = list->AddSplit(static_cast<uint32_t>(feature),
                                         Cut(feature, runs[middle - 1].last_code), missing_run < middle);
    const int32_t left = AddRuns(list, feature, runs, begin, middle, missing_run, make_run);
    const int32_t right = AddRuns(list, feature, runs, middle, end, missing_run, make_run);
    (*list)[split].left = left;
    (*list)[split].right = right;
    return split;
}

// Every number is below the largest one: what is missing goes right, and has a leaf of its own.
XgboostTree TreeMaker::OfTable(size_t feature) const {
    const std::vector<int32_t>& table = model_.table(feature);
    const auto value = [&](size_t code) { return table[code * outputs_ + output_]; };
    const std::vector<CodeRun> runs = MakeRuns(codes_[feature], value);
    XgboostTree list;
    const int32_t root = list.AddSplit(static_cast<uint32_t>(feature), kLargest, false);
    const int32_t left = AddRuns(&list, feature, runs, 0, runs.size(), 0,
                                 [&](size_t run) { return list.AddLeaf(Value(runs[run].outcome)); });
    const int32_t right = list.AddLeaf(Value(value(model_.features()[feature].missing())));
    list[root].left = left;
    list[root].right = right;
    return list;
}

int32_t TreeMaker::AddNode(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const {
    if (const std::optional<int32_t> leaf = OneLeafBelow(tree, node, level, outputs_, output_))
        return list->AddLeaf(Value(*leaf));
    if (model_.features()[tree.splits[node].feature].ordered())
        return AddNumberSplit(list, tree, node, level);
    return AddLevelSplit(list, tree, node, level);
}

int32_t TreeMaker::AddNumberSplit(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const {
    const size_t feature = tree.splits[node].feature;
    const FeatureSpec& spec = model_.features()[feature];
    const bool missing_left = tree.SplitGoesLeft(node, spec.missing(), spec.missing());
    const std::vector<CodeRun> runs = RunsOfSplit(tree, node, spec, codes_[feature]);
    const auto child = [&](bool left) { return AddNode(list, tree, 2 * node + (left ? 1 : 2), level + 1); };
    const auto make_run = [&](size_t run) { return child(runs[run].outcome != 0); };
    size_t missing_run = 0;
    while (missing_run < runs.size() && (runs[missing_run].outcome != 0) != missing_left)
        missing_run++;
    if (missing_run < runs.size())
        return AddRuns(list, feature, runs, 0, runs.size(), missing_run, make_run);
    // All numbers go one way, and what is missing goes the other.
    const int32_t split = list->AddSplit(static_cast<uint32_t>(feature), kLargest, false);
    const int32_t left = child(!missing_left);
    const int32_t right = child(missing_left);
    (*list)[split].left = left;
    (*list)[split].right = right;
    return split;
}

// XGBoost lists the levels that go right. Sides are changed where that makes the list shorter: always where one level
// stands against all others.
int32_t TreeMaker::AddLevelSplit(XgboostTree* list, const Tree& tree, size_t node, unsigned level) const {
    const Split& at = tree.splits[node];
    const std::vector<uint16_t>& codes = codes_[at.feature];
    const uint16_t missing = model_.features()[at.feature].missing();
    const bool missing_left = tree.SplitGoesLeft(node, missing, missing);
    interrupt_.Poll();
    std::vector<uint32_t> sides[2];
    bool changed = true;
    if (at.kind == SplitKind::kLevel) {
        if (std::binary_search(codes.begin(), codes.end(), at.threshold))
            sides[0] = {at.threshold};
    } else {
        for (const uint16_t code : codes)
            sides[tree.SplitGoesLeft(node, code, missing) ? 0 : 1].push_back(code);
        changed = sides[0].size() < sides[1].size();
    }
    const int32_t split = list->AddSplit(at.feature, 0, missing_left != changed);
    std::vector<uint32_t>& categories = (*list)[split].categories;
    categories = std::move(sides[changed ? 0 : 1]);
    list->CountCategories(categories.size());
    if (categories.empty())  // which XGBoost refuses
        (*list)[split].value = kLargest;
    const int32_t left = AddNode(list, tree, 2 * node + (changed ? 2 : 1), level + 1);
    const int32_t right = AddNode(list, tree, 2 * node + (changed ? 1 : 2), level + 1);
    (*list)[split].left = left;
    (*list)[split].right = right;
    return split;
}

XgboostTree TreeMaker::OfTree(const Tree& tree) const {
    XgboostTree list;
    list.Reserve(2 * tree.split_count() + 1);
    AddNode(&list, tree, 0, 0);
    return list;
}

// Its score of 0 is a margin of 0: the base is a tree, because what base_score goes through rounds.
struct Objective {
    const char* name;
    const char* base_score;
    std::string parameters;
};

Objective ObjectiveOf(const Model& model) {
    switch (model.link()) {
        case Link::kLogistic:
            return {"binary:logistic", "5E-1", "\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}"};
        case Link::kLog:
            if (LogOffset(model.target()) != 0)
                throw Error(ErrorCode::kUnsupported,
                            "XGBoost has no form for this model's logarithmic target",
                            "Its exponential function can be a prediction, but not one plus a constant.",
                            "Use dpboost_to_sql.");
            return {"count:poisson", "1E0", "\"poisson_regression_param\":{\"max_delta_step\":\"0.7\"}"};
        case Link::kSoftmax:
            return {
                "multi:softprob", "0E0",
                "\"softmax_multiclass_param\":{\"num_class\":\"" + std::to_string(model.outputs()) + "\"}"};
        case Link::kIdentity:
            break;
    }
    return {"reg:squarederror", "0E0", "\"reg_loss_param\":{\"scale_pos_weight\":\"1\"}"};
}

// What a reader needs to make inputs: names, and the position of each level.
std::string FeatureList(const Model& model) {
    JsonList list;
    for (const FeatureSpec& feature : model.features()) {
        JsonList item, levels;
        item.Add("name", JsonString(feature.name()));
        for (const std::string& level : feature.levels())
            levels.Append(JsonString(level));
        if (feature.kind() == FeatureKind::kLevels)
            item.Add("levels", levels.Array());
        if (feature.kind() == FeatureKind::kHashed)
            item.Add("hash_buckets", std::to_string(feature.bins()));
        list.Append(item.Object());
    }
    return list.Array();
}

void AppendTrees(const Model& model, Interrupt& interrupt, std::string* text) {
    const size_t before = text->size();
    size_t nodes = 0;
    for (const Tree& tree : model.trees())
        nodes += 2 * tree.split_count();
    text->reserve(before + std::min(nodes * model.outputs() * kBytesPerNode, kMostExportedText));
    size_t count = 0;
    NumberTexts texts;
    for (size_t output = 0; output < model.outputs(); output++) {
        const TreeMaker maker(model, output, interrupt);
        const auto add = [&](const XgboostTree& list) {
            *text += count == 0 ? "" : ",";
            list.AppendTo(text, count++, model.features().size(), &texts);
            interrupt.Poll();
            CheckExportedText(text->size() - before);
        };
        add(maker.Base());
        for (size_t i = 0; i < model.features().size(); i++)
            if (!model.table(i).empty())
                add(maker.OfTable(i));
        for (const Tree& tree : model.trees())
            add(maker.OfTree(tree));
    }
}

}  // namespace

std::string ToXgboost(const Model& model, const std::vector<std::pair<std::string, std::string>>& attributes,
                      Interrupt& interrupt) {
    const Objective objective = ObjectiveOf(model);
    const std::string features = std::to_string(model.features().size());
    CheckExportedBins(model.features());
    size_t tables = 0;
    for (size_t i = 0; i < model.features().size(); i++)
        tables += model.table(i).empty() ? 0 : 1;
    const size_t per_output = 1 + tables + model.trees().size();
    std::string classes;  // the output of every tree
    for (size_t i = 0; i < model.outputs() * per_output; i++)
        classes += (i == 0 ? "" : ",") + std::to_string(i / per_output);
    JsonList origin, names, types;
    origin.Add("dpboost_features", JsonString(FeatureList(model)));
    if (!model.target().classes().empty()) {
        JsonList labels;
        for (const std::string& label : model.target().classes())
            labels.Append(JsonString(label));
        origin.Add("dpboost_classes", JsonString(labels.Array()));
    }
    for (const auto& [name, value] : attributes)
        origin.Add(name, JsonString(value));
    for (const FeatureSpec& feature : model.features()) {
        names.Append(JsonString(feature.name()));
        types.Append("\"float\"");
    }
    std::string json =
        "{\"learner\":{\"attributes\":" + origin.Object() + ",\"feature_names\":" + names.Array() +
        ",\"feature_types\":" + types.Array() +
        ",\"gradient_booster\":{\"model\":{\"gbtree_model_param\":{\"num_parallel_tree\":\"1\",\"num_"
        "trees\":\"" +
        std::to_string(model.outputs() * per_output) + "\",\"size_leaf_vector\":\"0\"},\"tree_info\":[" +
        classes + "],\"trees\":[";
    AppendTrees(model, interrupt, &json);
    json += std::string("]},\"name\":\"gbtree\"},\"learner_model_param\":{\"base_score\":\"") +
            objective.base_score + "\",\"boost_from_average\":\"1\",\"num_class\":\"" +
            std::to_string(model.outputs() == 1 ? 0 : model.outputs()) + "\",\"num_feature\":\"" + features +
            "\",\"num_target\":\"1\"},\"objective\":{\"name\":\"" + objective.name + "\"," +
            objective.parameters + "}},\"version\":[1,7,4]}";
    return json;
}

float EncodedNumber(const FeatureSpec& feature, const Encoder& encoder, double value) noexcept {
    const uint16_t code = encoder.Number(value);
    if (code == feature.missing())
        return std::numeric_limits<float>::quiet_NaN();
    // Below what stands for missing; beyond the range all numbers are in one bin.
    const double largest = std::nextafter(kLargest, 0.0f);
    float encoded = static_cast<float>(std::clamp(value, -largest, largest));
    const std::vector<double>& edges = feature.grid().edges;
    if (code > 0 && encoded < JustAbove(edges[code - 1]))
        encoded = JustAbove(edges[code - 1]);
    if (code < edges.size() && value <= edges[code] && encoded >= JustAbove(edges[code]))
        encoded = FloatBelow(edges[code]);
    return encoded;
}

float EncodedCode(const FeatureSpec& feature, uint16_t code) noexcept {
    return code == feature.missing() ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(code);
}

}  // namespace dpboost
