// Who a relation is to the ledger. Spending belongs to identities (dpboost.relation_name); a relation has all
// those that were recorded for its oid, or for its present name while no other role's relation bears them, so
// that a renamed, re-created or restored relation keeps what was spent on it, and nobody gets hold of
// another's limits or fills them up by taking a name that was left.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

// The identities of one relation as bigint[], nullptr where there are none.
struct Identity {
    ArrayType* own;      // their limits hold for it, and what it releases is charged to them
    ArrayType* counted;  // these, and those whose spending it has to count besides: a name alone only adds
    ArrayType* whole;    // of a population: those whose charges count if they read the whole of it
};

// For every member of a RelationSet.
struct Identities {
    int count;
    Identity of[FLEXIBLE_ARRAY_MEMBER];
};

// Inside a catalog scope: the relations that were just read, by oid, owner, schema and name.
RelationSet* RelationsRead(uint64 rows);

// Inside a catalog scope. In the given memory context.
Identities* ResolveIdentities(const RelationSet* relations, MemoryContext context);

// Inside a catalog scope: those of `ids` whose limits the relation's owner may change, in the current memory
// context; nullptr if there are none. One that a living relation of another role bears too is left alone.
ArrayType* GovernedIdentities(const ReadRelation* relation, ArrayType* ids);

// The identities whose charges count for a relation: all charges of `any` (its own, and of what are its
// partitions now: their rows are its own, also those that were released before they were attached), and of
// `direct` (those whose partition it is) the charges that read all of them. As bigint[].
struct CountedIdentities {
    Datum any;
    Datum direct;
};

// Inside a catalog scope. `counted` as ResolveIdentities has it.
CountedIdentities IdentitiesThatCount(Oid relid, const ArrayType* counted);

// Adds identities (nullptr: none) to a bigint[] that is being built.
void AccumulateIdentities(ArrayBuildState* result, const ArrayType* ids);

// The identities of all members together, as bigint[].
Datum AllIdentities(const Identities* identities, const ArrayType* more = nullptr);

// The same, in order and each once.
ArrayType* DistinctIdentities(const Identities* identities);

// Whether one of the identities is this one.
bool HasIdentity(const ArrayType* ids, int64 relation_id);

// Inside a catalog scope: records the relation under its present oid and name and returns its identities, of
// which a new relation gets its first. In the current memory context.
ArrayType* RememberRelation(const ReadRelation* relation, ArrayType* ids);

}  // namespace dpboost
