// Writes accounts back. By the ledger worker for a release, in the commit of its charge and in that of its result, and by
// the owner's functions in their own transaction.
#include "postgres/catalog/catalog.h"
#include "postgres/reading/fresh_settings.h"
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

UnitWriteReader OpenWrite(const char* bytes, size_t size) {
    UnitWriteReader reader;
    if (!reader.Open(bytes, size))
        elog(ERROR, "the accounts that are to be written are damaged");
    return reader;
}

// False if the accounts have changed since they were loaded. Its row stays locked until the commit, so that they cannot.
bool NextGeneration(int64 id, int64 generation, const UnitWriteReader& reader) {
    return CatalogWrite(
               "UPDATE dpboost.unit_state SET generation = generation + 1, old_buckets = $3, new_buckets = "
               "$4, units = $5, opened = $6, moved = $7 WHERE unit_state_id = $1 AND generation = $2",
               {Int8(id), Int8(generation), Int4(static_cast<int32>(reader.buckets.old_buckets)),
                Int4(static_cast<int32>(reader.buckets.new_buckets)),
                Int8(static_cast<int64>(reader.buckets.units)),
                Int8(static_cast<int64>(reader.buckets.opened)),
                Int8(static_cast<int64>(reader.buckets.moved))}) == 1;
}

// A statement for each kind of bucket that UnitBook::WriteOut gives.
struct WritePlans {
    SPIPlanPtr with_keys;
    SPIPlanPtr with_spent;
    SPIPlanPtr reserved;
};

WritePlans PrepareWrites() {
    const Oid types[] = {INT8OID, INT4OID, BYTEAOID, BYTEAOID, BYTEAOID};
    return {PrepareWrite(
                "INSERT INTO dpboost.unit_bucket (unit_state_id, bucket, reserved, spent, keys)"
                " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (unit_state_id, bucket)"
                " DO UPDATE SET reserved = EXCLUDED.reserved, spent = EXCLUDED.spent, keys = EXCLUDED.keys",
                5, types),
            PrepareWrite("UPDATE dpboost.unit_bucket SET reserved = $3, spent = $4"
                         " WHERE unit_state_id = $1 AND bucket = $2",
                         4, types),
            PrepareWrite("UPDATE dpboost.unit_bucket SET reserved = $3"
                         " WHERE unit_state_id = $1 AND bucket = $2",
                         3, types)};
}

void WriteBucket(int64 id, const UnitWrite& write, const WritePlans& plans, MemoryContext context) {
    MemoryContext outer = MemoryContextSwitchTo(context);
    Datum values[] = {Int64GetDatum(id), Int32GetDatum(static_cast<int32>(write.bucket)),
                      PointerGetDatum(MakeBytea(write.reserved, write.reserved_size)), Datum(0), Datum(0)};
    if (write.has_spent)
        values[3] = PointerGetDatum(MakeBytea(write.spent, kBucketUnits * UnitBook::kSpentSize));
    if (write.has_keys)
        values[4] = PointerGetDatum(MakeBytea(write.keys, UnitBook::kKeysSize));
    MemoryContextSwitchTo(outer);
    SPIPlanPtr plan = write.has_keys ? plans.with_keys : write.has_spent ? plans.with_spent : plans.reserved;
    const int result = SPI_execute_plan(plan, values, nullptr, false, 0);
    if (result < 0 || SPI_processed != 1)
        ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("could not write what persons have spent")));
    MemoryContextReset(context);
}

}  // namespace

bool CountUnitWrite(int64 id, int64 generation, const char* bytes, size_t size) {
    return NextGeneration(id, generation, OpenWrite(bytes, size));
}

// Whole pages go into the WAL after a checkpoint: compressed, they would tell everybody how full buckets are.
void WriteCountedBuckets(int64 id, const char* bytes, size_t size) {
    PinSetting("wal_compression", "off");
    UnitWriteReader reader = OpenWrite(bytes, size);
    const WritePlans plans = PrepareWrites();
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "dpboost accounts", ALLOCSET_DEFAULT_SIZES);
    UnitWrite write;
    while (reader.Next(&write)) {
        WriteBucket(id, write, plans, context);
        CHECK_FOR_INTERRUPTS();
    }
    MemoryContextDelete(context);
    if (reader.left != 0 || reader.at != reader.end)
        elog(ERROR, "the accounts that are to be written are damaged");
}

bool WriteUnitBuckets(int64 id, int64 generation, const char* bytes, size_t size) {
    if (!CountUnitWrite(id, generation, bytes, size))
        return false;
    WriteCountedBuckets(id, bytes, size);
    return true;
}

}  // namespace dpboost
