// dpboost_create_population, dpboost_alter_population, dpboost_drop_population. The role that creates a population owns
// it, and only its owner adds tables, which he must own as well: so nobody's persons are counted, and nobody's budget is
// used up, without his consent. Owners of several tables share a population through a role that they are members of.
#include "postgres/population/population.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/boundary/writable.h"
#include "postgres/catalog/catalog.h"
#include "postgres/govern/limit_history.h"
#include "postgres/limits/protect.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_create_population);
PG_FUNCTION_INFO_V1(dpboost_alter_population);
PG_FUNCTION_INFO_V1(dpboost_drop_population);
}

namespace dpboost {
namespace {

Datum NameDatum(const char* text) {
    auto* name = static_cast<NameData*>(palloc0(sizeof(NameData)));
    namestrcpy(name, text);
    return NameGetDatum(name);
}

// One that was dropped comes back to its owner as it was, with its tables' spending; another role gets a new one.
// Unless its persons have accounts under another limit.
bool Revive(const char* name, Oid caller, const BudgetLimit& limit) {
    if (CatalogRead("SELECT FROM dpboost.population WHERE name = $1 AND owner::oid = $2 AND dropped"
                    " AND unit_state_id IS NOT NULL AND (epsilon <> $3 OR delta <> $4)",
                    {{NAMEOID, NameDatum(name)}, OidOf(caller), Float8(limit.epsilon), Float8(limit.delta)},
                    1) > 0)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("the limit of population \"%s\" cannot be changed", name),
                        errdetail("Every person has an account under it.")));
    return CatalogWrite(
               "UPDATE dpboost.population SET dropped = false, epsilon = $3, delta = $4, rdp_order = $5,"
               " set_by = $6, set_at = clock_timestamp() WHERE name = $1 AND owner::oid = $2 AND dropped",
               {{NAMEOID, NameDatum(name)},
                OidOf(caller),
                Float8(limit.epsilon),
                Float8(limit.delta),
                Int8(static_cast<int64>(limit.order)),
                {RoleRefType(), CallerRef(caller)}}) > 0;
}

void Create(const char* name, Oid caller, const BudgetLimit& limit) {
    const uint64 created = CatalogWrite(
        "INSERT INTO dpboost.population (name, owner, epsilon, delta, rdp_order, set_by)"
        " VALUES ($1, $2, $3, $4, $5, $2) ON CONFLICT (name) WHERE NOT dropped DO NOTHING",
        {{NAMEOID, NameDatum(name)},
         {RoleRefType(), CallerRef(caller)},
         Float8(limit.epsilon),
         Float8(limit.delta),
         Int8(static_cast<int64>(limit.order))});
    if (created == 0)
        ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("population \"%s\" already exists", name),
                        errhint("dpboost_alter_population changes its limit.")));
}

bool Exists(const char* name) {
    return CatalogRead("SELECT FROM dpboost.population WHERE name = $1 AND NOT dropped",
                       {{NAMEOID, NameDatum(name)}}, 1) > 0;
}

void Record(const char* what, int64 population_id, const char* name, const BudgetLimit& limit, Oid caller) {
    LimitChange change = {};
    change.change = what;
    change.population_id = population_id;
    change.population = name;
    change.epsilon = limit.epsilon;
    change.delta = limit.delta;
    RecordLimitChange(caller, change);
}

// The tables that belong to it and are there, for a message; nullptr if there are none. One that was dropped keeps its
// protection, and with it the cap, for a table that is created under its name.
const char* TablesOf(int64 population_id) {
    CatalogRead(
        "SELECT string_agg(DISTINCT quote_ident(c.relname), ', ') FROM dpboost.protection AS p"
        " JOIN dpboost.relation_name AS n USING (relation_id) JOIN pg_class AS c ON c.oid = n.relation::oid"
        " WHERE p.population_id = $1",
        {Int8(population_id)}, 1);
    bool is_null;
    const Datum names = CatalogValue(0, 1, &is_null);
    return is_null ? nullptr : TextDatumGetCString(names);
}

// Says which of the caller's own may have been meant; else how there could be one. Palloc'ed.
const char* MissingHint(const char* name, Oid caller) {
    const uint64 count = CatalogRead(
        "SELECT name FROM dpboost.population WHERE NOT dropped AND pg_has_role($1, owner::oid, 'USAGE')"
        " ORDER BY name LIMIT 1000",
        {OidOf(caller)}, 1000);
    auto* names = CoreState<std::vector<std::string>>::Make(CurrentMemoryContext);
    for (uint64 i = 0; i < count; ++i) {
        const char* own = NameStr(*DatumGetName(CatalogValue(i, 1)));
        CallCore([&] { (*names)->emplace_back(own); });
    }
    auto* hint = static_cast<char*>(palloc0(CoreFailure::kTextSize));
    CallCore([&] { NearestHint(name, **names).copy(hint, CoreFailure::kTextSize - 1); });
    names->Release();
    return hint[0] != '\0' ? hint : "Create it with dpboost_create_population.";
}

}  // namespace

const char* PopulationName(int64 population_id) {
    if (CatalogRead("SELECT name FROM dpboost.population WHERE population_id = $1", {Int8(population_id)},
                    1) == 0)
        return nullptr;
    return pstrdup(NameStr(*DatumGetName(CatalogValue(0, 1))));
}

int64 OpenPopulation(const char* name, Oid caller) {
    if (CatalogWrite("SELECT population_id, owner::oid, owner::text FROM dpboost.population"
                     " WHERE name = $1 AND NOT dropped FOR NO KEY UPDATE",
                     {{NAMEOID, NameDatum(name)}}) == 0)
        ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("population \"%s\" does not exist", name),
                        errhint("%s", MissingHint(name, caller))));
    const int64 population_id = DatumGetInt64(CatalogValue(0, 1));
    const Oid owner = DatumGetObjectId(CatalogValue(0, 2));
    const bool exists = OidIsValid(owner) && RoleName(owner) != nullptr;
    if (!superuser_arg(caller) && !(exists && has_privs_of_role(caller, owner)))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("must be owner of population \"%s\"", name)));
    return population_id;
}

void JoinPopulation(int64 population_id, ArrayType* ids, const NameData& unit, int64 earlier_until,
                    Oid caller) {
    NameData stored = unit;
    CatalogWrite(
        "INSERT INTO dpboost.population_member (population_id, relation_id, privacy_unit, earlier_until,"
        " joined_by) SELECT $1, id, $4, $5, $3 FROM unnest($2) AS id ON CONFLICT DO NOTHING",
        {Int8(population_id),
         Int8s(ids),
         {RoleRefType(), CallerRef(caller)},
         {NAMEOID, NameGetDatum(&stored)},
         Int8(earlier_until)});
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_create_population(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArgument(fcinfo, 0, "population");
    RequireArgument(fcinfo, 1, "epsilon");
    RequireArgument(fcinfo, 2, "delta");
    const char* name = NameStr(*PG_GETARG_NAME(0));
    if (name[0] == '\0')
        ereport(ERROR, (errcode(ERRCODE_INVALID_NAME), errmsg("a population must have a name")));
    const BudgetLimit limit = CheckLimit(PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2));
    CatalogScope scope;
    CatalogBegin(&scope);
    if (Exists(name) || !Revive(name, caller, limit))
        Create(name, caller, limit);
    Record("create_population", OpenPopulation(name, caller), name, limit, caller);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_alter_population(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArgument(fcinfo, 0, "population");
    RequireArgument(fcinfo, 1, "epsilon");
    CatalogScope scope;
    CatalogBegin(&scope);
    const int64 population_id = OpenPopulation(NameStr(*PG_GETARG_NAME(0)), caller);
    CatalogRead("SELECT delta, unit_state_id IS NOT NULL FROM dpboost.population WHERE population_id = $1",
                {Int8(population_id)}, 1);
    if (DatumGetBool(CatalogValue(0, 2)))
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("the limit of population \"%s\" cannot be changed", NameStr(*PG_GETARG_NAME(0))),
                 errdetail("Every person has an account under it.")));
    const double delta = PG_ARGISNULL(2) ? DatumGetFloat8(CatalogValue(0, 1)) : PG_GETARG_FLOAT8(2);
    const BudgetLimit limit = CheckLimit(PG_GETARG_FLOAT8(1), delta);
    CatalogWrite(
        "UPDATE dpboost.population SET epsilon = $2, delta = $3, rdp_order = $4, set_by = $5,"
        " set_at = clock_timestamp() WHERE population_id = $1",
        {Int8(population_id),
         Float8(limit.epsilon),
         Float8(limit.delta),
         Int8(static_cast<int64>(limit.order)),
         {RoleRefType(), CallerRef(caller)}});
    Record("alter_population", population_id, NameStr(*PG_GETARG_NAME(0)), limit, caller);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}

Datum dpboost_drop_population(PG_FUNCTION_ARGS) {
    RequireWritable(fcinfo);
    const Oid caller = GetUserId();
    RequireArgument(fcinfo, 0, "population");
    const char* name = NameStr(*PG_GETARG_NAME(0));
    CatalogScope scope;
    CatalogBegin(&scope);
    const int64 population_id = OpenPopulation(name, caller);
    const char* tables = TablesOf(population_id);
    if (tables != nullptr)
        ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
                        errmsg("population \"%s\" has tables", name), errdetail("They are %s.", tables),
                        errhint("dpboost_unprotect takes a table out; what it has spent stays counted.")));
    CatalogWrite("UPDATE dpboost.population SET dropped = true WHERE population_id = $1",
                 {Int8(population_id)});
    Record("drop_population", population_id, name, BudgetLimit{}, caller);
    CatalogEnd(&scope);
    PG_RETURN_VOID();
}
