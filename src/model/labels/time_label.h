// Days and seconds since 2000-01-01, as models count them, in words: 2026-11-17, 2026-11-17 06:31.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpboost {

// What a column of numbers was when the model was trained; a model knows numbers only.
enum class TimeColumn { kNone, kDate, kTimestamp };

struct CivilDay {
    int64_t year;
    int month;  // 1 to 12
    int day;
};

// The Gregorian date so many days after 2000-01-01.
CivilDay CivilOf(int64_t days);

// What is beyond the years 1 to 9999 stays a number.
std::string TimeText(double value, TimeColumn column);

// The label of a bin with times instead of numbers.
std::string WithTimes(std::string_view label, TimeColumn column);

// Round times within [from, to], about `most` of them, with short names: years, months, days or hours.
std::vector<std::pair<double, std::string>> TimeTicks(double from, double to, int most, TimeColumn column);

}  // namespace dpboost
