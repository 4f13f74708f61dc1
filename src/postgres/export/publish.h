// Models for the other servers of a cluster (catalog/cluster.h), so that predictions run where rows are.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// After a training: brings the model, which is live, to all other servers. Never raises but for a cancel: what failed is a
// warning, and dpboost_publish tries again. Does nothing outside of a cluster.
void PublishInWake(const char* owner, const char* name, int32 version);

}  // namespace dpboost
