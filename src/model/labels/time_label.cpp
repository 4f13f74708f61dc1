#include "model/labels/time_label.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/text.h"

namespace dpboost {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr int64_t kFirstDay = -730119;  // 0001-01-01, counted from 2000-01-01
constexpr int64_t kLastDay = 2921939;   // 9999-12-31

int64_t DayOf(int64_t year, int month, int day) {
    const int64_t from_march = year - (month <= 2 ? 1 : 0);
    const int64_t era = (from_march >= 0 ? from_march : from_march - 399) / 400;
    const int64_t year_of_era = from_march - era * 400;
    const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 730485 + 60;
}

std::string Format(const char* format, int64_t a, int b = 0, int c = 0) {
    char text[64];
    std::snprintf(text, sizeof text, format, static_cast<long long>(a), b, c);
    return text;
}

std::string ClockText(int64_t seconds) {
    return Format("%02lld:%02d", seconds / 3600, static_cast<int>(seconds / 60 % 60));
}

using Ticks = std::vector<std::pair<double, std::string>>;

// Calendar months that are a multiple of `step`, or years.
Ticks MonthTicks(double from, double to, int64_t step) {
    Ticks ticks;
    const CivilDay first = CivilOf(static_cast<int64_t>(std::floor(from)));
    int64_t month = (first.year * 12 + first.month - 1) / step * step;
    for (; ticks.size() < 50; month += step) {
        const auto day = static_cast<double>(DayOf(month / 12, static_cast<int>(month % 12) + 1, 1));
        if (day > to)
            break;
        if (day >= from)
            ticks.emplace_back(
                day, step % 12 == 0 ? Format("%lld", month / 12)
                                    : Format("%04lld-%02d", month / 12, static_cast<int>(month % 12) + 1));
    }
    return ticks;
}

// Steps of seconds; the name is the day, or the time of the day where steps are shorter.
Ticks SecondTicks(double from, double to, double step) {
    Ticks ticks;
    for (double at = std::ceil(from * kSecondsPerDay / step) * step;
         at <= to * kSecondsPerDay && ticks.size() < 50; at += step) {
        const auto seconds = static_cast<int64_t>(at);
        const int64_t of_day = ((seconds % 86400) + 86400) % 86400;
        const CivilDay day = CivilOf((seconds - of_day) / 86400);
        ticks.emplace_back(at / kSecondsPerDay,
                           step < kSecondsPerDay ? ClockText(of_day)
                                                 : Format("%04lld-%02d-%02d", day.year, day.month, day.day));
    }
    return ticks;
}

}  // namespace

// A year that begins in March has its leap day at the end, so months are 153 days in five.
CivilDay CivilOf(int64_t days) {
    const int64_t since_march = days - 60 + 730485;  // days since 0000-03-01
    const int64_t era = (since_march >= 0 ? since_march : since_march - 146096) / 146097;
    const int64_t day_of_era = since_march - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t month = (5 * day_of_year + 2) / 153;
    const int civil_month = static_cast<int>(month < 10 ? month + 3 : month - 9);
    return {year_of_era + era * 400 + (civil_month <= 2 ? 1 : 0), civil_month,
            static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1)};
}

std::string TimeText(double value, TimeColumn column) {
    const double days = column == TimeColumn::kTimestamp ? value / kSecondsPerDay : value;
    if (!(days >= static_cast<double>(kFirstDay) && days < static_cast<double>(kLastDay + 1)))
        return Printed(value);
    const auto whole = static_cast<int64_t>(std::floor(days));
    const CivilDay day = CivilOf(whole);
    std::string text = Format("%04lld-%02d-%02d", day.year, day.month, day.day);
    if (column == TimeColumn::kTimestamp)
        text +=
            " " + ClockText(std::clamp<int64_t>(
                      static_cast<int64_t>(value - static_cast<double>(whole) * kSecondsPerDay), 0, 86399));
    return text;
}

std::string WithTimes(std::string_view label, TimeColumn column) {
    const std::string text(label);
    std::string result;
    for (size_t i = 0; i < text.size();) {
        const bool starts = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(' || text[i - 1] == '[';
        const char c = text[i];
        char* end = nullptr;
        const double value =
            starts && ((c >= '0' && c <= '9') || c == '-') ? std::strtod(text.c_str() + i, &end) : 0;
        const size_t size = end == nullptr ? 0 : static_cast<size_t>(end - (text.c_str() + i));
        result += size > 0 ? TimeText(value, column) : std::string(1, c);
        i += std::max<size_t>(size, 1);
    }
    return result;
}

std::vector<std::pair<double, std::string>> TimeTicks(double from, double to, int most, TimeColumn column) {
    const double unit = column == TimeColumn::kTimestamp ? kSecondsPerDay : 1;
    from /= unit;
    to /= unit;
    Ticks ticks;
    if (!(to > from) || from < static_cast<double>(kFirstDay) || to > static_cast<double>(kLastDay))
        return ticks;
    const double span = to - from;
    for (const int64_t months : {1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000, 24000})
        if (ticks.empty() && span >= 60 && span / (static_cast<double>(months) * 30.44) <= most)
            ticks = MonthTicks(from, to, months);
    for (const double seconds : {60.0, 300.0, 900.0, 3600.0, 10800.0, 21600.0, 43200.0, 86400.0, 172800.0,
                                 432000.0, 864000.0, 1728000.0})
        // Names of days are long.
        if (ticks.empty() &&
            span * kSecondsPerDay / seconds <= (seconds < kSecondsPerDay ? most : std::max(most / 2, 2)))
            ticks = SecondTicks(from, to, seconds);
    for (auto& tick : ticks)
        tick.first *= unit;
    return ticks;
}

}  // namespace dpboost
