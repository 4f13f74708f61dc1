#include "postgres/columns/source_column.h"

namespace dpboost {

void CheckColumnType(SourceColumn* column, const char* role) {
    if (ValueKindOf(column->type, &column->kind))
        return;
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("%s \"%s\" has type %s, which cannot be used", role, column->name,
                    format_type_be(column->type)),
             errdetail("Numeric types, boolean, enums, text, date and timestamp can be used, alone or as "
                       "domains."),
             errhint("Leave it out, or cast it.")));
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
