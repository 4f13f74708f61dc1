// Who a relation is to the ledger. Spending belongs to identities (dpboost.relation_name); a relation has all
// those that were recorded for its oid, or for its present name under an owner whose privileges its owner
// has, so that a renamed, re-created or restored relation keeps what was spent on it, and nobody gets hold of
// another's limits or fills them up by taking a name that was left.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

// For every member of a RelationSet its identities as bigint[], NULL where there are none.
struct Identities {
    int count;
    ArrayType* of[FLEXIBLE_ARRAY_MEMBER];
};

// Inside a catalog scope. In the given memory context.
Identities* ResolveIdentities(const RelationSet* relations, MemoryContext context);

// Whether one of the identities is this one.
bool HasIdentity(const ArrayType* ids, int64 relation_id);

// Inside a catalog scope: records the relation under its present oid and name and returns its identities, of
// which a new relation gets its first. In the current memory context.
ArrayType* RememberRelation(const ReadRelation* relation, ArrayType* ids);

}  // namespace dpboost
