// A setting's value in a fresh session is not kept by PostgreSQL once the caller's role (ALTER ROLE ... SET) or
// his connection has chosen another, so it is found again where it comes from: pg_db_role_setting, the
// configuration files, the compiled-in default.
#include "postgres/reading/fresh_settings.h"

#include "postgres/catalog/catalog.h"

namespace dpboost {
namespace {

constexpr const char* kCallersOwn[] = {
    "application_name",     "client_connection_check_interval",
    "client_encoding",      "idle_in_transaction_session_timeout",
    "idle_session_timeout", "lock_timeout",
    "statement_timeout",    "tcp_keepalives_count",
    "tcp_keepalives_idle",  "tcp_keepalives_interval",
    "tcp_user_timeout",     "temp_buffers",
    "transaction_timeout",
};

// Whether a caller may have chosen a value that has this source.
bool IsChosen(GucSource source) {
    return source >= PGC_S_USER && source != PGC_S_OVERRIDE;
}

bool IsPinned(const config_generic* setting) {
    if (setting->context != PGC_USERSET || (setting->flags & (kNeverReset | GUC_CUSTOM_PLACEHOLDER)) != 0)
        return false;
    for (const char* name : kCallersOwn)
        if (pg_strcasecmp(setting->name, name) == 0)
            return false;
    return pg_strncasecmp(setting->name, "dpboost.", 8) != 0;
}

// ---- settings of libraries that are not loaded yet ----

// Loads the library of the extension that has the name, if there is one. PostgreSQL keeps what is set before
// as a placeholder and applies it at the load, which must not come later, in the middle of the reading.
void LoadLibraryOf(const char* extension_name) {
    const Oid extension = get_extension_oid(extension_name, true);
    if (!OidIsValid(extension))
        return;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 found = CatalogRead(
        "SELECT p.oid FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid JOIN pg_language l ON l.oid = "
        "p.prolang"
        " WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass"
        " AND d.refobjid = $1 AND d.deptype = 'e' AND l.lanname = 'c'",
        {OidOf(extension)}, 1);
    const Oid function = found == 0 ? InvalidOid : DatumGetObjectId(CatalogValue(0, 1));
    CatalogEnd(&scope);
    FmgrInfo info;
    if (OidIsValid(function))
        fmgr_info(function, &info);
}

void LoadLibrariesOfPlaceholders() {
    int count;
    config_generic** settings = AllSettings(&count);
    List* prefixes = NIL;
    for (int i = 0; i < count; ++i) {
        const char* dot = strchr(settings[i]->name, '.');
        if (dot != nullptr && (settings[i]->flags & GUC_CUSTOM_PLACEHOLDER) != 0)
            prefixes = lappend(prefixes, pnstrdup(settings[i]->name, dot - settings[i]->name));
    }
    ListCell* cell;
    foreach (cell, prefixes)
        LoadLibraryOf(static_cast<const char*>(lfirst(cell)));
}

// ---- where values come from ----

struct Value {
    const char* name;
    const char* value;
};

struct Values {
    int count;
    Value* items;
};

const char* Find(const Values& values, const char* name) {
    for (int i = 0; i < values.count; ++i)
        if (pg_strcasecmp(values.items[i].name, name) == 0)
            return values.items[i].value;
    return nullptr;
}

// By ALTER ROLE of the owner and by ALTER DATABASE, the stronger first.
Values DeclaredValues(Oid owner) {
    MemoryContext outer = CurrentMemoryContext;
    CatalogScope scope;
    CatalogBegin(&scope);
    const uint64 rows = CatalogRead(
        "SELECT o.option_name, o.option_value FROM pg_db_role_setting s, pg_options_to_table(s.setconfig) o"
        " WHERE s.setrole IN ($1, 0) AND s.setdatabase IN ($2, 0)"
        " ORDER BY s.setrole = 0, s.setdatabase = 0",
        {OidOf(owner), OidOf(MyDatabaseId)});
    Values values;
    values.count = static_cast<int>(rows);
    values.items = static_cast<Value*>(MemoryContextAllocZero(outer, sizeof(Value) * (rows + 1)));
    for (uint64 row = 0; row < rows; ++row) {
        HeapTuple tuple = SPI_tuptable->vals[row];
        const char* value = SPI_getvalue(tuple, SPI_tuptable->tupdesc, 2);
        values.items[row].name = MemoryContextStrdup(outer, SPI_getvalue(tuple, SPI_tuptable->tupdesc, 1));
        values.items[row].value = MemoryContextStrdup(outer, value == nullptr ? "" : value);
    }
    CatalogEnd(&scope);
    return values;
}

// What the server's files say. The last line counts, and ALTER SYSTEM's file comes last.
Values ValuesInFiles() {
    ConfigVariable *first = nullptr, *last = nullptr;
    if (!ParseConfigFile(ConfigFileName, true, nullptr, 0, 0, DEBUG1, &first, &last) ||
        !ParseConfigFile(PG_AUTOCONF_FILENAME, false, nullptr, 0, 0, DEBUG1, &first, &last))
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIG_FILE_ERROR), errmsg("could not read the server's configuration files"),
             errhint(
                 "Train in a session for which neither the connection nor ALTER ROLE chooses settings.")));
    Values values;
    values.count = 0;
    for (const ConfigVariable* line = first; line != nullptr; line = line->next)
        ++values.count;
    values.items = static_cast<Value*>(palloc0(sizeof(Value) * (values.count + 1)));
    int place = values.count;
    for (const ConfigVariable* line = first; line != nullptr; line = line->next)
        values.items[--place] = {pstrdup(line->name), pstrdup(line->value)};
    FreeConfigVariables(first);
    return values;
}

const char* CompiledValue(config_generic* setting) {
    switch (setting->vartype) {
        case PGC_BOOL:
            return BoolOf(setting)->boot_val ? "on" : "off";
        case PGC_INT:
            return psprintf("%d", IntOf(setting)->boot_val);
        case PGC_REAL:
            return psprintf("%.17g", RealOf(setting)->boot_val);
        case PGC_ENUM:
            return CompiledName(setting);
        case PGC_STRING: {
            const char* value = StringOf(setting)->boot_val;
            return value == nullptr ? "" : value;
        }
    }
    return "";
}

}  // namespace

void PinSetting(const char* name, const char* value) {
    set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

void PinFreshSettings(Oid owner) {
    LoadLibrariesOfPlaceholders();
    const Values declared = DeclaredValues(owner);
    Values in_files = {0, nullptr};
    int count;
    config_generic** settings = AllSettings(&count);
    for (int i = 0; i < count; ++i) {
        config_generic* setting = settings[i];
        if (!IsPinned(setting))
            continue;
        const char* value = Find(declared, setting->name);
        const bool is_lost = value == nullptr && IsChosen(setting->reset_source);
        if (is_lost && in_files.items == nullptr)
            in_files = ValuesInFiles();
        if (is_lost)
            value = Find(in_files, setting->name);
        if (is_lost && value == nullptr)
            value = CompiledValue(setting);
        if (value != nullptr || IsChosen(setting->source))
            PinSetting(setting->name, value);
    }
}

}  // namespace dpboost
