#include "postgres/reading/quiet.h"

#include "postgres/reading/fresh_settings.h"

namespace dpboost {
namespace {

// ---- the client ----

const PQcommMethods* client_methods;
PQcommMethods quiet_methods;

// Notices of any level (INFO and LOG, too, which client_min_messages or a function's own settings let
// through) go nowhere, nor do settings that are only changed for a while (13 tells them at once). Errors and all
// else pass.
int PutMessage(char type, const char* body, size_t size) {
    return type == 'N' || type == 'S' ? 0 : client_methods->putmessage(type, body, size);
}

void SilenceNotices() {
    if (PqCommMethods == &quiet_methods)
        return;  // a view whose function trains
    client_methods = PqCommMethods;
    quiet_methods = *client_methods;
    quiet_methods.putmessage = PutMessage;
    PqCommMethods = &quiet_methods;
}

// ---- the stack ----

// Depth is measured anew from here, up to three quarters of what the server allows: a caller can use the
// rest or leave it, and a value that is nested too deep is so for everybody.
constexpr int kKeptQuarters = 3;

void CheckDepth(const Quiet* quiet) {
    const char* here = static_cast<const char*>(__builtin_frame_address(0));
    const long used = static_cast<const char*>(quiet->stack_base) - here;
    if (used <= max_stack_depth * 1024L / 4 * (4 - kKeptQuarters))
        return;
    restore_stack_base(quiet->stack_base);
    ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
                    errmsg("cannot train with a privacy budget from deep inside other functions"),
                    errdetail("A quarter of \"max_stack_depth\" is used up before the first row is read."),
                    errhint("Call it from fewer functions that call each other.")));
}

// ---- settings ----

void PinMessagesAndCounters() {
    PinSetting("client_min_messages", "error");
    PinSetting("debug_print_parse", "off");
    PinSetting("debug_print_rewritten", "off");
    PinSetting("debug_print_plan", "off");
    PinSetting("track_counts", "off");
    PinSetting("track_functions", "none");
    // Of modules that count or print statements, those inside a view's functions among them.
    static constexpr const char* const kModules[][2] = {
        {"auto_explain.log_min_duration", "-1"}, {"pg_qualstats.enabled", "off"},
        {"pg_stat_kcache.track", "none"},        {"pg_stat_monitor.pgsm_track", "none"},
        {"pg_stat_statements.track", "none"},    {"pg_store_plans.track", "none"},
    };
    for (const auto& module : kModules)
        if (GetConfigOption(module[0], true, false) != nullptr)
            PinSetting(module[0], module[1]);
}

}  // namespace

void QuietBegin(Quiet* quiet, Oid owner) {
    quiet->buffers = pgBufferUsage;
    quiet->wal = pgWalUsage;
    quiet->client = PqCommMethods;
    quiet->read_only = XactReadOnly;
    GetUserIdAndSecContext(&quiet->user, &quiet->security);
    ShortLocksBegin(&quiet->locks);
    quiet->settings_level = NewGUCNestLevel();
    quiet->stack_base = set_stack_base();
    CheckDepth(quiet);
    PG_TRY();
    {
        SilenceNotices();
        PinFreshSettings(owner);
        PinMessagesAndCounters();
        PinSetting("search_path", "pg_catalog, pg_temp");
        // All rows, or an error: a policy that is forced on the owner hides some.
        PinSetting("row_security", "off");
        // What a function writes, or that it takes a transaction number for it, would tell that it was called.
        XactReadOnly = true;
        PinSetting("max_stack_depth", psprintf("%d", Max(100, max_stack_depth / 4 * kKeptQuarters)));
        SetUserIdAndSecContext(
            quiet->user, quiet->security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    }
    PG_CATCH();
    {
        QuietRestore(quiet);
        PG_RE_THROW();
    }
    PG_END_TRY();
}

void QuietRestore(const Quiet* quiet) {
    restore_stack_base(quiet->stack_base);
    pgBufferUsage = quiet->buffers;
    pgWalUsage = quiet->wal;
    PqCommMethods = quiet->client;
    XactReadOnly = quiet->read_only;
}

void QuietEnd(Quiet* quiet) {
    SetUserIdAndSecContext(quiet->user, quiet->security);
    AtEOXact_GUC(false, quiet->settings_level);  // also what functions have set
    ShortLocksEnd(&quiet->locks);
    QuietRestore(quiet);
}

}  // namespace dpboost
