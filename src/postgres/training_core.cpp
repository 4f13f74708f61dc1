#include "postgres/training_core.h"

#include "base/error.h"
#include "learner/private_bounds.h"
#include "postgres/json_text.h"

namespace dpboost {

namespace {

// Rows held by all trainings of this backend.
size_t held_bytes = 0;

TrainingOptions ReadOptions(const TrainingSchema& schema) {
    return ParseOptions(*schema.options, schema.privacy);
}

std::string DescribeFeature(const FeatureSpec& feature) {
    JsonList description;
    description.Add("name", JsonString(feature.name()));
    if (feature.kind() == FeatureKind::kNumeric) {
        description.Add("lower", JsonNumber(feature.lower()));
        description.Add("upper", JsonNumber(feature.upper()));
        description.Add("bins", std::to_string(feature.bins()));
    } else if (feature.kind() == FeatureKind::kLevels) {
        JsonList levels;
        for (const std::string& level : feature.levels())
            levels.Append(JsonString(level));
        description.Add("levels", levels.Array());
    } else {
        description.Add("hash_buckets", std::to_string(feature.bins()));
    }
    return description.Object();
}

std::string DescribeFeatures(const std::vector<FeatureSpec>& features) {
    JsonList list;
    for (const FeatureSpec& feature : features)
        list.Append(DescribeFeature(feature));
    return list.Array();
}

}  // namespace

TrainingCore::TrainingCore(const TrainingSchema& schema, size_t memory, int threads)
    : options_(ReadOptions(schema)),
      target_(EncodeTarget(schema.target, schema.target_domain, options_, schema.governed)),
      features_(EncodeFeatures(schema.features, schema.feature_domains, options_, schema.governed,
                               schema.target.name)),
      method_(MakeMethod(options_, target_.spec, threads)) {
    limits_.memory = memory;
    limits_.learner_bytes_per_row = method_->bytes_per_row();
    encoders_.reserve(features_.specs.size());
    for (const FeatureSpec& spec : features_.specs)
        encoders_.emplace_back(spec);
    for (int i = 0; i < schema.features.count; ++i)
        whole_numbers_.push_back(IsWhole(schema.features.columns[i].kind));
    builder_.emplace(features_.specs, target_.spec, schema.has_units, limits_);
}

TrainingCore::~TrainingCore() {
    held_bytes -= counted_bytes_;
}

void TrainingCore::Calibrate(const std::vector<BudgetConstraint>& budgets) {
    PlanRequest request = method_->Request();
    if (!features_.find_private.empty())
        request.mechanisms.push_back(PrivateBoundsRequest(features_.find_private.size()));
    request.budgets = budgets;
    plan_.emplace(Plan::Calibrate(request));
    plan_bytes_ = plan_->Serialize();
}

void TrainingCore::Grow() {
    builder_->Grow();
    held_bytes += builder_->memory_used() - counted_bytes_;
    counted_bytes_ = builder_->memory_used();
    if (held_bytes > limits_.memory)
        throw Error(ErrorCode::kOutOfMemory, "the trainings of this query need more than dpboost.max_memory",
                    "Each group trains a model of its own, and their rows are held at the same time.",
                    "Raise dpboost.max_memory, or train fewer groups at a time.");
}

void TrainingCore::FindPrivateBounds(Dataset* dataset, NoiseSource& noise, Interrupt& interrupt) {
    const std::vector<size_t>& columns = features_.find_private;
    const std::vector<Bounds> bounds = FindBounds(*dataset, columns, *plan_, noise, interrupt);
    for (size_t i = 0; i < columns.size(); ++i) {
        NumericRange range;
        range.lower = bounds[i].lower;
        range.upper = bounds[i].upper;
        range.integer = whole_numbers_[columns[i]];
        if (options_.bins)
            range.bins = static_cast<uint32_t>(*options_.bins);
        FeatureSpec& spec = features_.specs[columns[i]];
        spec = FeatureSpec::Numeric(spec.name(), range);
    }
    *dataset = Recode(std::move(*dataset), features_.specs, columns, limits_, interrupt);
}

void TrainingCore::Train(ChaChaSource::Seed&& seed, Interrupt& interrupt, Progress& progress) {
    ChaChaSource source(std::move(seed));
    Random random(source);
    ExactNoise noise(random);
    Dataset dataset = builder_->Finish(interrupt);
    if (!features_.find_private.empty())
        FindPrivateBounds(&dataset, noise, interrupt);
    const Model model = method_->Train(dataset, *plan_, random, noise, interrupt, progress);
    CheckInternal(plan_->Finished(), "the training did not take all charges of its plan");
    model_bytes_ = model.Serialize();
    features_json_ = DescribeFeatures(features_.specs);
}

const char* TrainingCore::task_name() const {
    return target_.spec.task() == Task::kRegression ? "regression" : "classification";
}

const std::string& TrainingCore::Describe(const char* model, int version, const char* remaining) {
    JsonList result;
    if (model != nullptr) {
        result.Add("model", JsonString(model));
        result.Add("version", std::to_string(version));
    }
    result.Add("task", JsonString(task_name()));
    result.Add("method", JsonString(options_.method));
    result.Add("epsilon", JsonNumber(plan_->epsilon()));
    result.Add("delta", JsonNumber(plan_->delta()));
    result.Add("trees", std::to_string(method_->trees()));
    result.Add("features", std::to_string(features_.specs.size()));
    result.Add("noise_multiplier",
               JsonNumber(plan_->NoiseMultiplier(plan_->Find(method_->main_mechanism()))));
    result.Add("remaining", remaining);
    result.Add("calibrated_by", JsonString(plan_->calibrated_by()));
    result_ = result.Object();
    return result_;
}

}  // namespace dpboost
