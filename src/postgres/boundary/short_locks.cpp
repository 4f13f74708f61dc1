#include "postgres/boundary/short_locks.h"

namespace dpboost {

void ShortLocksBegin(ShortLocks* locks) {
    locks->outer = CurrentResourceOwner;
    locks->own = ResourceOwnerCreate(locks->outer, "dpboost");
    CurrentResourceOwner = locks->own;
}

// As an abort would release it: a commit would hand the locks on to the outer owner.
void ShortLocksEnd(ShortLocks* locks) {
    CurrentResourceOwner = locks->outer;
    ResourceOwnerRelease(locks->own, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
    ResourceOwnerRelease(locks->own, RESOURCE_RELEASE_LOCKS, false, false);
    ResourceOwnerRelease(locks->own, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
    ResourceOwnerDelete(locks->own);
}

}  // namespace dpboost
