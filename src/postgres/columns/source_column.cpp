#include "postgres/columns/source_column.h"

#include "base/text.h"
#include "postgres/boundary/boundary.h"
#include "postgres/catalog/relations.h"

namespace dpboost {

static constexpr char kUsableTypes[] =
    "Numeric types, boolean, enums, text, date and timestamp can be used, alone or as domains.";

// `Perhaps you meant "...".`, or nullptr. Palloc'ed.
static char* NearestColumnHint(Oid relid, const char* name) {
    Relation relation = relation_open(relid, AccessShareLock);
    const SourceColumns columns = ColumnsOfRowType(RelationGetDescr(relation), relid);
    relation_close(relation, NoLock);
    auto* hint = CoreState<std::string>::Make(CurrentMemoryContext);
    CallCore([&] {
        std::vector<std::string> names;
        for (int i = 0; i < columns.count; ++i)
            names.emplace_back(columns.columns[i].name);
        **hint = NearestHint(name, names);
    });
    return (*hint)->empty() ? nullptr : pstrdup((*hint)->c_str());
}

SourceColumn FindColumn(Oid relid, const char* name, const char* detail) {
    SourceColumn column;
    memset(static_cast<void*>(&column), 0, sizeof column);
    HeapTuple tuple = SearchSysCacheAttName(relid, name);
    if (!HeapTupleIsValid(tuple) || reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple))->attnum <= 0) {
        const char* hint = NearestColumnHint(relid, name);
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_COLUMN),
                 errmsg("column \"%s\" of %s does not exist", name, DescribeRelation(relid)),
                 detail == nullptr ? 0 : errdetail("%s", detail), hint == nullptr ? 0 : errhint("%s", hint)));
    }
    const auto* attribute = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(tuple));
    column.name = pstrdup(name);
    column.type = attribute->atttypid;
    column.relid = relid;
    column.attnum = attribute->attnum;
    ReleaseSysCache(tuple);
    return column;
}

char* SqlNameOf(Oid relid) {
    return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));
}

void CheckColumnType(SourceColumn* column, const char* role) {
    if (ValueKindOf(column->type, &column->kind))
        return;
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s \"%s\" has type %s, which cannot be used", role, column->name,
                           format_type_be(column->type)),
                    errdetail(kUsableTypes), errhint("Leave it out, or cast it.")));
}

void CheckFeatureTypes(const SourceColumns& features) {
    StringInfoData names;
    initStringInfo(&names);
    int unusable = 0;
    for (int i = 0; i < features.count; ++i) {
        SourceColumn* column = &features.columns[i];
        if (!ValueKindOf(column->type, &column->kind))
            appendStringInfo(&names, "%s\"%s\" (%s)", unusable++ > 0 ? ", " : "", column->name,
                             format_type_be(column->type));
    }
    if (unusable > 1)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("features %s have types that cannot be used", names.data),
                        errdetail(kUsableTypes), errhint("Leave them out, or cast them.")));
    for (int i = 0; i < features.count; ++i)
        CheckColumnType(&features.columns[i], "feature");
}

PublicColumn ToPublic(const SourceColumn& column, const ColumnDomain& domain) {
    PublicColumn result;
    result.name = column.name;
    result.kind = column.kind;
    result.domain.kind = domain.kind;
    result.domain.lower = domain.lower;
    result.domain.upper = domain.upper;
    result.domain.scale = domain.scale;
    result.domain.levels.assign(domain.levels, domain.levels + domain.level_count);
    return result;
}

void LoadDomain(const SourceColumn& column, ColumnDomain* domain) {
    memset(static_cast<void*>(domain), 0, sizeof *domain);
    domain->kind = DomainKind::kNone;
    if (OidIsValid(column.relid))
        LoadColumnDomain(column.relid, column.attnum, domain);
    if (domain->kind != DomainKind::kNone || column.kind != ValueKind::kEnum)
        return;
    EnumLabel* labels = ReadEnumLabels(column.type, &domain->level_count);
    domain->kind = DomainKind::kLevels;
    domain->levels = static_cast<char**>(palloc(sizeof(char*) * (domain->level_count + 1)));
    for (int i = 0; i < domain->level_count; ++i)
        domain->levels[i] = pstrdup(labels[i].label);
}

SourceColumns ColumnsOfRowType(TupleDesc descriptor, Oid relid) {
    SourceColumns result;
    result.count = 0;
    result.columns = static_cast<SourceColumn*>(palloc0(sizeof(SourceColumn) * (descriptor->natts + 1)));
    result.fields = static_cast<int*>(palloc0(sizeof(int) * (descriptor->natts + 1)));
    for (int i = 0; i < descriptor->natts; ++i) {
        const FormData_pg_attribute* attribute = TupleDescAttr(descriptor, i);
        if (attribute->attisdropped)
            continue;
        SourceColumn* column = &result.columns[result.count];
        column->name = pstrdup(NameStr(attribute->attname));
        column->type = attribute->atttypid;
        column->relid = relid;
        column->attnum = OidIsValid(relid) ? static_cast<AttrNumber>(i + 1) : InvalidAttrNumber;
        result.fields[result.count++] = i;
    }
    return result;
}

SourceColumns NumberedColumns(int count, Oid type) {
    SourceColumns result;
    result.count = count;
    result.columns = static_cast<SourceColumn*>(palloc0(sizeof(SourceColumn) * (count + 1)));
    result.fields = static_cast<int*>(palloc0(sizeof(int) * (count + 1)));
    for (int i = 0; i < count; ++i) {
        result.columns[i].name = psprintf("f%d", i + 1);
        result.columns[i].type = type;
        result.fields[i] = i;
    }
    return result;
}

}  // namespace dpboost
