// What the rows of a query are made of, as far as privacy needs to know: the relations that are read, what
// stands between them and the result, and which of their columns are joined to what. From a view's query
// (view_sources) or from a plan (plan_sources). A result is row by row over a relation if each row of the
// relation makes at most one row of the result and changes no other: only then is what a training charges
// what a person in that relation loses.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Columns of a source without a relation whose values occur once.
struct SourceKey {
    AttrNumber column;
    Oid equality;  // the operator by which they are one
    Oid collation;
};

// Something that gives rows: a relation, or 0 for a function, a grouped subquery and the like.
struct RowSource {
    Oid relid;
    bool with_children;  // rows of its inheritance children are meant too
    bool joined;         // its rows are combined into those of the result; else it is only read on the way
    bool has_key;        // relid 0: `key` is known
    List* key;           // of SourceKey; NIL: there is a single row
};

// A place at which a relation or view is read.
struct RelationUse {
    Oid relid;
    RelationUse* within;  // the view in which it is read; nullptr: the query itself
    int first;            // it consists of the sources from `first` up to `end`
    int end;
    const char* obstacle;  // why the result is not row by row over it, as in `through ...`; nullptr: nothing
    Oid obstacle_view;     // in whose query that stands; 0: in the query itself
};

// A column of a source equals an expression over other sources, in every row of the result.
struct SourceEquality {
    int source;
    AttrNumber column;
    Oid equality;
    Oid collation;
    Bitmapset* depends_on;  // sources
};

// A function that may count its calls, or a column that tells where a row is stored: through it a row of any
// relation may change rows of any other.
struct SideEffect {
    const char* what;
    const RelationUse* view;  // in whose query it stands; nullptr: the query itself
};

struct RowSources {
    List* sources;       // of RowSource
    List* uses;          // of RelationUse
    List* equalities;    // of SourceEquality
    List* side_effects;  // of SideEffect
};

// How far a RowSources has grown; what came since is meant by the functions below.
struct SourceMark {
    int source;
    int use;
};
SourceMark MarkSources(const RowSources* all);

// Adds a relation with its use, or rows of another kind. Returns the number of the source.
int AddRelation(RowSources* all, Oid relid, bool with_children, RelationUse* within);
int AddOther(RowSources* all, bool has_key, List* key);

// Adds the use of a view; what it consists of follows until EndView.
RelationUse* BeginView(RowSources* all, Oid relid, RelationUse* within);
void EndView(RowSources* all, RelationUse* view);

// What came since `mark` is reached only through `obstacle`.
void Obstruct(RowSources* all, SourceMark mark, const char* obstacle, Oid view);

// The same, and its rows are not those of the result; what they add up to follows by AddOther, if anything.
void Enclose(RowSources* all, SourceMark mark, const char* obstacle, Oid view);

// Adds what a comparison of a column says, if it is one for equality.
void AddComparison(RowSources* all, const OpExpr* comparison, int source, AttrNumber column,
                   Bitmapset* depends_on);

// Whether `use` is the view or stands within it.
bool IsWithin(const RelationUse* use, const RelationUse* view);

// Adds the side effect of an expression or of a query with all that it holds, if it has one.
void AddSideEffect(RowSources* all, Node* node, const RelationUse* view);

// Adds something that is not understood, in the query itself.
void AddUnknown(RowSources* all, const char* what);

// What keeps the result from being row by row over a use, in the words of RelationUse; nullptr: it is.
const char* ObstacleTo(const RowSources* all, const RelationUse* use, Oid* view);

}  // namespace dpboost
