#include "postgres/train/aggregate/call_names.h"

namespace dpboost {

namespace {

struct Search {
    int location;
    const char* function;
    const FuncCall* found;
};

bool FindCall(Node* node, void* context) {
    auto* search = static_cast<Search*>(context);
    if (node == nullptr)
        return false;
    if (IsA(node, FuncCall)) {
        const auto* call = reinterpret_cast<const FuncCall*>(node);
        if (call->location == search->location &&
            strcmp(strVal(llast(call->funcname)), search->function) == 0) {
            search->found = call;
            return true;
        }
    }
    return WalkRawExpression(node, FindCall, context);
}

// The query within a statement that has one.
Node* QueryOf(Node* statement) {
    for (;;) {
        if (IsA(statement, RawStmt))
            statement = reinterpret_cast<RawStmt*>(statement)->stmt;
        else if (IsA(statement, ExplainStmt))
            statement = reinterpret_cast<ExplainStmt*>(statement)->query;
        else if (IsA(statement, PrepareStmt))
            statement = reinterpret_cast<PrepareStmt*>(statement)->query;
        else if (IsA(statement, CreateTableAsStmt))
            statement = reinterpret_cast<CreateTableAsStmt*>(statement)->query;
        else if (IsA(statement, DeclareCursorStmt))
            statement = reinterpret_cast<DeclareCursorStmt*>(statement)->query;
        else if (IsA(statement, CopyStmt) && reinterpret_cast<CopyStmt*>(statement)->query != nullptr)
            statement = reinterpret_cast<CopyStmt*>(statement)->query;
        else
            return statement;
    }
}

bool IsQuery(const Node* node) {
    return IsA(node, SelectStmt) || IsA(node, InsertStmt) || IsA(node, UpdateStmt) || IsA(node, DeleteStmt);
}

const char* ColumnName(const Node* node) {
    while (IsA(node, TypeCast))
        node = reinterpret_cast<const TypeCast*>(node)->arg;
    if (!IsA(node, ColumnRef))
        return nullptr;
    const Node* last = static_cast<const Node*>(llast(reinterpret_cast<const ColumnRef*>(node)->fields));
    return IsA(last, String) ? strVal(last) : nullptr;
}

const char** ColumnNames(const List* expressions, int* count) {
    *count = list_length(expressions);
    auto** names = static_cast<const char**>(palloc0(sizeof(char*) * (*count + 1)));
    for (int i = 0; i < *count; ++i)
        names[i] = ColumnName(static_cast<const Node*>(list_nth(expressions, i)));
    return names;
}

void ReadNames(Search* search, const char* source, CallNames* result) {
    ListCell* cell;
    foreach (cell, pg_parse_query(source)) {
        Node* query = QueryOf(static_cast<Node*>(lfirst(cell)));
        if (!IsQuery(query) || !FindCall(query, search))
            continue;
        result->names = ColumnNames(search->found->args, &result->count);
        const Node* last = static_cast<const Node*>(llast(search->found->args));
        if (IsA(last, RowExpr))
            result->row_names = ColumnNames(reinterpret_cast<const RowExpr*>(last)->args, &result->row_count);
        return;
    }
}

}  // namespace

CallNames FindCallNames(const char* source, int location, const char* function) {
    CallNames result;
    memset(static_cast<void*>(&result), 0, sizeof result);
    if (source == nullptr || location < 0)
        return result;
    Search search = {location, function, nullptr};
    MemoryContext outer = CurrentMemoryContext;
    // A text of plpgsql's (an assignment, say) is no statement of SQL. The parser holds nothing that an error
    // would leave behind but memory.
    PG_TRY();
    { ReadNames(&search, source, &result); }
    PG_CATCH();
    {
        const int code = geterrcode();
        if (ERRCODE_TO_CATEGORY(code) == ERRCODE_OPERATOR_INTERVENTION ||
            ERRCODE_TO_CATEGORY(code) == ERRCODE_INSUFFICIENT_RESOURCES)
            PG_RE_THROW();
        MemoryContextSwitchTo(outer);
        FlushErrorState();
        result.count = 0;
        result.row_count = 0;
    }
    PG_END_TRY();
    return result;
}

}  // namespace dpboost
