// How far a running training is, for the view dpboost_progress: rounds done of the rounds planned, both
// public, never anything counted from rows. The figures live in the backend's own entry of PostgreSQL's
// status array, so no shared memory of ours (and no preload) is needed.
#pragma once

#include "base/interrupt.h"
#include "postgres/boundary/pg.h"

namespace dpboost {

// Reports into this backend's status entry from construction to Finish. If the entry is in use by a command
// of PostgreSQL's own (COPY of a query that trains), that command keeps it. An error ends it through
// PostgreSQL's own cleanup. No call raises.
class PgProgress final : public Progress {
  public:
    // `relation` may be InvalidOid, for the rows of a query.
    explicit PgProgress(Oid relation);
    void Report(uint64_t rounds_done, uint64_t rounds_total) override;
    void Finish();

  private:
    bool active_;
};

}  // namespace dpboost
