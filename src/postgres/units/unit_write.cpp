// Writes accounts back. By the ledger worker for a release, in the commit of its charge and in that of its result, and by
// the owner's functions in their own transaction.
#include "postgres/catalog/catalog.h"
#include "postgres/units/unit_state.h"

namespace dpboost {
namespace {

bytea* MakeBytea(const char* bytes, size_t size) {
    auto* value = static_cast<bytea*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(value, size + VARHDRSZ);
    memcpy(VARDATA(value), bytes, size);
    return value;
}

SPIPlanPtr PrepareWrite(const char* query, int count, const Oid* types) {
    SPIPlanPtr plan = SPI_prepare(query, count, const_cast<Oid*>(types));
    if (plan == nullptr)
        elog(ERROR, "could not prepare a write of accounts: %s", SPI_result_code_string(SPI_result));
    return plan;
}

// False if the accounts have changed since they were loaded. Its row stays locked until the commit, so that they cannot.
bool NextGeneration(int64 id, int64 generation, const UnitWriteReader& reader) {
    return CatalogWrite(
               "UPDATE dpboost.unit_state SET generation = generation + 1, bucket_bits = $3, units = $4"
               " WHERE unit_state_id = $1 AND generation = $2",
               {Int8(id), Int8(generation), Int4(reader.bits), Int8(static_cast<int64>(reader.units))}) == 1;
}

void WriteBucket(int64 id, const UnitWrite& write, SPIPlanPtr with_keys, SPIPlanPtr without_keys) {
    bytea* spent = MakeBytea(write.spent, size_t{write.units} * UnitBook::kSpentSize);
    bytea* keys = write.has_keys ? MakeBytea(write.keys, size_t{write.units} * UnitBook::kKeySize) : nullptr;
    Datum values[] = {Int64GetDatum(id), Int32GetDatum(static_cast<int32>(write.bucket)),
                      PointerGetDatum(spent), PointerGetDatum(keys)};
    const int result =
        SPI_execute_plan(keys != nullptr ? with_keys : without_keys, values, nullptr, false, 0);
    if (result < 0 || SPI_processed != 1)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("could not write what persons have spent")));
    pfree(spent);
    if (keys != nullptr)
        pfree(keys);
}

}  // namespace

bool WriteUnitBuckets(int64 id, int64 generation, const char* bytes, size_t size) {
    UnitWriteReader reader;
    if (!reader.Open(bytes, size))
        elog(ERROR, "the accounts that are to be written are damaged");
    if (!NextGeneration(id, generation, reader))
        return false;
    const Oid types[] = {INT8OID, INT4OID, BYTEAOID, BYTEAOID};
    if (reader.replaces_all)
        CatalogWrite("DELETE FROM dpboost.unit_bucket WHERE unit_state_id = $1", {Int8(id)});
    SPIPlanPtr with_keys = PrepareWrite(
        "INSERT INTO dpboost.unit_bucket (unit_state_id, bucket, spent, keys)"
        " VALUES ($1, $2, $3, $4) ON CONFLICT (unit_state_id, bucket)"
        " DO UPDATE SET spent = EXCLUDED.spent, keys = EXCLUDED.keys",
        4, types);
    SPIPlanPtr without_keys = PrepareWrite(
        "UPDATE dpboost.unit_bucket SET spent = $3 WHERE unit_state_id = $1 AND bucket = $2", 3, types);
    UnitWrite write;
    while (reader.Next(&write)) {
        WriteBucket(id, write, with_keys, without_keys);
        CHECK_FOR_INTERRUPTS();
    }
    if (reader.left != 0 || reader.at != reader.end)
        elog(ERROR, "the accounts that are to be written are damaged");
    return true;
}

}  // namespace dpboost
