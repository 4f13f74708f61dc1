// The base scores of classes: a first guess before the stages, and a calibration after them.
#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "learner/auto/additive_stage.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

}  // namespace

// Neighbours: add or remove one unit. Sensitivity: a row adds one to one count (BasisRows::LabelCounts). Charge: one draw of
// the pool.
void DrawClassBases(AdditiveStage& stage, double fraction) {
    std::vector<float> edges;
    for (size_t k = 0; k + 1 < stage.outputs(); k++)
        edges.push_back(static_cast<float>(k) + 0.5F);
    const NoisySums sums = stage.pool.Release(fraction, stage.rows.LabelCounts(edges));
    stage.class_shares = ClassShares::Of(sums.values, sums.sigma, stage.rows.StepsPerOne());
    // A class below its own noise is taken for that noise.
    const double least = std::max(sums.sigma, kEdge * stage.counts.rows * stage.rows.StepsPerOne());
    double total = 0, mean = 0;
    for (size_t k = 0; k < stage.outputs(); k++)
        total += stage.classes[k] = std::max(static_cast<double>(sums.values[k]), least);
    for (double& p : stage.classes) {
        p /= total;
        mean += portable::Log(p) / static_cast<double>(stage.outputs());
    }
    for (size_t k = 0; k < stage.outputs(); k++)
        stage.tables.AddToBase(portable::Log(stage.classes[k]) - mean, k);
}

// Neighbours: add or remove one unit. Sensitivity: a row adds a vector of gradients within one clip, a unit the same.
// Charge: all that is left of the pool.
//
// Where the model says a class too often by `error` on average, its odds are divided by what that is too much.
void CalibrateClassBases(const AdditiveStage& stage) {
    Basis basis;
    basis.SetIntercept(kBasisOne);
    stage.rows.SetBasis(basis);
    const double clip = stage.ClippedAt(1)->reach();
    const std::unique_ptr<const Objective> objective = stage.ClippedAt(clip);
    const double scale = clip / (stage.rows.StepsPerOne() * stage.counts.rows);
    const uint32_t draws = Whole(stage.schedule.calibration_draws);
    const double most = stage.schedule.most_class_shift;
    for (uint32_t draw = 0; draw < draws; draw++) {
        const NoisyGradients sums = stage.Gradients(
            stage.pool.Release(stage.pool.Slice(0, draws - draw), stage.rows.GradientSums(*objective)));
        const double sigma = sums.sigma * scale;
        for (size_t k = 0; k < stage.outputs(); k++) {
            // Errors of a rare class are small.
            const double p = stage.classes[k], prior = stage.schedule.error_variance * 4 * p * (1 - p);
            const double error = sums.values[k] * scale * prior / (prior + sigma * sigma);
            const double said = std::max(p - error, p / stage.schedule.said_at_least);
            stage.tables.AddToBase(std::clamp(portable::Log(p / said), -most, most), k);
        }
    }
}

}  // namespace dpboost
