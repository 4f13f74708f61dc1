// What PostgreSQL 19 changed, a part of pg.h, which alone includes it.
#pragma once

namespace dpboost {

// The plan of a query without parameters; 19 asks for whom it is explained.
inline PlannedStmt* PlanQuery(Query* query, const char* text) {
#if PG_VERSION_NUM >= 190000
    return pg_plan_query(query, text, 0, nullptr, nullptr);
#else
    return pg_plan_query(query, text, 0, nullptr);
#endif
}

// A part of a scan that several processes share; 19 takes flags.
inline TableScanDesc BeginParallelScan(Relation relation, ParallelTableScanDesc shared) {
#if PG_VERSION_NUM >= 190000
    return table_beginscan_parallel(relation, shared, 0);
#else
    return table_beginscan_parallel(relation, shared);
#endif
}

// 19 gives handlers another type than the system's.
inline void IgnoreSignal(int signal) {
#if PG_VERSION_NUM >= 190000
    pqsignal(signal, PG_SIG_IGN);
#else
    pqsignal(signal, SIG_IGN);
#endif
}

// Jsonb that is made piece by piece; 19 keeps the result with the state.
class JsonbPieces {
  public:
    void Push(JsonbIteratorToken token, JsonbValue* value = nullptr) {
#if PG_VERSION_NUM >= 190000
        pushJsonbValue(&state_, token, value);
#else
        result_ = pushJsonbValue(&state_, token, value);
#endif
    }
    // After the token that ends the outermost piece.
    Jsonb* Whole() {
#if PG_VERSION_NUM >= 190000
        return JsonbValueToJsonb(state_.result);
#else
        return JsonbValueToJsonb(result_);
#endif
    }

  private:
#if PG_VERSION_NUM >= 190000
    JsonbInState state_ = {};
#else
    JsonbParseState* state_ = nullptr;
    JsonbValue* result_ = nullptr;
#endif
};

// A setting as one of its kind: since 19 that is a part of it, before it began with the general part.
#if PG_VERSION_NUM >= 190000
inline const config_bool* BoolOf(const config_generic* setting) {
    return &setting->_bool;
}
inline const config_int* IntOf(const config_generic* setting) {
    return &setting->_int;
}
inline const config_real* RealOf(const config_generic* setting) {
    return &setting->_real;
}
inline const config_string* StringOf(const config_generic* setting) {
    return &setting->_string;
}
inline const char* CompiledName(config_generic* setting) {
    return config_enum_lookup_by_value(setting, setting->_enum.boot_val);
}
#else
inline const config_bool* BoolOf(const config_generic* setting) {
    return reinterpret_cast<const config_bool*>(setting);
}
inline const config_int* IntOf(const config_generic* setting) {
    return reinterpret_cast<const config_int*>(setting);
}
inline const config_real* RealOf(const config_generic* setting) {
    return reinterpret_cast<const config_real*>(setting);
}
inline const config_string* StringOf(const config_generic* setting) {
    return reinterpret_cast<const config_string*>(setting);
}
inline const char* CompiledName(config_generic* setting) {
    auto* one_of = reinterpret_cast<config_enum*>(setting);
    return config_enum_lookup_by_value(one_of, one_of->boot_val);
}
#endif

}  // namespace dpboost
