// A training on a relation by name, from the call's arguments to what BeginTraining and ReadRows take: for
// dpboost_train_on, dpboost_update and their estimates, and for a party of a federation, which is told the call by others.
#pragma once

#include "postgres/reading/reading.h"
#include "postgres/train/training.h"

namespace dpboost {

// The arguments of a call; `model` is null for an estimate.
struct NamedCall {
    const char* model;
    Oid relid;
    const char* target;
    ArrayType* features;  // null: all that can be, or those of the model that is continued
    const char* group;    // column by whose levels there are several models; null: one model
    TrainingCall training;
    Reading reading;
};

// From the arguments relation, target, epsilon, delta, features, options of an SQL function, of which the first is `first`.
NamedCall* ReadNamedCall(FunctionCallInfo fcinfo, int first);

// The model that an update goes on from. Only who could train under its name may: raises 42501, and 22023 if the model does
// not say what it predicts.
const CatalogModel* FindContinued(Oid caller, const char* text);

// Becomes a Model inside the door.
struct ModelBytes {
    const char* data;
    size_t size;
    operator Model() const { return Model::Parse({data, size}); }
};

// The call goes on from the model, which is parsed for it.
void ContinueFrom(const CatalogModel* model, TrainingCall* training);

// Looks up columns, privacy unit and rights. Everything that the call or the schema can get wrong about them is raised. The
// relation stays locked until the transaction ends.
void PrepareCall(NamedCall* call);

// What the call would cost. Reads no row, charges nothing, and leaves no lock.
Datum EstimateCall(NamedCall* call);

}  // namespace dpboost
