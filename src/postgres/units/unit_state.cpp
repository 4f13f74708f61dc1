#include "postgres/units/unit_state.h"

#include "postgres/boundary/boundary.h"
#include "postgres/boundary/settings.h"
#include "postgres/boundary/short_locks.h"
#include "postgres/catalog/catalog.h"
#include "postgres/reading/fresh_settings.h"
#include "postgres/units/unit_history.h"

namespace dpboost {
namespace {

constexpr int kBucketsAtOnce = 64;

Oid StateTable() {
    return get_relname_relid("unit_state", get_namespace_oid("dpboost", false));
}

[[noreturn]] void RaiseMissing(const char* name) {
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("what the persons of %s have spent is not in dpboost's catalog", name),
                    errdetail("So nobody's budget can be checked."),
                    errhint("Restore the catalog from a dump of the whole database.")));
    pg_unreachable();
}

// A limit that is not on the very rows that are read has accounts under other keys, or of other persons.
void CheckReadsItsPersons(const BudgetState* budget, const RelationSet* relations) {
    for (int i = 0; i < relations->count; ++i) {
        const ReadRelation* relation = &relations->items[i];
        if (relation->relid == budget->relid && OidIsValid(relation->vouched_by))
            ereport(
                ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("%s accounts for every person by itself, and cannot be read through a view with a "
                        "privacy unit of its own",
                        DescribeBudget(budget))));
    }
}

void CheckFamily(const UnitState* state, const StoredUnits& stored) {
    if (stored.family != state->family)
        ereport(
            ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("the column that tells the persons of %s apart has another kind of type than when their "
                    "accounts were opened",
                    state->name),
             errdetail("Under another type everybody would have a new account."),
             errhint("Change the column back.")));
}

void ReadState(UnitState* state, UnitAccount* account) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const StoredUnits stored = ReadStoredUnits(state->id, state->name);
    CheckFamily(state, stored);
    state->generation = stored.generation;
    UnitBook* book = nullptr;
    CallCore([&] {
        PgInterrupt interrupt;
        book = &account->Open(std::string_view(stored.salt, kUnitSaltSize), stored.buckets, MaxMemoryBytes(),
                              interrupt);
    });
    LoadBuckets(state->id, book);
    CatalogEnd(&scope);
}

}  // namespace

char KeyFamily(Oid type) {
    switch (getBaseType(type)) {
        case INT2OID:
        case INT4OID:
        case INT8OID:
            return 'i';
        case TEXTOID:
        case VARCHAROID:
        case NAMEOID:
            return 't';
        case BPCHAROID:  // whose blanks at the end do not count
            return 'c';
        case NUMERICOID:
            return 'n';
        case UUIDOID:
            return 'u';
        case BYTEAOID:
            return 'b';
        case DATEOID:
            return 'd';
        default:  // enums and oids have other values after a restore
            ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                            errmsg("type %s cannot tell persons apart for as long as they have accounts",
                                   format_type_be(type)),
                            errdetail("Integers, numeric, text, uuid, bytea and date can.")));
    }
    pg_unreachable();
}

void FindUnitState(const BudgetList* budgets, const RelationSet* relations, Oid unit_type, UnitState* state) {
    memset(static_cast<void*>(state), 0, sizeof *state);
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->unit_state_id == 0)
            continue;
        CheckReadsItsPersons(budget, relations);
        if (state->id != 0 && state->id != budget->unit_state_id)
            ereport(ERROR,
                    (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                     errmsg("%s and %s both account for every person", state->name, DescribeBudget(budget)),
                     errdetail("A release can be charged to one account of a person.")));
        if (!OidIsValid(unit_type))
            ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                            errmsg("%s accounts for every person, and names none", DescribeBudget(budget)),
                            errhint("Its owner can name one, by dpboost_protect with a privacy_unit.")));
        *state = {budget->unit_state_id, budget->epsilon,      budget->delta,
                  budget->order,         KeyFamily(unit_type), 0,
                  DescribeBudget(budget)};
    }
    if (state->id != 0)
        CheckUnitHistory(budgets, relations);
}

StoredUnits ReadStoredUnits(int64 id, const char* name) {
    if (CatalogRead("SELECT generation, old_buckets, new_buckets, units, opened, moved, salt, key_family"
                    " FROM dpboost.unit_state WHERE unit_state_id = $1",
                    {Int8(id)}, 1) == 0)
        RaiseMissing(name);
    StoredUnits stored;
    stored.generation = DatumGetInt64(CatalogValue(0, 1));
    stored.buckets.old_buckets = static_cast<uint32_t>(DatumGetInt32(CatalogValue(0, 2)));
    stored.buckets.new_buckets = static_cast<uint32_t>(DatumGetInt32(CatalogValue(0, 3)));
    stored.buckets.units = static_cast<uint64_t>(DatumGetInt64(CatalogValue(0, 4)));
    stored.buckets.opened = static_cast<uint64_t>(DatumGetInt64(CatalogValue(0, 5)));
    stored.buckets.moved = static_cast<uint64_t>(DatumGetInt64(CatalogValue(0, 6)));
    stored.buckets.writes = static_cast<uint64_t>(stored.generation);
    const bytea* salt = DatumGetByteaPP(CatalogValue(0, 7));
    if (VARSIZE_ANY_EXHDR(salt) != kUnitSaltSize)
        RaiseMissing(name);
    memcpy(stored.salt, VARDATA_ANY(salt), kUnitSaltSize);
    stored.family = DatumGetChar(CatalogValue(0, 8));
    return stored;
}

// In the current memory context, if it is not there as it is.
static std::string_view BytesOf(Datum value) {
    const bytea* bytes = DatumGetByteaP(value);
    return {VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ};
}

void LoadBuckets(int64 id, UnitBook* book) {
    PinSetting("wal_compression", "off");  // also of what reading tidies up
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "dpboost accounts", ALLOCSET_DEFAULT_SIZES);
    int32 next = 0;
    for (uint64 rows = kBucketsAtOnce; rows == kBucketsAtOnce;) {
        rows = CatalogRead(
            "SELECT bucket, keys, spent, reserved FROM dpboost.unit_bucket"
            " WHERE unit_state_id = $1 AND bucket >= $2 ORDER BY bucket",
            {Int8(id), Int4(next)}, kBucketsAtOnce);
        for (uint64 row = 0; row < rows; ++row) {
            const int32 bucket = DatumGetInt32(CatalogValue(row, 1));
            MemoryContext outer = MemoryContextSwitchTo(context);
            const std::string_view keys = BytesOf(CatalogValue(row, 2));
            const std::string_view spent = BytesOf(CatalogValue(row, 3));
            const std::string_view reserved = BytesOf(CatalogValue(row, 4));
            MemoryContextSwitchTo(outer);
            CallCore([&] { book->Load(static_cast<uint32_t>(bucket), keys, spent, reserved); });
            MemoryContextReset(context);
            next = bucket + 1;
        }
        SPI_freetuptable(SPI_tuptable);
        CHECK_FOR_INTERRUPTS();
    }
    MemoryContextDelete(context);
    CallCore([&] {
        PgInterrupt interrupt;
        book->FinishLoading(interrupt);
    });
}

void LockUnits(int64 id) {
    LockDatabaseObject(StateTable(), static_cast<Oid>(id), 0, ExclusiveLock);
}

// How many buckets there are tells how many persons there are, and so do the blocks that are read, and the WAL of those
// that reading tidies up: EXPLAIN (ANALYZE, BUFFERS, WAL) counts neither.
void OpenUnits(UnitState* state, UnitAccount* account) {
    LockUnits(state->id);
    const BufferUsage buffers = pgBufferUsage;
    const WalUsage wal = pgWalUsage;
    ShortLocks locks;
    ShortLocksBegin(&locks);
    ReadState(state, account);
    ShortLocksEnd(&locks);
    pgBufferUsage = buffers;
    pgWalUsage = wal;
}

void CloseUnits(const UnitState* state) {
    if (state->id != 0)
        UnlockDatabaseObject(StateTable(), static_cast<Oid>(state->id), 0, ExclusiveLock);
}

}  // namespace dpboost
