#include "training/evaluation/evaluation_core.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "learner/evaluation/evaluation_rows.h"
#include "training/evaluation/evaluation_json.h"

namespace dpboost {
namespace {

constexpr char kChoice[] = "choice";
constexpr double kDefaultDelta = 1e-6;
constexpr size_t kMaxColumns = 1600;  // of a query

struct EvaluationOptions {
    double rows_hint = 0;
};
constexpr OptionRow kRows[] = {
    Form("positive", "the label of the positive class", "positive class of the target"),
    Whole<&EvaluationOptions::rows_hint>("rows_hint", 1, 1e12, "about how many rows there are"),
};

// The positive class, if the call or the training said which.
std::optional<std::string> GivenPositive(const JsonValue& options) {
    const JsonValue* value = options.Find("positive");
    return value == nullptr ? std::optional<std::string>() : ReadPositive(*value);
}

bool IsNumberText(const std::string& text) {
    char* end = nullptr;
    strtod(text.c_str(), &end);
    return !text.empty() && *end == '\0';
}

// How the relation's target becomes the label that the model predicts.
TargetRule RuleOf(const EvaluationSchema& schema, const EvaluatedModel& evaluated, const Model& model) {
    const PublicColumn& column = schema.target;
    if (model.target().task() == Task::kRegression) {
        if (!IsNumber(column.kind) && column.kind != ValueKind::kBoolean)
            throw Error(ErrorCode::kWrongType, "model " + Quoted(evaluated.name) +
                                                   " predicts a number, but column " + Quoted(column.name) +
                                                   " of " + schema.relation + " holds none");
        return {model.target(), true, {}};
    }
    if (model.target().task() == Task::kClasses) {
        TargetRule rule = ClassesRule(column, model.target().classes());
        rule.spec = model.target();
        return rule;
    }
    TrainingOptions options;
    options.task = TaskOption::kClassification;
    options.positive = GivenPositive(*schema.options);
    if (!options.positive)
        options.positive = GivenPositive(*evaluated.options);
    // A name that the training took for want of another one ("true", 1) says nothing about a column of another type.
    const std::vector<std::string>& names = model.target().classes();
    if (!options.positive && names.size() == 2 && names[1] != "true" && names[1] != "1")
        options.positive = names[1];
    const JsonValue* const task = evaluated.options->Find("task");
    const bool as_trained = schema.options->Find("positive") == nullptr;
    const bool unsaid = options.positive ? as_trained && !IsNumberText(*options.positive)
                                         : task == nullptr || !task->IsText("classification");
    if (IsNumber(column.kind) && unsaid)
        throw Error(ErrorCode::kInvalidParameter,
                    "model " + Quoted(evaluated.name) + " is a classifier, but column " +
                        Quoted(column.name) + " of " + schema.relation + " is numeric",
                    {}, "Say which number is the positive class, for example {\"positive\": 1}.");
    if (as_trained && column.kind == ValueKind::kBoolean && options.positive && *options.positive != "true" &&
        *options.positive != "false")
        throw Error(ErrorCode::kInvalidParameter,
                    "model " + Quoted(evaluated.name) + " tells class " + Quoted(*options.positive) +
                        " from others, but column " + Quoted(column.name) + " of " + schema.relation +
                        " is boolean",
                    {}, "Evaluate it on the column that it was trained for, or say {\"positive\": true}.");
    if (!options.positive && !IsNumber(column.kind) && column.kind != ValueKind::kBoolean)
        throw Error(ErrorCode::kInvalidParameter, "option \"positive\" is missing",
                    "Target " + Quoted(column.name) +
                        " holds text; a model tells one class, the positive one, from all others.",
                    "Add it to the options, for example {\"positive\": \"yes\"}.");
    TargetRule rule = EncodeTarget(column, options, false);
    rule.spec = model.target();
    return rule;
}

void CheckSame(const TargetRule& first, const TargetRule& other, const std::string& name) {
    if (first.spec.task() != other.spec.task() || first.spec.lower() != other.spec.lower() ||
        first.spec.upper() != other.spec.upper() || first.positive != other.positive ||
        (first.classes && first.spec.classes() != other.spec.classes()))
        throw Error(ErrorCode::kInvalidParameter,
                    "model " + Quoted(name) + " predicts something else than the first one",
                    "Task, positive class, classes and range of the target must be the same.");
}

void CheckArguments(const EvaluationSchema& schema) {
    const PrivacyArguments& privacy = schema.privacy;
    if (!(privacy.epsilon > 0 && privacy.epsilon <= 100))
        throw Error(ErrorCode::kInvalidParameter, "epsilon must be a number above 0 and at most 100",
                    "It is " + Printed(privacy.epsilon) + ".");
    if (privacy.delta && !(*privacy.delta > 0 && *privacy.delta <= 1e-3))
        throw Error(ErrorCode::kInvalidParameter, "delta must be a number above 0 and at most 0.001",
                    "It is " + Printed(*privacy.delta) + ".");
    if (schema.models.empty())
        throw Error(ErrorCode::kInvalidParameter, "there is no model to choose from");
}

}  // namespace

EvaluationCore::EvaluationCore(const EvaluationSchema& schema)
    : choice_(schema.choice), parties_(schema.parties), held_(schema.memory, schema.unseen) {
    CheckArguments(schema);
    EvaluationOptions options;
    ReadTable(kRows, *schema.options, &options);
    expected_rows_ = options.rows_hint;
    epsilon_ = schema.privacy.epsilon;
    delta_ = choice_ ? 0 : schema.privacy.delta.value_or(kDefaultDelta);
    for (const EvaluatedModel& evaluated : schema.models) {
        names_.push_back(evaluated.name);
        models_.push_back(Model::Parse(evaluated.content));
        const TargetRule rule = RuleOf(schema, evaluated, models_.back());
        if (target_)
            CheckSame(*target_, rule, evaluated.name);
        else
            target_ = rule;
        for (const FeatureSpec& feature : models_.back().features())
            features_.push_back(feature);
    }
    if (features_.size() > kMaxColumns)
        throw Error(ErrorCode::kLimitExceeded, "too many columns",
                    "The models have " + std::to_string(features_.size()) + " features together; " +
                        std::to_string(kMaxColumns) + " can be read.");
    for (const FeatureSpec& feature : features_)
        encoders_.emplace_back(feature);
    buffer_.emplace(features_, schema.has_units);
    DatasetLimits limits;
    limits.memory = schema.memory;
    limits.learner_bytes_per_row = schema.unit_limit ? UnitAccount::kBytesPerRow : 0;
    if (schema.unit_limit)
        account_.emplace(*schema.unit_limit);
    builder_.emplace(features_, target_->spec, schema.has_units, limits);
    CountMemory();
}

void EvaluationCore::CountMemory() {
    held_.Count(builder_->memory_used() + buffer_->bytes());
}

PlanRequest EvaluationCore::Request(const std::vector<BudgetConstraint>& budgets) const {
    PlanRequest request;
    request.epsilon = epsilon_;
    request.delta = delta_;
    request.budgets = budgets;
    if (choice_) {
        // Neighbours: add or remove one unit; each model's utility changes by at most one step (evaluation_rows.h).
        MechanismRequest choice;
        choice.name = kChoice;
        choice.kind = EventKind::kExponential;
        choice.dimensions = {{EvaluationStep(), 1, models_.size()}};
        request.mechanisms = {choice};
    } else {
        request.mechanisms = {EvaluationRequest(target_->spec)};
    }
    request.mechanisms[0].share = 1;
    return request;
}

// Figures and their errors are of the noise that the servers together will add.
void EvaluationCore::TakePlan(Plan&& plan) {
    plan_.emplace(std::move(plan));
    if (parties_) {
        CheckSharedPlan(*plan_, *parties_);
        plan_->SetNoiseFactor(parties_->Factor());
    }
    plan_bytes_ = plan_->Serialize();
}

void EvaluationCore::Calibrate(const std::vector<BudgetConstraint>& budgets) {
    TakePlan(Plan::Calibrate(Request(budgets)));
}

void EvaluationCore::Adopt(std::string_view announced, const std::vector<BudgetConstraint>& budgets) {
    TakePlan(Plan::FromRelease(Request(budgets), announced));
}

void EvaluationCore::AppendRows() {
    CheckInternal(builder_.has_value(), "rows come after the last one");
    AppendBuffered(encoders_, &*buffer_, &*builder_, [this] { CountMemory(); });
}

void EvaluationCore::FinishRows(Interrupt& interrupt) {
    AppendRows();
    dataset_ = builder_->Finish(interrupt, account_ ? account_->keys() : nullptr);
    builder_.reset();
}

const std::string& EvaluationCore::ReserveUnits(Interrupt& interrupt) {
    CheckInternal(account_.has_value() && plan_.has_value() && dataset_.has_value(),
                  "accounts are charged when plan and rows are there");
    return account_->Reserve(UnitCharge::Whole(account_->limit(), plan_->release()), &*dataset_, interrupt);
}

void EvaluationCore::SumUp(Interrupt& interrupt) {
    CheckInternal(plan_.has_value() && dataset_.has_value(),
                  "an evaluation is calibrated, has its rows, and sums them up once");
    CheckInternal(!account_ || account_->reserved(), "an evaluation is of those who have paid");
    const Dataset dataset = std::move(*dataset_);
    dataset_.reset();
    if (!choice_) {
        sums_ = dpboost::SumUp(models_[0], expected_rows_, dataset, *plan_, interrupt);
        return;
    }
    std::vector<const Model*> models;
    for (const Model& model : models_)
        models.push_back(&model);
    sums_ = EvaluationSums{{}, ChoiceUtilities(models, dataset, interrupt)};
}

void EvaluationCore::Evaluate(PaidCharge&& paid, ChaChaSource::Seed&& seed, Interrupt& interrupt) {
    ChaChaSource source(std::move(seed));
    Random random(source);
    ExactNoise noise(random);
    EvaluateWith(std::move(paid), noise, interrupt);
}

void EvaluationCore::EvaluateWith(PaidCharge&& paid, NoiseSource& noise, Interrupt& interrupt) {
    const PaidCharge receipt = std::move(paid);
    CheckInternal(plan_.has_value() && receipt.IsFor(plan_bytes_), "an evaluation draws what was paid for");
    if (!sums_)
        SumUp(interrupt);
    EvaluationSums sums = std::move(*sums_);
    sums_.reset();
    Releaser releaser(*plan_, noise);
    if (choice_) {
        chosen_ = releaser.Select(releaser.Find(kChoice), std::move(sums.sums));
        JsonList stored;
        stored.Add("best", JsonString(names_[chosen_]));
        stored_json_ = stored.Object();
        return;
    }
    const Evaluation evaluation = dpboost::Evaluate(models_[0], std::move(sums), releaser);
    figures_json_ = FiguresObject(evaluation, target_->spec);
    stored_json_ = StoredEvaluation(evaluation, target_->spec, plan_->epsilon(), plan_->delta());
}

double EvaluationCore::noise_multiplier() const {
    return plan_->NoiseMultiplier(0);
}

const char* EvaluationCore::task_name() const {
    return TaskName(target_->spec.task());
}

const std::string& EvaluationCore::Describe(const TrainingResult& result) {
    JsonList description;
    description.Add("model", JsonString(result.model));
    description.Add("owner", JsonString(result.owner));
    description.Add("version", std::to_string(result.version));
    description.Add("release_id", std::to_string(result.release_id));
    description.Add("task", JsonString(task_name()));
    description.Add("epsilon", JsonNumber(RoundedUp(plan_->epsilon())));
    description.Add("delta", JsonNumber(plan_->delta()));
    description.Append(figures_json_.substr(1, figures_json_.size() - 2));
    description.Add("remaining", RemainingArray(result));
    description_ = description.Object();
    return description_;
}

}  // namespace dpboost
