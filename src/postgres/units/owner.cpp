// dpboost_unit_budget, dpboost_forget_unit, dpboost_merge_units: what the owner of the rows may see and do about a single
// person. They act in the caller's transaction, and wait for releases that are being charged to the same persons.
#include "base/json_text.h"
#include "base/text.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/columns/row_reader.h"
#include "postgres/columns/source_column.h"
#include "postgres/limits/budget.h"
#include "postgres/train/json_reader.h"
#include "postgres/units/unit_state.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_unit_budget);
PG_FUNCTION_INFO_V1(dpboost_forget_unit);
PG_FUNCTION_INFO_V1(dpboost_merge_units);
}

namespace dpboost {
namespace {

// The accounts of a relation's persons, for its owner.
struct Owned {
    UnitState state;
    Oid type;  // of the column that tells persons apart
};

Owned OpenOwned(Oid relid, Oid caller) {
    CheckOwnsRelation(relid, caller);
    LockRelationOid(relid, AccessShareLock);
    const BudgetList* budgets = LoadBudgets(caller, FamilyOf(relid));
    for (int i = 0; i < budgets->count; ++i) {
        const BudgetState* budget = &budgets->items[i];
        if (budget->relid != relid || budget->unit_state_id == 0)
            continue;
        Owned owned;
        owned.type = FindColumn(relid, budget->privacy_unit).type;
        owned.state = {budget->unit_state_id, budget->epsilon,       budget->delta,
                       budget->order,         KeyFamily(owned.type), 0,
                       DescribeBudget(budget)};
        return owned;
    }
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the persons of %s have no accounts", DescribeRelation(relid)),
                    errhint("dpboost_protect(..., accounting => 'unit') opens them.")));
    pg_unreachable();
}

// The key of a person, from its value as text.
UnitKey KeyOf(const Owned& owned, text* unit) {
    const Oid base = getBaseType(owned.type);
    Oid input, element;
    getTypeInputInfo(base, &input, &element);
    return ReadUnit(base, OidInputFunctionCall(input, text_to_cstring(unit), element, -1));
}

// Inside a catalog scope: a book of these persons, with all that is stored.
CoreState<UnitBook>* OpenBook(Owned* owned, const UnitKey* keys, int count) {
    const StoredUnits stored = ReadStoredUnits(owned->state.id, owned->state.name);
    if (stored.family != owned->state.family)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("the column that tells persons apart has another kind of type than when their "
                               "accounts were opened"),
                        errhint("Change the column back.")));
    owned->state.generation = stored.generation;
    const std::string_view salt(stored.salt, kUnitSaltSize);
    auto* limit = CoreState<UnitLimit>::Make(CurrentMemoryContext, owned->state.epsilon, owned->state.delta,
                                             owned->state.order);
    auto* book = CoreState<UnitBook>::Make(CurrentMemoryContext, salt, stored.buckets, **limit);
    CallCore([&] {
        PgInterrupt interrupt;
        (*book)->SetUnits(std::vector<UnitKey>(keys, keys + count), interrupt);
    });
    LoadBuckets(owned->state.id, &**book);
    return book;
}

void WriteBook(const Owned& owned, UnitBook* book) {
    const std::string* bytes = nullptr;
    auto* holder = CoreState<std::string>::Make(CurrentMemoryContext);
    CallCore([&] {
        PgInterrupt interrupt;
        **holder = book->WriteOut(interrupt);
        bytes = &**holder;
    });
    if (!WriteUnitBuckets(owned.state.id, owned.state.generation, bytes->data(), bytes->size()))
        ereport(ERROR,
                (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                 errmsg("the same persons were charged by a training meanwhile"), errhint("Try again.")));
}

// In the core: an account for people.
void DescribeAccount(const UnitState& state, uint32_t spent, std::string* json) {
    const UnitLimit limit(state.epsilon, state.delta, state.order);
    const uint32_t counted = std::min(spent, kUnitWhole);
    JsonList list;
    list.Add("epsilon", JsonNumber(state.epsilon));
    list.Add("delta", JsonNumber(state.delta));
    list.Add("part_spent", JsonNumber(RoundedUp(std::ldexp(static_cast<double>(counted), -31))));
    list.Add("epsilon_spent", JsonNumber(RoundedUp(limit.EpsilonOf(counted))));
    list.Add("epsilon_remaining", JsonNumber(RoundedDown(limit.EpsilonLeft(counted))));
    list.Add("forgotten", spent == kUnitForgotten ? "true" : "false");
    *json = list.Object();
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_unit_budget(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation", "unit"});
    Owned owned = OpenOwned(PG_GETARG_OID(0), GetUserId());
    const UnitKey key = KeyOf(owned, PG_GETARG_TEXT_PP(1));
    auto* json = CoreState<std::string>::Make(CurrentMemoryContext);
    CatalogScope scope;
    CatalogBegin(&scope);
    CoreState<UnitBook>* book = OpenBook(&owned, &key, 1);
    CallCore([&] { DescribeAccount(owned.state, (*book)->spent(0), &**json); });
    CatalogEnd(&scope);
    PG_RETURN_DATUM(JsonTextToDatum((*json)->c_str()));
}

// With a tombstone the account stays, used up: whoever is inserted again under the same value takes part in nothing more.
// Without one it is gone, and so is what it had spent.
Datum dpboost_forget_unit(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "unit", "tombstone"});
    Owned owned = OpenOwned(PG_GETARG_OID(0), GetUserId());
    const UnitKey key = KeyOf(owned, PG_GETARG_TEXT_PP(1));
    const bool tombstone = PG_GETARG_BOOL(2);
    LockUnits(owned.state.id);
    CatalogScope scope;
    CatalogBegin(&scope);
    CoreState<UnitBook>* book = OpenBook(&owned, &key, 1);
    CallCore([&] {
        if (tombstone) {
            (*book)->Set(0, kUnitForgotten);
            (*book)->TouchAll();
        } else {
            (*book)->Remove(0);
            (*book)->RewriteKeys();
        }
    });
    WriteBook(owned, &**book);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

// Two records turned out to be one person, who has lost what both have. Rows that are still under the first value take part
// in nothing more: it would have an account of its own again.
Datum dpboost_merge_units(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    RequireArguments(fcinfo, {"relation", "from_unit", "into_unit"});
    Owned owned = OpenOwned(PG_GETARG_OID(0), GetUserId());
    const UnitKey keys[] = {KeyOf(owned, PG_GETARG_TEXT_PP(1)), KeyOf(owned, PG_GETARG_TEXT_PP(2))};
    if (keys[0] == keys[1])
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("both are the same person already")));
    LockUnits(owned.state.id);
    CatalogScope scope;
    CatalogBegin(&scope);
    CoreState<UnitBook>* book = OpenBook(&owned, keys, 2);
    CallCore([&] {
        (*book)->Set(1, AddSpent((*book)->spent(0), (*book)->spent(1)));
        (*book)->Set(0, kUnitForgotten);
        (*book)->TouchAll();
    });
    WriteBook(owned, &**book);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}
