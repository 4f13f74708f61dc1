// dpboost's own tables, row by row without a statement, where planning one would cost more than all the rest: a new process has
// nothing planned, and the ledger worker often is one. A read sees what CatalogRead would: all that is committed, and what this
// transaction did itself before its last CommandCounterIncrement.
#pragma once

#include <initializer_list>

#include "postgres/boundary/pg.h"
#include "postgres/catalog/catalog.h"

namespace dpboost {

// A table, an index or a sequence of the schema dpboost.
Oid CatalogRelation(const char* name);

// A table that is open, with an index of it. All that is read through it is of one moment, that of its opening: a limit that is
// moved from one row to another in the meantime is not missed.
struct RowTable {
    Relation table;
    Relation index;  // null: none
    LOCKMODE lock;
    Snapshot snapshot;
};
// Raises an error if the index could not be relied on, or if the table has others below it: then rows would be missed.
RowTable OpenRows(const char* table, const char* index, LOCKMODE lock = AccessShareLock);
// Another table, as of the same moment.
RowTable OpenRowsWith(const RowTable& rows, const char* table, const char* index);
// A reader's lock ends here, a writer's with the transaction.
void CloseRows(const RowTable& rows);

// Keys of an index. A column of the table by its name; nullptr: the index's first expression.
ScanKeyData RowKey(const RowTable& rows, const char* column, RegProcedure equals, Datum value);
// All rows, in no order; systable_getnext and systable_endscan do the rest.
SysScanDesc AllRows(const RowTable& rows);
// The rows with these keys, in the index's order; systable_getnext_ordered and systable_endscan_ordered do the rest.
SysScanDesc FindRows(const RowTable& rows, ScanKeyData* keys, int count);
// Of the rows with this key the last in the index's order, as a copy; null: there is none. Without a key of all rows.
HeapTuple LastRow(const RowTable& rows, ScanKeyData* key);

// A column's value; without `is_null` of one that is never null.
Datum ColumnOf(HeapTuple tuple, Relation table, const char* column, bool* is_null);
Datum ColumnOf(HeapTuple tuple, Relation table, const char* column);
Datum ColumnOf(HeapTuple tuple, Relation table, int column);  // by its number

// A value of a row that is written. Columns that are not named are null; one with a default must be named.
struct NamedValue {
    const char* column;
    Parameter value;
};
// Writes a row with all that an INSERT does: constraints, triggers of rows, indexes. A trigger that prevents it is an error, of
// the next function as well: what was not written must not count as done.
void InsertRow(const char* table, std::initializer_list<NamedValue> values);
// Changes these columns of a row that was read.
void UpdateRow(const RowTable& rows, HeapTuple row, std::initializer_list<NamedValue> values);

// The next number of a sequence.
int64 NextNumber(const char* sequence);

}  // namespace dpboost
