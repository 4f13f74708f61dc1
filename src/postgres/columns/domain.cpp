// Declared domains: dpboost_set_domain writes them, LoadColumnDomain reads them and otherwise asks the
// schema. A view's column takes the domain of the table column that it shows, a partition's that of its
// parent.
#include "postgres/columns/domain.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/columns/constraint_domain.h"
#include "postgres/ledger/protect.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_set_domain_range);
PG_FUNCTION_INFO_V1(dpboost_set_domain_levels);
}

namespace dpboost {
namespace {

// Of a new domain, for errors. In the current memory context.
const char* DomainOfColumn(const char* column) {
    return psprintf("domain of column \"%s\"", column);
}

// Texts of a one-dimensional text[] without NULLs, in the current memory context.
char** TextsOf(ArrayType* array, int* count) {
    Datum* values;
    bool* nulls;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, count);
    auto** texts = static_cast<char**>(palloc(sizeof(char*) * (*count + 1)));
    for (int i = 0; i < *count; ++i) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a level must not be NULL"),
                            errdetail("NULL is always allowed, as a missing value.")));
        texts[i] = TextDatumGetCString(values[i]);
    }
    return texts;
}

bool LoadDeclared(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    const char* column = get_attname(relid, attnum, true);
    if (column == nullptr)
        return false;
    MemoryContext outer = CurrentMemoryContext;
    NameData name;
    namestrcpy(&name, column);
    CatalogScope scope;
    CatalogBegin(&scope);
    const Oid types[] = {OIDOID, NAMEOID};
    const Datum values[] = {ObjectIdGetDatum(relid), NameGetDatum(&name)};
    const bool found = CatalogRead(
                           "SELECT lower, upper, scale, levels FROM dpboost.column_domain"
                           " WHERE relation::oid = $1 AND column_name = $2",
                           2, types, values, nullptr, 1) > 0;
    if (found) {
        HeapTuple tuple = SPI_tuptable->vals[0];
        TupleDesc descriptor = SPI_tuptable->tupdesc;
        bool is_range_null, is_null;
        MemoryContext inner = MemoryContextSwitchTo(outer);
        Datum lower = SPI_getbinval(tuple, descriptor, 1, &is_range_null);
        if (is_range_null) {
            domain->kind = DomainKind::kLevels;
            domain->levels = TextsOf(DatumGetArrayTypeP(SPI_getbinval(tuple, descriptor, 4, &is_null)),
                                     &domain->level_count);
        } else {
            domain->kind = DomainKind::kRange;
            domain->lower = DatumGetFloat8(lower);
            domain->upper = DatumGetFloat8(SPI_getbinval(tuple, descriptor, 2, &is_null));
            const char* scale = SPI_getvalue(tuple, descriptor, 3);
            CallCore([&] { domain->scale = ScaleNamed("stored scale", scale); });
        }
        MemoryContextSwitchTo(inner);
    }
    CatalogEnd(&scope);
    return found;
}

// The table column that a view shows unchanged in this column.
bool ColumnBehindView(Oid relid, AttrNumber attnum, Oid* base_relid, AttrNumber* base_attnum) {
    const char kind = get_rel_relkind(relid);
    if (kind != RELKIND_VIEW && kind != RELKIND_MATVIEW)
        return false;
    Relation view = relation_open(relid, AccessShareLock);
    const Query* query = nullptr;
    for (int i = 0; view->rd_rules != nullptr && i < view->rd_rules->numLocks; ++i) {
        if (view->rd_rules->rules[i]->event == CMD_SELECT)
            query =
                reinterpret_cast<const Query*>(copyObjectImpl(linitial(view->rd_rules->rules[i]->actions)));
    }
    relation_close(view, NoLock);
    if (query == nullptr || query->setOperations != nullptr || attnum > list_length(query->targetList))
        return false;
    Node* node = reinterpret_cast<Node*>(
        reinterpret_cast<TargetEntry*>(list_nth(query->targetList, attnum - 1))->expr);
    while (node != nullptr && IsA(node, Var)) {
        const Var* var = reinterpret_cast<const Var*>(node);
        if (var->varlevelsup != 0 || var->varattno <= 0)
            return false;
        const RangeTblEntry* entry = rt_fetch(var->varno, query->rtable);
        if (entry->rtekind == RTE_RELATION) {
            *base_relid = entry->relid;
            *base_attnum = var->varattno;
            return true;
        }
        if (entry->rtekind != RTE_JOIN)
            return false;
        node = static_cast<Node*>(list_nth(entry->joinaliasvars, var->varattno - 1));
    }
    return false;
}

bool LoadFromParents(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    const char* column = get_attname(relid, attnum, true);
    const RelationSet* parents = AncestorsOf(relid);
    for (int i = 0; column != nullptr && i < parents->count; ++i) {
        const Oid parent = parents->items[i].relid;
        const AttrNumber parent_attnum = get_attnum(parent, column);
        if (parent_attnum > 0 && LoadDeclared(parent, parent_attnum, domain))
            return true;
    }
    return false;
}

// Checks what both forms of dpboost_set_domain have in common and returns the base type of the column.
Oid OpenColumn(FunctionCallInfo fcinfo, ReadRelation* relation) {
    OpenGoverned(PG_GETARG_OID(0), GetUserId(), relation);
    const char* column = NameStr(*PG_GETARG_NAME(1));
    const AttrNumber attnum = get_attnum(relation->relid, column);
    if (attnum <= 0)
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_COLUMN),
                 errmsg("column \"%s\" of relation \"%s\" does not exist", column, relation->relation_name)));
    return getBaseType(get_atttype(relation->relid, attnum));
}

void WriteDomain(const ReadRelation* relation, Name column, const double* range, const char* scale,
                 ArrayType* levels) {
    CatalogScope scope;
    CatalogBegin(&scope);
    const Oid types[] = {RelationRefType(), NAMEOID, FLOAT8OID, FLOAT8OID, TEXTOID, TEXTARRAYOID};
    const bool is_range = range != nullptr;
    const Datum values[] = {RelationRef(relation->relid, relation->schema_name, relation->relation_name),
                            NameGetDatum(column),
                            is_range ? Float8GetDatum(range[0]) : Datum(0),
                            is_range ? Float8GetDatum(range[1]) : Datum(0),
                            is_range ? CStringGetTextDatum(scale) : Datum(0),
                            PointerGetDatum(levels)};
    CatalogWrite(
        "INSERT INTO dpboost.column_domain (relation, column_name, lower, upper, scale, levels)"
        " VALUES ($1, $2, $3, $4, $5, $6)"
        " ON CONFLICT ((relation::oid), column_name) WHERE relation::oid <> 0"
        " DO UPDATE SET (relation, lower, upper, scale, levels) = ROW(excluded.relation, excluded.lower,"
        "  excluded.upper, excluded.scale, excluded.levels)",
        6, types, values, is_range ? "     n" : "  nnn ");
    CatalogEnd(&scope);
}

void CheckLevels(const char* column, ArrayType* levels) {
    if (ARR_NDIM(levels) > 1)
        ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("levels must be a plain list")));
    const char* what = DomainOfColumn(column);
    int count = ARR_NDIM(levels) == 0 ? 0 : ARR_DIMS(levels)[0];
    CallCore([&] { CheckLevelCount(what, static_cast<size_t>(count)); });
    char** texts = TextsOf(levels, &count);
    CallCore([&] { Domain::Levels(what, std::vector<std::string>(texts, texts + count)); });
}

}  // namespace

void LoadColumnDomain(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    check_stack_depth();
    memset(domain, 0, sizeof *domain);
    domain->kind = DomainKind::kNone;
    domain->scale = Scale::kAuto;
    if (LoadDeclared(relid, attnum, domain) || LoadFromParents(relid, attnum, domain))
        return;
    LoadSchemaDomain(relid, attnum, domain);
    if (domain->kind != DomainKind::kNone)
        return;
    Oid base_relid;
    AttrNumber base_attnum;
    if (ColumnBehindView(relid, attnum, &base_relid, &base_attnum) && base_relid != relid)
        LoadColumnDomain(base_relid, base_attnum, domain);
}

}  // namespace dpboost

using namespace dpboost;

Datum dpboost_set_domain_range(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation", "column_name", "lower", "upper", "scale"});
    ReadRelation relation;
    const Oid type = OpenColumn(fcinfo, &relation);
    const double range[] = {PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)};
    const char* scale = text_to_cstring(PG_GETARG_TEXT_PP(4));
    if (!HasNumber(type) || type == BOOLOID)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of type %s cannot have a range", NameStr(*PG_GETARG_NAME(1)),
                               format_type_be(type)),
                        errhint("Declare its values as a list of levels.")));
    const char* what = DomainOfColumn(NameStr(*PG_GETARG_NAME(1)));
    CallCore([&] { Domain::Range(what, range[0], range[1], scale); });
    WriteDomain(&relation, PG_GETARG_NAME(1), range, scale, nullptr);
    PG_RETURN_VOID();
}

Datum dpboost_set_domain_levels(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"relation", "column_name", "levels"});
    ReadRelation relation;
    const Oid type = OpenColumn(fcinfo, &relation);
    ArrayType* levels = PG_GETARG_ARRAYTYPE_P(2);
    if (HasNumber(type))
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("column \"%s\" of type %s cannot have levels", NameStr(*PG_GETARG_NAME(1)),
                               format_type_be(type)),
                        errhint("Declare its range with a lower and an upper value.")));
    CheckLevels(NameStr(*PG_GETARG_NAME(1)), levels);
    WriteDomain(&relation, PG_GETARG_NAME(1), nullptr, nullptr, levels);
    PG_RETURN_VOID();
}
