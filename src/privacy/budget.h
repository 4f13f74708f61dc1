// A privacy budget: an (epsilon, delta) limit on everything that is ever released against it, kept by filters
// that let a training through or refuse it. The promise holds for an analyst who chooses each training after
// seeing the results of all earlier ones. Every figure is rounded against the spender.
//
// The rule. Every release has rho, its Renyi divergence at the limit's one order, and mu^2, which is infinite
// unless all its noise is full-batch Gaussian. Sums run over all releases, the one in question included.
// (a) The first release is let through if it is itself proven to be (e, d)-DP with e <= epsilon, d <= delta.
// (b) If the first release was not Gaussian: while the sum of rho is at most what is worth (epsilon, delta).
// (c) If it was: while the sum of mu^2 is at most what is worth (epsilon, 4/5 delta), or the sum of rho at
//     most what is worth (epsilon, 1/5 delta).
// delta = 0: rho is the pure epsilon, and (b) holds however it began.
//
// Proof. Neighbours: add or remove one unit; fix two, with laws P and P' of the transcript T, which holds all
// trainings asked for and all results. The analyst's coins may be fixed too. Then the first training is fixed:
// nothing that depends on rows was seen before it, but for what other limits count (another role's releases),
// which is taken as given here. So each case may be proven by itself.
// (a) If the first release alone exceeds what (b) or (c) allow, nothing follows it, since sums only grow: the
//     claim is its own proof. If not, (b) or (c) covers it.
// (b) A Renyi filter: stopping before the sum of adaptively chosen divergences at a fixed order exceeds a
//     fixed limit keeps the whole (order, limit)-RDP ([FZ21] Thm 4.3; [LECUYER21]), and [SBDT] Cor 6 turns
//     that into (epsilon, delta). At order infinity that is basic composition ([RRUV16]).
// (c) Call G the transcripts in which the sum of mu^2 stayed within its limit to the end, and R all others: in
//     R the sum of rho did, since every release was let through by one of the two, and a sum that has
//     exceeded its limit never comes back. Let T_G be the same process, stopped before the first training
//     that would take the sum of mu^2 above its limit: a Gaussian filter ([ST22]; the argument of pool.h), so
//     it is (epsilon, 4/5 delta)-DP. On G nothing is stopped and T_G equals T. So for any set S of transcripts
//         P(T in S and G) = P(T_G in S and G) <= e^epsilon P'(T_G in S and G) + 4/5 delta
//                         = e^epsilon P'(T in S and G) + 4/5 delta.
//     In the same way, with T_R stopped by the sum of rho,
//         P(T in S and R) <= e^epsilon P'(T in S and R) + 1/5 delta. The sum of both is the claim.
//
// Why 4/5: `auto`, the default, is Gaussian. A limit of 1 (delta 1e-6) then holds 72 of its trainings at 0.1,
// where one order at the whole delta holds 64 and halves would hold 69. Ledgers that begin with other noise
// never use the Gaussian filter, so by (b) their order keeps the whole delta.
//
// A table that is attached to another brings its own releases, perhaps older ones. Counting more only refuses more, but
// (b) in the place of (c) would not: so the case stays (c) if the first of the relation's own releases was Gaussian, and
// if it was not, no sum of mu^2 is finite and the filter of (c) asks for less than that of (b) (postgres/ledger/limit_totals).
//
// Order and limits must be fixed before the first release. An owner who changes a limit because of what was
// released steps outside this proof (see postgres/limits/protect.cpp).
#pragma once

#include <cstdint>
#include <string>

#include "privacy/accountant/rdp.h"
#include "privacy/cost.h"
#include "privacy/spent.h"

namespace dpboost {

// What is left, for people.
struct BudgetRemaining {
    double share;  // of the filter that has more left, 0 .. 1
    double
        epsilon;  // full-batch Gaussian noise (delta = 0: a pure training) that asks for at most this is granted
};

// What one more release may cost: either is enough.
struct BudgetRoom {
    double rho;
    double mu_squared;
};

struct BudgetConstraint;

class Budget {
  public:
    // A fresh budget. The order is the one at which a Gaussian-like total uses (epsilon, delta) best;
    // delta = 0 makes a budget of pure epsilon-DP (order infinity), which no Gaussian fits.
    Budget(double epsilon, double delta);
    // A stored one: the order as fixed at creation, and what was spent at that order.
    static Budget Restore(double epsilon, double delta, uint32_t order, const BudgetSpent& spent);
    // The same limit with something else spent.
    Budget WithSpent(const BudgetSpent& spent) const;

    double epsilon() const { return epsilon_; }
    double delta() const { return delta_; }
    uint32_t order() const { return order_; }
    const BudgetSpent& spent() const { return spent_; }

    // Whether a release fits into what is left.
    bool Fits(const Cost& cost) const;
    // Charges it, or throws kBudgetExhausted and charges nothing. `name` as in BudgetConstraint.
    void Spend(const Cost& cost, const std::string& name = {});

    // Case (a): nothing was spent, and a training that is proven for this epsilon and delta fits as it is.
    bool TakesAlone(double epsilon, double delta) const;
    // Cases (b) and (c), for a training of full-batch Gaussian noise only, or another.
    BudgetRoom Room(bool gaussian) const;
    // The epsilon at delta that the room is worth: a training that asks for at most this is granted.
    double RoomEpsilon(bool gaussian, double delta) const;
    BudgetRemaining Remaining() const;
    BudgetConstraint Constraint(std::string name) const;

  private:
    Budget() = default;
    double LimitRho(bool gaussian_first) const;

    double epsilon_ = 0;
    double delta_ = 0;
    uint32_t order_ = 0;
    double limit_mu_squared_ = 0;
    BudgetSpent spent_{};
};

// A budget that a training must respect.
struct BudgetConstraint {
    Budget budget;
    std::string name;  // for messages: `role "ana" on table "visits"` or `table "visits"`
};

// A limit at delta that would have let all the releases through, in this order and chosen on the way, and about
// the smallest; for a single one its own proof. As a limit set in advance it holds for an analyst who adapts.
double AdaptiveEpsilon(const Spent& spent, double delta);

}  // namespace dpboost
