// Gathers and sorts the keys.
#include "postgres/ledger/counted_keys.h"

namespace dpboost {
namespace {

void AddKeys(CountedKeys* keys, int position, const ArrayType* ids, const ArrayType* own, bool direct) {
    const auto* values = reinterpret_cast<const int64*>(ARR_DATA_PTR(ids));
    const int count = ArrayGetNItems(ARR_NDIM(ids), ARR_DIMS(ids));
    if (keys->count + count > keys->capacity) {
        keys->capacity = 2 * keys->capacity + count;
        const size_t size = sizeof(CountedKey) * static_cast<size_t>(keys->capacity);
        keys->items =
            static_cast<CountedKey*>(keys->items == nullptr ? palloc(size) : repalloc(keys->items, size));
    }
    for (int i = 0; i < count; ++i)
        keys->items[keys->count++] = {values[i], position, direct, HasIdentity(own, values[i])};
}

void AddRelation(CountedKeys* keys, int position, Oid relid, const Identity& identity) {
    if (identity.counted == nullptr)
        return;
    if (identity.whole != nullptr) {  // a population, which has the families of its tables
        AddKeys(keys, position, identity.counted, nullptr, false);
        AddKeys(keys, position, identity.whole, nullptr, true);
        return;
    }
    const CountedIdentities counted = IdentitiesThatCount(relid, identity.counted);
    AddKeys(keys, position, DatumGetArrayTypeP(counted.any), identity.own, false);
    AddKeys(keys, position, DatumGetArrayTypeP(counted.direct), identity.own, true);
}

int CompareKeys(const void* a, const void* b) {
    const auto* left = static_cast<const CountedKey*>(a);
    const auto* right = static_cast<const CountedKey*>(b);
    return left->id < right->id ? -1 : left->id > right->id;
}

}  // namespace

CountedKeys KeysOf(const RelationSet* relations, const Identities* identities) {
    CountedKeys keys = {};
    for (int i = 0; i < relations->count; ++i)
        AddRelation(&keys, i, relations->items[i].relid, identities->of[i]);
    qsort(keys.items, keys.count, sizeof(CountedKey), CompareKeys);
    return keys;
}

CountedKeys KeysOfOne(const RelationSet* relations, const Identities* identities, int position) {
    CountedKeys keys = {};
    AddRelation(&keys, 0, relations->items[position].relid, identities->of[position]);
    qsort(keys.items, keys.count, sizeof(CountedKey), CompareKeys);
    return keys;
}

int FindKey(const CountedKeys& keys, int64 id) {
    int low = 0;
    int high = keys.count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (keys.items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Datum IdsOf(const CountedKeys& keys, Which which) {
    auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * (keys.count + 1)));
    int count = 0;
    for (int i = 0; i < keys.count; ++i) {
        const Datum id = Int64GetDatum(keys.items[i].id);
        const CountedKey& key = keys.items[i];
        const bool wanted = which == Which::kAll   ? true
                            : which == Which::kOwn ? key.own
                                                   : key.direct == (which == Which::kDirect);
        if (wanted && (count == 0 || values[count - 1] != id))
            values[count++] = id;
    }
    return PointerGetDatum(
        construct_array(values, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

}  // namespace dpboost
