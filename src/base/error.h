// The one exception type of the core. The PostgreSQL layer turns it into an SQLSTATE, message, detail and
// hint; the core itself never prints and never aborts. Texts follow PostgreSQL's style: a lower-case message
// without a period, detail and hint as sentences. They may quote options, schema and budgets, never a value
// that was read from a row.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace dpboost {

// What went wrong, in the terms a caller can act on. The SQLSTATE of each is given in postgres/boundary.
enum class ErrorCode {
    kInvalidParameter,  // 22023: an argument or option is wrong
    kInvalidName,       // 42602: what should name a model does not
    kUndefinedObject,   // 42704: something that was named does not exist
    kWrongType,         // 42804: a column or argument has a type that cannot be used here
    kUnsupported,       // 0A000: a combination that has no privacy proof, or that is not offered
    kBudgetExhausted,   // 53400: the privacy budget does not allow it
    kOutOfMemory,       // 53200: dpboost.max_memory would be exceeded
    kLimitExceeded,     // 54000: too many columns, trees, rows, ...
    kCorrupted,         // XX001: stored bytes are not what we wrote
    kCanceled,          // 57014: the caller asked to stop
    kInternal           // XX000: a bug of ours
};

class Error final : public std::exception {
  public:
    Error(ErrorCode code, std::string message, std::string detail = {}, std::string hint = {})
        : code_(code), message_(std::move(message)), detail_(std::move(detail)), hint_(std::move(hint)) {}

    const char* what() const noexcept override { return message_.c_str(); }
    ErrorCode code() const noexcept { return code_; }
    const std::string& message() const noexcept { return message_; }
    const std::string& detail() const noexcept { return detail_; }
    const std::string& hint() const noexcept { return hint_; }

  private:
    ErrorCode code_;
    std::string message_;
    std::string detail_;
    std::string hint_;
};

// Guards what only a bug of ours can break; throws instead of aborting, because an abort takes the whole
// server down.
inline void CheckInternal(bool condition, const char* message) {
    if (!condition)
        throw Error(ErrorCode::kInternal, message);
}

}  // namespace dpboost
