// What a training says about itself when it is over, as plain data that PostgreSQL's side fills in and the core
// writes as JSON (TrainingCore::Describe).
#pragma once

#include <cstdint>

namespace dpboost {

// What a budget has left.
struct RemainingBudget {
    const char* table;
    const char* role;        // null: the cap of the table
    const char* population;  // null; else the cap is the population's, of which the table is one
    double part;             // of the limit, 1 .. 0
    double epsilon;
    double delta;
    bool by_unit;  // every person has an account; this is what a single release may ask of each
};

// A model of one of several groups.
struct GroupModel {
    const char* group;
    const char* model;
    int version;
    const char* shares = "{}";  // what was released about its classes, as an object
};

struct TrainingResult {
    const char* model;  // null for an estimate, which has none of the first four
    const char* owner;
    int version;
    int64_t release_id;
    const RemainingBudget* remaining;
    int remaining_count;
    const GroupModel* groups = nullptr;  // of several models, of which `model` is how their names begin
    int group_count = 0;                 // 0: there is one
};

}  // namespace dpboost
