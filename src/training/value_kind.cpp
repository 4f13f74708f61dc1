#include "training/value_kind.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace dpboost {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

// The Gregorian date so many days after 2000-01-01, by eras of 400 years that begin with a March.
std::string PrintedDay(int64_t days) {
    const int64_t since_era = days + 730425;  // from 0000-03-01
    const int64_t era = (since_era >= 0 ? since_era : since_era - 146096) / 146097;
    const int64_t day_of_era = since_era - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
    const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
    char text[80];
    snprintf(text, sizeof text, "%04lld-%02lld-%02lld", static_cast<long long>(year),
             static_cast<long long>(month), static_cast<long long>(day));
    return text;
}

}  // namespace

std::string PrintedValue(ValueKind kind, double number) {
    if (!IsTime(kind) || !(std::fabs(number) < 1e15))
        return Printed(number);
    if (kind == ValueKind::kDate)
        return PrintedDay(static_cast<int64_t>(std::floor(number)));
    const auto seconds = static_cast<int64_t>(std::floor(number));
    const int64_t days = (seconds >= 0 ? seconds : seconds - kSecondsPerDay + 1) / kSecondsPerDay;
    const int64_t rest = seconds - days * kSecondsPerDay;
    char time[40];
    snprintf(time, sizeof time, " %02d:%02d:%02d", static_cast<int>(rest / 3600),
             static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
    return PrintedDay(days) + time;
}

}  // namespace dpboost
