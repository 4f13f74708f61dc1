// What the functions that explain share: a model by its name, a feature of it by its name, and texts and numbers as rows
// have them.
#pragma once

#include <string>
#include <vector>

#include "postgres/boundary/boundary.h"
#include "postgres/predict/model_cache.h"
#include "postgres/predict/model_lookup.h"

namespace dpboost {

// The model that argument 0 names, held until the current memory context is reset. facts: what the catalog says about it,
// or null.
CachedModel* ModelArgument(FunctionCallInfo fcinfo, ModelFacts* facts = nullptr);

// What explains the model, made at its first use.
Explainer* ExplainerOf(CachedModel* model);

// The number of the feature that the argument names. Raises 42703, with the nearest name, if there is none.
size_t FeatureArgument(FunctionCallInfo fcinfo, int argument, const CachedModel& model,
                       const char* model_name);

// The class of an output, of a model that has several. Else null.
const std::string* ClassOf(const Model& model, size_t output);

// One row of a result, column by column; NaN and null pointers are NULL.
class RowWriter {
  public:
    // Texts of a row are freed when it is finished: there may be very many.
    RowWriter(Tuplestorestate* store, TupleDesc descriptor)
        : store_(store),
          descriptor_(descriptor),
          row_(AllocSetContextCreate(CurrentMemoryContext, "dpboost row", ALLOCSET_SMALL_SIZES)) {}

    void Number(double number);
    void Figure(double number);  // to six digits: for people, where nothing must add up
    void Whole(int32 number, bool is_null);
    void Boolean(bool value, bool is_null);
    void Text(const std::string* text);
    void CString(const char* text);
    // Texts by their numbers.
    template <class TextOf>
    void Texts(size_t count, const TextOf& text_of) {
        MemoryContext outer = MemoryContextSwitchTo(row_);
        auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * count));
        for (size_t i = 0; i < count; ++i)
            elements[i] = MakeText(*text_of(i));
        Put(PointerGetDatum(
                construct_array(elements, static_cast<int>(count), TEXTOID, -1, false, TYPALIGN_INT)),
            false);
        MemoryContextSwitchTo(outer);
    }
    // Estimate and bounds of a band of 95 %.
    void Band(double middle, double sd);
    void Finish();

  private:
    static constexpr int kMaxColumns = 16;
    static Datum MakeText(const std::string& text);
    void Put(Datum value, bool is_null);

    Tuplestorestate* store_;
    TupleDesc descriptor_;
    MemoryContext row_;
    int count_ = 0;
    Datum values_[kMaxColumns];
    bool nulls_[kMaxColumns];
};

}  // namespace dpboost
