// The rows of dpboost.relation_name, which say under which oids and names an identity was seen. They are read by the table's
// indexes and not by a statement: a process that charges once would spend more on planning it than on the charge.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

struct KnownName {
    int64 relation_id;
    Oid relid;  // 0: it was gone when the row was written
    Oid owner;  // the role's, likewise
    NameData owner_name;
};

// Lists of KnownName, in the current memory context: what is committed at this moment, and what this transaction did itself.
List* NamesOfRelation(Oid relid);
List* NamesLike(const char* schema_name, const char* relation_name);
List* NamesOfIdentity(int64 relation_id);

}  // namespace dpboost
