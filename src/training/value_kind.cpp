#include "training/value_kind.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"
#include "model/labels/time_label.h"

namespace dpboost {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

std::string PrintedDay(int64_t days) {
    const CivilDay day = CivilOf(days);
    char text[80];
    snprintf(text, sizeof text, "%04lld-%02d-%02d", static_cast<long long>(day.year), day.month, day.day);
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
