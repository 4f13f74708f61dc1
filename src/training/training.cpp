#include "training/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "mechanism/noise.h"
#include "model/exported_model.h"
#include "privacy/spent.h"
#include "training/private_bounds.h"

namespace dpboost {

namespace {

std::unique_ptr<Learner> MakeLearner(const TrainingOptions& options, const FeatureEncodings& features,
                                     const TargetRule& target) {
    const LearnerContext context{features.specs, target.spec, options.epsilon, options.delta};
    return options.method->make(*options.method, context, options.given);
}

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

// What noise the release had, as far as one figure says it.
void NoteNoise(const Cost& release, Model* model) {
    const double mu_squared = GaussianMuSquared(release.events);
    if (!std::isfinite(mu_squared))
        return;
    Evidence evidence = model->evidence();
    evidence.noise = NoiseKind::kGaussian;
    evidence.mu = std::sqrt(mu_squared);
    model->SetEvidence(std::move(evidence));
}

}  // namespace

void CheckFootprint(const Footprint& footprint, size_t memory) {
    // A model is stored as one value and held by every session that predicts.
    constexpr unsigned kMaxLeafBits = 24;
    if (footprint.depth > kMaxLeafBits || footprint.trees > (uint64_t{1} << kMaxLeafBits) >> footprint.depth)
        throw Error(ErrorCode::kLimitExceeded, "the model would be too large",
                    "The number of trees times two to the power of their depth must not exceed 16777216.",
                    "Lower \"depth\" or the number of trees.");
    if (footprint.bytes > memory)
        throw Error(ErrorCode::kOutOfMemory, "the training needs more than dpboost.max_memory",
                    "Without any row it needs " + std::to_string(footprint.bytes / 1024) +
                        " kB; the limit is " + std::to_string(memory / 1024) + " kB.",
                    "Raise dpboost.max_memory, or train on fewer columns.");
}

TrainingCore::TrainingCore(const TrainingSchema& schema)
    : options_(ParseOptions(*schema.options, schema.privacy, schema.methods)),
      target_(EncodeTarget(schema.target, options_, schema.governed)),
      columns_(schema.features),
      features_(EncodeFeatures(columns_, options_, schema.governed, schema.target.name, schema.relation)),
      learner_(MakeLearner(options_, features_, target_)),
      footprint_(learner_->footprint(schema.has_units)),
      buffer_(features_.specs, schema.has_units),
      held_(schema.memory, schema.unseen) {
    CheckFootprint(footprint_, schema.memory);
    settings_.threads = schema.threads;
    limits_.memory = schema.memory;
    limits_.learner_bytes = footprint_.bytes;
    limits_.learner_bytes_per_row = footprint_.bytes_per_row;
    if (!features_.find_private.empty())  // Recode holds the rows twice
        limits_.learner_bytes_per_row =
            std::max(limits_.learner_bytes_per_row, RecodeBytesPerRow(columns_.size(), schema.has_units));
    for (const FeatureSpec& spec : features_.specs)
        encoders_.emplace_back(spec);
    builder_.emplace(features_.specs, target_.spec, schema.has_units, limits_);
    CountMemory();
}

void TrainingCore::Calibrate(const std::vector<BudgetConstraint>& budgets) {
    PlanRequest request;
    request.epsilon = options_.epsilon;
    request.delta = options_.delta;
    request.mechanisms = learner_->Mechanisms();
    if (!features_.find_private.empty())
        request.mechanisms.push_back(PrivateBoundsRequest(features_.find_private.size()));
    request.budgets = budgets;
    plan_.emplace(Plan::Calibrate(request));
    learner_->CheckPlan(*plan_, features_.specs.size());
    plan_bytes_ = plan_->Serialize();
}

void TrainingCore::CountMemory() {
    held_.Count(builder_->memory_used() + buffer_.bytes() + footprint_.bytes);
}

void TrainingCore::AppendRows() {
    CheckInternal(builder_.has_value(), "rows come after the last one");
    for (size_t done = 0; done < buffer_.rows;) {
        if (builder_->Full()) {
            builder_->Grow();
            CountMemory();
        }
        const size_t count = std::min(buffer_.rows - done, builder_->room());
        buffer_.Append(encoders_, done, count, *builder_);
        done += count;
    }
    buffer_.rows = 0;
}

void TrainingCore::FinishRows(Interrupt& interrupt) {
    AppendRows();
    dataset_ = builder_->Finish(interrupt);
    builder_.reset();
}

void TrainingCore::FindPrivateBounds(Dataset* dataset, Releaser& releaser, Interrupt& interrupt) {
    const std::vector<size_t>& positions = features_.find_private;
    const std::vector<Bounds> bounds = FindBounds(*dataset, positions, releaser, interrupt);
    for (size_t i = 0; i < positions.size(); ++i) {
        Domain range;
        range.lower = bounds[i].lower;
        range.upper = bounds[i].upper;
        features_.specs[positions[i]] = EncodeRange(columns_[positions[i]], range, options_.bins);
    }
    *dataset = Recode(std::move(*dataset), features_.specs, positions, limits_, interrupt);
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
    Dataset dataset = std::move(*dataset_);
    dataset_.reset();
    Releaser releaser(*plan_, noise);
    if (!features_.find_private.empty())
        FindPrivateBounds(&dataset, releaser, interrupt);
    Model model(features_.specs, target_.spec, learner_->link());
    Run run{dataset, releaser, structure, coins, model, progress, interrupt, settings_};
    learner_->Train(run);
    NoteNoise(plan_->release(), &model);
    model_bytes_ = model.Serialize();
    features_json_ = DescribeFeatures(features_.specs);
}

const char* TrainingCore::task_name() const {
    return target_.spec.task() == Task::kRegression ? "regression" : "classification";
}

double TrainingCore::noise_multiplier() const {
    return plan_->NoiseMultiplier(plan_->Find(learner_->main_mechanism()));
}

const std::string& TrainingCore::Describe(const TrainingResult& result) {
    JsonList remaining;
    for (int i = 0; i < result.remaining_count; ++i) {
        const RemainingBudget& budget = result.remaining[i];
        JsonList left;
        left.Add("table", JsonString(budget.table));
        left.Add("role", budget.role == nullptr ? "null" : JsonString(budget.role));
        if (budget.population != nullptr)
            left.Add("population", JsonString(budget.population));
        left.Add("part", JsonNumber(RoundedDown(budget.part)));
        left.Add("epsilon", JsonNumber(RoundedDown(budget.epsilon)));
        left.Add("delta", JsonNumber(budget.delta));
        remaining.Append(left.Object());
    }
    JsonList description;
    if (result.model != nullptr) {
        description.Add("model", JsonString(result.model));
        description.Add("owner", JsonString(result.owner));
        description.Add("version", std::to_string(result.version));
        description.Add("release_id", std::to_string(result.release_id));
        description.Add("live", options_.deploy ? "true" : "false");
    }
    description.Add("task", JsonString(task_name()));
    description.Add("method", JsonString(options_.method->name));
    description.Add("epsilon", JsonNumber(RoundedUp(plan_->epsilon())));
    description.Add("delta", JsonNumber(plan_->delta()));
    if (footprint_.trees > 0)
        description.Add("trees", std::to_string(footprint_.trees));
    description.Add("features", std::to_string(features_.specs.size()));
    description.Add("remaining", remaining.Array());
    description_ = description.Object();
    return description_;
}

}  // namespace dpboost
