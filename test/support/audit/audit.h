// Audits of whole trainings. Two tables that differ by one unit (the canary) are trained on many times; the statistic
// is the exact log likelihood ratio of the whole transcript, which no test can beat. From it follow a lower bound of
// the epsilon that the training really has, and how much of the claimed delta it uses.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "learner/learner.h"
#include "mechanism/chacha_source.h"
#include "support/audit/transcript.h"
#include "support/train_with.h"

namespace dpboost {

struct AuditRow {
    std::vector<uint16_t> codes;
    float label;
    int64_t unit;
    uint16_t weight = kFullWeight;
};

inline FeatureSpec AuditColumn(const char* name, uint32_t bins) {
    NumericRange range;
    range.scale = Scale::kLinear;
    range.bins = bins;
    return FeatureSpec::Numeric(name, range);
}

inline TargetSpec AuditTarget(Task task) {
    if (task == Task::kClasses)
        return TargetSpec::Classes({"a", "b", "c"});
    return task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-1, 1);
}

inline Dataset AuditTable(const std::vector<FeatureSpec>& features, const TargetSpec& target, bool units,
                          const std::vector<AuditRow>& rows) {
    const bool weighted =
        std::any_of(rows.begin(), rows.end(), [](const AuditRow& row) { return row.weight != kFullWeight; });
    DatasetBuilder builder(features, target, units, {}, weighted);
    for (const AuditRow& row : rows) {
        if (builder.Full())
            builder.Grow();
        for (std::size_t column = 0; column < features.size(); column++)
            builder.SetCode(column, row.codes[column]);
        builder.AppendRow(row.label, UnitKeyOf(row.unit), row.weight);
    }
    NoInterrupt interrupt;
    return builder.Finish(interrupt);
}

inline Dataset AuditTable(const std::vector<FeatureSpec>& features, Task task, bool units,
                          const std::vector<AuditRow>& rows) {
    return AuditTable(features, AuditTarget(task), units, rows);
}

inline ChaChaSource AuditSource(uint64_t number, unsigned char use) {
    ChaChaSource::Seed seed{};
    std::memcpy(seed.data(), &number, sizeof number);
    seed[9] = use;
    return ChaChaSource(std::move(seed));
}

// Coins that all fall on "takes part".
class EveryoneSource final : public RandomSource {
  public:
    void Fill(void* out, std::size_t size) override { std::memset(out, 0, size); }
};

struct AuditCase {
    std::string name;
    const MethodInfo* method = nullptr;
    Task task = Task::kRegression;
    std::vector<FeatureSpec> features;
    std::vector<AuditRow> rows;    // of both tables
    std::vector<AuditRow> canary;  // of one of them; several rows: one unit
    std::vector<GivenOption> options;
    double epsilon = 1;
    double delta = 0.02;
    // Below 1: every release is of two dimensions and samples units at this rate; `rows` must be empty, so that the
    // canary's coin is the only one.
    double sampling_rate = 1;

    bool logarithmic = false;  // the target of a regression

    bool units() const { return canary.size() > 1; }
    TargetSpec Target() const { return logarithmic ? TargetSpec::Logarithmic(0, 1e4) : AuditTarget(task); }
};

constexpr int kTrainingsPerPlan = 2000;

// One case with its tables and learner, ready to be trained.
class Audited {
  public:
    explicit Audited(const AuditCase& audit)
        : audit_(audit),
          without_(AuditTable(audit.features, audit.Target(), audit.units(), audit.rows)),
          with_(AuditTable(audit.features, audit.Target(), audit.units(), Joined(audit))) {
        const LearnerContext context{with_.features(), with_.target(), audit.epsilon, audit.delta};
        learner_ = audit.method->make(*audit.method, context, audit.options);
        request_.epsilon = audit.epsilon;
        request_.delta = audit.delta;
        request_.mechanisms = learner_->Mechanisms();
        // Calibrating is slow where units are sampled: one plan, with charges for all trainings, serves them all. A pool
        // is spent by each training, and calibrated in no time.
        bool pool = false;
        for (MechanismRequest& mechanism : request_.mechanisms) {
            pool |= mechanism.pool;
            if (!mechanism.pool)
                mechanism.parts *= 8 * kTrainingsPerPlan;  // a loss of either table takes three trainings
        }
        if (!pool)
            shared_.emplace(Plan::Calibrate(request_));
    }

    // The privacy loss log P(with)/P(without) of a training on one of the tables, at `factor` times its noise.
    double DrawLoss(bool on_with, uint64_t number, double factor) {
        ChaChaSource noise_source = AuditSource(number, 11), coin_source = AuditSource(number, 5);
        Random noise_random(noise_source), coins(coin_source);
        Tape tape(noise_random, factor);
        Train(on_with ? with_ : without_, number, coins, tape);
        const bool sampled = audit_.sampling_rate < 1;
        Raw own, other;
        for (const SeenDraw& draw : tape.draws)
            own.push_back(draw.raw);
        if (sampled || number < kRepeated) {
            Raw again = Certain(on_with ? with_ : without_, number, tape.draws);
            if (!sampled && again != own)
                throw std::logic_error("a training does not repeat itself");
            own = std::move(again);
        }
        other = Certain(on_with ? without_ : with_, number, tape.draws);
        const Raw &with = on_with ? own : other, &without = on_with ? other : own;
        double total = 0;
        for (std::size_t i = 0; i < tape.draws.size(); i += sampled ? 2 : 1) {
            double loss = Loss(tape.draws[i], with[i], without[i]);
            if (sampled) {
                loss += Loss(tape.draws[i + 1], with[i + 1], without[i + 1]);
                loss = std::log1p(audit_.sampling_rate * std::expm1(std::min(loss, 700.0)));
            }
            total += loss;
        }
        return total;
    }

  private:
    using Raw = std::vector<std::vector<int64_t>>;  // what goes into each draw
    static constexpr uint64_t kRepeated = 10;

    static std::vector<AuditRow> Joined(const AuditCase& audit) {
        std::vector<AuditRow> rows = audit.rows;
        rows.insert(rows.end(), audit.canary.begin(), audit.canary.end());
        return rows;
    }
    void Train(const Dataset& table, uint64_t number, Random& coins, NoiseSource& noise) {
        ChaChaSource source = AuditSource(number, 3);
        Random random(source);
        std::optional<Plan> own;
        if (!shared_)
            own.emplace(Plan::Calibrate(request_));
        Releaser releaser(shared_ ? *shared_ : *own, noise);
        PublicRandom structure(random);
        PrivateRandom private_coins(coins);
        NoProgress progress;
        NoInterrupt interrupt;
        Model model(table.features(), table.target(), learner_->link());
        Run run{table, releaser, structure, private_coins, model, progress, interrupt, {}};
        learner_->Train(run);
    }
    // Along a transcript: with the same coins; where units are sampled, with everyone.
    Raw Certain(const Dataset& table, uint64_t number, const std::vector<SeenDraw>& draws) {
        Replay replay(draws);
        if (audit_.sampling_rate < 1) {
            EveryoneSource everyone;
            Random coins(everyone);
            Train(table, number, coins, replay);
        } else {
            ChaChaSource source = AuditSource(number, 5);
            Random coins(source);
            Train(table, number, coins, replay);
        }
        if (!replay.SawAll())
            throw std::logic_error("the neighbour's training drew less");
        return std::move(replay.raw);
    }

    const AuditCase& audit_;
    Dataset without_;
    Dataset with_;
    std::unique_ptr<Learner> learner_;
    PlanRequest request_;
    std::optional<Plan> shared_;
};

// Bounds are so many standard errors off. The normal limit of a mean is beyond them with a chance of 4e-6 a side: 5e-4 for
// both sides of all cases together, where the claims are exactly true. (Values are skewed to the right, so that their mean
// and its error rise together: a lower bound that is above the truth is rarer than that.)
constexpr double kAuditSigmas = 4.5;

struct AuditResult {
    double epsilon = 0;       // lower bound of the real epsilon at the claimed delta
    double largest_loss = 0;  // seen; for delta = 0 a bound like epsilon
    // The real delta at the claimed epsilon, over the claimed delta: an estimate, which is above 1 half the time where the
    // claim is exact, and its bounds.
    double delta_share = 0, least_share = 0, most_share = 0;

    // Less private than claimed.
    bool Above(const AuditCase& audit) const {
        return epsilon > audit.epsilon || least_share > 1 ||
               (audit.delta == 0 && largest_loss > audit.epsilon * (1 + 1e-9));
    }
};

// E (1 - e^(epsilon - L))+ over losses towards one side: mean minus `sigmas` standard errors.
inline double DeltaAt(const std::vector<double>& losses, double sign, double epsilon, double sigmas) {
    double sum = 0, squares = 0;
    for (const double loss : losses) {
        const double over = sign * loss - epsilon;
        const double value = over > 0 ? -std::expm1(-over) : 0;
        sum += value;
        squares += value * value;
    }
    const auto n = static_cast<double>(losses.size());
    const double mean = sum / n;
    return mean - sigmas * std::sqrt(std::max(0.0, squares / n - mean * mean) / n);
}

// `trainings` on each table. Seeds are fixed, so a test that passes once passes always.
inline AuditResult RunAudit(const AuditCase& audit, int trainings, double factor = 1, uint64_t first = 0) {
    std::optional<Audited> audited;
    std::vector<double> with, without;
    AuditResult result;
    for (int i = 0; i < trainings; i++) {
        if (i % kTrainingsPerPlan == 0)
            audited.emplace(audit);
        with.push_back(audited->DrawLoss(true, first + 2 * static_cast<uint64_t>(i), factor));
        without.push_back(audited->DrawLoss(false, first + 2 * static_cast<uint64_t>(i) + 1, factor));
        result.largest_loss =
            std::max({result.largest_loss, std::fabs(with.back()), std::fabs(without.back())});
    }
    const auto delta = [&](double epsilon, double sigmas) {
        return std::max(DeltaAt(with, 1, epsilon, sigmas), DeltaAt(without, -1, epsilon, sigmas));
    };
    if (audit.delta > 0) {
        result.delta_share = delta(audit.epsilon, 0) / audit.delta;
        result.least_share = delta(audit.epsilon, kAuditSigmas) / audit.delta;
        result.most_share = delta(audit.epsilon, -kAuditSigmas) / audit.delta;
    }
    double low = 0, high = 60;
    if (delta(0, kAuditSigmas) <= audit.delta)
        return result;
    for (int step = 0; step < 50; step++) {
        const double middle = (low + high) / 2;
        (delta(middle, kAuditSigmas) > audit.delta ? low : high) = middle;
    }
    result.epsilon = low;
    return result;
}

}  // namespace dpboost
