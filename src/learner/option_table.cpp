#include "learner/option_table.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dpboost {
namespace {

[[noreturn]] void Refuse(const OptionRow& row, const GivenOption& given) {
    std::string hint;
    if (row.kind == OptionRow::kWord && given.kind == GivenOption::kText) {
        const std::string near =
            Nearest(given.text, std::vector<std::string>(row.words, row.words + row.word_count));
        if (!near.empty())
            hint = "Perhaps you meant " + Quoted(near) + ".";
    }
    throw Error(ErrorCode::kInvalidParameter, "option " + Quoted(row.key) + " must be " + Allowed(row),
                "It is " + given.shown + ".", hint);
}

double NumberOf(const OptionRow& row, const GivenOption& given) {
    const double number = given.number;
    const bool fits = given.kind == GivenOption::kNumber && std::isfinite(number) &&
                      (row.above_lowest ? number > row.lowest : number >= row.lowest) &&
                      number <= row.highest &&
                      (row.kind != OptionRow::kWhole || number == std::floor(number));
    if (!fits)
        Refuse(row, given);
    return number;
}

double PlaceOf(const OptionRow& row, const GivenOption& given) {
    for (std::size_t i = 0; given.kind == GivenOption::kText && i < row.word_count; i++)
        if (given.text == row.words[i])
            return static_cast<double>(i);
    Refuse(row, given);
}

}  // namespace

const OptionRow* OptionTable::Find(const std::string& key) const {
    for (const OptionRow& row : *this)
        if (key == row.key)
            return &row;
    return nullptr;
}

void OptionTable::ApplyWords(const std::vector<GivenOption>& given, void* options) const {
    for (const GivenOption& option : given) {
        const OptionRow* const row = Find(option.key);
        if (row != nullptr && row->kind == OptionRow::kWord)
            row->set(options, PlaceOf(*row, option));
    }
}

void OptionTable::ApplyNumbers(const std::vector<GivenOption>& given, void* options) const {
    for (const GivenOption& option : given) {
        const OptionRow* const row = Find(option.key);
        if (row != nullptr && row->kind != OptionRow::kWord)
            row->set(options, NumberOf(*row, option));
    }
}

std::string Allowed(const OptionRow& row) {
    if (row.kind == OptionRow::kWord) {
        std::string list;
        for (std::size_t i = 0; i < row.word_count; i++)
            list += (list.empty() ? "" : row.word_count == 2 ? " or " : ", ") + Quoted(row.words[i]);
        return (row.word_count > 2 ? "one of " : "") + list;
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
