// Models for the other servers of a cluster (catalog/cluster.h), so that predictions run where rows are.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// After a training: brings the model, which is live, to all other servers. Never raises but for a cancel: what failed is a
// warning, and dpboost_publish tries again. Does nothing outside of a cluster.
void PublishInWake(const char* owner, const char* name, int32 version);

// What an owner has just done to a model here is done on the other servers as well, and raises if one of them cannot:
// what was taken back must not go on there. There it is not undone by ROLLBACK; dpboost_publish brings back what is here.
// Neither does anything outside of a cluster, or if the model's owner is gone.
void DeployElsewhere(Oid owner, const char* name, int32 version);
// Calls function(model[, role]) where the model is; version 0: the name, and any version of it; role may be null.
void CallElsewhere(const char* function, Oid owner, const char* name, int32 version, const char* role);

}  // namespace dpboost
