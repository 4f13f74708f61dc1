// The budgets that a training must respect: the caps of the relations it reads and of their populations, and the
// allowances of the roles that the caller acts for. What is read here, before any row, makes a hopeless training fail fast and
// tells the Plan how much noise each budget asks for; the binding check is the ledger worker's.
#pragma once

#include "training/result.h"

#include "postgres/boundary/pg.h"
#include "postgres/catalog/relations.h"
#include "postgres/limits/renewal.h"
#include "privacy/spent.h"

namespace dpboost {

// Why a caller may train on a relation, and with whose rights its rows are then read.
enum class TrainRight : int32 {
    kSelect = 1,  // the caller may SELECT: read as the caller, so that row security and views hold as usual
    kBudget = 2,  // the caller (or a role whose privileges he has) has an allowance: read as the owner
};

// One budget with what was spent of it. `role_name` is empty for a cap. That of a population is there once for each of
// its relations that are read: each with the privacy unit of that relation, all with the same figures.
struct BudgetState {
    Oid relid;            // 0: a population as such
    Oid role;             // 0 for a cap
    int64 population_id;  // of a population's cap; else 0
    int32
        position;  // of the relation among those that the budgets were looked up for, or of what counts for it
    char population_name[NAMEDATALEN];  // to which the relation belongs; empty: to none
    char relation_name[NAMEDATALEN];
    char relation_kind[24];  // "table", "view", ...: for messages
    char role_name[NAMEDATALEN];
    char granted_name[NAMEDATALEN];  // of an allowance: the role's name when it was set
    double epsilon;
    double delta;
    uint32 order;                    // the Renyi order that was fixed when the limit was set
    BudgetSpent spent;               // at that order, and as Gaussian DP; rounded up
    double max_epsilon_per_train;    // infinity: none
    char privacy_unit[NAMEDATALEN];  // of a cap; empty: rows
    int64 earlier_releases;          // of a cap: those for another privacy unit that its owner has accepted
    int64 earlier_until;             // the last of them
    bool renews;                     // of an allowance: only what was spent in its window counts
    RenewalWindow window;
    Interval renew;
    int64
        unit_state_id;  // of a cap by which every person has an account (units/unit_state.h); 0: it counts releases
    double alert_below;  // after a charge: it took this budget below that part of its limit; 0: it did not
};

struct BudgetList {
    int count;
    BudgetState items[FLEXIBLE_ARRAY_MEMBER];
};

constexpr double kMaxEpsilon = 100, kMaxDelta = 1e-3;

// Whether `caller` may train on these columns (attribute numbers; none: on the relation as such). An
// allowance is preferred over SELECT, because it reads all rows and is what its owner decided. Raises 42501
// if neither is there.
TrainRight CheckMayTrain(Oid caller, Oid relid, const AttrNumber* columns, int column_count);

// Every cap and allowance that a release by `caller` over these relations would be charged to, as last
// committed (also in a REPEATABLE READ transaction) plus what this transaction did itself.
BudgetList* LoadBudgets(Oid caller, const RelationSet* relations);

// Inside a catalog scope: every cap and allowance on the relations, whoever spends them, without what was
// spent.
struct Identities;
BudgetList* CollectLimits(const RelationSet* relations, const Identities* identities);

// The same outside of one.
BudgetList* LoadLimits(const RelationSet* relations);

// Charges a release (a serialised Cost) to all of them, or raises 53400 for the first that has no room.
void ChargeBudgets(BudgetList* budgets, const char* plan_bytes, size_t plan_size);

// Raises 53400 if one of the budgets allows less per training.
void CheckPerTrainLimit(const BudgetList* budgets, double epsilon, double delta);

// Whether what one role releases counts as released by the other: itself, or one whose privileges it has. A
// superuser has all privileges, but stands only for himself.
bool ActsFor(Oid caller, Oid role);

// Whether any of the relations has a cap or an allowance; on such "options.bounds" may only narrow.
bool IsGoverned(const RelationSet* relations);

// Who: `role "ana" on table "visits"` or `table "visits"`, as in `privacy budget of ... is exhausted`; the
// name to give to a BudgetConstraint. Palloc'ed.
char* DescribeBudget(const BudgetState* budget);

// What each of them has left, for the result of dpboost_train and dpboost_estimate; as many as there are budgets. With
// a serialised plan: what would be left after it. Palloc'ed.
RemainingBudget* RemainingBudgets(const BudgetList* budgets, const char* plan_bytes, size_t plan_size);

}  // namespace dpboost
