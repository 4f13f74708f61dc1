// Options: for every method and every row of its table the ends of the range are taken and what is beyond is refused
// with the table's text; likewise for what goes with every method. Near misses and other libraries' names get hints.
#include "training/options.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/text.h"
#include "support/json.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

TrainingOptions Parse(const std::string& text, const PrivacyArguments& privacy = {}) {
    return ParseOptions(*Json(text), privacy);
}

// Options with an epsilon and those of `more`, a list without braces.
std::string With(const std::string& more) {
    return "{\"epsilon\": 1" + (more.empty() ? "" : ", " + more) + "}";
}

std::string Refused(const std::string& more) {
    return Thrown([&] { Parse(With(more)); });
}

// The text up to the first `end`.
std::string Begin(const std::string& text, const char* end) {
    return text.substr(0, text.find(end));
}

PrivacyArguments Arguments(double epsilon, std::optional<double> delta = {}) {
    PrivacyArguments arguments;
    arguments.given = true;
    arguments.epsilon = epsilon;
    arguments.delta = delta;
    return arguments;
}

// ---- what goes with every method ----

TEST(OptionsTest, Defaults) {
    const TrainingOptions options = Parse(With(""));
    EXPECT_STREQ(options.method->name, "auto");
    EXPECT_EQ(options.epsilon, 1);
    EXPECT_EQ(options.delta, 1e-6);
    EXPECT_EQ(options.task, TaskOption::kUnset);
    EXPECT_EQ(options.bins, kDefaultBins);
    EXPECT_FALSE(options.target_range);
    EXPECT_FALSE(options.positive);
    EXPECT_FALSE(options.bounds.all);
    EXPECT_TRUE(options.given.empty());
    EXPECT_EQ(Parse(With("\"method\": \"pure_trees\"")).delta, 0);
}

TEST(OptionsTest, CommonOptions) {
    const TrainingOptions options = Parse(With(
        "\"method\": \"sbdt\", \"delta\": 0.001, \"task\": \"classification\", \"target_range\": [-1, 2.5], "
        "\"positive\": \"yes\", \"bounds\": {\"x\": [0, 1]}, \"bins\": 16, \"trees\": 7, \"features\": "
        "\"any\""));
    EXPECT_STREQ(options.method->name, "sbdt");
    EXPECT_EQ(options.delta, 0.001);
    EXPECT_EQ(options.task, TaskOption::kClassification);
    EXPECT_EQ(options.target_range->lower, -1);
    EXPECT_EQ(options.target_range->upper, 2.5);
    EXPECT_EQ(*options.positive, "yes");
    EXPECT_EQ(options.bounds.Find("x", 0)->upper, 1);
    EXPECT_EQ(options.bins, 16u);
    ASSERT_EQ(options.given.size(), 2u);
    EXPECT_EQ(options.given[0].key, "trees");
    EXPECT_EQ(options.given[0].number, 7);
    EXPECT_EQ(options.given[1].text, "any");
    EXPECT_EQ(*Parse(With("\"positive\": 1.50")).positive, "1.50");
    EXPECT_EQ(*Parse(With("\"positive\": true")).positive, "true");
    EXPECT_EQ(Parse(With("\"classes\": [\"a\", 2, \"c\"]")).classes,
              (std::vector<std::string>{"a", "2", "c"}));
    EXPECT_EQ(*Parse(With("\"positive\": false")).positive, "false");
}

TEST(OptionsTest, NoObject) {
    for (const auto& [text, shown] : std::vector<std::pair<const char*, const char*>>{
             {"[]", "an array of 0 items"}, {"1", "1"}, {"null", "null"}, {"\"x\"", "the string \"x\""}})
        EXPECT_EQ(Thrown([&, text = text] { Parse(text); }),
                  std::string("options must be a JSON object | They are ") + shown + ". | ");
}

TEST(OptionsTest, RefusedForms) {
    const std::string range =
        "option \"target_range\" must be [lower, upper] with lower below upper | It is ";
    EXPECT_EQ(Refused("\"target_range\": [2, 0]"), range + "[2, 0]. | ");
    EXPECT_EQ(Refused("\"target_range\": [0, 1, \"log\"]"), range + "[0, 1, \"log\"]. | ");
    EXPECT_EQ(Refused("\"target_range\": [\"a\", \"b\"]"), range + "[\"a\", \"b\"]. | ");
    EXPECT_EQ(Refused("\"target_range\": [1, 2, 3, 4, 5, 6, 7]"), range + "an array of 7 items. | ");
    EXPECT_EQ(Refused("\"target_range\": [[1, 2]]"), range + "an array of 1 item. | ");
    EXPECT_EQ(Refused("\"target_range\": \"wide\""), range + "the string \"wide\". | ");
    EXPECT_EQ(Refused("\"target_range\": \"private\""), range + "the string \"private\". | ");
    EXPECT_EQ(Refused("\"target_range\": null"), range + "null. | ");
    EXPECT_EQ(Refused("\"positive\": [1]"),
              "option \"positive\" must be the label of the positive class | It is [1]. | ");
    for (const char* classes : {"\"a\"", "[\"a\"]", "[\"a\", \"b\", \"a\"]", "[\"a\", \"b\", true]", "[]"})
        EXPECT_EQ(Refused(std::string("\"classes\": ") + classes)
                      .rfind("option \"classes\" must be an array of 3 to 64 labels", 0),
                  0U)
            << classes;
    EXPECT_NE(Refused("\"classes\": [\"a\", \"b\"]").find("name one in the option"), std::string::npos);
    EXPECT_EQ(Refused("\"positive\": null"),
              "option \"positive\" must be the label of the positive class | It is null. | ");
    EXPECT_EQ(Refused("\"task\": \"clasification\""),
              "option \"task\" must be \"regression\" or \"classification\" | It is the string "
              "\"clasification\". | "
              "Perhaps you meant \"classification\".");
    EXPECT_EQ(Refused("\"task\": 1"),
              "option \"task\" must be \"regression\" or \"classification\" | It is 1. | ");
    for (const char* bins : {"1", "4097", "2.5", "\"10\"", "null"})
        EXPECT_EQ(Begin(Refused(std::string("\"bins\": ") + bins), " | "),
                  "option \"bins\" must be a whole number from 2 to 4096")
            << bins;
    EXPECT_EQ(Parse(With("\"bins\": 2")).bins, 2u);
    EXPECT_EQ(Parse(With("\"bins\": 4096")).bins, 4096u);
}

// ---- epsilon and delta ----

TEST(OptionsTest, Epsilon) {
    EXPECT_EQ(Thrown([] { Parse("{}"); }),
              "option \"epsilon\" is missing | Epsilon says how much privacy the training may cost, so it "
              "has no default. | "
              "Add it to the options, for example {\"epsilon\": 0.5}.");
    EXPECT_EQ(Parse("{\"epsilon\": 1e-300}").epsilon, 1e-300);
    EXPECT_EQ(Parse("{\"epsilon\": 100}").epsilon, 100);
    for (const auto& [value, shown] :
         std::vector<std::pair<const char*, const char*>>{{"0", "0"},
                                                          {"-1", "-1"},
                                                          {"100.01", "100.01"},
                                                          {"1e400", "1e400"},
                                                          {"\"much\"", "the string \"much\""},
                                                          {"null", "null"}})
        EXPECT_EQ(Thrown([&, value = value] { Parse(std::string("{\"epsilon\": ") + value + "}"); }),
                  std::string("option \"epsilon\" must be a number above 0 and at most 100 | It is ") +
                      shown + ". | ");
}

const std::string kDeltaHint =
    "Delta is the chance that the promise fails; keep it far below one over the number of people.";

TEST(OptionsTest, Delta) {
    EXPECT_EQ(Parse(With("\"delta\": 1e-300")).delta, 1e-300);
    EXPECT_EQ(Parse(With("\"delta\": 0.001")).delta, 0.001);
    for (const auto& [value, shown] : std::vector<std::pair<const char*, const char*>>{
             {"-1", "-1"}, {"0.01", "0.01"}, {"null", "null"}, {"\"0\"", "the string \"0\""}}) {
        const std::string delta = std::string("\"delta\": ") + value;
        EXPECT_EQ(Refused(delta),
                  std::string("option \"delta\" must be a number above 0 and at most 0.001 | It is ") +
                      shown + ". | " + kDeltaHint);
        EXPECT_EQ(Refused(delta + ", \"method\": \"pure_trees\""),
                  std::string("option \"delta\" must be a number from 0 to 0.001 | It is ") + shown + ". | " +
                      kDeltaHint);
    }
    EXPECT_EQ(Parse(With("\"delta\": 1e-9, \"method\": \"pure_trees\"")).delta, 1e-9);
    for (const MethodInfo* method : AllMethods()) {
        const std::string zero = "\"delta\": 0, \"method\": \"" + std::string(method->name) + "\"";
        if (method->pure) {
            EXPECT_EQ(Parse(With(zero)).delta, 0);
            continue;
        }
        EXPECT_EQ(Refused(zero), "method \"" + std::string(method->name) +
                                     "\" needs a delta above 0 | "
                                     "Its noise is Gaussian, which has no pure differential privacy. | "
                                     "Give a delta such as 1e-6, or choose method \"pure_trees\".");
        EXPECT_EQ(CodeOf([&] { Parse(With(zero)); }), ErrorCode::kUnsupported);
    }
}

TEST(OptionsTest, EpsilonAndDeltaAsArguments) {
    EXPECT_EQ(Parse("{}", Arguments(0.5)).epsilon, 0.5);
    EXPECT_EQ(Parse("{}", Arguments(0.5)).delta, 1e-6);
    EXPECT_EQ(Parse("{}", Arguments(0.5, 1e-5)).delta, 1e-5);
    EXPECT_EQ(Parse("{\"method\": \"pure_sums\"}", Arguments(0.5)).delta, 0);
    const auto refused = [](const char* text, const PrivacyArguments& arguments) {
        return Thrown([&] { Parse(text, arguments); });
    };
    EXPECT_EQ(refused("{\"epsilon\": 1}", Arguments(1)),
              "epsilon must be given as an argument here, not as an option |  | ");
    EXPECT_EQ(refused("{\"delta\": 1}", Arguments(1)),
              "delta must be given as an argument here, not as an option |  | ");
    EXPECT_EQ(refused("{}", Arguments(0)), "epsilon must be a number above 0 and at most 100 | It is 0. | ");
    EXPECT_EQ(refused("{}", Arguments(INFINITY)),
              "epsilon must be a number above 0 and at most 100 | It is inf. | ");
    EXPECT_EQ(refused("{}", Arguments(NAN)),
              "epsilon must be a number above 0 and at most 100 | It is nan. | ");
    EXPECT_EQ(refused("{}", Arguments(1, 0.5)),
              "delta must be a number above 0 and at most 0.001 | It is 0.5. | " + kDeltaHint);
    EXPECT_EQ(Begin(refused("{}", Arguments(1, 0.0)), " | "), "method \"auto\" needs a delta above 0");
    EXPECT_EQ(refused("{\"method\": \"pure_trees\"}", Arguments(1, -0.5)),
              "delta must be a number from 0 to 0.001 | It is -0.5. | " + kDeltaHint);
}

// ---- keys and methods ----

constexpr char kColumnsHint[] =
    "Which columns to train on is said by the call: features => ARRAY['age', 'sex'], or the arguments after "
    "the "
    "target.";

TEST(OptionsTest, UnknownKeys) {
    std::string keys;
    for (const OptionRow& row : CommonOptions())
        keys += std::string(row.key) + ", ";
    std::vector<std::string> own;
    for (const OptionRow& row : AllMethods().Find("auto")->options)
        own.emplace_back(row.key);
    const std::string all = keys + Listed(AllMethods().Keys());
    keys += Listed(own);
    const auto refused = [&](const std::string& key, const std::string& hint) {
        EXPECT_EQ(Refused("\"" + key + "\": 1"), "unrecognized option \"" + key +
                                                     "\" | The options of method \"auto\" are " + keys +
                                                     "; dpboost_methods has those of others. | " + hint);
    };
    refused("epsilom", "Perhaps you meant \"epsilon\".");
    refused("tree", "Perhaps you meant \"trees\".");
    refused("learningrate", "Perhaps you meant \"learning_rate\".");
    refused("no such thing at all", "");
    refused(std::string(100, 'x'), "");
    for (const auto& [theirs, ours] :
         std::vector<std::pair<const char*, const char*>>{{"n_estimators", "trees"},
                                                          {"num_trees", "trees"},
                                                          {"num_boost_round", "trees"},
                                                          {"max_depth", "depth"},
                                                          {"eta", "learning_rate"},
                                                          {"shrinkage", "learning_rate"},
                                                          {"eps", "epsilon"},
                                                          {"lambda", "l2"},
                                                          {"reg_lambda", "l2"},
                                                          {"max_bin", "bins"},
                                                          {"pos_label", "positive"}}) {
        refused(theirs, std::string("It is called \"") + ours + "\" here.");
        EXPECT_NE(all.find(ours), std::string::npos);
    }
    for (const char* seed : {"seed", "random_state", "random_seed"})
        refused(seed, "There is no seed: whoever knows the seed can take the noise away.");
    for (const char* key : {"columns", "feature_names"})
        refused(key, kColumnsHint);
    EXPECT_EQ(
        Refused("\"features\": [\"age\", \"sex\"]"),
        std::string("option \"features\" must be \"cyclic\" or \"any\" | It is [\"age\", \"sex\"]. | ") +
            kColumnsHint);
    EXPECT_EQ(Begin(Refused("\"method\": \"adassp\", \"leaf_clop\": 1"), " are "),
              "unrecognized option \"leaf_clop\" | The options of method \"adassp\"");
}

TEST(OptionsTest, Methods) {
    const std::string list =
        "option \"method\" must be one of " + QuotedList(AllMethods().Names()) + " | It is ";
    for (const std::string& name : AllMethods().Names())
        EXPECT_EQ(Parse(With("\"method\": \"" + name + "\"")).method, AllMethods().Find(name));
    EXPECT_EQ(Refused("\"method\": \"dp_xbg\"").substr(0, list.size()), list);
    EXPECT_EQ(Refused("\"method\": 3"), list +
                                            "3. | Without it the method is \"auto\", which needs no tuning; "
                                            "dpboost_methods says what the others are for.");
    EXPECT_EQ(Refused("\"method\": \"feverles\""),
              list + "the string \"feverles\". | Perhaps you meant \"feverless\".");
    for (const char* name : {"trees", "sums", "seq", "para"}) {
        const std::string old = name == std::string("trees") ? "dpboost" : "dpboost_" + std::string(name);
        EXPECT_EQ(Refused("\"method\": \"" + old + "\""),
                  list + "the string \"" + old + "\". | It is called \"pure_" + name + "\" now.");
        EXPECT_NE(AllMethods().Find(std::string("pure_") + name), nullptr);
    }
}

TEST(OptionsTest, TheDefaultMethodFollowsTheOptions) {
    EXPECT_STREQ(Parse(With("\"trees\": 5, \"bins\": 5")).method->name, "auto");
    EXPECT_STREQ(Parse(With("\"subsample\": 0.5")).method->name, "sbdt");
    EXPECT_STREQ(Parse(With("\"method\": \"dp_tr\", \"subsample\": 0.5")).method->name, "dp_tr");
}

TEST(OptionsTest, OptionsThatAMethodDoesNotUse) {
    EXPECT_EQ(Refused("\"method\": \"dp_tr\", \"extra_rounds\": 5"),
              "option \"extra_rounds\" is not used by method \"dp_tr\" | Methods that use it: \"sbdt\". | ");
    EXPECT_EQ(Refused("\"ensembles\": 5"),
              "option \"ensembles\" is not used by method \"sbdt\" | Methods that use it: \"pure_trees\", "
              "\"pure_sums\", "
              "\"pure_seq\", \"pure_para\". | Name one of them in the option \"method\"; without it the "
              "method is \"auto\", or "
              "\"sbdt\" for an option that \"auto\" does not have.");
    for (const MethodInfo* method : AllMethods())
        for (const std::string& key : AllMethods().Keys())
            if (method->options.Find(key) == nullptr) {
                const std::string name = method->name;
                EXPECT_EQ(Refused("\"method\": \"" + name + "\", \"" + key + "\": 1"),
                          "option \"" + key + "\" is not used by method \"" + name +
                              "\" | Methods that use it: " + QuotedList(AllMethods().NamesWith(key)) +
                              ". | ");
            }
}

// ---- the methods' own tables ----

std::string Number(double value) {
    return JsonNumber(value);
}

// What ParseOptions says about the value of a method's option.
std::string Said(const MethodInfo& method, const OptionRow& row, const std::string& json) {
    return Refused("\"method\": \"" + std::string(method.name) + "\", \"" + row.key + "\": " + json);
}

// The value is refused with the text of the row; the hint may name other methods.
void ExpectRefused(const MethodInfo& method, const OptionRow& row, const std::string& json,
                   const std::string& shown) {
    const std::string said = Said(method, row, json);
    const std::string text = "option \"" + std::string(row.key) + "\" must be " + Allowed(row);
    const bool others = said.find(" | Methods that take it: ") != std::string::npos;
    const std::string whole = text + (others ? " for method \"" + std::string(method.name) + "\"" : "") +
                              " | It is " + shown + ". | ";
    EXPECT_EQ(said.substr(0, whole.size()), whole) << method.name;
}

TEST(OptionsTest, EveryRowOfEveryMethod) {
    size_t rows = 0;
    for (const MethodInfo* method : AllMethods())
        for (const OptionRow& row : method->options) {
            rows++;
            EXPECT_EQ(CommonOptions().Find(row.key), nullptr) << row.key;
            EXPECT_STRNE(row.help, "") << row.key;
            for (const auto& [json, shown] : std::vector<std::pair<const char*, const char*>>{
                     {"null", "null"}, {"true", "true"}, {"[1]", "[1]"}, {"{}", "an object"}})
                if (row.kind != OptionRow::kTruth || std::string(json) != "true")
                    ExpectRefused(*method, row, json, shown);
            if (row.kind == OptionRow::kTruth || row.form != nullptr) {
                ExpectRefused(*method, row, "0", "0");
                continue;
            }
            if (row.kind == OptionRow::kWord) {
                for (size_t i = 0; i < row.word_count; i++)
                    EXPECT_EQ(Said(*method, row, "\"" + std::string(row.words[i]) + "\""), "no error");
                ExpectRefused(*method, row, "\"no such word\"", "the string \"no such word\"");
                ExpectRefused(*method, row, "0", "0");
                continue;
            }
            ASSERT_LT(row.lowest, row.highest) << row.key;
            const double step = row.kind == OptionRow::kWhole ? 1 : 1e-6 * (row.highest - row.lowest);
            const double lowest = row.above_lowest ? row.lowest + step : row.lowest;
            EXPECT_EQ(Said(*method, row, Number(lowest)), "no error") << method->name << row.key;
            EXPECT_EQ(Said(*method, row, Number(row.highest)), "no error") << method->name << row.key;
            const double below = row.above_lowest ? row.lowest : row.lowest - step;
            ExpectRefused(*method, row, Number(below), Number(below));
            ExpectRefused(*method, row, Number(row.highest + step), Number(row.highest + step));
            ExpectRefused(*method, row, "1e400", "1e400");
            ExpectRefused(*method, row, "\"1\"", "the string \"1\"");
            if (row.kind == OptionRow::kWhole)
                ExpectRefused(*method, row, Number(row.lowest + 0.5), Number(row.lowest + 0.5));
        }
    EXPECT_GT(rows, 200u);
}

TEST(OptionsTest, AValueThatOnlyOtherMethodsTake) {
    EXPECT_EQ(
        Refused("\"depth\": 4"),
        "option \"depth\" must be a whole number from 1 to 3 for method \"auto\" | It is 4. | Methods that "
        "take it: " +
            [] {
                std::vector<std::string> names = AllMethods().NamesWith("depth");
                names.erase(names.begin());
                return QuotedList(names);
            }() +
            ".");
    EXPECT_EQ(Refused("\"depth\": 99"), "option \"depth\" must be a whole number from 1 to 3 | It is 99. | ");
    EXPECT_EQ(Begin(Refused("\"features\": \"subset\""), " | "),
              "option \"features\" must be \"cyclic\" or \"any\" for method \"sbdt\"");
    EXPECT_EQ(Refused("\"features\": \"random\"").find("Methods that take it"), std::string::npos);
}

// ---- what is kept ----

TEST(OptionsTest, TheTextForTheCatalog) {
    EXPECT_EQ(Parse(With("\"trees\": 5, \"bounds\": {\"x\": [0, 1.50, \"log\"], \"y\": [\"a\\\"b\"]}, "
                         "\"delta\": 1e-5"))
                  .text,
              "{\"epsilon\": 1, \"delta\": 1e-05, \"trees\": 5, \"bounds\": {\"x\": [0, 1.50, \"log\"], "
              "\"y\": [\"a\\\"b\"]}}");
    EXPECT_EQ(Parse("{\"method\": \"pure_trees\"}", Arguments(0.25)).text,
              "{\"epsilon\": 0.25, \"delta\": 0, \"method\": \"pure_trees\"}");
    EXPECT_EQ(Parse("{}", Arguments(0.1)).text, "{\"epsilon\": 0.1, \"delta\": 1e-06}");
}

TEST(OptionsTest, DescribedForPeople) {
    const Json json(DescribeOptions(CommonOptions()));
    ASSERT_EQ(json->count, 15);
    EXPECT_EQ(json->items[0].Find("option")->view(), "epsilon");
    EXPECT_EQ(json->items[0].Find("values")->view(), "a number above 0 and at most 100");
    EXPECT_GT(json->items[0].Find("meaning")->view().size(), 5u);
    EXPECT_EQ(DescribeOptions(OptionTable()), "[]");
}

// There is no interrupt in here, and a call may be as long as a value of PostgreSQL.
TEST(OptionsTest, LongCallsTakeNoTime) {
    const Json long_key("{\"" + std::string(5'000'000, 'k') + "\": 1}");
    std::string many = "{\"epsilon\": 1, \"bounds\": {";
    for (int i = 0; i < 50'000; i++)
        many += (i == 0 ? "\"c" : ", \"c") + std::to_string(i) + "\": [0, 1]";
    const Json many_columns(many + "}}");
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(Begin(Thrown([&] { ParseOptions(*long_key, {}); }), "k"), "unrecognized option \"");
    EXPECT_EQ(ParseOptions(*many_columns, {}).bounds.named.size(), 50000u);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2);
}

TEST(OptionsTest, Deploy) {
    EXPECT_TRUE(Parse(With("")).deploy);
    EXPECT_FALSE(Parse(With("\"deploy\": false")).deploy);
    EXPECT_EQ(Refused("\"deploy\": 0"), "option \"deploy\" must be true or false | It is 0. | ");
}

}  // namespace
}  // namespace dpboost
