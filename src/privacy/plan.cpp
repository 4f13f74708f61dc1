// Makes a Plan: requests become demands, demands are calibrated to events, events become scales on the
// lattice, rounded up. From then on the Plan only counts the charges that it issues.
#include "privacy/plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/kinds.h"
#include "privacy/budget_factor.h"
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
    std::size_t first_event = 0;
};

namespace {

constexpr double kLastDigits = 1e-9;
constexpr double kUnitsPerStep = static_cast<double>(uint64_t{1} << MechanismNoise::kScaleFractionBits);

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

std::vector<Demand> AllDemands(const PlanRequest& request) {
    CheckEpsilonDelta(request.epsilon, request.delta);
    std::vector<Demand> demands;
    for (const MechanismRequest& mechanism : request.mechanisms) {
        CheckMechanism(mechanism);
        for (const Demand& demand : Demands(mechanism, request.delta))
            demands.push_back(demand);
    }
    return demands;
}

// Whether events that another server announces are those of the request, and what they cost is what it asks for. Returns what
// is proven of them.
double CheckAnnounced(const PlanRequest& request, const std::vector<Demand>& demands, const Cost& announced) {
    const auto require = [](bool condition, const char* what) {
        if (!condition)
            throw Error(ErrorCode::kInvalidParameter, "the announced plan is not one of this training", what);
    };
    require(!request.aside && !announced.aside, "A hold-out is not part of a training on several servers.");
    require(announced.events.size() == demands.size(), "It has another number of mechanisms.");
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Event& event = announced.events[i];
        require(event.kind == demands[i].kind && event.count == demands[i].count &&
                    event.sampling_rate == demands[i].sampling_rate && event.filtered == demands[i].filtered,
                "One of its mechanisms is of another kind, or has other rounds.");
    }
    require(announced.delta == request.delta, "Its delta is not the one asked for.");
    // Machines differ in last digits; grids, which closed forms do without, are within a ten-thousandth (Cost::Replay).
    const double slack = IsGaussianFullBatch(announced.events) ? kLastDigits : 1e-4;
    const double proven = ProvenEpsilon(announced.events, request.delta);
    require(proven <= request.epsilon * (1 + slack), "Its noise does not suffice for the epsilon asked for.");
    return proven;
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

// The mechanisms of the request, each with its events of the release.
void Plan::MakeMechanisms(const PlanRequest& request) {
    std::size_t first_event = 0;
    for (const MechanismRequest& mechanism : request.mechanisms) {
        mechanisms_.push_back(MakeMechanism(mechanism, &release_.events[first_event]));
        mechanisms_.back().first_event = first_event;
        first_event += Demands(mechanism, request.delta).size();
    }
}

Plan Plan::Calibrate(const PlanRequest& request) {
    const std::vector<Demand> demands = AllDemands(request);
    Calibration calibration = dpboost::Calibrate(demands, request.epsilon, request.delta);
    Plan plan;
    Cost& release = plan.release_;
    release.delta = request.delta;
    release.epsilon = request.epsilon;
    release.calibrated_by = calibration.by;
    const double factor = BudgetFactor(request, calibration.events).factor;
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

    plan.MakeMechanisms(request);
    if (request.aside)
        plan.AddAside(*request.aside);
    return plan;
}

Plan Plan::FromRelease(const PlanRequest& request, std::string_view announced) {
    const std::vector<Demand> demands = AllDemands(request);
    Plan plan;
    Cost& release = plan.release_ = Cost::Parse(announced);
    const double proven = CheckAnnounced(request, demands, release);
    if (const NeededNoise needed = BudgetFactor(request, release.events); needed.factor > 1)
        throw Error(ErrorCode::kBudgetExhausted,
                    "privacy budget of " + needed.by->name + " allows the training only with more noise",
                    "Servers that train together draw the noise that was announced.",
                    "Lower epsilon, or ask the table's owner to raise the limit.");
    // Who announces a little less noise than was asked for has it said so.
    release.epsilon = proven > request.epsilon * (1 + kLastDigits) ? proven : request.epsilon;
    release.curve = EventsCurve(release.events);
    plan.MakeMechanisms(request);
    return plan;
}

void Plan::SetNoiseFactor(double factor) {
    CheckInternal(factor >= 1 && std::isfinite(factor),
                  "servers together draw no less noise than was planned");
    noise_factor_ = factor;
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
    return mechanisms_[id].noise_multiplier * noise_factor_;
}

double Plan::ScaleInSteps(MechanismId id, std::size_t dimension) const {
    CheckInternal(id < mechanisms_.size() && dimension < mechanisms_[id].noise->scale_units.size(),
                  "the plan has no such dimension");
    return static_cast<double>(mechanisms_[id].noise->scale_units[dimension]) / kUnitsPerStep * noise_factor_;
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

std::size_t Plan::FirstEvent(MechanismId id) const {
    CheckInternal(id < mechanisms_.size() && !mechanisms_[id].aside, "the plan has no such mechanism");
    return mechanisms_[id].first_event;
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
