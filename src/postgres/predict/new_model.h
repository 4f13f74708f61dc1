// The name under which a training leaves its model: whose it is, and which version comes next. Asked by the
// caller's backend before it reads rows, and again by the ledger worker when it charges.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Plain data; the name is in the memory context in which it was read.
struct NewModelName {
    Oid owner;
    char owner_name[NAMEDATALEN];
    const char* name;
};

// Reads `name` (the caller's own) or `owner.name`. Raises 42602 for what cannot name a new model, 42704 if there
// is no such owner, and 42501 if the caller has not the owner's privileges. Looks at no model.
void ReadNewModelName(Oid caller, const char* text, NewModelName* name);

// Takes @version off a name, where it has one, and returns the version, else 0. For imports. Raises 42602.
int32 TakeVersion(char* text);

// What a training's model will be called. Plain data.
struct NamedModel {
    int64 name_id;  // the name with its owner, see dpboost.model_name
    const char* name;
    int32 version;  // never used under this full name, also not by a model that was dropped
};

// The ledger worker, inside a catalog scope and under its lock: reads the name, remembers it if it is new, and
// takes the next version.
void NameNextModel(Oid caller, const char* text, NamedModel* model);

// Inside a catalog scope, after a model was written: if it is the only one of its name, what was shared under
// the name before is not meant.
void ForgetOldGrants(int64 name_id, int64 model_id);

}  // namespace dpboost
