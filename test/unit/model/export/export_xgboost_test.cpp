// The exported JSON, read again as XGBoost's predictor reads it: same margins as the model, for every kind of split.
#include "model/export/export_xgboost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/json.h"
#include "unit/model/random_model.h"

namespace dpboost {
namespace {

std::string ToXgboost(const Model& model,
                      const std::vector<std::pair<std::string, std::string>>& attributes) {
    NoInterrupt interrupt;
    return ToXgboost(model, attributes, interrupt);
}

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

double Item(const JsonValue* object, const char* array, size_t index) {
    const JsonValue* values = object->Find(array);
    EXPECT_NE(values, nullptr) << array;
    return values->items[index].number;
}

bool IsListed(const JsonValue* tree, size_t node, double value) {
    const JsonValue* nodes = tree->Find("categories_nodes");
    for (int i = 0; i < nodes->count; i++) {
        if (nodes->items[i].number != static_cast<double>(node))
            continue;
        const auto begin = static_cast<int>(Item(tree, "categories_segments", static_cast<size_t>(i)));
        const auto size = static_cast<int>(Item(tree, "categories_sizes", static_cast<size_t>(i)));
        for (int j = begin; j < begin + size; j++)
            if (tree->Find("categories")->items[j].number == value)
                return true;
    }
    return false;
}

// As XGBoost walks: the right child is the left one's neighbour, what is listed goes right, NaN by default_left.
float LeafOf(const JsonValue* tree, const std::vector<float>& row) {
    size_t node = 0;
    while (Item(tree, "left_children", node) >= 0) {
        const float value = row[static_cast<size_t>(Item(tree, "split_indices", node))];
        bool left;
        if (std::isnan(value))
            left = Item(tree, "default_left", node) == 1;
        else if (Item(tree, "split_type", node) == 1)
            left = !IsListed(tree, node, value);
        else
            left = value < static_cast<float>(Item(tree, "split_conditions", node));
        EXPECT_EQ(Item(tree, "right_children", node), Item(tree, "left_children", node) + 1);
        node = static_cast<size_t>(Item(tree, "left_children", node)) + (left ? 0 : 1);
    }
    return static_cast<float>(Item(tree, "split_conditions", node));
}

std::vector<float> Margins(const JsonValue* json, const std::vector<float>& row, size_t outputs) {
    const JsonValue* model = json->Find("learner")->Find("gradient_booster")->Find("model");
    std::vector<float> margins(outputs);
    for (int i = 0; i < model->Find("trees")->count; i++)
        margins[static_cast<size_t>(model->Find("tree_info")->items[i].number)] +=
            LeafOf(&model->Find("trees")->items[i], row);
    return margins;
}

// A value near the code's bin, as the model reads it and as the exported model does.
struct Input {
    uint16_t code;
    float encoded;
};

Input RandomInput(const FeatureSpec& feature, Xorshift* random) {
    const auto code = static_cast<uint16_t>(random->Below(feature.cells()));
    if (code == feature.missing() || !feature.ordered())
        return {code, EncodedCode(feature, code)};
    const Encoder encoder(feature);
    const double lower = feature.CellLower(code), upper = feature.CellUpper(code);
    const double place[] = {0, 1e-9, 0.5, 1, 1e6};
    const double value = lower + (upper - lower) * place[random->Below(5)];
    return {encoder.Number(value), EncodedNumber(feature, encoder, value)};
}

Model WithLink(const Model& model, Link link, const TargetSpec& target) {
    Model result(model.features(), target, link);
    result.AddToBase(model.base());
    for (size_t i = 0; i < model.features().size(); i++)
        if (!model.table(i).empty())
            result.AddTable(i, model.table(i));
    for (const Tree& tree : model.trees())
        result.AddTree(tree);
    return result;
}

// Codes of all features, and what is given to XGBoost for them.
std::pair<std::vector<uint16_t>, std::vector<float>> RandomRow(const Model& model, Xorshift* random) {
    std::pair<std::vector<uint16_t>, std::vector<float>> row;
    for (const FeatureSpec& feature : model.features()) {
        const Input input = RandomInput(feature, random);
        row.first.push_back(input.code);
        row.second.push_back(input.encoded);
    }
    return row;
}

TEST(ExportXgboost, MarginsAreTheScoresOfRandomModels) {
    for (uint64_t seed = 0; seed < 30; seed++) {
        const Model model =
            WithLink(RandomModel(SmallFeatures(), 8, 4, seed), Link::kLogistic, TargetSpec::Binary());
        const Json json(ToXgboost(model, {}));
        Xorshift random;
        random.state += seed;
        for (int i = 0; i < 100; i++) {
            const auto [codes, row] = RandomRow(model, &random);
            ASSERT_EQ(static_cast<double>(Margins(json.get(), row, 1)[0]),
                      FromFixed(model.Score(codes.data())))
                << "seed " << seed;
        }
    }
}

TEST(ExportXgboost, ClassesHaveTheirTrees) {
    for (uint64_t seed = 0; seed < 10; seed++) {
        const Model model = RandomClassModel(SmallFeatures(), 4, 5, 3, seed);
        const Json json(ToXgboost(model, {}));
        const JsonValue* learner = json->Find("learner");
        EXPECT_TRUE(learner->Find("objective")->Find("name")->IsText("multi:softprob"));
        EXPECT_TRUE(learner->Find("learner_model_param")->Find("num_class")->IsText("4"));
        Xorshift random;
        random.state += seed;
        for (int i = 0; i < 50; i++) {
            const auto [codes, row] = RandomRow(model, &random);
            const std::vector<float> margins = Margins(json.get(), row, 4);
            for (size_t output = 0; output < 4; output++)
                ASSERT_EQ(static_cast<double>(margins[output]), FromFixed(model.Score(codes.data(), output)));
        }
    }
}

TEST(ExportXgboost, MissingHasAValueOfItsOwn) {
    Model model({FeatureSpec::Numeric("x", {0, 10, Scale::kLinear, 4})}, TargetSpec::Binary(),
                Link::kLogistic);
    model.AddTable(0, {1 << 20, 2 << 20, 2 << 20, 3 << 20, 7 << 20});
    const Json json(ToXgboost(model, {}));
    const auto margin = [&](float x) { return Margins(json.get(), {x}, 1)[0]; };
    EXPECT_EQ(margin(kMissing), 7);
    EXPECT_EQ(margin(-1e30f), 1);
    EXPECT_EQ(margin(2.5f), 1);  // an edge belongs to the bin below
    EXPECT_EQ(margin(std::nextafter(2.5f, 9.0f)), 2);
    EXPECT_EQ(margin(7.5f), 2);
    EXPECT_EQ(margin(1e30f), 3);
}

TEST(ExportXgboost, RegressionIsInUnitsOfTheTarget) {
    Model model({FeatureSpec::Levels("sex", {"F", "M"})}, TargetSpec::Regression(1, 29), Link::kIdentity);
    model.AddToBase(1 << 19);
    model.AddTable(0, {-(1 << 18), 1 << 18, 0});
    const Json json(ToXgboost(model, {}));
    EXPECT_EQ(Margins(json.get(), {0}, 1)[0], 15 + 14 * 0.25f);
    EXPECT_EQ(Margins(json.get(), {1}, 1)[0], 15 + 14 * 0.75f);
    EXPECT_EQ(Margins(json.get(), {kMissing}, 1)[0], 15 + 14 * 0.5f);
}

TEST(ExportXgboost, HasTheKeysThatXgboostReads) {
    const Model model = RandomModel(SmallFeatures(), 3, 3, 1);
    const Json json(ToXgboost(model, {{"dpboost_epsilon", "0.5"}}));
    const JsonValue* learner = json->Find("learner");
    ASSERT_NE(learner, nullptr);
    EXPECT_EQ(json->Find("version")->count, 3);
    EXPECT_TRUE(learner->Find("attributes")->Find("dpboost_epsilon")->IsText("0.5"));
    EXPECT_EQ(learner->Find("feature_names")->count, 4);
    EXPECT_EQ(learner->Find("feature_types")->count, 4);
    EXPECT_TRUE(learner->Find("learner_model_param")->Find("num_feature")->IsText("4"));
    EXPECT_TRUE(learner->Find("gradient_booster")->Find("name")->IsText("gbtree"));
    const JsonValue* trees = learner->Find("gradient_booster")->Find("model")->Find("trees");
    ASSERT_GT(trees->count, 0);
    for (int i = 0; i < trees->count; i++) {
        const JsonValue& tree = trees->items[i];
        EXPECT_EQ(tree.Find("id")->number, i);
        const std::string nodes(tree.Find("tree_param")->Find("num_nodes")->view());
        for (const char* key :
             {"base_weights", "default_left", "left_children", "loss_changes", "parents", "right_children",
              "split_conditions", "split_indices", "split_type", "sum_hessian"})
            EXPECT_EQ(std::to_string(tree.Find(key)->count), nodes) << key;
        // XGBoost takes no integer for these.
        for (const char* key : {"base_weights", "loss_changes", "split_conditions", "sum_hessian"})
            for (int j = 0; j < tree.Find(key)->count; j++)
                EXPECT_NE(tree.Find(key)->items[j].view().find_first_of(".e"), std::string_view::npos) << key;
    }
}

TEST(ExportXgboost, ObjectiveFollowsTheLink) {
    const std::vector<FeatureSpec> features = SmallFeatures();
    const auto objective = [&](Link link, const TargetSpec& target) {
        const Json json(ToXgboost(Model(features, target, link), {}));
        const JsonValue* learner = json->Find("learner");
        return std::string(learner->Find("objective")->Find("name")->view()) + " " +
               std::string(learner->Find("learner_model_param")->Find("base_score")->view());
    };
    EXPECT_EQ(objective(Link::kLogistic, TargetSpec::Binary()), "binary:logistic 5E-1");
    EXPECT_EQ(objective(Link::kIdentity, TargetSpec::Regression(0, 3)), "reg:squarederror 0E0");
    EXPECT_EQ(objective(Link::kLog, TargetSpec::Regression(0, 3)), "count:poisson 1E0");
}

// Edges that single precision cannot hold: the encoding stays on the value's side of them.
TEST(ExportXgboost, EncodedNumbersKeepTheirBin) {
    const FeatureSpec feature = FeatureSpec::Numeric("x", {0, 1, Scale::kLinear, 10});
    const Encoder encoder(feature);
    Model model({feature}, TargetSpec::Binary(), Link::kLogistic);
    std::vector<int32_t> table;
    for (uint32_t code = 0; code < feature.cells(); code++)
        table.push_back(static_cast<int32_t>(code) << 20);
    model.AddTable(0, table);
    const Json json(ToXgboost(model, {}));
    for (const double edge : feature.grid().edges)
        for (const double value : {std::nextafter(edge, 0.0), edge, std::nextafter(edge, 1.0)})
            EXPECT_EQ(Margins(json.get(), {EncodedNumber(feature, encoder, value)}, 1)[0],
                      encoder.Number(value));
    for (const double value : {-1e300, 1e300, 3.5e38})
        EXPECT_EQ(Margins(json.get(), {EncodedNumber(feature, encoder, value)}, 1)[0], encoder.Number(value));
    EXPECT_TRUE(std::isnan(EncodedNumber(feature, encoder, std::numeric_limits<double>::infinity())));
    EXPECT_TRUE(std::isnan(EncodedNumber(feature, encoder, std::nan(""))));
}

// One level against all others is a list of one, however many there are.
TEST(ExportXgboost, ShortListsOfLevels) {
    Model model({FeatureSpec::Hashed("city", 1000), FeatureSpec::Levels("sex", {"F", "M"})},
                TargetSpec::Binary(), Link::kLogistic);
    Tree tree = Tree::OfDepth(2);
    for (Split& split : tree.splits) {
        split.kind = SplitKind::kLevel;
        split.feature = &split == tree.splits.data() ? 0 : 1;
        split.threshold = &split == tree.splits.data() ? 17 : 1;
    }
    tree.leaves = {ToFixed(1), ToFixed(2), ToFixed(3), ToFixed(4)};
    model.AddTree(tree);
    const std::string text = ToXgboost(model, {});
    EXPECT_NE(text.find("\"categories\":[17,1,1]"), std::string::npos);
    const Json json(text);
    EXPECT_EQ(Margins(json.get(), {17, 1}, 1)[0], 1);
    EXPECT_EQ(Margins(json.get(), {17, kMissing}, 1)[0], 2);
    EXPECT_EQ(Margins(json.get(), {16, 1}, 1)[0], 3);
    EXPECT_EQ(Margins(json.get(), {kMissing, 0}, 1)[0], 4);
}

}  // namespace
}  // namespace dpboost
