// Locks that end with a piece of work and not with the transaction, for work that a caller without rights on a
// relation can ask for as often as he likes, or whose locks would tell what it met.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// What ShortLocksBegin changed, for ShortLocksEnd; an error gives the locks back as well, with the
// (sub)transaction that it ends.
struct ShortLocks {
    ResourceOwner outer;
    ResourceOwner own;
};

// Locks taken in between are given back at the end, unless they were held before. Nothing that was opened in
// between (relations, snapshots, cursors) may outlive it.
void ShortLocksBegin(ShortLocks* locks);
void ShortLocksEnd(ShortLocks* locks);

}  // namespace dpboost
