// What the caller of a report may see of a model beside the model itself: its entry in the ledger, budgets, evaluations.
// Read from the public views as the caller, so a report shows nobody more than the views do.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/predict/model_lookup.h"

namespace dpboost {

struct SeenFigure {
    const char* name;  // "auc"
    const char* value;
    const char* lower;
    const char* upper;
};

// A score bin of an evaluation; NaN where noise hides a figure.
struct SeenBin {
    double predicted, observed, low, high, true_positive_rate, false_positive_rate;
};

// Rows of one class that a model takes for one.
struct SeenCount {
    const char* truth;
    const char* said;
    double rows;
};

// Plain data; texts are palloc'ed, and null where there is nothing to see.
struct ReportSight {
    const char* trained_at;  // "16 November 2026, 06:31 UTC"

    bool in_ledger;
    const char* role;
    const char* relations;  // "public.adult, public.more"
    const char* privacy_unit;
    const char* plan_bytes;
    size_t plan_size;

    const char* budget_of;  // a table of the training, and whose budget on it is the scarcest
    const char* budget_role;
    double budget_share;
    double budget_epsilon;

    bool can_evaluate;  // the function is there
    int64 evaluation;   // 0: none
    const char* evaluated_on;
    double evaluation_epsilon;
    SeenFigure* figures;
    int figure_count;
    SeenBin* bins;
    int bin_count;
    SeenCount* counts;  // of several classes
    int count_count;
};

// schema: where the extension's views are.
void LookAround(const ModelEntry& entry, const ModelFacts& facts, Oid schema, ReportSight* sight);

}  // namespace dpboost
