// Our own tables, read and written with the rights of the extension's owner and with nothing that the session
// has set in the way: pinned search_path, qualified names, the newest committed state.
#pragma once

#include <initializer_list>

#include "postgres/boundary/pg.h"

namespace dpboost {

// What CatalogBegin changed, for CatalogEnd; an error undoes it as well, with the (sub)transaction.
struct CatalogScope {
    Oid saved_user;
    int saved_security;
    int guc_level;
};

// Switches to the extension's owner, pins search_path and the like, and connects SPI. Results of SPI live
// until CatalogEnd; copy what must outlive it. Pairs do not nest.
void CatalogBegin(CatalogScope* scope);
void CatalogEnd(CatalogScope* scope);

// A statement's $1, $2, ..., which stand in a list behind it.
struct Parameter {
    Oid type;
    Datum value;
    bool is_null = false;
};
inline Parameter Int4(int32 value) {
    return {INT4OID, Int32GetDatum(value)};
}
inline Parameter Int8(int64 value) {
    return {INT8OID, Int64GetDatum(value)};
}
inline Parameter OidOf(Oid value) {
    return {OIDOID, ObjectIdGetDatum(value)};
}
inline Parameter Int8s(const ArrayType* value) {
    return {INT8ARRAYOID, PointerGetDatum(value)};
}
inline Parameter TimeOf(TimestampTz value) {
    return {TIMESTAMPTZOID, TimestampTzGetDatum(value)};
}
inline Parameter Float8(double value) {
    return {FLOAT8OID, Float8GetDatum(value)};
}
inline Parameter TextOf(const char* value) {
    return {TEXTOID, CStringGetTextDatum(value)};
}
inline Parameter NullOf(Oid type) {
    return {type, Datum(0), true};
}
// NULL unless it is there.
inline Parameter If(bool there, const Parameter& value) {
    return {value.type, value.value, !there};
}

// From here on all reads of our tables, by statements or row by row, see them as they are now, and what this transaction does
// itself. For the ledger worker, once it has its lock: what one look-up tells another is then never of two moments between
// which an owner has moved a limit. What is written finds the rows as they are then. Ends with the transaction at the latest.
// They are the tables' that are named, no others are read until then: each is locked before.
void HoldMoment(std::initializer_list<const char*> tables);
void LetMomentGo();
// Whether any transaction of the server has ended since.
bool IsMomentPast();
// Raises an error if a moment is held that the table was not locked before.
void CheckReadAtMoment(Oid table);
// The snapshot of that moment; if none is held, of now: row by row, of this relation; else of a statement. For UnregisterSnapshot.
Snapshot RegisterMoment(Oid relation = InvalidOid);

// Runs a statement. A read sees all that is committed at this moment plus what this transaction did itself, whatever
// the isolation level (a model that the ledger worker has just committed is found). No limit: all rows. Returns
// SPI_processed.
uint64 CatalogRead(const char* query, std::initializer_list<Parameter> parameters = {}, uint64 limit = 0);
uint64 CatalogWrite(const char* query, std::initializer_list<Parameter> parameters = {});
// With the caller's rights and snapshot, outside a catalog scope but connected to SPI.
uint64 ReadAsCaller(const char* query, std::initializer_list<Parameter> parameters, uint64 limit = 0);

// A value of the result, its columns counted from 1; without `is_null` of one that is never NULL.
Datum CatalogValue(uint64 row, int column, bool* is_null);
Datum CatalogValue(uint64 row, int column);

// The extension's oid and owner. Raises 55000 when it is not installed here.
Oid DpboostExtension();
Oid DpboostOwner();

// Types of columns that remember a relation or a role: by oid while it lives, and by name for dumps and after
// it was dropped. Cast them to oid in SQL; 0 when there is no such object any more.
Oid RelationRefType();
Oid RoleRefType();
Oid ColumnRefType();
Datum ColumnReference(Oid relid, AttrNumber attnum, const char* schema_name, const char* relation_name,
                      const char* column_name);
Datum RelationRef(Oid relid, const char* schema_name, const char* relation_name);
Datum RoleRef(Oid role, const char* role_name);

// Whether one of the roles in a dpboost.role_ref[] was remembered by this oid.
bool HasRole(const ArrayType* roles, Oid role);
// That of the i'th of them; 0: there was no such role.
Oid RoleAt(const ArrayType* roles, int i);
// The oid under which a relation_ref or a role_ref was made; 0: there was no such object.
Oid RememberedOid(Datum ref);
// The name under which a role_ref was made; the role may have another one now.
const char* RememberedRoleName(Datum role_ref);

// Whether this process is the ledger worker, which alone writes the ledger and its totals.
bool InLedgerWorker();

// The role's name, or NULL when it is gone. Palloc'ed.
char* RoleName(Oid role);

}  // namespace dpboost
