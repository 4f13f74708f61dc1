// PostgreSQL's progress entries carry a command number, an object and 20 counters. Ours has a number that no
// command of PostgreSQL uses, so its own views pass over the entry, and dpboost_progress finds exactly those.
#include "postgres/train/progress.h"

#include "postgres/boundary/row_values.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_running_trainings);
}

namespace dpboost {

namespace {

constexpr int kTrainingCommand = 0x64706274;  // "dpbt"
enum Counter { kRoundsDone, kRoundsTotal, kCounters };

ProgressCommandType TrainingCommand() {
    // The entry is an int in shared memory; the number is no enumerator of PostgreSQL's.
    static_assert(sizeof(ProgressCommandType) == sizeof(kTrainingCommand), "the number must fit");
    ProgressCommandType command;
    memcpy(&command, &kTrainingCommand, sizeof command);
    return command;
}

bool IsTraining(const PgBackendStatus& entry) {
    return memcmp(&entry.st_progress_command, &kTrainingCommand, sizeof kTrainingCommand) == 0;
}

// The rule of pg_stat_activity: one's own sessions, or all for pg_read_all_stats.
bool MaySee(Oid role) {
    return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) || has_privs_of_role(GetUserId(), role);
}

}  // namespace

PgProgress::PgProgress(Oid relation) : active_(ProgressEntryIsFree()) {
    if (active_)
        pgstat_progress_start_command(TrainingCommand(), relation);
}

void PgProgress::Report(uint64_t rounds_done, uint64_t rounds_total) {
    const int counters[] = {kRoundsDone, kRoundsTotal};
    const int64 values[] = {static_cast<int64>(rounds_done), static_cast<int64>(rounds_total)};
    if (active_)
        pgstat_progress_update_multi_param(kCounters, counters, values);
}

void PgProgress::Finish() {
    if (active_)
        pgstat_progress_end_command();
    active_ = false;
}

}  // namespace dpboost

// The trainings that run now in this database, of roles whose activity the caller may see.
Datum dpboost_running_trainings(PG_FUNCTION_ARGS) {
    TupleDesc descriptor;
    Tuplestorestate* store = dpboost::BeginRows(fcinfo, &descriptor);
    const int backends = pgstat_fetch_stat_numbackends();
    for (int i = 1; i <= backends; ++i) {
        const LocalPgBackendStatus* local = dpboost::LocalBackendStatus(i);
        if (local == nullptr)
            continue;
        const PgBackendStatus& entry = local->backendStatus;
        if (!dpboost::IsTraining(entry) || entry.st_databaseid != MyDatabaseId ||
            !dpboost::MaySee(entry.st_userid))
            continue;
        Datum values[] = {Int32GetDatum(entry.st_procpid), ObjectIdGetDatum(entry.st_userid),
                          ObjectIdGetDatum(entry.st_progress_command_target),
                          Int64GetDatum(entry.st_progress_param[dpboost::kRoundsDone]),
                          Int64GetDatum(entry.st_progress_param[dpboost::kRoundsTotal])};
        bool nulls[] = {false, false, !OidIsValid(entry.st_progress_command_target), false, false};
        tuplestore_putvalues(store, descriptor, values, nulls);
    }
    return Datum(0);
}
