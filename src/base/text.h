// Small pieces of messages for users: quoted names, numbers as people write them, the nearest of several names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dpboost {

std::string Quoted(std::string_view text);

// Up to ten digits, without zeros at the end.
std::string Printed(double number);

// The candidate nearest to `name` by edit distance, or empty if none is near. Long names are near to none.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace dpboost
