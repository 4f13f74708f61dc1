// The lines of dpboost.total, as they are read and written: see limit_totals, to which this is internal but for AddToTotals.
#pragma once

#include <string_view>

#include "postgres/boundary/pg.h"
#include "postgres/ledger/counted_keys.h"

namespace dpboost {

// A line as it was read, under one of the identities that its releases were charged to.
struct TotalLine {
    int64 id;
    bool direct;  // they read the whole of it
    int64 total_id;
    int64 first_release_id;
    int64 last_release_id;
    const ArrayType* roles;
    const ArrayType* role_names;
    const bytea* spent;
};

struct TotalLines {
    int count;
    int capacity;
    TotalLine* items;  // in the order of their first releases
};

// Inside a catalog scope: all lines in which one of the keys' identities was charged.
TotalLines ReadLines(const CountedKeys& keys);

// The last release that was charged to each identity, at its first key; 0: none.
int64* ReadLastCharges(const CountedKeys& keys);

// Inside a catalog scope, by the ledger worker: lines from scratch, for a ledger that came without them.
void RebuildTotals();

// What was spent, with a plan's cost added; `before` may be nullptr. In the current memory context.
bytea* AddCost(const bytea* before, std::string_view plan);

// Inside a catalog scope, by the ledger worker: takes a release into its line, when its charges are written.
void AddToTotals(int64 release_id, std::string_view plan);

}  // namespace dpboost
