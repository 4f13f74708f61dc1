// The options of a training, read from the call's jsonb. Everything is checked here, once: an unknown key, a
// wrong type or a value out of range is an Error that names the key, what is allowed and, for a near miss,
// the closest key. What is not given stays empty, so that each method can fill in its own default. Core side:
// no PostgreSQL call.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "learner/option_table.h"
#include "postgres/train/json_value.h"

namespace dpboost {

// What the call says is public about one column: a range with a grid, a list of levels, or that the training
// shall find a range itself.
struct ColumnBounds {
    enum Kind { kRange, kLevels, kPrivate };
    Kind kind = kRange;
    double lower = 0;
    double upper = 0;
    std::string scale = "auto";
    std::vector<std::string> levels;
};

// The option "bounds" in its forms: {"age": [17, 90], "sex": ["F", "M"]} by name, [[0, 1], [0, 9]] by
// position (for arrays), [0, 1] for every numeric column, "private" for every column without a public range.
struct BoundsOption {
    std::map<std::string, ColumnBounds> named;
    std::vector<ColumnBounds> listed;
    std::optional<ColumnBounds> all;
    bool find_private = false;

    // What the option says about the column, or null. `position` counts from 0.
    const ColumnBounds* Find(const std::string& name, size_t position) const;
};

enum class TaskOption { kUnset, kRegression, kClassification };

struct TrainingOptions {
    std::string method;
    double epsilon = 0;
    double delta = 1e-6;  // 0 for a method of pure epsilon-DP, unless given
    TaskOption task = TaskOption::kUnset;
    std::optional<std::pair<double, double>> target_range;
    std::optional<std::string> positive;
    BoundsOption bounds;
    std::optional<std::string> features, structure, leaf, candidates, loss;  // parts of a method, by name

    std::optional<double> trees, depth, learning_rate, subsample, gradient_clip, hessian_clip, hessian_share,
        initial_share, l2, leaf_clip, bins, extra_rounds, candidate_count, hessian_rounds, features_per_tree,
        batch, sketch_share, selection_share, rows_hint, rounds, ensembles, trees_per_ensemble, leaf_share;

    std::vector<GivenOption> values;  // numbers and parts, for methods that read their own table
    std::vector<std::string> given;  // all keys of the call, so that a method can refuse what it does not use

    // The whole number that was given, or the default.
    static int Whole(const std::optional<double>& value, int otherwise) {
        return value ? static_cast<int>(*value) : otherwise;
    }
};

// Where epsilon and delta come from: the options themselves (the aggregate), or arguments of their own, which
// the options must then not repeat (dpboost_train_on, dpboost_estimate).
struct PrivacyArguments {
    bool given = false;
    double epsilon = 0;
    std::optional<double> delta;
};

// Reads and checks all options. Throws Error.
TrainingOptions ParseOptions(const JsonValue& json, const PrivacyArguments& privacy);

}  // namespace dpboost
