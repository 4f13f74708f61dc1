// From a model's name to a model that is ready to predict. The catalog is asked once per query, for what the
// name means to the caller and for his right to use it; the parsed model itself is kept by the backend under
// a key that no other model will ever have, so there is nothing to invalidate.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dataset/encoder.h"
#include "model/explain/explain.h"
#include "model/intervals.h"
#include "model/model.h"
#include "model/predictor.h"
#include "postgres/boundary/boundary.h"

namespace dpboost {

struct ModelEntry;

// Numbers start again with a new extension, or when someone restores the tables; catalog and transaction tell.
struct ModelKey {
    Oid catalog;
    int64 model_id;
    TransactionId written_by;
};

// A model, its encoders and its scratch memory; one per backend, which predicts one row at a time.
struct CachedModel {
    CachedModel(const ModelKey& model_key, std::string_view bytes);

    // Core side: what explains the model, made at first use.
    Explainer& explainer();
    // Likewise its intervals; the model must hold residuals.
    const Intervals& intervals();

  private:
    PgInterrupt interrupt_;  // before what is made with it

  public:
    ModelKey key;
    Model model;
    std::vector<Encoder> encoders;
    Predictor predictor;
    size_t memory;

  private:
    std::unique_ptr<Explainer> explainer_;
    std::unique_ptr<Intervals> intervals_;
};

// The model that the name means for the current role, from the backend's memory if it is there. Raises what
// FindModel raises. The pointer is on the heap: hold it in an object that a memory context frees.
void LoadModel(const char* text, size_t size, std::shared_ptr<CachedModel>* model);
// The same of a row that was found.
void LoadModelOf(const ModelEntry& entry, std::shared_ptr<CachedModel>* model);

// Changes whenever this backend trained, dropped or shared a model, so that bindings are looked up again
// within one statement.
uint64 ModelGeneration();
void ModelsChanged();

}  // namespace dpboost
