#include "postgres/train/training_core.h"

#include <algorithm>

#include "base/error.h"
#include "postgres/train/json_text.h"
#include "training/private_bounds.h"

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

size_t RowBuffer::bytes() const {
    return numbers.size() * sizeof(double) + codes.size() * sizeof(uint16_t) + labels.size() * sizeof(float) +
           units.size() * sizeof(UnitKey);
}

TrainingCore::TrainingCore(const TrainingSchema& schema, size_t memory, int threads)
    : options_(ReadOptions(schema)),
      target_(EncodeTarget(schema.target, schema.target_domain, options_, schema.governed)),
      features_(EncodeFeatures(schema.features, schema.feature_domains, options_, schema.governed,
                               schema.target.name)),
      method_(MakeTrainingMethod(options_, features_.specs, target_.spec, threads)) {
    alone_ = schema.unseen;
    limits_.memory = memory;
    limits_.learner_bytes_per_row = method_->bytes_per_row(schema.has_units);
    encoders_.reserve(features_.specs.size());
    for (const FeatureSpec& spec : features_.specs)
        encoders_.emplace_back(spec);
    for (int i = 0; i < schema.features.count; ++i)
        whole_numbers_.push_back(IsWhole(schema.features.columns[i].kind));
    builder_.emplace(features_.specs, target_.spec, schema.has_units, limits_);
    MakeBuffer(schema.has_units);
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
    method_->CheckPlan(*plan_);
    plan_bytes_ = plan_->Serialize();
}

void TrainingCore::MakeBuffer(bool has_units) {
    size_t numeric = 0;
    for (const FeatureSpec& spec : features_.specs)
        numeric += spec.kind() == FeatureKind::kNumeric ? 1 : 0;
    buffer_.numbers.resize(numeric * RowBuffer::kRows);
    buffer_.codes.resize((features_.specs.size() - numeric) * RowBuffer::kRows);
    buffer_.labels.resize(RowBuffer::kRows);
    if (has_units)
        buffer_.units.resize(RowBuffer::kRows);
    double* numbers = buffer_.numbers.data();
    uint16_t* codes = buffer_.codes.data();
    for (const FeatureSpec& spec : features_.specs) {
        const bool is_numeric = spec.kind() == FeatureKind::kNumeric;
        buffer_.columns.push_back({is_numeric ? numbers : nullptr, is_numeric ? nullptr : codes});
        if (is_numeric)
            numbers += RowBuffer::kRows;
        else
            codes += RowBuffer::kRows;
    }
    CountMemory();
}

void TrainingCore::CountMemory() {
    const size_t bytes = builder_->memory_used() + buffer_.bytes();
    const size_t others = held_bytes - counted_bytes_;
    if ((alone_ ? 0 : others) + bytes > limits_.memory)
        throw Error(ErrorCode::kOutOfMemory, "the trainings of this query need more than dpboost.max_memory",
                    "Each group trains a model of its own, and their rows are held at the same time.",
                    "Raise dpboost.max_memory, or train fewer groups at a time.");
    held_bytes = others + bytes;
    counted_bytes_ = bytes;
}

void TrainingCore::AppendRows() {
    size_t done = 0;
    while (done < buffer_.rows) {
        if (builder_->Full()) {
            builder_->Grow();
            CountMemory();
        }
        const size_t count = std::min(buffer_.rows - done, builder_->room());
        for (size_t i = 0; i < encoders_.size(); ++i) {
            const RowBuffer::Column& column = buffer_.columns[i];
            uint16_t codes[RowBuffer::kRows];
            if (column.numbers != nullptr)
                encoders_[i].Numbers(column.numbers + done, count, codes);
            builder_->SetCodes(i, column.numbers != nullptr ? codes : column.codes + done, count);
        }
        builder_->AppendRows(buffer_.labels.data() + done, buffer_.units.data() + done, count);
        done += count;
    }
    buffer_.rows = 0;
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

void TrainingCore::FinishRows(Interrupt& interrupt) {
    AppendRows();
    dataset_ = builder_->Finish(interrupt);
}

void TrainingCore::Train(ChaChaSource::Seed&& seed, Interrupt& interrupt, Progress& progress) {
    ChaChaSource source(std::move(seed));
    Random random(source);
    ExactNoise noise(random);
    CheckInternal(dataset_.has_value(), "the rows are not all there");
    Dataset dataset = std::move(*dataset_);
    dataset_.reset();
    if (!features_.find_private.empty())
        FindPrivateBounds(&dataset, noise, interrupt);
    const Model model = method_->Train(dataset, *plan_, random, noise, interrupt, progress);
    model_bytes_ = model.Serialize();
    features_json_ = DescribeFeatures(features_.specs);
}

const char* TrainingCore::task_name() const {
    return target_.spec.task() == Task::kRegression ? "regression" : "classification";
}

const std::string& TrainingCore::Describe(const char* model, const char* owner, int version,
                                          int64_t release_id, const char* remaining) {
    JsonList result;
    if (model != nullptr) {
        result.Add("model", JsonString(model));
        result.Add("owner", JsonString(owner));
        result.Add("version", std::to_string(version));
        result.Add("release_id", std::to_string(release_id));
    }
    result.Add("task", JsonString(task_name()));
    result.Add("method", JsonString(options_.method));
    result.Add("epsilon", JsonNumber(plan_->epsilon()));
    result.Add("delta", JsonNumber(plan_->delta()));
    result.Add("trees", method_->trees() == 0 ? "null" : std::to_string(method_->trees()));
    result.Add("features", std::to_string(features_.specs.size()));
    result.Add("noise_multiplier",
               JsonNumber(plan_->NoiseMultiplier(plan_->Find(method_->main_mechanism()))));
    result.Add("remaining", remaining);
    result.Add("calibrated_by", JsonString(plan_->calibrated_by()));
    result_ = result.Object();
    return result_;
}

}  // namespace dpboost
