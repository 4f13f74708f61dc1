// The linear stage of `auto`: full-batch gradient descent with momentum on a handful of functions of each
// feature. Each step releases sum g_i phi(x_i) with noise; what is known about the noise shrinks the step (a
// Wiener filter per coordinate: without it the method fails at small epsilon).
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/portable_math.h"
#include "learner/auto/additive_stage.h"
#include "learner/auto/first_look.h"
#include "learner/auto/interactions/interactions.h"

namespace dpboost {
namespace {

using namespace auto_numbers;  // NOLINT: the numbers of this room

// Quantile of the normal distribution, to 1 % (Tukey's lambda distribution).
double NormalScore(double rank) {
    return kTukeyScale * (portable::Pow(rank, kTukeyPower) - portable::Pow(1 - rank, kTukeyPower));
}

int32_t ToBasis(double value) {
    return static_cast<int32_t>(std::lround(value * kBasisOne));
}

// A numeric feature: the normal score of its noisy rank, scaled to unit variance and clipped; and a cosine of
// the rank, which tells the middle from the ends. Missing values are at zero. Where most rows have one value, the cosine's
// mean is far from 0 and part of every row's norm: of many columns it is taken off.
void AddNumericColumns(const std::vector<double>& counts, const AutoSchedule& schedule, BasisBlock& block) {
    const size_t bins = counts.size() - 1;
    double total = 0;
    for (size_t bin = 0; bin < bins; bin++)
        total += counts[bin];
    total = std::max(total, 1e-9);
    std::vector<double> ranks(bins), scores(bins);
    double below = 0, variance = 0, mean_wave = 0;
    for (size_t bin = 0; bin < bins; bin++) {
        ranks[bin] = std::clamp((below + counts[bin] / 2) / total, kEdgeRank, 1 - kEdgeRank);
        below += counts[bin];
        scores[bin] = NormalScore(ranks[bin]);
        variance += counts[bin] / total * scores[bin] * scores[bin];
        mean_wave += counts[bin] / total * portable::Cos(2 * M_PI * ranks[bin]);
    }
    const double scale = 1 / std::sqrt(std::max(variance, schedule.least_variance));
    BasisColumn score, wave;
    score.values.assign(bins + 1, 0);
    wave.values.assign(bins + 1, 0);
    for (size_t bin = 0; bin < bins; bin++) {
        score.values[bin] =
            ToBasis(std::clamp(scores[bin] * scale, -schedule.score_clip, schedule.score_clip));
        wave.values[bin] = ToBasis(schedule.wave_weight *
                                   (portable::Cos(2 * M_PI * ranks[bin]) - schedule.many_centre * mean_wave));
    }
    block.columns.push_back(std::move(score));
    if (schedule.wave_weight > 0)
        block.columns.push_back(std::move(wave));
}

// A feature of levels: an indicator of each; the most frequent one may be the reference.
void AddLevelIndicators(const std::vector<double>& counts, const AutoSchedule& schedule, BasisBlock& block) {
    const size_t top = static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    BasisPartition& partition = block.partition;
    partition.on = ToBasis(schedule.level_weight);
    partition.leaf.resize(counts.size());
    for (size_t cell = 0; cell < counts.size(); cell++)
        partition.leaf[cell] =
            schedule.level_reference > 0 && cell == top ? BasisPartition::kNoLeaf : partition.leaves++;
}

Basis MakeLinearBasis(const AdditiveStage& stage) {
    Basis basis;
    for (const uint32_t f : stage.active) {
        BasisBlock block;
        block.view = CodeView::Column(f, stage.features[f].cells());
        if (stage.features[f].ordered())
            AddNumericColumns(stage.counts.cells[f], stage.schedule, block);
        else
            AddLevelIndicators(stage.counts.cells[f], stage.schedule, block);
        basis.Add(std::move(block));
    }
    basis.SetIntercept(ToBasis(stage.schedule.intercept));
    return basis;
}

double Dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (size_t k = 0; k < a.size(); k++)
        sum += a[k] * b[k];
    return sum;
}

// step: the coordinates of the first output, then those of the second and so on.
void Move(const AdditiveStage& stage, const Basis& basis, const std::vector<double>& step) {
    const size_t outputs = stage.outputs(), coordinates = basis.coordinates();
    for (size_t b = 0; b < basis.blocks().size(); b++) {
        const uint32_t feature = basis.blocks()[b].view.column;
        const uint32_t cells = stage.features[feature].cells();
        std::vector<double> change(cells * outputs), one(cells);
        for (size_t k = 0; k < outputs; k++) {
            std::fill(one.begin(), one.end(), 0.0);
            basis.Expand(b, step.data() + k * coordinates, one.data());
            for (size_t cell = 0; cell < cells; cell++)
                change[cell * outputs + k] = one[cell];
        }
        stage.tables.Add(feature, change);
    }
    for (size_t k = 0; k < outputs; k++)
        stage.tables.AddToBase(step[(k + 1) * coordinates - 1] * basis.intercept() / kBasisOne, k);
}

// The expected sum of phi_k^2 of each coordinate.
std::vector<double> Squares(const AdditiveStage& stage, const Basis& basis) {
    std::vector<double> squares(basis.coordinates(), 0.0);
    for (size_t b = 0; b < basis.blocks().size(); b++)
        basis.AddSquares(b, stage.counts.cells[basis.blocks()[b].view.column].data(), squares.data());
    const double intercept = static_cast<double>(basis.intercept()) / kBasisOne;
    squares.back() = stage.counts.rows * intercept * intercept;
    return squares;
}

// Gain of each coordinate: 1 / (expected sum of phi_k^2), Wiener-filtered.
std::vector<double> Gains(const AdditiveStage& stage, const Basis& basis, double kappa) {
    std::vector<double> gains = Squares(stage, basis);
    for (double& square : gains)
        square = square / (square * square + kappa);
    return gains;
}

// Steps with momentum m on a problem of curvature c (in units of the gains) swing ever further once the rate is above
// 2 (1 + m) / ((1 - m) c): columns that say the same add up to a large c. The last step and what it did to the gradient
// show the curvature along it, the largest one where a swing has begun: what rate is safe, or infinity where noise hides
// it. Post-processing of released gradients.
struct LastStep {
    const std::vector<double>& previous;  // gradient before it
    const std::vector<double>& gradient;  // and after it
    const std::vector<double>& step;
    const std::vector<double>& gains;  // per coordinate, for all outputs
};

double StableRate(const LastStep& last, double sigma, const AutoSchedule& schedule) {
    const double momentum = schedule.linear_momentum;
    double drop = 0, energy = 0, squares = 0;
    for (size_t k = 0; k < last.step.size(); k++) {
        drop += last.step[k] * (last.previous[k] - last.gradient[k]);
        const double gain = last.gains[k % last.gains.size()];
        energy += gain > 0 ? last.step[k] * last.step[k] / gain : 0;
        squares += last.step[k] * last.step[k];
    }
    const double noise = sigma * std::sqrt(2 * squares);  // both gradients have it
    if (!(energy > 0 && drop > schedule.stable_sigmas * noise))
        return std::numeric_limits<double>::infinity();
    return schedule.stable_part * 2 * (1 + momentum) / (1 - momentum) * energy / drop;
}

// Which features stay: all, unless there are many, nearly all of them look like noise and one clearly does not.
std::vector<uint32_t> StillActive(const AdditiveStage& stage, const std::vector<double>& evidence) {
    const AutoSchedule& schedule = stage.schedule;
    double quiet = 0, best = 0;
    for (const double one : evidence) {
        quiet += one < 1 ? 1 : 0;
        best = std::max(best, one);
    }
    const double features = static_cast<double>(evidence.size());
    if (features < schedule.sparse_features || quiet < schedule.sparse_quiet * features ||
        best < schedule.sparse_best)
        return stage.active;
    std::vector<uint32_t> active;
    for (size_t i = 0; i < evidence.size(); i++) {
        if (evidence[i] >= schedule.sparse_least)
            active.push_back(stage.active[i]);
    }
    return active;
}

// Steps on one basis.
class LinearSteps {
  public:
    LinearSteps(const AdditiveStage& stage, double leave);

    // Before the first draw, and after others have drawn.
    void UseBasis() const;
    // Takes the draws first .. end - 1 of all.
    void Run(uint32_t first, uint32_t end, uint32_t all);
    FirstLook::Evidence Evidence() const;
    void SlowDown(double factor) { rate_ *= factor; }
    // The noise that the steps brought into the tables of active features.
    void Report() const;

  private:
    void Step(const NoisyGradients& sums);

    const AdditiveStage& stage_;
    const AutoSchedule& schedule_;
    const double leave_;
    const Basis basis_;
    double unit_ = 0;
    std::unique_ptr<const Objective> objective_;
    std::vector<double> gains_;                       // per coordinate, for all outputs
    std::vector<double> gradient_, previous_, step_;  // per output and coordinate
    double rate_ = 0;
    OvershootGuard guard_;
    StepNoise noise_;
    FirstLook look_;
    bool fresh_ = false;  // the last step had no momentum
};

LinearSteps::LinearSteps(const AdditiveStage& stage, double leave)
    : stage_(stage),
      schedule_(stage.schedule),
      leave_(leave),
      basis_(MakeLinearBasis(stage)),
      step_(basis_.coordinates() * stage.outputs(), 0.0),
      guard_(stage.schedule),
      look_(step_.size()) {
    UseBasis();
    const bool cut = schedule_.linear_cut > 0;
    const double clip = stage.Clip(schedule_.linear_clip) * (cut ? 2 : 1);
    unit_ = clip / stage.rows.StepsPerOne();
    // C, for gradients within +-1
    const double bound = stage.rows.Sensitivity() / stage.rows.StepsPerOne() * (cut ? 2 : 1);
    const double mu = stage.pool.mu() * std::sqrt(stage.pool.left() - leave);
    gains_ =
        Gains(stage, basis_,
              schedule_.linear_kappa * stage.NoiseSpread() * stage.NoiseSpread() * bound * bound / (mu * mu));
    objective_ = stage.ClippedAt(clip);
    rate_ = schedule_.linear_time / Whole(schedule_.linear_steps) / objective_->curvature();
}

// Cut: a row's gradient may be twice the clip where its phi is half as long as it may be.
void LinearSteps::UseBasis() const {
    const bool cut = schedule_.linear_cut > 0;
    const double norm = schedule_.norm_per_feature * static_cast<double>(stage_.active.size()) +
                        schedule_.intercept * schedule_.intercept;
    stage_.rows.SetBasis(basis_, static_cast<uint64_t>(norm * kBasisOne * kBasisOne / (cut ? 4 : 1)),
                         cut ? LongRows::kCut : LongRows::kScale);
}

void LinearSteps::Run(uint32_t first, uint32_t end, uint32_t all) {
    for (uint32_t t = first; t < end; t++)
        Step(stage_.Gradients(
            stage_.pool.Release(stage_.pool.Slice(leave_, all - t), stage_.rows.GradientSums(*objective_))));
}

void LinearSteps::Step(const NoisyGradients& sums) {
    const double momentum = schedule_.linear_momentum, sigma = sums.sigma * unit_;
    const double whole_sigma = sums.whole_sigma * unit_;  // steps add up to zero over the classes
    const bool judge = !gradient_.empty();
    previous_ = gradient_;
    gradient_.resize(step_.size());
    for (size_t k = 0; k < gradient_.size(); k++)
        gradient_[k] = sums.values[k] * unit_;
    look_.Add(gradient_, sigma);
    if (fresh_ && guard_.Overshot(Dot(gradient_, step_), whole_sigma * std::sqrt(Dot(step_, step_)))) {
        for (double& change : step_)
            change = -change;
        Move(stage_, basis_, step_);
        std::fill(step_.begin(), step_.end(), 0.0);
        noise_.TakeBack();
        rate_ *= schedule_.overshoot_rate_cut;
        return;
    }
    const double stable =
        judge ? StableRate({previous_, gradient_, step_, gains_}, whole_sigma, schedule_) : rate_;
    if (stable < rate_) {
        rate_ = stable;
        if (Dot(gradient_, step_) < 0) {  // no swing is carried on
            std::fill(step_.begin(), step_.end(), 0.0);
            noise_.Forget();
        }
    }
    fresh_ = std::all_of(step_.begin(), step_.end(), [](double change) { return change == 0; });
    for (size_t k = 0; k < step_.size(); k++)
        step_[k] = momentum * step_[k] + (1 - momentum) * rate_ * gains_[k % gains_.size()] * gradient_[k];
    guard_.Expect(Dot(gradient_, step_));
    Move(stage_, basis_, step_);
    noise_.Move(momentum, (1 - momentum) * rate_, sigma);
}

FirstLook::Evidence LinearSteps::Evidence() const {
    // Of a constant model, whose gradients are 1 - p for the rarer class and -p for the other, clipped.
    const double clip = stage_.Clip(schedule_.linear_clip), p = stage_.sampling;
    const double rare = std::min(1 - p, clip), common = std::min(p, clip);
    std::vector<double> sampling(1, schedule_.sampling * (p * rare * rare + (1 - p) * common * common));
    if (stage_.outputs() > 1) {
        sampling.clear();
        for (size_t k = 0; k < stage_.outputs(); k++)
            sampling.push_back(schedule_.sampling * stage_.ClassVariance(k, clip));
    }
    return look_.Weigh(basis_, Squares(stage_, basis_), schedule_.sparse_kappa, sampling);
}

void LinearSteps::Report() const {
    for (const BasisBlock& block : basis_.blocks()) {
        const uint32_t feature = block.view.column;
        if (std::find(stage_.active.begin(), stage_.active.end(), feature) == stage_.active.end())
            continue;
        for (size_t k = 0; k < stage_.outputs(); k++)
            stage_.bands.AddBlock(feature, block, gains_.data() + block.first, noise_.Sd(), k);
    }
    stage_.bands.Commit();
}

// How far apart scores are, as if features were independent of each other: their standard deviation. Post-processing: of
// tables and noisy counts.
double Spread(const AdditiveStage& stage) {
    double variance = 0;
    for (const uint32_t feature : stage.active) {
        const std::vector<double>&counts = stage.counts.cells[feature], &table = stage.tables.table(feature);
        double rows = 1e-9, sum = 0, squares = 0;
        for (size_t cell = 0; cell < counts.size(); cell++) {
            rows += counts[cell];
            sum += counts[cell] * table[cell];
            squares += counts[cell] * table[cell] * table[cell];
        }
        variance += squares / rows - sum / rows * (sum / rows);
    }
    return std::sqrt(std::max(variance, 1e-12));
}

double Strength(const AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    if (schedule.usual_strength == 0 || stage.outputs() > 1 || stage.quiet || stage.products_lead)
        return 1;
    const double relative = Spread(stage) / schedule.usual_strength;
    return std::clamp(portable::Pow(relative, schedule.strength_power), schedule.least_strength,
                      schedule.most_strength);
}

// How fast the steps after the first look are, to those before it. Of a rare class 4 p (1 - p) is far below its bound of 1,
// and all of the time is needed (1 % positives: AUC .82 instead of .83 without this).
double SpeedAfterLook(const AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    if (schedule.weak_spread == 0 || stage.outputs() > 1)
        return 1;
    const double curved = 4 * stage.sampling * (1 - stage.sampling);
    const double power =
        schedule.weak_power *
        std::clamp((curved - schedule.lopsided) / (schedule.balanced - schedule.lopsided), 0.0, 1.0);
    return std::clamp(portable::Pow(Spread(stage) / schedule.weak_spread, power), schedule.weak_least, 1.0);
}

// Whether pairs, by a query with as much of the pool as a clear answer takes, explain more than tables that had all of the
// linear stage would leave for them: where columns are alike, straight lines on each of them go far in opposite directions
// and leave little to see of the pairs that would do better (MAGIC). Where that takes too much, nothing is asked.
bool LeadingProducts(const AdditiveStage& stage) {
    const AutoSchedule& schedule = stage.schedule;
    if (schedule.lead_most == 0 || schedule.product_query == 0 || stage.outputs() > 1 ||
        stage.Interacting().size() < 2)
        return false;
    const double fraction = std::max(schedule.lead_least, NoiseOfPairs(stage) / schedule.lead_noise);
    if (fraction > schedule.lead_most)
        return false;
    const PairsTogether together = AskPairs(stage, fraction);
    return together.explained > schedule.lead_explained + schedule.lead_sigmas * together.sd;
}

}  // namespace

void RunLinearStage(AdditiveStage& stage, double leave, uint32_t depth) {
    const uint32_t steps = Whole(stage.schedule.linear_steps);
    const uint32_t first = std::min(steps - 1, Whole(stage.schedule.sparse_look * steps));
    auto linear = std::make_unique<LinearSteps>(stage, leave);
    linear->Run(0, first, steps);
    const std::vector<uint32_t> active = StillActive(stage, linear->Evidence().blocks);
    const double speed = SpeedAfterLook(stage);
    if (active.size() < stage.active.size()) {
        for (const uint32_t feature : stage.active) {
            if (std::find(active.begin(), active.end(), feature) == active.end())
                stage.tables.Scale(feature, 0);
        }
        stage.active = active;
        linear->Report();
        linear = std::make_unique<LinearSteps>(stage, leave);
    }
    stage.products_lead = depth >= 2 && LeadingProducts(stage);
    if (!stage.products_lead) {
        linear->UseBasis();
        linear->SlowDown(speed);
        linear->Run(first, steps, steps);
    }
    const FirstLook::Evidence evidence = linear->Evidence();
    const double best = *std::max_element(evidence.blocks.begin(), evidence.blocks.end());
    const double least = stage.schedule.least_evidence;
    stage.quiet = evidence.all < least && best < least + stage.schedule.sparse_best;
    linear->Report();
    stage.strength = Strength(stage);
    for (size_t i = 0; stage.quiet && i < stage.active.size(); i++)
        stage.tables.Scale(stage.active[i], stage.schedule.quiet_voice);
}

}  // namespace dpboost
