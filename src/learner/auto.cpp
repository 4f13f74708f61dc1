#include "learner/auto.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "learner/additive_stage.h"
#include "learner/interactions.h"

namespace dpboost {
namespace {

// The score that all rows start with: the noisy mean label, or its log odds.
// Neighbours: add or remove one unit. Sensitivity: a row adds a label within +-1 (binary: y - 1/2, counted in
// halves), a unit is scaled down to the same. Charge: one draw of the pool.
double DrawInitialScore(const AdditiveStage& stage, double fraction) {
    Basis basis;
    basis.SetIntercept(kBasisUnit);
    stage.rows.LimitNorms(basis, basis.MaxNormSquared());
    std::vector<int64_t> sum = stage.rows.LabelSums(basis);
    stage.pool.AddNoise(fraction, stage.rows.Sensitivity(), sum);
    const double mean = static_cast<double>(sum[0]) / kClipSteps / kBasisUnit / stage.counts.rows;
    if (stage.loss == Loss::kSquared)
        return std::clamp(mean, -1.0, 1.0);
    const double positive = std::clamp((1 + mean) / 2, 0.002, 0.998);
    return std::log(positive / (1 - positive));
}

}  // namespace

size_t AutoBytesPerRow(bool has_units) {
    return AdditiveRows::BytesPerRow(has_units);
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
    AdditiveRows rows(dataset, settings.simd, interrupt);

    NoisyHistogram histogram(features, HistogramCells(task));
    histogram.Release(kHistogramFraction, rows, pool);
    MarginalCounts counts = histogram.Clean(options.rows_hint);
    AutoSchedule schedule =
        MakeAutoSchedule(task, counts.rows, pool.mu(), static_cast<uint32_t>(features.size()));
    if (options.trees > 0)
        schedule.residual_epochs = options.trees;
    if (schedule.second_histogram > 0.01) {
        histogram.Release(schedule.second_histogram, rows, pool);
        counts = histogram.Clean(options.rows_hint);
    }

    AdditiveTables tables(features, rows);
    StageProgress steps(progress,
                        schedule.linear_steps + schedule.residual_epochs + schedule.interaction_trees);
    const AdditiveStage stage{features, task == Task::kBinary ? Loss::kLogistic : Loss::kSquared,
                              schedule, counts,
                              rows,     pool,
                              tables,   random,
                              steps};
    if (schedule.initial_score > 0)
        tables.AddToBase(DrawInitialScore(stage, schedule.initial_score));
    const double query = options.depth >= 2 ? schedule.interaction_query : 0;
    double residual = pool.left() * schedule.residual_share;
    RunLinearStage(stage, pool.left() - residual);
    if (query > 0) {
        const InteractionFinding finding =
            QueryInteractions(stage, std::min(query, residual / 2), options.depth);
        residual = pool.left();
        if (finding.share > 0) {
            RunResidualStage(stage, residual * (1 - finding.share));
            GrowInteractionTrees(stage, finding, pool.left(), model);
            residual = 0;
        }
    }
    if (residual > 0)
        RunResidualStage(stage, pool.left());
    tables.Store(model);
    return model;
}

}  // namespace dpboost
