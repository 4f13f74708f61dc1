// The settings under which an owner's view is read in somebody else's session: those that a fresh session of
// the owner would have in this database. A view that can read every row under these must not fail, or mean
// something else, because the caller has set DateStyle, plpgsql.extra_errors or enable_seqscan.
#pragma once

#include "postgres/boundary/pg.h"

namespace dpboost {

// Sets a setting until the enclosing NewGUCNestLevel is undone; nullptr is its reset value.
void PinSetting(const char* name, const char* value);

// Pins every setting that a session can choose to what the server's files, the database or the owner's role
// say. What is left to the caller says how long to wait and how to talk to his client, and settings of no
// library, which a view can only see by asking for them.
void PinFreshSettings(Oid owner);

}  // namespace dpboost
