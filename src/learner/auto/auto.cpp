#include "learner/auto/auto.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/interactions.h"

namespace dpboost {
namespace {

// Probabilities are taken to be this far from 0 and 1.
constexpr double kEdge = 0.0005;

// The noisy mean label: in [-1, 1], binary labels as -1 and 1.
// Neighbours: add or remove one unit. Sensitivity: a row adds a label within +-1 (binary: y - 1/2, counted in
// halves), a unit is scaled down to the same. Charge: one draw of the pool.
MeanLabel DrawMeanLabel(const AdditiveStage& stage, double fraction) {
    Basis basis;
    basis.SetIntercept(kBasisUnit);
    stage.rows.LimitNorms(basis, basis.MaxNormSquared());
    std::vector<int64_t> sum = stage.rows.LabelSums(basis, *stage.ClippedAt(1));
    const double scale = 1 / (stage.rows.StepsPerUnit() * stage.counts.rows);
    const double sigma = stage.pool.AddNoise(fraction, stage.rows.Sensitivity(), sum) * scale;
    constexpr double kPriorVariance = 0.1;  // shrinks it where noise is all there is
    const double mean =
        static_cast<double>(sum[0]) * scale * kPriorVariance / (kPriorVariance + sigma * sigma);
    return {std::clamp(mean, -1.0, 1.0), kEdge};
}

// Clipped gradients pull predictions towards the median of similar rows. The last draws of the training sum
// up unclipped ones and move the base, so that predictions are right on average. Neighbours: add or remove
// one unit. Sensitivity: a row adds a gradient within +-1, a unit the same. Charge: all that is left of the
// pool.
void CalibrateBase(const AdditiveStage& stage, const MeanLabel& mean) {
    constexpr uint64_t kDraws = 3;
    Basis basis;
    basis.SetIntercept(kBasisUnit);
    stage.rows.LimitNorms(basis, basis.MaxNormSquared());
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(1);
    const double scale = 1 / (stage.rows.StepsPerUnit() * stage.counts.rows);
    for (uint64_t draw = 0; draw < kDraws; draw++) {
        std::vector<int64_t> sum = stage.rows.GradientSums(basis, *objective);
        const double sigma =
            stage.pool.AddNoise(stage.pool.Slice(0, kDraws - draw), stage.rows.Sensitivity(), sum) * scale;
        constexpr double kPriorVariance = 0.0025;  // of the mean error
        const double error =
            static_cast<double>(sum[0]) * scale * kPriorVariance / (kPriorVariance + sigma * sigma);
        stage.tables.AddToBase(objective->Correction(mean, error));
    }
}

// How much coarser than 2^-16 of a clip the lattice must be so that the largest noise fits the samplers (2^40
// steps); 0 unless epsilon is tiny. Public: known from the plan, the options and the number of features.
// Where no lattice would do, the training is refused here, before any row is read: a later draw's refusal
// would depend on noisy results.
int LatticeShift(double mu, size_t features, uint32_t epochs) {
    // No stage gets less than 1/50 of the pool, or splits it into more draws; a fifth of one is for counts.
    const double smallest_draw = 0.02 * 0.2 / std::max(50U, epochs);
    const double norm = std::sqrt(static_cast<double>(features) + 1);
    const double sigma =
        kClipSteps * static_cast<double>(kBasisUnit) * norm / (mu * std::sqrt(smallest_draw));
    const double shift = std::ceil(std::log2(sigma) - 39);
    if (!(shift < kClipBits))
        throw Error(ErrorCode::kInvalidParameter, "the noise of a training is out of range", {},
                    "Use a larger epsilon or fewer features.");
    return static_cast<int>(std::max(shift, 0.0));
}

// Progress is read before anything is charged, so it must not tell which stages the noisy results called for:
// every training passes the same boundaries, at some of which there was nothing to do.
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

size_t AutoBytesPerRow(bool has_units) {
    return BasisRows::BytesPerRow(has_units);
}

Model TrainAuto(const Dataset& dataset, const AutoOptions& options, Plan& plan, Random& random,
                NoiseSource& noise, Interrupt& interrupt, Progress& progress,
                const TrainingSettings& settings) {
    options.Check();
    const std::vector<FeatureSpec>& features = dataset.features();
    const Task task = dataset.target().task();
    CheckInternal(task == options.task, "the dataset is for another task");
    Model model(features, dataset.target(), task == Task::kBinary ? Link::kLogistic : Link::kIdentity);
    PoolRelease pool(plan, plan.Find(kAutoMechanism), noise);
    BasisRows rows(dataset, settings.simd, interrupt,
                   LatticeShift(pool.mu(), features.size(), options.trees));

    StageProgress stages(progress);
    NoisyHistogram histogram(features, HistogramCells(task));
    histogram.Release(kHistogramFraction, rows, pool);
    MarginalCounts counts = histogram.Clean(options.rows_hint);
    AutoSchedule schedule =
        MakeAutoSchedule(task, counts.rows, pool.mu(), static_cast<uint32_t>(features.size()));
    if (options.trees > 0)
        schedule.residual_epochs = options.trees;
    if (schedule.second_histogram > 0.01 && schedule.second_cells > 0) {
        NoisyHistogram coarser(features, schedule.second_cells);
        coarser.Release(schedule.second_histogram, rows, pool);
        counts = coarser.Clean(options.rows_hint);
    } else if (schedule.second_histogram > 0.01) {
        histogram.Release(schedule.second_histogram, rows, pool);
        counts = histogram.Clean(options.rows_hint);
    }

    stages.Passed();

    AdditiveTables tables(features, rows);
    const AdditiveStage stage{
        features, dataset.target(), DefaultObjective(task), schedule, counts, rows, pool, tables, random};
    MeanLabel mean_label{0, kEdge};
    if (schedule.initial_score > 0) {
        mean_label = DrawMeanLabel(stage, schedule.initial_score);
        tables.AddToBase(stage.ClippedAt(1)->StartScore(mean_label));
    }
    const double calibration = schedule.calibration;
    const double residual = (pool.left() - calibration) * schedule.residual_share;
    RunLinearStage(stage, residual + calibration);
    stages.Passed();
    InteractionFinding finding;
    if (options.depth >= 2 && schedule.interaction_query > 0)
        finding = QueryInteractions(stage, std::min(schedule.interaction_query, residual / 2), options.depth);
    if (residual > 0)
        RunResidualStage(stage, (pool.left() - calibration) * finding.share + calibration);
    stages.Passed();
    if (finding.share > 0)
        GrowInteractionTrees(stage, finding, calibration, model);
    stages.Passed();
    if (calibration > 0)
        CalibrateBase(stage, mean_label);
    stages.Passed();
    tables.Store(model);
    return model;
}

}  // namespace dpboost
