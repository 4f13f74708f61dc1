// Faults on demand, for tests of the boundary through SQL: an aggregate whose core throws, raises or waits at
// a given row while it holds memory on the heap and on the stack. Built by `make check` as an extension of
// its own from the same boundary.cpp as dpboost; a release neither builds nor installs it.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>

#include "postgres/boundary/boundary.h"

extern "C" {
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(dpboost_fault_accumulate);
PG_FUNCTION_INFO_V1(dpboost_fault_finish);
PG_FUNCTION_INFO_V1(dpboost_fault_resident_memory);
}

namespace dpboost {
namespace {

// What an aggregate of ours looks like: a heap object that grows while rows stream in.
struct FaultState {
    std::vector<char> ballast = std::vector<char>(1 << 20, 'x');
    std::vector<int64_t> rows;
    int64_t served_interrupts = 0;
};

struct NotAnException {
    std::string payload = std::string(1000, 'y');
};

// Busy for the given time, polling like a learner; counts how often an interrupt was pending and did not stop
// us.
void Work(FaultState& state, int64_t milliseconds) {
    PgInterrupt interrupt;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (std::chrono::steady_clock::now() < end) {
        const bool pending = InterruptPending != 0;
        interrupt.Poll();
        state.served_interrupts += pending;
        state.rows.back() ^= state.served_interrupts;
    }
}

void RaiseDivisionByZero() {
    CallPostgres([]() noexcept {
        ereport(ERROR, (errcode(ERRCODE_DIVISION_BY_ZERO), errmsg("raised in the middle"),
                        errdetail("Detail of the original."), errhint("Hint of the original.")));
    });
}

void Swallow() {
    try {
        RaiseDivisionByZero();
    } catch (const Error&) {
    }
    CallPostgres([]() noexcept { elog(ERROR, "PostgreSQL was entered although an error waits"); });
}

[[noreturn]] void ThrowOurs(const std::string& kind) {
    constexpr std::pair<const char*, ErrorCode> kCodes[] = {
        {"invalid_parameter", ErrorCode::kInvalidParameter},
        {"undefined_object", ErrorCode::kUndefinedObject},
        {"wrong_type", ErrorCode::kWrongType},
        {"unsupported", ErrorCode::kUnsupported},
        {"budget_exhausted", ErrorCode::kBudgetExhausted},
        {"out_of_memory", ErrorCode::kOutOfMemory},
        {"limit_exceeded", ErrorCode::kLimitExceeded},
        {"corrupted", ErrorCode::kCorrupted},
        {"canceled", ErrorCode::kCanceled},
        {"internal", ErrorCode::kInternal}};
    for (const auto& [name, code] : kCodes) {
        if (kind == name)
            throw Error(code, "our own error \"" + kind + "\"", "Detail of it.", "Hint for it.");
    }
    throw Error(ErrorCode::kInvalidParameter, "unknown fault \"" + kind + "\"");
}

void Fail(const std::string& kind, FaultState& state) {
    std::vector<char> on_the_stack(1 << 16, 'z');  // leaks visibly if an error skips its destructor
    if (kind == "bad_alloc")
        throw std::bad_alloc();
    if (kind == "huge_vector")
        on_the_stack.resize(size_t{1} << 62);
    if (kind == "runtime_error")
        throw std::runtime_error("some library is unhappy");
    if (kind == "unknown")
        throw 42;
    if (kind == "unknown_object")
        throw NotAnException();
    if (kind == "long_message")
        throw Error(ErrorCode::kInternal, std::string(2046, 'm') + "\u00e9\u00e9");
    if (kind == "leak")  // what the boundary forbids, to show that the test of leaks would see it
        ereport(ERROR, (errmsg("raised past a live vector of %zu bytes", on_the_stack.size())));
    if (kind == "ereport")
        return RaiseDivisionByZero();
    if (kind == "swallow")
        return Swallow();
    if (kind == "wait")
        return Work(state, 60000);
    if (kind == "work")
        return Work(state, 1500);
    if (kind == "self_cancel") {
        kill(getpid(), SIGINT);
        return Work(state, 10000);
    }
    ThrowOurs(kind);
}

void Accumulate(FaultState& state, const char* kind, size_t kind_length, int64_t fail_at) {
    state.rows.push_back(fail_at);
    if (static_cast<int64_t>(state.rows.size()) == fail_at)
        Fail(std::string(kind, kind_length), state);
}

// Bytes of this process that are in memory now.
int64_t ResidentBytes() {
    long long total = 0, resident = 0;
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "r"), std::fclose);
    if (!file || std::fscanf(file.get(), "%lld %lld", &total, &resident) != 2)
        throw Error(ErrorCode::kInternal, "could not read /proc/self/statm");
    return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace
}  // namespace dpboost

using dpboost::CallCore;
using State = dpboost::CoreState<dpboost::FaultState>;

Datum dpboost_fault_accumulate(PG_FUNCTION_ARGS) {
    MemoryContext context;
    if (AggCheckCallContext(fcinfo, &context) == 0)
        elog(ERROR, "called outside an aggregate");
    auto* state = PG_ARGISNULL(0) ? State::Make(context) : reinterpret_cast<State*>(PG_GETARG_POINTER(0));
    const text* kind = PG_GETARG_TEXT_PP(1);
    const int64_t fail_at = PG_GETARG_INT64(2);
    CallCore([&] { dpboost::Accumulate(**state, VARDATA_ANY(kind), VARSIZE_ANY_EXHDR(kind), fail_at); });
    PG_RETURN_POINTER(state);
}

// The number of interrupts that were served without ending the work.
Datum dpboost_fault_finish(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    auto* state = reinterpret_cast<State*>(PG_GETARG_POINTER(0));
    PG_RETURN_INT64((*state)->served_interrupts);
}

Datum dpboost_fault_resident_memory(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    int64_t bytes = 0;
    CallCore([&] { bytes = dpboost::ResidentBytes(); });
    PG_RETURN_INT64(bytes);
}
