// The arithmetic of windows.
#include "postgres/limits/renewal.h"

#include "postgres/catalog/catalog_rows.h"

namespace dpboost {
namespace {

// A timestamptz is a UTC time, so without a time zone it is counted in UTC.
TimestampTz StartOf(TimestampTz anchor, const Interval* renew, int64 k) {
    const Datum span =
        DirectFunctionCall2(interval_mul, IntervalPGetDatum(renew), Float8GetDatum(static_cast<double>(k)));
    return DatumGetTimestamp(DirectFunctionCall2(timestamp_pl_interval, TimestampGetDatum(anchor), span));
}

// No window is shorter: months have 28 days at least.
int64 ShortestWindow(const Interval* renew) {
    return (static_cast<int64>(renew->month) * 28 + renew->day) * USECS_PER_DAY + renew->time;
}

}  // namespace

void CheckRenewal(const Interval* renew) {
    constexpr int kMaxMonths = 12000;
    const bool sound = renew->month >= 0 && renew->day >= 0 && renew->time >= 0 &&
                       renew->month <= kMaxMonths && renew->day <= kMaxMonths * 31 &&
                       renew->time <= kMaxMonths * 31 * USECS_PER_DAY;
    if (!sound || ShortestWindow(renew) < USECS_PER_HOUR)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("renew must be an hour at least, and at most a thousand years"),
                        errhint("Give an interval such as '1 month'; '0' ends the renewal.")));
}

TimestampTz LedgerTime() {
    const RowTable rows = OpenRows("ledger", "ledger_pkey");
    HeapTuple last = LastRow(rows, nullptr);
    const TimestampTz released =
        last == nullptr ? DT_NOBEGIN : DatumGetTimestampTz(ColumnOf(last, rows.table, "released_at"));
    CloseRows(rows);
    const TimestampTz now = GetCurrentTimestamp();
    return Max(now, released);
}

RenewalWindow FindWindow(TimestampTz anchor, const Interval* renew, TimestampTz now) {
    if (now < anchor)
        return {DT_NOBEGIN, StartOf(anchor, renew, 1)};
    int64 low = 0;                                            // begins at or before now, or is the first
    int64 high = (now - anchor) / ShortestWindow(renew) + 1;  // begins after it
    while (high - low > 1) {
        const int64 middle = low + (high - low) / 2;
        if (StartOf(anchor, renew, middle) <= now)
            low = middle;
        else
            high = middle;
    }
    return {StartOf(anchor, renew, low), StartOf(anchor, renew, low + 1)};
}

}  // namespace dpboost
