// How errors cross the door. A PostgreSQL error caught inside the core stays where PostgreSQL keeps it, on
// its error stack, while C++ unwinds; the door then re-throws it, so nothing is copied, allocated or lost on
// the way.
#include "postgres/boundary/boundary.h"

namespace dpboost {
namespace boundary_internal {

bool postgres_error_waits = false;

namespace {

// Set when the waiting "error" is an interrupt that ends the process: it is served after the core is unwound,
// because FATAL exits on the spot, below frames and threads of the core.
bool termination_waits = false;

int SqlState(ErrorCode code) {
    switch (code) {
        case ErrorCode::kInvalidParameter:
            return ERRCODE_INVALID_PARAMETER_VALUE;
        case ErrorCode::kInvalidName:
            return ERRCODE_INVALID_NAME;
        case ErrorCode::kUndefinedObject:
            return ERRCODE_UNDEFINED_OBJECT;
        case ErrorCode::kWrongType:
            return ERRCODE_DATATYPE_MISMATCH;
        case ErrorCode::kUnsupported:
            return ERRCODE_FEATURE_NOT_SUPPORTED;
        case ErrorCode::kBudgetExhausted:
            return ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
        case ErrorCode::kOutOfMemory:
            return ERRCODE_OUT_OF_MEMORY;
        case ErrorCode::kLimitExceeded:
            return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
        case ErrorCode::kCorrupted:
            return ERRCODE_DATA_CORRUPTED;
        case ErrorCode::kCanceled:
            return ERRCODE_QUERY_CANCELED;
        case ErrorCode::kInternal:
            return ERRCODE_INTERNAL_ERROR;
    }
    return ERRCODE_INTERNAL_ERROR;
}

void CopyText(char (&to)[CoreFailure::kTextSize], const char* from) noexcept {
    size_t length = strnlen(from, CoreFailure::kTextSize - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

void Fill(CoreFailure* failure, int sqlstate, const char* message, const char* detail,
          const char* hint) noexcept {
    failure->sqlstate = sqlstate;
    CopyText(failure->message, message);
    CopyText(failure->detail, detail);
    CopyText(failure->hint, hint);
}

// A copy in the current memory context, cut where a character of the server's encoding ends.
const char* WholeCharacters(const char* text) {
    int length = static_cast<int>(strlen(text));
    return pnstrdup(text, pg_mbcliplen(text, length, CoreFailure::kTextSize - 1));
}

}  // namespace

void RecordException(CoreFailure* failure) noexcept {
    constexpr const char* kBug = "This is a bug in dpboost; please report it.";
    try {
        throw;
    } catch (const Error& error) {
        Fill(failure, SqlState(error.code()), error.message().c_str(), error.detail().c_str(),
             error.hint().c_str());
    } catch (const std::bad_alloc&) {
        Fill(failure, ERRCODE_OUT_OF_MEMORY, "out of memory",
             "The operating system refused memory to dpboost.",
             "Lower \"dpboost.max_memory\", or train on fewer rows or columns.");
    } catch (const std::exception& error) {
        Fill(failure, ERRCODE_INTERNAL_ERROR, "internal error in dpboost", error.what(), kBug);
    } catch (...) {
        Fill(failure, ERRCODE_INTERNAL_ERROR, "internal error in dpboost",
             "An exception of unknown type was thrown.", kBug);
    }
}

void RaiseFailure(const CoreFailure& failure) {
    if (postgres_error_waits) {
        bool terminate = termination_waits;
        postgres_error_waits = termination_waits = false;
        if (!terminate)
            PG_RE_THROW();
        CHECK_FOR_INTERRUPTS();  // does not return while the request to terminate stands
        ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("canceling statement due to user request")));
    }
    const char* message = WholeCharacters(failure.message);
    const char* detail = WholeCharacters(failure.detail);
    const char* hint = WholeCharacters(failure.hint);
    ereport(ERROR, (errcode(failure.sqlstate), errmsg_internal("%s", message),
                    detail[0] != '\0' ? errdetail_internal("%s", detail) : 0,
                    hint[0] != '\0' ? errhint("%s", hint) : 0));
    pg_unreachable();
}

bool RunPostgres(void (*body)(void*), void* argument) noexcept {
    // Once an error waits, PostgreSQL's state is that of an aborting statement: nothing may run before the
    // door.
    if (postgres_error_waits)
        return false;
    MemoryContext caller_context = CurrentMemoryContext;
    PG_TRY();
    { body(argument); }
    PG_CATCH();
    {
        postgres_error_waits = true;
        MemoryContextSwitchTo(caller_context);
    }
    PG_END_TRY();
    return !postgres_error_waits;
}

void ThrowWaitingError() {
    throw Error(ErrorCode::kCanceled, "a PostgreSQL error is waiting");
}

}  // namespace boundary_internal

void PgInterrupt::Serve() {
    using namespace boundary_internal;
    if (postgres_error_waits)
        ThrowWaitingError();
    bool fatal = ProcDiePending || ClientConnectionLost || TransactionTimeoutIsPending();
    if (fatal && InterruptHoldoffCount == 0 && CritSectionCount == 0) {
        postgres_error_waits = termination_waits = true;
        ThrowWaitingError();
    }
    if (!RunPostgres([](void*) { CHECK_FOR_INTERRUPTS(); }, nullptr))
        ThrowWaitingError();
}

}  // namespace dpboost
