// The name under which a training leaves its model: whether it is one, whether the caller may use it, and which
// version comes next. Asked by the caller's backend before it reads rows, and by the ledger worker.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Raises 42602 for what cannot name a model.
void CheckModelName(const char* name);

// Inside a catalog scope: raises 42501 if the name is taken by a model of another role. The owner of the
// model, or 0 if there is none of that name.
void CheckModelOwner(Oid caller, const char* model_name, Oid* owner);

// Inside a catalog scope: a version that was never used, also not by a model that was dropped.
int32 NextVersion(const char* model_name);

// Inside a catalog scope, for a model whose name was free: what was shared under it before is not meant.
void ForgetGrants(const char* model_name);

}  // namespace dpboost
