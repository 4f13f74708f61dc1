// Which relations a training reads: the one that was named, the tables behind a view, the parents and
// children of a partition. Every one of them is charged where a budget is set, so that no detour reads a
// protected table for free. Looks at the schema only, never at rows.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// How a relation comes to be read.
enum class ReadAs : int32 {
    kDirect = 0,  // named by the query, or by a view in it
    kParent = 1,  // one of its partitions (or inheritance children) is read
    kChild = 2,   // it is a partition (or inheritance child) of one that is read
};

struct ReadRelation {
    Oid relid;
    Oid owner;
    char schema_name[NAMEDATALEN];
    char relation_name[NAMEDATALEN];
    ReadAs read_as;
    bool temporary;  // of this session: cannot be protected, and is not remembered by the ledger

    // What a release means for those in it; filled in by the check of privacy units, see privacy_unit.h.
    bool row_by_row;         // a person's rows in it change no other person's, so what is charged is lost
    Oid vouched_by;          // a view over it whose owner says so; 0: the query itself shows it
    char unit[NAMEDATALEN];  // its column whose equal values were one person; empty: each of its rows was
};

// In the memory context that was current when it was made. items[0] is the relation that was asked for.
struct RelationSet {
    int count;
    ReadRelation items[FLEXIBLE_ARRAY_MEMBER];
};

// The relation itself and all that reading it reads. Raises 42809 for what has no rows (an index, a
// sequence, a composite type).
RelationSet* RelationsBehind(Oid relid);

// The same for a query that runs: pass EState::es_range_table, in which PostgreSQL has already listed views,
// CTEs, subqueries and partitions.
RelationSet* RelationsOfRangeTable(List* range_table);

// What one member says of each of them, as oid[].
Datum OidsOf(const RelationSet* relations, Oid ReadRelation::*member);

// The same relations and all that the committed schema adds to them: a partition that was detached in the
// caller's open transaction is its parent's still. For the ledger worker: takes no locks, because the caller
// may hold stronger ones. What it adds means to a release what the relation means by which it was found.
RelationSet* WithCommittedSchema(const RelationSet* relations);

// The query of a view or of a materialized view, as it was stored; nullptr for any other relation.
Query* ViewQuery(Oid relid);

// "table", "view", "materialized view" or "foreign table".
const char* RelationKindName(Oid relid);

// The role that owns a relation, 0 if it was dropped meanwhile.
Oid RelationOwner(Oid relid);

// Raises 42P01 if there is no such relation, 42501 if the caller does not own it.
void CheckOwnsRelation(Oid relid, Oid caller);

// The relation itself and all those of whose rows some are read with it: parents and children, not what is
// behind a view.
RelationSet* FamilyOf(Oid relid);

// The relations whose partition or inheritance child it is, at any distance; and those that are its own.
RelationSet* AncestorsOf(Oid relid);
RelationSet* DescendantsOf(Oid relid);

// `table "visits"`, `view "v"`: how a message names a relation. Palloc'ed.
char* DescribeRelation(Oid relid);

}  // namespace dpboost
