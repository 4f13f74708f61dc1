// From a model's name to its row in the catalog. Without an owner a name means one's own model, else the only
// one of that name that one may use; so nobody can put a model in the place of another.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

enum class NameUse { kRead, kTrain };

// A name as it was written (model/model_name.h). Palloc'ed.
struct ModelText {
    char* owner;         // null: none was written
    bool owner_is_gone;  // written !owner
    char* name;
    int32 version;  // 0: the live one
};

// Raises 42602 for what is no name.
void ReadModelText(const char* text, size_t size, NameUse use, ModelText* read);

// owner.name, the owner in quotes where it needs them, after ! if he is gone. Palloc'ed.
char* FullName(bool owner_is_gone, const char* owner_name, const char* name);

// 0 if there is no such role; no name is too long to ask.
Oid FindRole(const char* name);

// A model as the catalog knows it.
struct ModelEntry {
    int64 name_id;
    Oid owner;         // 0: a role that was gone when the catalog was restored
    const char* name;  // as it was written, without the version; palloc'ed
    int64 model_id;
    int32 version;

    Oid catalog;               // of dpboost.model, and the transaction that wrote the row: together with the
    TransactionId written_by;  // number they tell one model from any other that ever has it
    Datum content;             // possibly toasted; valid until the entry is closed
    HeapTuple row;             // of dpboost.model, likewise

    Relation table;
    Relation index;
    SysScanDesc scan;
};

// Finds the model that the name means for the role, newest committed state, also in a parallel worker; which of its
// versions is live, as the statement's or the transaction's snapshot has it. Raises 42704 if there is none, 42725
// if there are several, 42501 if the role may not use the one it named in full, 55000 if no version is live.
// The entry must be closed.
void FindModel(Oid role, const ModelText& text, ModelEntry* entry);
// The same, but any version will do where none is live: for those who manage models.
void FindAnyVersion(Oid role, const ModelText& text, ModelEntry* entry);
void CloseModelEntry(ModelEntry* entry);

// What the catalog says about a model, for people. Palloc'ed texts.
struct ModelFacts {
    bool imported;
    int64 release_id;  // unless it was imported
    const char* method;
    const char* task;
    double epsilon;
    double delta;
    TimestampTz created_at;
    const char* target;    // name of what it predicts; empty if that is not known
    const char* positive;  // the positive class, or null
    Jsonb* features;       // and their encodings
};
void ReadModelFacts(const ModelEntry& entry, ModelFacts* facts);

// Whether the role has the privileges of the model's owner. Those of a dropped one are the database owner's.
bool OwnsModel(Oid role, const ModelEntry& entry);

}  // namespace dpboost
