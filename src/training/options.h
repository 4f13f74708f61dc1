// The options of a training, read from the call's JSON. An unknown key, a wrong type or a value out of range is an
// Error that names the key, what is allowed and, for a near miss, the closest key. What every method understands is
// a member; a method's own options are kept as they were given, checked against its table, for the method to read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learner/methods.h"
#include "training/domain.h"
#include "training/json.h"

namespace dpboost {

enum class TaskOption { kRegression, kClassification, kUnset };

struct TrainingOptions {
    const MethodInfo* method = nullptr;
    double epsilon = 0;
    double delta = 1e-6;  // 0 for a method of pure epsilon-DP, unless given
    TaskOption task = TaskOption::kUnset;
    std::optional<Domain> target_range;
    std::optional<std::string> positive;
    std::vector<std::string> classes;  // of a target with several; empty: not given
    BoundsOption bounds;
    uint32_t bins = kDefaultBins;
    uint32_t hash_buckets = 512;
    bool deploy = true;
    double holdout = 0;               // part of the units that is set aside for an evaluation; 0: none
    double evaluate = 0;              // of an estimate: the epsilon of an evaluation to come; 0: none
    double active_share = 0;          // of the privacy, for a count of those who take part; 0: none
    double old_weight = -1;           // of an update: how much the old model counts; below 0: not given
    std::vector<GivenOption> given;   // of the method
    std::vector<GivenOption> update;  // of the method, for an update alone; `given` is then that of its model
    std::string
        text;  // JSON for the catalog: as given, with epsilon and delta, whichever way they were given
};

// Where epsilon and delta come from: the options themselves (the aggregate), or arguments of their own, which
// the options must then not repeat (dpboost_train_on, dpboost_estimate).
struct PrivacyArguments {
    bool given = false;
    double epsilon = 0;
    std::optional<double> delta;
};

// The options that go with every method.
OptionTable CommonOptions();

// The positive class as an option has it: a string, or a number or boolean as it is written.
std::string ReadPositive(const JsonValue& value);

// Reads an object of numbers and words by a table alone; forms are left to the caller. Throws Error for other keys.
void ReadTable(const OptionTable& table, const JsonValue& json, void* options);

// An option as a method's table reads it.
GivenOption GivenFrom(const char* key, const JsonValue& value);

// A table for people, as a JSON array of {"option": ..., "values": ..., "meaning": ...}.
std::string DescribeOptions(const OptionTable& table);

// Reads and checks all options, in time linear in their length: nothing here can be interrupted. Throws Error.
TrainingOptions ParseOptions(const JsonValue& json, const PrivacyArguments& privacy,
                             const MethodList& methods = AllMethods());

}  // namespace dpboost
