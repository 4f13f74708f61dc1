// Small pieces of messages for users: quoted names, numbers as people write them, the nearest of several names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dpboost {

std::string Quoted(std::string_view text);

// The first bytes of a text, `most` at the most, without a cut through a UTF-8 character.
std::string_view Start(std::string_view text, std::size_t most);

// a, b, c
std::string Listed(const std::vector<std::string>& texts);
// "a", "b", "c"
std::string QuotedList(const std::vector<std::string>& texts);

// 'text', as SQL writes it.
std::string SqlLiteral(std::string_view text);

// Up to ten digits, without zeros at the end.
std::string Printed(double number);

// A positive number to six digits, as people write it: not below it, not above it. Others stay as they are.
double RoundedUp(double number);
double RoundedDown(double number);

// The candidate nearest to `name` by edit distance, or empty if none is near. Long names are near to none.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);

// `Perhaps you meant "...".`, or empty.
std::string NearestHint(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dpboost
