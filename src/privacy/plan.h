// The Plan of one training: its mechanisms, the noise of each, and the proof of their total, made before any
// row is read. Mechanisms draw only against charges that the Plan issues, so noise that was not accounted for
// cannot be drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/budget.h"
#include "privacy/charge.h"
#include "privacy/cost.h"
#include "privacy/events.h"

namespace dpboost {

// One block of sums that gets noise of one scale: a unit changes the vector of its sums by at most
// `sensitivity` lattice steps, in L2 norm for Gaussians and in L1 norm for Laplace; for the exponential
// mechanism each utility changes by at most that. Under add/remove of one unit; the learner makes it true by
// clipping and rounding.
//
// Laplace: the accountant composes the loss of one sum that changes by the whole sensitivity. That covers a
// change spread over several sums, e_1 + ... + e_k <= e in scales: moving one sum after the other is a chain
// of k neighbours, so the trade-off function of the block is at least the composite of those of the single
// steps (group privacy, [DRS22] Thm 2.14), and for a log-concave density, where likelihood
// ratio tests are thresholds, that composite is exactly the trade-off function of one sum moved by e.
struct Dimension {
    double sensitivity = 0;  // lattice steps, > 0
    double weight = 1;       // r_d of [SBDT] Thm 16 (leaf-balanced: Hessian r1, gradient r2); they sum to 1
    std::size_t sums = 1;    // at most so many values per draw
};

// One mechanism of a training. Its noise comes from `share`, or from `rest`, not both:
// share: fixed up front, mu_i^2 = share * mu(epsilon, delta)^2 spread over the count (delta = 0: share of
//   epsilon); for other mechanisms than the full-batch Gaussian what is equivalent to that in first order;
// rest: weight among those that get what the total leaves, calibrated jointly with everything else.
// If no mechanism has a rest, the shares are taken as weights and the whole budget is used.
struct MechanismRequest {
    std::string name;
    EventKind kind = EventKind::kGaussian;  // kGaussian, kLaplace, kExponential
    uint64_t count = 1;                     // rounds accounted for
    double sampling_rate = 1;               // rounded up to a multiple of 2^-32
    double share = 0;
    double rest = 0;
    std::vector<Dimension> dimensions;
    uint64_t filter_rounds = 0;  // extra rounds under a Renyi filter (renyi_filter.h): RDP only
    uint64_t parts = 1;  // each round may draw so often, on disjoint sets of units (parallel composition)
    bool pool = false;   // a full-batch Gaussian that is spent in parts (gaussian_pool.h); no dimensions
};

struct PlanRequest {
    double epsilon = 0;
    double delta = 0;
    std::vector<MechanismRequest> mechanisms;
    std::vector<BudgetConstraint> budgets;  // none: only its own epsilon limits the training
    // One draw on units that no other mechanism of the plan sees (a hold-out). Full-batch Gaussian, of one round,
    // without share or rest: its noise follows from the others, see Calibrate.
    std::optional<MechanismRequest> aside = {};
};

using MechanismId = std::size_t;  // index into PlanRequest::mechanisms; one more: aside

class Plan {
  public:
    // The least noise that satisfies (epsilon, delta) and all budgets. Closed-form Gaussian DP if everything
    // is full-batch Gaussian; Renyi at the best order under a filter; basic composition for delta = 0; else
    // the privacy loss distribution of everything together (or Renyi if that is better). If a budget leaves
    // at least the epsilon asked for but each of its filters needs more noise, all noise is scaled up until
    // one of them lets it through ("budget").
    //
    // The draw aside is as private as all others together, and adds nothing to the cost. Neighbours: add or remove one
    // unit. Claim: if the others are full-batch Gaussian and hence mu-GDP together, and each unit takes part either in
    // them or in the draw aside, by a coin that no unit influences, then a draw aside of noise multiplier 1/mu leaves
    // the whole mu-GDP. Proof: fix all coins. If the unit is on the side of the others, they are mu-GDP, and the draw
    // aside is a randomised function of their results and of rows that both neighbours have: post-processing. If it is
    // aside, what the others release has the same distribution for both neighbours, and given it the draw aside is
    // mu-GDP. So for any coins, and any test of level a, the error of the second kind is at least G_mu(a); over coins,
    // whose distribution the neighbours share, it is at least E G_mu(a) >= G_mu(E a), because G_mu is convex: parallel
    // composition. The larger of two different curves would be no list of events, so others refuse.
    //
    // Throws kInvalidParameter, kUnsupported (a combination without a proof), or kBudgetExhausted, each with
    // what would be possible.
    static Plan Calibrate(const PlanRequest& request);

    // The plan of the same request that another server has calibrated and announced (Serialize). Its figures are not
    // believed: the events must be those that the request calls for, in kind, number and sampling; what they cost is
    // computed here, and refused if it is more than the request's epsilon. Its noise is kept as it was announced, to the
    // last bit, so that servers draw alike. A budget that does not allow it as it is refuses. Throws as Calibrate does,
    // and kInvalidParameter for a plan that is not one of this request.
    static Plan FromRelease(const PlanRequest& request, std::string_view announced);

    Plan(Plan&&) noexcept;
    Plan& operator=(Plan&&) noexcept;
    ~Plan();

    // The next charge of a mechanism: (count + filter_rounds) * parts of them exist; throws kInternal beyond.
    Charge Take(MechanismId id);
    // The charge of the draw aside; Take does not give it, so that nobody spends it on units of the others.
    Charge TakeAside(MechanismId id);
    // Part of a pool, for one draw (gaussian_pool.h); throws kInternal beyond what is left.
    Charge TakePart(MechanismId id, uint64_t parts, double sensitivity, std::size_t sums);
    uint64_t PartsLeft(MechanismId id) const;  // of GaussianPool::kParts
    bool Finished() const;                     // every charge and every part was taken

    // Of a training on several servers, whose shares add up to more noise than the proof needs: `factor` (1 or more)
    // times the standard deviation that was accounted for. Charges, events and cost stay as they are; NoiseMultiplier and
    // ScaleInSteps, which tell learners what noise to expect, are of the total from then on.
    void SetNoiseFactor(double factor);
    double noise_factor() const { return noise_factor_; }

    MechanismId Find(const std::string& name) const;  // throws kInternal if there is none
    // s = sigma / L2 sensitivity of a Gaussian; for Laplace and the exponential mechanism 1 / epsilon per
    // use.
    double NoiseMultiplier(MechanismId id) const;
    // sigma (or b, or the temperature) of a dimension in lattice steps, as the draws have it: to shrink by.
    double ScaleInSteps(MechanismId id, std::size_t dimension) const;
    // By how much a unit may change the sums of a dimension, in lattice steps: what the proof accounts for.
    double Sensitivity(MechanismId id, std::size_t dimension) const;
    EventKind Kind(MechanismId id) const;
    std::size_t FirstEvent(MechanismId id) const;  // of a mechanism in events()
    uint64_t Rounds(MechanismId id) const;         // count + filter_rounds
    double SamplingRate(MechanismId id) const;     // as rounded up: sample with exactly this

    double epsilon() const {
        return release_.epsilon;
    }  // proven; below the request only if a budget bound it
    double delta() const { return release_.delta; }
    const std::vector<Event>& events() const { return release_.events; }
    const RdpCurve& curve() const { return release_.curve; }
    std::string calibrated_by() const { return CalibratedByName(release_.calibrated_by); }

    const Cost& release() const { return release_; }
    std::string Serialize() const { return release_.Serialize(); }  // for the ledger; Cost::Parse, Replay

  private:
    struct Mechanism;
    Plan();
    static Mechanism MakeMechanism(const MechanismRequest& wanted, const Event* events);
    void MakeMechanisms(const PlanRequest& request);
    void AddAside(const MechanismRequest& wanted);

    std::vector<Mechanism> mechanisms_;
    Cost release_;
    double noise_factor_ = 1;
};

}  // namespace dpboost
