#include "learner/auto/auto.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/portable_math.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/interactions/interactions.h"
#include "learner/auto/residual_stage.h"
#include "learner/auto/targets/final_draws.h"
#include "learner/auto/update.h"
#include "model/scaled.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

constexpr const char* kWords[] = {"squared", "logistic", "poisson", "huber", "quantile"};
constexpr const char* kScaleWords[] = {"linear", "log"};

constexpr OptionRow kRows[] = {
    WordAmong<&AutoOptions::objective, ObjectiveKind::kSquared, ObjectiveKind::kLogistic,
              ObjectiveKind::kPoisson, ObjectiveKind::kHuber, ObjectiveKind::kQuantile>(
        "objective", kWords,
        "what is minimised; \"poisson\" is for counts, \"huber\" for numbers with outliers, \"quantile\" for "
        "what "
        "a part of similar rows stays below; the others follow from the target"),
    Number<&AutoOptions::quantile>("quantile", 0.01, 0.99,
                                   "with objective \"quantile\": the part of similar rows that lies below"),
    Word<&AutoOptions::log_target>(
        "target_scale", kScaleWords,
        "\"log\" for amounts of very different size; predictions are means all the "
        "same; default \"linear\""),
    Whole<&AutoOptions::trees>("trees", 1, 1000, "rounds of one tree per feature in the residual stage"),
    Whole<&AutoOptions::depth>("depth", 1, 3, "how many features an interaction may combine"),
    Whole<&AutoOptions::rows_hint>("rows_hint", 1, 1e12, "the number of rows, where that is public"),
    Truth<&AutoOptions::intervals>(
        "intervals",
        "keep what predictions of a number miss, for `dpboost_predict_interval`; 3 % of the budget"),
    Numbers("monotone", kMonotoneForm, kMonotoneHelp),
    Text("weight", "the name of a column",
         "how much a row counts: a column with a public range from 0; NULL counts nothing"),
    Numbers("class_weights", "an object of classes, each with a number above 0",
            "how much the rows of a class count; probabilities stay true; default 1 for each"),
};

void CheckQuantile(ObjectiveKind objective, const std::vector<GivenOption>& given) {
    const bool named = std::any_of(given.begin(), given.end(),
                                   [](const GivenOption& option) { return option.key == "quantile"; });
    if (named && objective != ObjectiveKind::kQuantile)
        RefuseOption("objective", "\"quantile\" where a quantile is given");
    if (!named && objective == ObjectiveKind::kQuantile)
        throw Error(ErrorCode::kInvalidParameter, "option \"quantile\" is missing",
                    "Objective \"quantile\" must know which one.",
                    "Add it to the options, for example {\"objective\": \"quantile\", \"quantile\": 0.9}.");
}

std::unique_ptr<Learner> Make(const MethodInfo& method, const LearnerContext& context,
                              const std::vector<GivenOption>& given) {
    AutoOptions options;
    options.objective = DefaultObjective(context.target.task());
    method.options.Apply(given, &options);
    if (context.continued != nullptr) {
        options.continued = true;
        options.old_weight = context.continued->old_weight;
        method.options.Apply(context.continued->given, &options);
    }
    CheckQuantile(options.objective, given);
    options.monotone = ReadMonotone(given, context.features);
    if (!options.monotone.empty() && context.target.task() == Task::kClasses)
        throw Error(ErrorCode::kUnsupported, "option \"monotone\" is for numbers and for two classes",
                    "Of several classes, where the score of one rises, its probability may fall.");
    return std::make_unique<AutoLearner>(options, context.target);
}

// How much coarser than 2^-16 of a clip the lattice must be so that the largest noise fits the samplers (2^40
// steps); 0 unless epsilon is tiny. Public: known from the plan, the options and the number of features.
// Where no lattice would do, the training is refused before it is charged (CheckPlan): a later draw's refusal would
// depend on noisy results. What noisy results leave less for (trees of several classes near the least nu, products that
// explain next to nothing) takes as much of the pool as can be drawn (Releaser::ReleasePart), together below 1 % of it.
int LatticeShift(double mu, size_t features, uint32_t epochs) {
    constexpr double kLog2E = 1.4426950408889634;
    const double smallest_draw = kLeastStage * kCountShare / std::max(kMostDraws, epochs);
    const double norm = std::sqrt(static_cast<double>(features) + 1);
    const double sigma = kClipSteps * static_cast<double>(kBasisOne) * norm / (mu * std::sqrt(smallest_draw));
    const double shift = std::ceil(portable::Log(sigma) * kLog2E - 39);
    if (!(shift < kClipBits))
        throw Error(ErrorCode::kInvalidParameter, "the noise of a training is out of range", {},
                    "Use a larger epsilon or fewer features.");
    return static_cast<int>(std::max(shift, 0.0));
}

// What the histograms tell.
struct Survey {
    MarginalCounts counts;
    AutoSchedule schedule;
};

std::vector<uint32_t> AllOf(size_t features) {
    std::vector<uint32_t> all(features);
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

AutoSchedule ScheduleFor(const AutoOptions& options, double noisy_rows, double mu, size_t features,
                         size_t outputs) {
    AutoSchedule schedule = MakeAutoSchedule(options.objective, noisy_rows, mu,
                                             static_cast<uint32_t>(features), options.changes, outputs);
    if (options.few_draws)
        FitToFewDraws(schedule);
    else
        FitToManyColumns(static_cast<uint32_t>(features), schedule);
    if (options.trees > 0)
        schedule.residual_epochs = options.trees;
    return schedule;
}

Survey ReleaseHistograms(const AutoOptions& options, const std::vector<FeatureSpec>& features,
                         BasisRows& rows, Pool& pool) {
    const AutoSchedule first =
        ScheduleFor(options, 1, pool.mu(), features.size(),
                    rows.outputs());  // what it says of the first histogram holds for any number of rows
    NoisyHistogram histogram(features, Whole(first.histogram_cells));
    histogram.Release(first.histogram_fraction, rows, pool);
    Survey survey;
    survey.counts = histogram.Clean(first, options.rows_hint);
    survey.schedule = ScheduleFor(options, survey.counts.rows, pool.mu(), features.size(), rows.outputs());
    const AutoSchedule& schedule = survey.schedule;
    if (schedule.second_histogram > schedule.least_second && schedule.second_cells > 0) {
        NoisyHistogram coarser(features, Whole(schedule.second_cells));
        coarser.Release(schedule.second_histogram, rows, pool);
        survey.counts = coarser.Clean(schedule, options.rows_hint);
    } else if (schedule.second_histogram > schedule.least_second) {
        histogram.Release(schedule.second_histogram, rows, pool);
        survey.counts = histogram.Clean(schedule, options.rows_hint);
    }
    if (schedule.fine_histogram > 0) {
        NoisyHistogram fine(features, Whole(schedule.fine_cells));
        fine.Release(schedule.fine_histogram, rows, pool);
        survey.counts = histogram.Clean(schedule, options.rows_hint, &fine);
    }
    return survey;
}

// The same of an update, whose model has them. They are bought again only where today's would be better.
Survey TakeOver(const AutoOptions& options, const Model& model, BasisRows& rows, Pool& pool) {
    const std::vector<FeatureSpec>& features = model.features();
    const AutoSchedule first = ScheduleFor(options, 1, pool.mu(), features.size(), rows.outputs());
    Survey survey;
    survey.counts = CountsOfToday(*model.evidence().reference, features, first.row_count, rows, pool);
    survey.schedule = ScheduleFor(options, survey.counts.rows, pool.mu(), features.size(), rows.outputs());
    const double bought = first.histogram_fraction + survey.schedule.second_histogram;
    if (survey.counts.count_sd * pool.mu() > std::sqrt(static_cast<double>(features.size()) / bought))
        return ReleaseHistograms(options, features, rows, pool);
    if (survey.schedule.fine_histogram > 0 && Whole(survey.schedule.fine_cells) == kMaxBins) {
        NoisyHistogram fine(features, kMaxBins);
        fine.Release(survey.schedule.fine_histogram, rows, pool);
        fine.SpreadWithin(survey.schedule, &survey.counts);
    }
    return survey;
}

// The label's window, and where rows start; returns the mean label of one output.
MeanLabel DrawStart(AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    const bool classes = stage.outputs() > 1;
    if (classes) {
        stage.spread = stage.ClippedAt(1)->spread();
        stage.classes.assign(stage.outputs(), 1.0 / static_cast<double>(stage.outputs()));
    }
    if (schedule.target_histogram > 0)
        NarrowLabels(stage);
    if (schedule.initial_score > 0 && !classes)
        return DrawBase(stage, schedule.initial_score);
    if (schedule.initial_score > 0)
        DrawClassBases(stage, schedule.initial_score);
    return {0, kEdge};
}

// Into an empty model, or into the one that is continued, which counts so much.
void StoreAll(const AdditiveStage& stage, const ProductTables* products, bool continued, double old_weight,
              Model& model) {
    const double stretched = stage.tables.final_factor();
    const double factor = stretched * (1 - old_weight);
    if (continued)  // a window's scale is not the model's
        model = Scaled(model, old_weight * (stage.schedule.probabilities > 0 ? stretched : 1), 0);
    stage.tables.Store(model);
    if (products != nullptr)
        products->Store(factor, model);
    Evidence evidence = model.evidence();
    evidence.reference = MakeReference(stage.counts);
    std::vector<std::vector<float>> bands = stage.bands.Sds(factor);
    evidence.bands = continued ? JoinedBands(evidence.bands, std::move(bands)) : std::move(bands);
    model.SetEvidence(std::move(evidence));
}

// What progress shows is paid for. It tells nothing about noisy results all the same: every training passes
// the same boundaries, at some of which there was nothing to do.
class StageProgress {
  public:
    explicit StageProgress(Progress& progress) : progress_(progress) { progress_.Report(0, kStages); }
    void Passed() { progress_.Report(++done_, kStages); }

  private:
    static constexpr uint64_t kStages = 5;  // histograms, linear, residual, interactions, calibration
    Progress& progress_;
    uint64_t done_ = 0;
};

// One-feature trees on what the linear stage left over, and the query for products of features at half of them; what the
// products get is left too.
void RunResidualStage(const AdditiveStage& stage, uint32_t depth, double residual, double leave,
                      std::optional<Interactions>& products) {
    ResidualStage singles(stage, leave);
    const bool ask = depth >= 2 && stage.schedule.product_query > 0 && singles.epochs() > 1 &&
                     stage.Interacting().size() >= 2;
    const uint32_t first = stage.quiet ? 0 : ask ? singles.epochs() / 2 : singles.epochs();
    if (ask)
        singles.SetLeave(leave + (stage.pool.left() - leave) * (1 - stage.schedule.early_share),
                         singles.epochs() - first);
    singles.RunEpochs(first);
    if (ask) {
        products.emplace(stage);
        products->Find(residual * stage.schedule.product_query, depth);
        singles.SetLeave((stage.pool.left() - leave) * products->share() + leave);
    }
    if (!stage.quiet || (products && products->share() > 0))
        singles.RunEpochs(singles.epochs() - first);
}

}  // namespace

const MethodInfo kAuto = {
    "auto",
    "noisy histograms, additive stage with shrinkage that knows the noise, one-feature trees on the "
    "residual, interactions where a query finds them",
    "dpboost's own",
    "the default: no tuning",
    false,
    kRows,
    &Make,
    true,
    true};

AutoLearner::AutoLearner(const AutoOptions& options, const TargetSpec& target)
    : options_(options), target_(target) {
    CheckObjective(options.objective, target);
    if (options.intervals &&
        (target.task() != Task::kRegression || options.objective == ObjectiveKind::kPoisson))
        throw Error(ErrorCode::kInvalidParameter,
                    "option \"intervals\" is for regression with another objective than \"poisson\"",
                    "A probability says by itself how sure it is; counts scatter more where they are large.");
}

std::vector<MechanismRequest> AutoLearner::Mechanisms() const {
    MechanismRequest pool;
    pool.name = kMechanism;
    pool.pool = true;
    pool.rest = 1;
    return {pool};
}

void AutoLearner::CheckPlan(const Plan& plan, std::size_t features) const {
    LatticeShift(1 / plan.NoiseMultiplier(plan.Find(kMechanism)), features, options_.trees);
}

Footprint AutoLearner::footprint(bool has_units) const {
    Footprint footprint;
    footprint.trees = options_.trees;
    footprint.depth =
        options_.depth >= 2 ? 10 : 0;  // a product of two features is one tree of 32 x 32 groups
    footprint.bytes_per_row = BasisRows::BytesPerRow(has_units, Outputs());
    return footprint;
}

size_t AutoLearner::Outputs() const {
    return MakeObjective(options_.objective, target_, 1, 1)->outputs();
}

Link AutoLearner::link() const {
    return target_.logarithmic() ? Link::kLog : MakeObjective(options_.objective, target_, 1, 1)->link();
}

void AutoLearner::Train(Run& run) const {
    AutoOptions options = options_;
    options.few_draws = run.across_servers;
    const std::vector<FeatureSpec>& features = run.model.features();
    CheckInternal(run.model.target() == target_, "the dataset is for another target");
    Pool pool(run.releaser, run.releaser.Find(kMechanism));
    BasisRows rows(run.rows, run.settings.simd, run.interrupt,
                   LatticeShift(pool.mu(), features.size(), options.trees), Outputs(), run.settings.threads);
    StageProgress stages(run.progress);
    auto [counts, schedule] = options.continued && run.model.evidence().reference
                                  ? TakeOver(options, run.model, rows, pool)
                                  : ReleaseHistograms(options, features, rows, pool);
    stages.Passed();

    AdditiveTables tables(features, rows, MonotoneRules(options.monotone, counts));
    NoiseBands bands(features, counts, Outputs());
    AdditiveStage stage{features, target_,       options.objective,      schedule, counts, rows, pool, tables,
                        bands,    run.structure, AllOf(features.size()), false};
    stage.quantile = options.quantile;
    const bool classes = Outputs() > 1;
    const MeanLabel mean = DrawStart(stage);
    run.base_rate = stage.base_rate;
    run.class_shares = stage.class_shares;
    const double trust = options.continued && options.old_weight < 0 ? OldTrust(stage, run.model) : 1;
    const double kept = options.intervals ? schedule.interval_fraction : 0;
    const double calibration = LastFraction(stage) + kept;
    const double residual = (pool.left() - calibration) * schedule.residual_share;
    RunLinearStage(stage, residual + calibration, options.depth);
    if (stage.active.size() < features.size())
        schedule = ScheduleFor(options, counts.rows, pool.mu(), stage.active.size(), Outputs());
    if (stage.products_lead)
        FitToProducts(schedule);
    stages.Passed();
    std::optional<Interactions> products;
    if (residual > 0)
        RunResidualStage(stage, options.depth, residual, calibration, products);
    stages.Passed();
    if (products && products->share() > 0)
        products->Grow(calibration);
    stages.Passed();
    const double old_weight = options.continued ? BlendWith(run.model, options.old_weight, trust, stage) : 0;
    double log_shift = 0;
    if (calibration > 0 && classes)
        CalibrateClassBases(stage);
    else if (!classes)
        log_shift = DrawLast(stage, mean, calibration - kept, kept);
    stages.Passed();
    StoreAll(stage, products ? &products->tables() : nullptr, options.continued, old_weight, run.model);
    run.model.SetLoss(NoteOf(stage));
    if (options.intervals) {
        Evidence evidence = run.model.evidence();
        evidence.residuals = DrawResiduals(stage, log_shift);
        run.model.SetEvidence(std::move(evidence));
    }
}

}  // namespace dpboost
