#include "training/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/current_interrupt.h"
#include "base/error.h"
#include "base/text.h"
#include "learner/evaluation/held_out.h"
#include "mechanism/noise.h"
#include "model/export/exported_model.h"
#include "privacy/accountant/calibrate.h"
#include "privacy/accountant/gdp.h"
#include "privacy/budget_factor.h"
#include "privacy/spent.h"
#include "training/call/call.h"
#include "training/evaluation/evaluation_json.h"
#include "training/private_bounds.h"

namespace dpboost {

namespace {

// Both streams of a training, keyed by the first bytes of a stream that its root seed keys: knowing one key, as the
// servers of a federation know that of their common structure, tells nothing about the other. All keys are wiped.
class Streams {
    static ChaChaSource::Seed NextKey(ChaChaSource& root) {
        ChaChaSource::Seed key;
        root.Fill(key.data(), key.size());
        return key;
    }

    ChaChaSource root_;
    ChaChaSource public_source_{NextKey(root_)};
    ChaChaSource private_source_{NextKey(root_)};
    Random public_random_{public_source_};
    Random private_random_{private_source_};

  public:
    explicit Streams(ChaChaSource::Seed&& seed) : root_(std::move(seed)) {}

    PublicRandom structure{public_random_};
    PrivateRandom coins{private_random_};
    ExactNoise noise{private_random_};
};

// What noise the release had, as far as one figure says it. An update's model is the result of all releases on the way to
// it: each was chosen after those before, and full-batch Gaussian ones compose by adding up mu^2 ([DRS22] Cor 3.3).
void NoteNoise(const Plan& plan, bool continued, Model* model) {
    Evidence evidence = model->evidence();
    const bool gaussian_before = !continued || evidence.noise == NoiseKind::kGaussian;
    const double mu_squared = GaussianMuSquared(plan.events()) / plan.noise_factor() / plan.noise_factor() +
                              (continued ? evidence.mu * evidence.mu : 0);
    const bool gaussian = gaussian_before && std::isfinite(mu_squared);
    evidence.noise = gaussian ? NoiseKind::kGaussian : NoiseKind::kUnstated;
    evidence.mu = gaussian ? std::sqrt(mu_squared) : 0;
    model->SetEvidence(std::move(evidence));
}

// How many releases of this cost the budgets let through, one after the other; so many are enough to say.
int CountThatFit(const std::vector<BudgetConstraint>& budgets, const Cost& cost) {
    constexpr int kMost = 10000;
    std::vector<Budget> left;
    for (const BudgetConstraint& constraint : budgets)
        left.push_back(constraint.budget);
    for (int count = 0; count < kMost; count++)
        for (Budget& budget : left) {
            if (!budget.Fits(cost))
                return count;
            budget.Spend(cost);
        }
    return kMost;
}

}  // namespace

TrainingCore::TrainingCore(const TrainingSchema& schema)
    : options_(OptionsOf(schema)),
      continued_(ModelOf(schema)),
      continued_version_(!schema.continued ? 0 : schema.continued->version),
      target_(TargetOf(schema, options_)),
      columns_(schema.features),
      features_(FeaturesOf(schema, options_)),
      call_specs_(features_.specs),
      weights_(TakeWeights(options_, schema.target, target_, &columns_, &features_)),
      learner_(MakeLearner(options_, features_, target_, schema.methods, continued_)),
      footprint_(learner_->footprint(schema.has_units)),
      parties_(schema.parties),
      buffer_(call_specs_, schema.has_units, weights_),
      held_(schema.memory, schema.unseen) {
    CheckFootprint(footprint_, schema.memory);
    if (continued_)
        CheckGrowth(*continued_, footprint_);
    else if (options_.old_weight >= 0)
        throw Error(ErrorCode::kInvalidParameter, "option \"old_weight\" is for dpboost_update only");
    if (options_.evaluate > 0 && !schema.estimate)
        throw Error(ErrorCode::kInvalidParameter, "option \"evaluate\" is for dpboost_estimate only", {},
                    "Train, then call dpboost_evaluate; or set some people aside with \"holdout\".");
    if (parties_ && options_.holdout > 0)
        throw Error(ErrorCode::kUnsupported, "option \"holdout\" is not for trainings on several servers");
    settings_.threads = schema.threads;
    limits_.memory = schema.memory;
    limits_.learner_bytes = footprint_.bytes;
    limits_.learner_bytes_per_row = footprint_.bytes_per_row;
    if (options_.holdout > 0)  // and so does a split
        limits_.learner_bytes_per_row = std::max(
            limits_.learner_bytes_per_row, HeldOut::SplitBytesPerRow(columns_.size(), schema.has_units));
    if (!features_.find_private.empty())  // Recode holds the rows twice
        limits_.learner_bytes_per_row =
            std::max(limits_.learner_bytes_per_row, RecodeBytesPerRow(columns_.size(), schema.has_units));
    if (schema.unit_limit) {  // accounts are opened before the learner begins, and its filter goes with them
        CheckInternal(schema.has_units, "persons have accounts by their unit");
        account_.emplace(*schema.unit_limit);
        limits_.learner_bytes_per_row = std::max(
            limits_.learner_bytes_per_row + UnitAccount::kBytesPerRowLater, UnitAccount::kBytesPerRow);
    }
    if (weights_.any())
        limits_.learner_bytes_per_row += sizeof(uint16_t);
    for (const FeatureSpec& spec : call_specs_) {
        InterruptScope::Poll();
        encoders_.emplace_back(spec);
    }
    builder_.emplace(features_.specs, target_.spec, schema.has_units, limits_, weights_.any());
    CountMemory();
}

PlanRequest TrainingCore::Request(const std::vector<BudgetConstraint>& budgets) const {
    PlanRequest request;
    request.epsilon = options_.epsilon;
    request.delta = options_.delta;
    request.mechanisms = learner_->Mechanisms();
    if (!features_.find_private.empty())
        request.mechanisms.push_back(PrivateBoundsRequest(features_.find_private.size()));
    if (options_.active_share > 0)
        request.mechanisms.push_back(ActiveRequest(options_.active_share));
    request.budgets = budgets;
    if (options_.holdout > 0) {
        CheckHoldout(request.mechanisms);
        request.aside = EvaluationRequest(target_.spec, HeldOutIntervals(options_));
    }
    return request;
}

// The learner is told what noise the servers together will add.
void TrainingCore::TakePlan(Plan&& plan) {
    plan_.emplace(std::move(plan));
    if (parties_) {
        CheckSharedPlan(*plan_, *parties_);
        plan_->SetNoiseFactor(parties_->Factor());
    }
    learner_->CheckPlan(*plan_, features_.specs.size());
    plan_bytes_ = plan_->Serialize();
}

void TrainingCore::Calibrate(const std::vector<BudgetConstraint>& budgets) {
    TakePlan(Plan::Calibrate(Request(budgets)));
}

void TrainingCore::Adopt(std::string_view announced, const std::vector<BudgetConstraint>& budgets) {
    TakePlan(Plan::FromRelease(Request(budgets), announced));
}

// Throws before anything is charged what the plan could not prove (Plan::Calibrate).
void TrainingCore::CheckHoldout(const std::vector<MechanismRequest>& mechanisms) const {
    for (const MechanismRequest& mechanism : mechanisms)
        if (mechanism.kind != EventKind::kGaussian || mechanism.sampling_rate != 1 ||
            mechanism.filter_rounds > 0)
            throw Error(ErrorCode::kUnsupported,
                        "option \"holdout\" needs a method with Gaussian noise on all rows",
                        "Only then an evaluation on other people is proven to cost nothing more.",
                        "Use method \"auto\", or evaluate with dpboost_evaluate.");
}

void TrainingCore::Consider(const std::vector<BudgetConstraint>& budgets, double most,
                            const char* most_reason) {
    outlook_.known = true;
    outlook_.limited = !budgets.empty();
    try {
        Calibrate(budgets);
        outlook_.fits = options_.epsilon <= most;
        outlook_.reason = outlook_.fits ? "" : most_reason;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::kBudgetExhausted)
            throw;
        outlook_.fits = false;
        outlook_.reason = error.message();
        Calibrate({});
    }
    outlook_.trainings_left = outlook_.fits ? std::max(1, CountThatFit(budgets, plan_->release())) : 0;
    outlook_.would_fit = most;
    for (const BudgetConstraint& constraint : budgets)
        outlook_.would_fit =
            std::min(outlook_.would_fit,
                     GrantedEpsilon(constraint.budget, IsGaussianFullBatch(plan_->events()), options_.delta));
}

void TrainingCore::CountMemory(size_t besides) {
    held_.Count(builder_->memory_used() + buffer_.bytes() + footprint_.bytes + besides);
}

void TrainingCore::AppendRows() {
    CheckInternal(builder_.has_value(), "rows come after the last one");
    AppendBuffered(encoders_, &buffer_, &*builder_, [this] { CountMemory(); });
}

void TrainingCore::FinishRows(Interrupt& interrupt) {
    AppendRows();
    dataset_ = builder_->Finish(interrupt, account_ ? account_->keys() : nullptr);
    builder_.reset();
}

// A hold-out's units pay for the draw aside, which is worth the whole plan and no rounds.
const std::string& TrainingCore::ReserveUnits(Interrupt& interrupt) {
    CheckInternal(account_.has_value() && plan_.has_value() && dataset_.has_value(),
                  "accounts are charged when plan and rows are there");
    const std::string rounds = options_.holdout > 0 ? std::string() : learner_->rounds_mechanism();
    const UnitCharge charge = rounds.empty() ? UnitCharge::Whole(account_->limit(), plan_->release())
                                             : UnitCharge::ByRounds(account_->limit(), plan_->release(),
                                                                    plan_->FirstEvent(plan_->Find(rounds)));
    return account_->Reserve(charge, &*dataset_, interrupt);
}

void TrainingCore::FindPrivateBounds(Dataset* dataset, HeldOut* held_out, Releaser& releaser,
                                     Interrupt& interrupt) {
    const std::vector<size_t>& positions = features_.find_private;
    const std::vector<Bounds> bounds = FindBounds(*dataset, positions, releaser, interrupt);
    for (size_t i = 0; i < positions.size(); ++i) {
        Domain range;
        range.lower = bounds[i].lower;
        range.upper = bounds[i].upper;
        features_.specs[positions[i]] = EncodeRange(columns_[positions[i]], range, options_.bins);
    }
    const auto recode = [&](Dataset rows) {
        return Recode(std::move(rows), features_.specs, positions, limits_, interrupt);
    };
    *dataset = recode(std::move(*dataset));
    if (held_out != nullptr)
        held_out->Replace(recode);
}

void TrainingCore::Train(PaidCharge&& paid, ChaChaSource::Seed&& seed, Interrupt& interrupt,
                         Progress& progress) {
    Streams streams(std::move(seed));
    TrainWith(std::move(paid), streams.structure, streams.coins, streams.noise, interrupt, progress);
}

void TrainingCore::TrainWith(PaidCharge&& paid, PublicRandom& structure, PrivateRandom& coins,
                             NoiseSource& noise, Interrupt& interrupt, Progress& progress) {
    const PaidCharge receipt = std::move(paid);
    CheckInternal(plan_.has_value() && dataset_.has_value(),
                  "a training is calibrated, has its rows, and trains once");
    CheckInternal(receipt.IsFor(plan_bytes_), "a training draws what was paid for");
    CheckInternal(!account_ || account_->reserved(), "a training draws from those who have paid");
    Dataset dataset = std::move(*dataset_);
    dataset_.reset();
    std::optional<HeldOut> held_out;  // before anything reads a row
    if (options_.holdout > 0)
        held_out = HeldOut::Split(&dataset, options_.holdout, coins, limits_, interrupt);
    Releaser releaser(*plan_, noise);
    if (options_.active_share > 0)
        active_ = ReleaseActive(dataset, releaser);
    if (!features_.find_private.empty())
        FindPrivateBounds(&dataset, held_out ? &*held_out : nullptr, releaser, interrupt);
    const bool continued = continued_.has_value();
    Model model = continued ? std::move(*continued_) : Model(features_.specs, target_.spec, learner_->link());
    continued_.reset();
    Run run{dataset, releaser, structure, coins, model, progress, interrupt, settings_};
    run.unit_rounds = account_ ? account_->rounds() : nullptr;
    run.across_servers = parties_.has_value();
    learner_->Train(run);
    // Not of parties, whose rows may be those of units, which the one that coordinates does not see; nor of weights.
    if (!parties_ && !weights_.any())
        shares_ = {run.base_rate, run.class_shares};
    CorrectBases(weights_, &model);
    if (account_)
        settled_units_ = account_->Settle(interrupt);
    NoteNoise(*plan_, continued, &model);
    if (held_out) {
        const double times = options_.holdout / (1 - options_.holdout);
        const bool residuals = HeldOutIntervals(options_);
        evaluation_ = Evaluate(model, 0, *held_out, times, releaser, interrupt, residuals);
        if (residuals) {
            Evidence evidence = model.evidence();
            evidence.residuals = evaluation_->residuals;
            model.SetEvidence(std::move(evidence));
        }
        evaluation_json_ = StoredEvaluation(*evaluation_, target_.spec, plan_->epsilon(), plan_->delta());
    }
    model_bytes_ = model.Serialize();
    std::vector<std::string> types;
    for (const PublicColumn& column : columns_)
        types.emplace_back(column.kind == ValueKind::kDate        ? "date"
                           : column.kind == ValueKind::kTimestamp ? "timestamp"
                                                                  : "");
    features_json_ = DescribeFeatures(features_.specs, types);
}

const char* TrainingCore::task_name() const {
    return TaskName(target_.spec.task());
}

double TrainingCore::noise_multiplier() const {
    return plan_->NoiseMultiplier(plan_->Find(learner_->main_mechanism()));
}

// What the training and one evaluation cost together: mu^2 adds up, or privacy loss distributions compose.
std::string TrainingCore::DescribeTogether() const {
    constexpr double kDelta = 1e-6;
    const double delta = plan_->delta() > 0 ? plan_->delta() : kDelta;
    std::vector<Event> events = plan_->events();
    events.push_back(Event::Gaussian(1 / GdpMu(options_.evaluate, delta), 1));
    JsonList together;
    together.Add("evaluate", JsonNumber(options_.evaluate));
    together.Add("epsilon", JsonNumber(RoundedUp(ProvenEpsilon(events, delta))));
    together.Add("delta", JsonNumber(delta));
    return together.Object();
}

const std::string& TrainingCore::DescribeShares() {
    JsonList description;
    if (shares_.known())
        shares_.Add(target_, &description);
    shares_description_ = description.Object();
    return shares_description_;
}

const std::string& TrainingCore::Describe(const TrainingResult& result) {
    JsonList description;
    if (result.model != nullptr) {
        description.Add("model", JsonString(result.model));
        description.Add("owner", JsonString(result.owner));
        description.Add("version", std::to_string(result.version));
        description.Add("release_id", std::to_string(result.release_id));
        description.Add("live", options_.deploy ? "true" : "false");
    }
    if (continued_version_ > 0)
        description.Add("updates", std::to_string(continued_version_));
    description.Add("task", JsonString(task_name()));
    description.Add("method", JsonString(options_.method->name));
    description.Add("epsilon", JsonNumber(RoundedUp(plan_->epsilon())));
    description.Add("delta", JsonNumber(plan_->delta()));
    if (footprint_.trees > 0)
        description.Add("trees", std::to_string(footprint_.trees));
    description.Add("features", std::to_string(features_.specs.size()));
    if (result.group_count > 0)
        description.Add("models", GroupsArray(result));
    if (result.model != nullptr && (result.group_count == 0 || !shares_.known()))
        shares_.Add(target_, &description);
    description.Add("remaining", RemainingArray(result));
    if (active_)
        description.Add("active", ActiveObject(*active_));
    if (evaluation_)
        description.Add("evaluation", FiguresObject(*evaluation_, target_.spec));
    if (options_.evaluate > 0)
        description.Add("with_evaluation", DescribeTogether());
    if (outlook_.known) {
        description.Add("fits", outlook_.fits ? "true" : "false");
        if (outlook_.limited)
            description.Add("trainings_left", std::to_string(outlook_.trainings_left));
        if (!outlook_.fits) {
            description.Add("reason", JsonString(outlook_.reason));
            description.Add("would_fit", JsonNumber(RoundedDown(outlook_.would_fit)));
        }
    }
    description_ = description.Object();
    return description_;
}

}  // namespace dpboost
