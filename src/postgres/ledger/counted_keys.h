// Which charges count for which relations, as keys that lines of totals and charges are looked up by.
#pragma once

#include "postgres/boundary/pg.h"
#include "postgres/catalog/identity.h"

namespace dpboost {

// A charge to `id` counts for the relation at `position`; with `direct` only if it read the whole of it.
struct CountedKey {
    int64 id;
    int position;
    bool direct;
    bool own;  // it is an identity of that relation, not of a relative
};

// Sorted by id.
struct CountedKeys {
    int count;
    int capacity;
    CountedKey* items;
};

// Inside a catalog scope: of all the relations, whose `identities` these are.
CountedKeys KeysOf(const RelationSet* relations, const Identities* identities);
// The same for the one at this position, which is 0 in the keys.
CountedKeys KeysOfOne(const RelationSet* relations, const Identities* identities, int position);

// The position of the first key with this id, or the end.
int FindKey(const CountedKeys& keys, int64 id);

// Those of the keys that need the whole relation read, or those that do not, or its own, or all of them: each
// identity once, as bigint[].
enum class Which { kAll, kDirect, kAny, kOwn };
Datum IdsOf(const CountedKeys& keys, Which which);

}  // namespace dpboost
