#include "learner/option_table.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dpboost {
namespace {

[[noreturn]] void Refuse(const OptionRow& row, const GivenOption& given) {
    std::string hint;
    if (given.kind == GivenOption::kText)
        hint = NearestHint(given.text, {row.words, row.words + row.word_count});
    throw Error(ErrorCode::kInvalidParameter, "option " + Quoted(row.key) + " must be " + Allowed(row),
                "It is " + given.shown + ".", hint);
}

// The place of the word that was given, or -1.
int PlaceOf(const OptionRow& row, const GivenOption& given) {
    for (std::size_t i = 0; given.kind == GivenOption::kText && i < row.word_count; i++)
        if (given.text == row.words[i])
            return static_cast<int>(i);
    return -1;
}

double ValueOf(const OptionRow& row, const GivenOption& given) {
    if (!Accepts(row, given))
        Refuse(row, given);
    return row.kind == OptionRow::kWord ? PlaceOf(row, given) : given.number;
}

}  // namespace

const OptionRow* OptionTable::Find(const std::string& key) const {
    for (const OptionRow& row : *this)
        if (key == row.key)
            return &row;
    return nullptr;
}

void OptionTable::Check(const std::vector<GivenOption>& given) const {
    for (const GivenOption& option : given)
        if (const OptionRow* const row = Find(option.key); row != nullptr && row->kind != OptionRow::kForm)
            ValueOf(*row, option);
}

void OptionTable::ApplyWords(const std::vector<GivenOption>& given, void* options) const {
    for (const GivenOption& option : given) {
        const OptionRow* const row = Find(option.key);
        if (row != nullptr && row->kind == OptionRow::kWord)
            row->set(options, ValueOf(*row, option));
    }
}

void OptionTable::ApplyNumbers(const std::vector<GivenOption>& given, void* options) const {
    for (const GivenOption& option : given) {
        const OptionRow* const row = Find(option.key);
        if (row != nullptr && row->kind != OptionRow::kWord && row->set != nullptr)
            row->set(options, ValueOf(*row, option));
    }
}

bool Accepts(const OptionRow& row, const GivenOption& given) {
    if (row.kind == OptionRow::kWord)
        return PlaceOf(row, given) >= 0;
    if (row.kind == OptionRow::kTruth)
        return given.kind == GivenOption::kTruth;
    if (row.kind == OptionRow::kText)
        return given.kind == GivenOption::kText;
    if (row.kind == OptionRow::kNumbers)
        return given.kind == GivenOption::kNumbers && !given.numbers.empty();
    const double number = given.number;
    return given.kind == GivenOption::kNumber && std::isfinite(number) &&
           (row.above_lowest ? number > row.lowest : number >= row.lowest) && number <= row.highest &&
           (row.kind != OptionRow::kWhole || number == std::floor(number));
}

std::string Allowed(const OptionRow& row) {
    if (row.form != nullptr)
        return row.form;
    if (row.kind == OptionRow::kTruth)
        return "true or false";
    if (row.kind == OptionRow::kWord) {
        if (row.word_count == 2)
            return Quoted(row.words[0]) + " or " + Quoted(row.words[1]);
        const std::string list = QuotedList({row.words, row.words + row.word_count});
        return row.word_count > 2 ? "one of " + list : list;
    }
    const std::string text = row.kind == OptionRow::kWhole ? "a whole number " : "a number ";
    if (row.above_lowest)
        return text + "above " + Printed(row.lowest) + " and at most " + Printed(row.highest);
    return text + "from " + Printed(row.lowest) + " to " + Printed(row.highest);
}

void RefuseOption(const std::string& key, const std::string& allowed, const std::string& detail) {
    throw Error(ErrorCode::kInvalidParameter, "option " + Quoted(key) + " must be " + allowed, detail);
}

}  // namespace dpboost
