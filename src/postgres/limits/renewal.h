// Budgets of roles that renew. A role's allowance may count only what it has spent in the present window, so that it is
// there again every month. The promise to people is the cap, of the table or of its population, and its filter is
// untouched: it counts every release ever made, whatever window of whomever it fell into, and lets nothing through that
// (epsilon, delta) of the cap does not cover. A release must fit into both, so a renewing allowance refuses some that the
// cap would grant, and grants none that the cap refuses. Without a cap there would be no promise at all (T windows of
// epsilon compose to T times as much): so none is set without one, and none is used without one.
//
// Windows begin at anchor + k * renew, in UTC. Time is the ledger's: the clock, but never before the last release, so a
// clock that is set back opens no window again.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

struct RenewalWindow {
    TimestampTz start;
    TimestampTz end;
};

// The window that `now` is in; `renew` has passed CheckRenewal. Before the anchor (on a server with an earlier clock, to which
// the ledger was restored) it is the first one, with all that was spent before it.
RenewalWindow FindWindow(TimestampTz anchor, const Interval* renew, TimestampTz now);

// Raises 22023 unless it is an hour at least, of parts that are not negative.
void CheckRenewal(const Interval* renew);

// The ledger's time.
TimestampTz LedgerTime();

}  // namespace dpboost
