// Declared domains: dpboost_set_domain writes them (set_domain.cpp), LoadColumnDomain reads them and otherwise asks
// the schema. A view's column takes the domain of the table column that it shows, a partition's that of its
// parent.
#include "postgres/columns/domain.h"

#include "postgres/boundary/boundary.h"
#include "postgres/catalog/catalog.h"
#include "postgres/catalog/relations.h"
#include "postgres/columns/constraint_domain.h"

namespace dpboost {
namespace {

// Texts of a stored text[], in the current memory context.
char** TextsOf(ArrayType* array, int* count) {
    Datum* values;
    bool* nulls;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, count);
    auto** texts = static_cast<char**>(palloc(sizeof(char*) * (*count + 1)));
    for (int i = 0; i < *count; ++i)
        texts[i] = nulls[i] ? pstrdup("") : TextDatumGetCString(values[i]);
    return texts;
}

bool LoadDeclared(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    const bool found = CatalogRead(
                           "SELECT lower, upper, scale, levels FROM dpboost.column_domain"
                           " WHERE described::oid = $1 AND dpboost.column_ref_number(described) = $2",
                           {OidOf(relid), Int4(attnum)}, 1) > 0;
    if (found) {
        domain->source = DomainSource::kDeclared;
        domain->source_relid = relid;
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

}  // namespace

void LoadColumnDomain(Oid relid, AttrNumber attnum, ColumnDomain* domain) {
    check_stack_depth();
    memset(domain, 0, sizeof *domain);
    domain->kind = DomainKind::kNone;
    domain->scale = Scale::kAuto;
    if (LoadDeclared(relid, attnum, domain) || LoadFromParents(relid, attnum, domain))
        return;
    LoadSchemaDomain(relid, attnum, domain);
    domain->source_relid = relid;
    if (domain->kind != DomainKind::kNone)
        return;
    Oid base_relid;
    AttrNumber base_attnum;
    if (ColumnBehindView(relid, attnum, &base_relid, &base_attnum) && base_relid != relid)
        LoadColumnDomain(base_relid, base_attnum, domain);
}

}  // namespace dpboost
