#include "learner/auto/auto.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/interactions/interactions.h"
#include "learner/auto/residual_stage.h"
#include "learner/auto/update.h"
#include "model/scaled.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// Of what is left in the end, for the shape of probabilities; the rest is for their mean.
constexpr double kProbabilityShare = 0.7;

constexpr OptionRow kRows[] = {
    Word<&AutoOptions::objective>("objective", kObjectiveWords, kObjectiveHelp),
    Whole<&AutoOptions::trees>("trees", 1, 1000, "rounds of one tree per feature in the residual stage"),
    Whole<&AutoOptions::depth>("depth", 1, 3, "how many features an interaction may combine"),
    Whole<&AutoOptions::rows_hint>("rows_hint", 1, 1e12, "the number of rows, where that is public"),
};

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
    return std::make_unique<AutoLearner>(options, context.target);
}

// How much coarser than 2^-16 of a clip the lattice must be so that the largest noise fits the samplers (2^40
// steps); 0 unless epsilon is tiny. Public: known from the plan, the options and the number of features.
// Where no lattice would do, the training is refused before it is charged (CheckPlan): a later draw's refusal would
// depend on noisy results.
int LatticeShift(double mu, size_t features, uint32_t epochs) {
    const double smallest_draw = kLeastStage * kCountShare / std::max(kMostDraws, epochs);
    const double norm = std::sqrt(static_cast<double>(features) + 1);
    const double sigma =
        kClipSteps * static_cast<double>(kBasisUnit) * norm / (mu * std::sqrt(smallest_draw));
    const double shift = std::ceil(std::log2(sigma) - 39);
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
        NoisyHistogram fine(features, kMaxBins);
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
    if (survey.schedule.fine_histogram > 0) {
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
    return MakeObjective(options_.objective, target_, 1, 1)->link();
}

void AutoLearner::Train(Run& run) const {
    const std::vector<FeatureSpec>& features = run.model.features();
    CheckInternal(run.model.target() == target_, "the dataset is for another target");
    Pool pool(run.releaser, run.releaser.Find(kMechanism));
    BasisRows rows(run.rows, run.settings.simd, run.interrupt,
                   LatticeShift(pool.mu(), features.size(), options_.trees), Outputs(), run.settings.threads);
    StageProgress stages(run.progress);
    auto [counts, schedule] = options_.continued && run.model.evidence().reference
                                  ? TakeOver(options_, run.model, rows, pool)
                                  : ReleaseHistograms(options_, features, rows, pool);
    stages.Passed();

    AdditiveTables tables(features, rows);
    NoiseBands bands(features, counts, Outputs());
    AdditiveStage stage{features, target_,       options_.objective,     schedule, counts, rows, pool, tables,
                        bands,    run.structure, AllOf(features.size()), false};
    const MeanLabel mean = DrawStart(stage);
    run.base_rate = stage.base_rate;
    const double trust = options_.continued && options_.old_weight < 0 ? OldTrust(stage, run.model) : 1;
    const double calibration = schedule.probabilities > 0 ? schedule.probabilities : schedule.calibration;
    const double residual = (pool.left() - calibration) * schedule.residual_share;
    RunLinearStage(stage, residual + calibration);
    if (stage.active.size() < features.size())
        schedule = ScheduleFor(options_, counts.rows, pool.mu(), stage.active.size(), Outputs());
    stages.Passed();
    std::optional<Interactions> products;
    if (residual > 0) {
        ResidualStage singles(stage, calibration);
        const bool ask = options_.depth >= 2 && schedule.product_query > 0 && singles.epochs() > 1;
        const uint32_t first = stage.quiet ? 0 : ask ? singles.epochs() / 2 : singles.epochs();
        singles.RunEpochs(first);
        if (ask) {
            products.emplace(stage, residual * schedule.product_query, options_.depth);
            singles.SetLeave((pool.left() - calibration) * products->share() + calibration);
        }
        if (!stage.quiet || (products && products->share() > 0))
            singles.RunEpochs(singles.epochs() - first);
    }
    stages.Passed();
    if (products && products->share() > 0)
        products->Grow(calibration);
    stages.Passed();
    const double old_weight =
        options_.continued ? BlendWith(run.model, options_.old_weight, trust, stage) : 0;
    if (calibration > 0 && Outputs() > 1)
        CalibrateClassBases(stage);
    else if (calibration > 0)
        CalibrateBase(stage, mean, schedule.probabilities > 0 ? pool.left() * kProbabilityShare : 0);
    if (schedule.probabilities > 0)
        CalibrateProbabilities(stage);
    stages.Passed();
    StoreAll(stage, products ? &products->tables() : nullptr, options_.continued, old_weight, run.model);
}

}  // namespace dpboost
