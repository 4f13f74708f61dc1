// A model with what the catalog says about it, for releases that are about a model: evaluations and updates.
#pragma once

#include "training/json.h"

#include "postgres/columns/source_column.h"
#include "postgres/ledger/ledger.h"

namespace dpboost {

// Palloc'ed.
struct CatalogModel {
    const char* text;  // as the call gave it
    const char* name;
    const char* owner;  // null: a role that is gone
    bool owned;         // the caller has the privileges of its owner
    ReleasedModel released;
    const char* content;
    size_t content_size;
    const JsonValue* options;  // of its training
    const char* method;
    const char* target;    // name of what it predicts; empty if that is not known
    const char* positive;  // the positive class, or null
};

// The model that the name means for the role; raises what FindModel raises.
void FindCatalogModel(Oid role, const char* text, CatalogModel* model);

// The relation's column that the feature of a model is read from: by its name, and of a type that the model can read.
// Raises 42703 and 42804.
SourceColumn FindFeatureColumn(Oid relid, const FeatureSpec& feature);

}  // namespace dpboost
