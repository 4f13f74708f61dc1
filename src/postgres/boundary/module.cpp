// The loadable module: what PostgreSQL looks for when it opens the library, and which version it found.
#include <sodium.h>

#include "postgres/boundary/pg.h"
#include "postgres/boundary/settings.h"
#include "postgres/federation/federation.h"
#include "postgres/ledger/ledger.h"

extern "C" {
PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PG_FUNCTION_INFO_V1(dpboost_version);
}

void _PG_init(void) {
    if (sodium_init() < 0)
        ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not initialize libsodium")));
    dpboost::DefineLedgerSettings();
    dpboost::DefineFederationSettings();
    dpboost::DefineSettings();
}

// The version of the library that is loaded, which may differ from the version of the installed SQL objects.
Datum dpboost_version(PG_FUNCTION_ARGS) {
    (void)fcinfo;
    PG_RETURN_TEXT_P(cstring_to_text(DPBOOST_VERSION));
}
