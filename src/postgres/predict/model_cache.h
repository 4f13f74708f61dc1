// From a model's name to a model that is ready to predict. The catalog is asked once per query, for the
// newest version and for the caller's right to use it; the parsed model itself is kept by the backend under
// its number, which no other model will ever have, so there is nothing to invalidate.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dataset/encoder.h"
#include "model/model.h"
#include "model/predictor.h"
#include "postgres/boundary/pg.h"

namespace dpboost {

// A model, its encoders and its scratch memory; one per backend, which predicts one row at a time.
struct CachedModel {
    CachedModel(int64 id, std::string_view bytes);

    int64 model_id;
    Model model;
    std::vector<Encoder> encoders;
    Predictor predictor;
    size_t memory;
};

// A model as the catalog knows it.
struct ModelEntry {
    int64 model_id;
    int32 version;
    Oid owner;
    Datum content;  // possibly toasted; valid until the entry is released
    const char* name;

    Relation table;
    Relation index;
    SysScanDesc scan;
};

// Splits "name" or "name@version" (version 0: the newest). Raises 22023 for what is neither. Palloc'ed.
char* SplitModelName(const char* text, size_t size, int32* version);

// Finds a model, newest committed state, also in a parallel worker. Raises 42704 if there is none. No
// privilege is checked. The entry must be released.
void FindModel(const char* name, int32 version, ModelEntry* entry);
void ReleaseModelEntry(ModelEntry* entry);

// Whether the role may use the model: its owner's privileges, or it was shared with him.
bool MayUseModel(Oid role, const ModelEntry& entry);

// The model for the current role, from the backend's memory if it is there. Raises 42501 without the right.
// The pointer is on the heap: hold it in an object that a memory context frees.
void LoadModel(const char* text, size_t size, std::shared_ptr<CachedModel>* model);

// Changes whenever this backend trained, dropped or shared a model, so that bindings are looked up again
// within one statement.
uint64 ModelGeneration();
void ModelsChanged();

}  // namespace dpboost
