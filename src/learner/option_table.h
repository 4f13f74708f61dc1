// The options of a method as a table: key, member, range, words and one line of help stand in one place. From it
// follow reading, range errors in one wording, the refusal of keys that the method does not have, and the tables for
// users. Rows are constants: no static constructors.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dpboost {

// An option of the call, as far as a table must know it.
struct GivenOption {
    enum Kind { kNumber, kText, kTruth, kNumbers, kOther };
    std::string key;
    Kind kind = kOther;
    double number = 0;  // of kTruth 1 or 0
    std::string text;
    std::vector<std::pair<std::string, double>> numbers;  // of an object that holds only numbers
    std::string shown;                                    // the value as an error message shows it
};

struct OptionRow {
    enum Kind { kNumber, kWhole, kWord, kTruth, kText, kNumbers, kForm };
    const char* key;
    Kind kind;
    double lowest;  // of numbers
    double highest;
    bool above_lowest;         // the lowest value itself is refused
    const char* const* words;  // of words, in the order of their enum
    std::size_t word_count;
    const char* help;
    void (*set)(void* options, double value);  // a word's value is its place; null for a form
    const char* form = nullptr;                // what else is allowed, read by other code than a table's
};

namespace option_table_detail {
template <typename T>
struct MemberOf;
template <typename Class, typename Type>
struct MemberOf<Type Class::*> {
    using Owner = Class;
    using Value = Type;
};
template <auto member>
using OwnerOf = typename MemberOf<decltype(member)>::Owner;
template <auto member, typename Options>
void Set(void* options, double value) {
    using Value = typename MemberOf<decltype(member)>::Value;
    static_cast<Options*>(options)->*member = static_cast<Value>(value);
}
template <auto member, auto... values>
void SetAmong(void* options, double place) {
    constexpr typename MemberOf<decltype(member)>::Value kValues[] = {values...};
    static_cast<OwnerOf<member>*>(options)->*member = kValues[static_cast<std::size_t>(place)];
}
}  // namespace option_table_detail

// One row each. `Options` is the struct that is set, where the member is one of its base.

// From `lowest` to `highest`.
template <auto member, typename Options = option_table_detail::OwnerOf<member>>
constexpr OptionRow Number(const char* key, double lowest, double highest, const char* help) {
    const auto set = &option_table_detail::Set<member, Options>;
    return {key, OptionRow::kNumber, lowest, highest, false, nullptr, 0, help, set};
}
// Above `lowest`, at most `highest`.
template <auto member, typename Options = option_table_detail::OwnerOf<member>>
constexpr OptionRow NumberAbove(const char* key, double lowest, double highest, const char* help) {
    const auto set = &option_table_detail::Set<member, Options>;
    return {key, OptionRow::kNumber, lowest, highest, true, nullptr, 0, help, set};
}
template <auto member, typename Options = option_table_detail::OwnerOf<member>>
constexpr OptionRow Whole(const char* key, double lowest, double highest, const char* help) {
    const auto set = &option_table_detail::Set<member, Options>;
    return {key, OptionRow::kWhole, lowest, highest, false, nullptr, 0, help, set};
}
// `words` name the values of the member's enum from 0 on.
template <auto member, typename Options = option_table_detail::OwnerOf<member>, std::size_t count>
constexpr OptionRow Word(const char* key, const char* const (&words)[count], const char* help) {
    const auto set = &option_table_detail::Set<member, Options>;
    return {key, OptionRow::kWord, 0, 0, false, words, count, help, set};
}
// The same, where the words name other values.
template <auto member, auto... values, std::size_t count>
constexpr OptionRow WordAmong(const char* key, const char* const (&words)[count], const char* help) {
    static_assert(sizeof...(values) == count, "a value for each word");
    const auto set = &option_table_detail::SetAmong<member, values...>;
    return {key, OptionRow::kWord, 0, 0, false, words, count, help, set};
}

template <auto member, typename Options = option_table_detail::OwnerOf<member>>
constexpr OptionRow Truth(const char* key, const char* help) {
    const auto set = &option_table_detail::Set<member, Options>;
    return {key, OptionRow::kTruth, 0, 0, false, nullptr, 0, help, set};
}

// A text, or an object of numbers by name, that the method reads itself; `form` says what it is.
constexpr OptionRow Text(const char* key, const char* form, const char* help) {
    return {key, OptionRow::kText, 0, 0, false, nullptr, 0, help, nullptr, form};
}
constexpr OptionRow Numbers(const char* key, const char* form, const char* help) {
    return {key, OptionRow::kNumbers, 0, 0, false, nullptr, 0, help, nullptr, form};
}

// None of these: a table only lists it.
constexpr OptionRow Form(const char* key, const char* form, const char* help) {
    return {key, OptionRow::kForm, 0, 0, false, nullptr, 0, help, nullptr, form};
}

class OptionTable {
  public:
    constexpr OptionTable() : rows_(nullptr), count_(0) {}
    template <std::size_t count>
    constexpr OptionTable(const OptionRow (&rows)[count])  // NOLINT: a table is its rows
        : rows_(rows), count_(count) {}

    const OptionRow* begin() const { return rows_; }
    const OptionRow* end() const { return rows_ + count_; }
    const OptionRow* Find(const std::string& key) const;  // null if there is none

    // Throws Error(kInvalidParameter), with what is allowed, for a value that a row refuses.
    void Check(const std::vector<GivenOption>& given) const;

    // Sets the members of `options` that were given; which of the two kinds, so that a method can choose its parts
    // first and then the figures that depend on them. Throws Error(kInvalidParameter) with what is allowed.
    void ApplyWords(const std::vector<GivenOption>& given, void* options) const;
    void ApplyNumbers(const std::vector<GivenOption>& given, void* options) const;
    void Apply(const std::vector<GivenOption>& given, void* options) const {
        ApplyWords(given, options);
        ApplyNumbers(given, options);
    }

  private:
    const OptionRow* rows_;
    std::size_t count_;
};

// Whether the row takes the value, which is a number or a word.
bool Accepts(const OptionRow& row, const GivenOption& given);

// What a row allows, for errors and documentation: `a whole number from 1 to 100000`, `one of "all", "cyclic"`.
std::string Allowed(const OptionRow& row);

// Throws Error(kInvalidParameter) in the wording of a table, for what depends on other options: `option "x" must be
// <allowed>`.
[[noreturn]] void RefuseOption(const std::string& key, const std::string& allowed,
                               const std::string& detail = {});

}  // namespace dpboost
