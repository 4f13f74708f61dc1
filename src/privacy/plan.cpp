// Makes a Plan: requests become demands, demands are calibrated to events, events become scales on the
// lattice, rounded up. From then on the Plan only counts the charges that it issues.
#include "privacy/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/kinds.h"
#include "privacy/accountant/numeric.h"
#include "privacy/pool.h"

namespace dpboost {

// One mechanism of the plan with what was taken of it.
struct Plan::Mechanism {
    std::string name;
    double noise_multiplier = 0;
    double sampling_rate = 1;
    uint64_t rounds = 0;
    uint64_t charges_left = 0;
    std::vector<double> sensitivities;  // per dimension
    std::shared_ptr<const MechanismNoise> noise;
    std::unique_ptr<GaussianPool> pool;  // instead of charges
    bool aside = false;                  // for units that no other mechanism sees
};

namespace {

constexpr double kUnitsPerStep = static_cast<double>(uint64_t{1} << MechanismNoise::kScaleFractionBits);

// A rest that nobody can train with.
constexpr double kNothingLeft = 1e-3;

std::string Format(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

void CheckMechanism(const MechanismRequest& mechanism) {
    auto refuse = [&](const char* what) {
        throw Error(ErrorCode::kInvalidParameter, "mechanism \"" + mechanism.name + "\" " + what);
    };
    const MechanismKind& kind = KindOf(mechanism.kind);
    if (!kind.Has(kDraws))
        refuse("is of a kind that draws no noise");
    if (mechanism.pool) {
        if (mechanism.kind != EventKind::kGaussian || mechanism.count != 1 || mechanism.sampling_rate != 1 ||
            mechanism.filter_rounds != 0 || mechanism.parts != 1 || !mechanism.dimensions.empty())
            refuse("is a pool and must be one full-batch Gaussian without dimensions");
        return;
    }
    if (mechanism.dimensions.empty())
        refuse("has no dimensions");
    if (mechanism.kind == EventKind::kExponential && mechanism.dimensions.size() != 1)
        refuse("chooses among candidates and must have one dimension");
    if (mechanism.parts == 0 || mechanism.parts > kMaxEventCount || mechanism.filter_rounds > kMaxEventCount)
        refuse("has too many rounds or parts");
    double weights = 0;
    for (const Dimension& dimension : mechanism.dimensions) {
        if (!(dimension.sensitivity > 0) || !std::isfinite(dimension.sensitivity))
            refuse("has a sensitivity that is not a positive, finite number");
        if (!(dimension.weight > 0 && dimension.weight <= 1))
            refuse("has a weight that is not above 0 and at most 1");
        if (dimension.sums == 0)
            refuse("draws no sums");
        weights += dimension.weight;
    }
    if (!(std::fabs(weights - 1) < 1e-9))
        refuse("has weights that do not sum to 1");
}

double RoundUpRate(double rate) {
    if (!(rate > 0) || !(rate <= 1))
        throw Error(ErrorCode::kInvalidParameter, "the sampling rate must be above 0 and at most 1");
    return std::ceil(rate * 4294967296.0) / 4294967296.0;
}

double WeightSum(const MechanismRequest& mechanism) {
    double sum = 0;
    for (const Dimension& dimension : mechanism.dimensions)
        sum += dimension.weight;
    return sum;
}

// The demands of a mechanism. Gaussian: one, whatever its dimensions ([SBDT] Thm 16). Laplace: one per
// dimension, with epsilons in proportion to the weights.
std::vector<Demand> Demands(const MechanismRequest& mechanism, double delta) {
    Demand demand{mechanism.kind,  RoundUpRate(mechanism.sampling_rate),
                  mechanism.count, mechanism.filter_rounds > 0,
                  mechanism.share, mechanism.rest};
    if (!KindOf(mechanism.kind).Has(kSplitsByWeight))
        return {demand};
    double total = 0;
    std::vector<double> parts;
    for (const Dimension& dimension : mechanism.dimensions) {
        parts.push_back(delta == 0 ? dimension.weight : dimension.weight * dimension.weight);
        total += parts.back();
    }
    std::vector<Demand> demands;
    for (double part : parts) {
        demands.push_back(demand);
        demands.back().share *= part / total;
        demands.back().rest *= part / total;
    }
    return demands;
}

// A scale in units of 2^-20 steps, rounded up, also over the rounding of its computation.
uint64_t ScaleUnits(double steps, const std::string& name) {
    const double units = std::ceil(steps * (1 + 1e-15) * kUnitsPerStep);
    if (!(units >= 1 && units <= static_cast<double>(uint64_t{1} << 60)))
        throw Error(ErrorCode::kInvalidParameter, "the noise of mechanism \"" + name + "\" is out of range",
                    "It must lie between 2^-20 and 2^40 lattice steps.",
                    "Use a coarser lattice or a larger epsilon.");
    return static_cast<uint64_t>(units);
}

// More noise everywhere, by one factor.
std::vector<Event> Scaled(std::vector<Event> events, double factor) {
    for (Event& event : events)
        event.parameter =
            KindOf(event).Has(kParameterIsNoise) ? event.parameter * factor : event.parameter / factor;
    return events;
}

[[noreturn]] void ThrowExhausted(const PlanRequest& request, const BudgetConstraint& constraint,
                                 double left) {
    const std::string name = constraint.name.empty() ? "" : " of " + constraint.name;
    if (constraint.budget.order() == kInfiniteOrder && request.delta > 0)
        throw Error(ErrorCode::kBudgetExhausted,
                    "privacy budget" + name + " allows only pure differential privacy",
                    "The budget has delta 0, and the training was asked for with delta " +
                        Format(request.delta) + ".",
                    "Choose a method with delta 0, or ask the table's owner for a budget with a delta.");
    if (left < kNothingLeft)
        throw Error(
            ErrorCode::kBudgetExhausted, "privacy budget" + name + " is exhausted",
            "The training needs epsilon " + Printed(request.epsilon) + ", and less than 0.001 is left.",
            "Ask the table's owner to raise the limit.");
    throw Error(
        ErrorCode::kBudgetExhausted,
        "privacy budget" + name + " does not allow epsilon " + Printed(request.epsilon),
        "Epsilon " + Format(left) + " is left at delta " + Printed(request.delta) + ".",
        "Ask for at most " + Printed(RoundedDown(left)) + ", or ask the table's owner to raise the limit.");
}

// The least factor by which all noise must grow until rho at the order is within what is left.
double RenyiFactor(const std::vector<Event>& events, uint32_t order, double left) {
    auto excess = [&](double x) { return EventsRdp(Scaled(events, x), order) - left; };
    double low = 1;
    double f_low = excess(low);
    if (f_low <= 0)
        return 1;
    if (!(left > 0) || !std::isfinite(f_low))
        return std::numeric_limits<double>::infinity();
    double high = low;
    double f_high = f_low;
    while (f_high > 0) {
        low = high;
        f_low = f_high;
        high *= 1.25;
        f_high = excess(high);
        CheckInternal(high < 1e9, "no noise satisfies the privacy budget");
    }
    return SolveDecreasing(excess, low, f_low, high, f_high, 1e-9);
}

// The least factor by which all noise must grow for one budget, by whichever of its filters needs less; 1 if
// the events fit as they are. A budget whose remainder is worth less than the epsilon asked for (and into
// which the events do not fit) refuses.
double BudgetFactor(const PlanRequest& request, const std::vector<Event>& events,
                    const BudgetConstraint& constraint) {
    const Budget& budget = constraint.budget;
    if (budget.TakesAlone(request.epsilon, request.delta))
        return 1;
    const double mu_squared = GaussianMuSquared(events);
    const bool gaussian = std::isfinite(mu_squared);
    const BudgetRoom room = budget.Room(gaussian);
    double factor = std::numeric_limits<double>::infinity();
    if (room.mu_squared > 0)
        factor = mu_squared <= room.mu_squared ? 1 : std::sqrt(mu_squared / room.mu_squared) * (1 + 1e-14);
    if (factor > 1)
        factor = std::min(factor, RenyiFactor(events, budget.order(), room.rho));
    if (factor > 1) {
        const double left = budget.RoomEpsilon(gaussian, request.delta);
        if (!std::isfinite(factor) || !(request.epsilon <= left * (1 + 1e-9)))
            ThrowExhausted(request, constraint, left);
    }
    return factor;
}

}  // namespace

Plan::Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

// The scales of a mechanism, from its events.
Plan::Mechanism Plan::MakeMechanism(const MechanismRequest& wanted, const Event* events) {
    const MechanismKind& kind = KindOf(wanted.kind);
    auto noise = std::make_shared<MechanismNoise>();
    noise->kind = wanted.kind;
    double pure_epsilon = 0;
    for (std::size_t d = 0; d < wanted.dimensions.size(); ++d) {
        const Event& event = events[kind.Has(kSplitsByWeight) ? d : 0];
        const Dimension& dimension = wanted.dimensions[d];
        const double steps =
            kind.scale(event.parameter, dimension.sensitivity, dimension.weight / WeightSum(wanted));
        noise->scale_units.push_back(ScaleUnits(steps, wanted.name));
        noise->max_sums.push_back(dimension.sums);
        pure_epsilon += event.parameter;
    }
    Mechanism mechanism;
    mechanism.name = wanted.name;
    mechanism.noise_multiplier = kind.Has(kParameterIsNoise) ? events[0].parameter : 1 / pure_epsilon;
    mechanism.sampling_rate = events[0].sampling_rate;
    mechanism.rounds = wanted.count + wanted.filter_rounds;
    mechanism.charges_left = mechanism.rounds * wanted.parts;
    for (const Dimension& dimension : wanted.dimensions)
        mechanism.sensitivities.push_back(dimension.sensitivity);
    mechanism.noise = std::move(noise);
    if (wanted.pool) {
        mechanism.charges_left = 0;
        mechanism.pool = std::make_unique<GaussianPool>(mechanism.noise_multiplier);
    }
    return mechanism;
}

void Plan::AddAside(const MechanismRequest& wanted) {
    CheckMechanism(wanted);
    CheckInternal(wanted.kind == EventKind::kGaussian && wanted.count == 1 && wanted.sampling_rate == 1 &&
                      wanted.filter_rounds == 0 && wanted.parts == 1 && !wanted.pool && wanted.share == 0 &&
                      wanted.rest == 0,
                  "a draw aside is one full-batch Gaussian whose noise follows from the others");
    if (!IsGaussianFullBatch(release_.events))
        throw Error(ErrorCode::kUnsupported, "a hold-out needs a method with Gaussian noise on all rows",
                    "Evaluating it costs nothing more only if the training's own loss has that form.",
                    "Use method \"auto\", or evaluate with dpboost_evaluate.");
    // Above the rounding of the root, so that its mu^2 stays below that of the others.
    release_.aside = Event::Gaussian((1 + 1e-12) / std::sqrt(GaussianMuSquared(release_.events)), 1);
    mechanisms_.push_back(MakeMechanism(wanted, &*release_.aside));
    mechanisms_.back().aside = true;
}

Plan Plan::Calibrate(const PlanRequest& request) {
    CheckEpsilonDelta(request.epsilon, request.delta);
    std::vector<Demand> demands;
    std::vector<std::size_t> first_event;
    for (const MechanismRequest& mechanism : request.mechanisms) {
        CheckMechanism(mechanism);
        first_event.push_back(demands.size());
        for (const Demand& demand : Demands(mechanism, request.delta))
            demands.push_back(demand);
    }
    Calibration calibration = dpboost::Calibrate(demands, request.epsilon, request.delta);
    Plan plan;
    Cost& release = plan.release_;
    release.delta = request.delta;
    release.epsilon = request.epsilon;
    release.calibrated_by = calibration.by;
    double factor = 1;
    for (const BudgetConstraint& constraint : request.budgets)
        factor = std::max(factor, BudgetFactor(request, calibration.events, constraint));
    release.events = factor > 1 ? Scaled(calibration.events, factor) : calibration.events;
    if (factor > 1) {
        release.calibrated_by = CalibratedBy::kBudget;
        // More noise keeps what was proven before. (A proof of epsilon 0 at delta is left out: a release that
        // claims to cost nothing is not one.)
        const double proven = ProvenEpsilon(release.events, request.delta);
        if (proven > 0)
            release.epsilon = std::min(request.epsilon, proven);
    }
    release.curve = EventsCurve(release.events);

    for (std::size_t i = 0; i < request.mechanisms.size(); ++i)
        plan.mechanisms_.push_back(MakeMechanism(request.mechanisms[i], &release.events[first_event[i]]));
    if (request.aside)
        plan.AddAside(*request.aside);
    return plan;
}

Charge Plan::Take(MechanismId id) {
    CheckInternal(id < mechanisms_.size(), "the plan has no such mechanism");
    Mechanism& mechanism = mechanisms_[id];
    CheckInternal(!mechanism.aside, "the draw aside is not for the rows of the others");
    CheckInternal(mechanism.charges_left > 0, "the plan has no charge left for this mechanism");
    --mechanism.charges_left;
    return Charge(mechanism.noise);
}

Charge Plan::TakeAside(MechanismId id) {
    CheckInternal(id < mechanisms_.size() && mechanisms_[id].aside, "the plan has no such draw aside");
    CheckInternal(mechanisms_[id].charges_left > 0, "the plan has no charge left for this mechanism");
    --mechanisms_[id].charges_left;
    return Charge(mechanisms_[id].noise);
}

Charge Plan::TakePart(MechanismId id, uint64_t parts, double sensitivity, std::size_t sums) {
    CheckInternal(id < mechanisms_.size() && mechanisms_[id].pool != nullptr, "the plan has no such pool");
    return Charge(mechanisms_[id].pool->Take(parts, sensitivity, sums));
}

uint64_t Plan::PartsLeft(MechanismId id) const {
    CheckInternal(id < mechanisms_.size() && mechanisms_[id].pool != nullptr, "the plan has no such pool");
    return mechanisms_[id].pool->parts_left();
}

bool Plan::Finished() const {
    return std::all_of(mechanisms_.begin(), mechanisms_.end(), [](const Mechanism& mechanism) {
        return mechanism.charges_left == 0 &&
               (mechanism.pool == nullptr || mechanism.pool->parts_left() == 0);
    });
}

MechanismId Plan::Find(const std::string& name) const {
    for (std::size_t i = 0; i < mechanisms_.size(); ++i)
        if (mechanisms_[i].name == name)
            return i;
    throw Error(ErrorCode::kInternal, "the plan has no mechanism \"" + name + "\"");
}

double Plan::NoiseMultiplier(MechanismId id) const {
    CheckInternal(id < mechanisms_.size(), "the plan has no such mechanism");
    return mechanisms_[id].noise_multiplier;
}

double Plan::ScaleInSteps(MechanismId id, std::size_t dimension) const {
    CheckInternal(id < mechanisms_.size() && dimension < mechanisms_[id].noise->scale_units.size(),
                  "the plan has no such dimension");
    return static_cast<double>(mechanisms_[id].noise->scale_units[dimension]) / kUnitsPerStep;
}

double Plan::Sensitivity(MechanismId id, std::size_t dimension) const {
    CheckInternal(id < mechanisms_.size() && dimension < mechanisms_[id].sensitivities.size(),
                  "the plan has no such dimension");
    return mechanisms_[id].sensitivities[dimension];
}

EventKind Plan::Kind(MechanismId id) const {
    CheckInternal(id < mechanisms_.size(), "the plan has no such mechanism");
    return mechanisms_[id].noise->kind;
}

uint64_t Plan::Rounds(MechanismId id) const {
    CheckInternal(id < mechanisms_.size(), "the plan has no such mechanism");
    return mechanisms_[id].rounds;
}

double Plan::SamplingRate(MechanismId id) const {
    CheckInternal(id < mechanisms_.size(), "the plan has no such mechanism");
    return mechanisms_[id].sampling_rate;
}

}  // namespace dpboost
