// How much of its charge does one unit use? Random small tables and canaries, both directions, every method: a training
// is replayed on the neighbouring table along the same transcript, and no draw may move by more than it was charged
// for, nor the training in all. Nothing else finds a wrong clip, weight, norm or rounding as directly. A quarter of the
// transcripts come from a hundredth of the noise and a quarter from twenty times of it, to reach states that honest noise
// hardly visits, and stages that only follow a clear finding.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "learner/methods.h"
#include "privacy/pool.h"
#include "support/audit/audit.h"

namespace dpboost {
namespace {

// Tables per method; `make audit` asks for more.
int Tables() {
    const char* more = std::getenv("DPBOOST_AUDIT_TABLES");
    return more != nullptr ? std::atoi(more) : 25;
}

struct RandomCase {
    std::vector<FeatureSpec> features;
    Task task;
    bool logarithmic, weighted;  // of method auto
    bool units;
    std::vector<AuditRow> rows, canary;
    double epsilon;
};

float RandomLabel(Random& random, Task task, bool extreme) {
    if (task == Task::kBinary)
        return static_cast<float>(random.Below(2));
    if (task == Task::kClasses)
        return static_cast<float>(random.Below(3));
    if (extreme)
        return random.Below(2) == 0 ? -1.0F : 1.0F;
    return static_cast<float>(static_cast<double>(random.Below((1 << 21) + 1)) / (1 << 20) - 1);
}

AuditRow RandomRow(Random& random, const RandomCase& table, int64_t unit, bool extreme) {
    AuditRow row{{}, RandomLabel(random, table.task, extreme), unit};
    if (table.weighted)
        row.weight =
            static_cast<uint16_t>(random.Below(2) == 0 ? kFullWeight : random.Below(kFullWeight + 1));
    for (const FeatureSpec& feature : table.features)
        row.codes.push_back(static_cast<uint16_t>(random.Below(feature.cells())));
    return row;
}

// `alone`: with units, methods that draw a row or a subset per unit see one unit only, so that its coins are the only
// ones and both tables draw the same.
RandomCase RandomTables(Random& random, bool alone, bool weights, bool classes = false) {
    RandomCase table;
    table.features = {AuditColumn("a", 4)};
    if (random.Below(3) > 0)
        table.features.push_back(FeatureSpec::Levels("b", {"x", "y", "z"}));
    if (random.Below(2) > 0)
        table.features.push_back(AuditColumn("c", 8));
    table.task = random.Below(2) == 0 ? Task::kBinary : Task::kRegression;
    if (classes)
        table.task = Task::kClasses;
    table.logarithmic = table.task == Task::kRegression && random.Below(4) == 0;
    table.weighted = weights && random.Below(2) == 0;
    table.units = random.Below(2) == 0;
    table.epsilon = std::pow(10.0, static_cast<double>(random.Below(2001)) / 1000 - 1);
    const bool extreme = random.Below(2) == 0;
    const uint64_t others = alone && table.units ? 0 : random.Below(14);
    for (uint64_t i = 0; i < others; i++)
        for (uint64_t k = 0; k <= (table.units ? random.Below(4) : 0); k++)
            table.rows.push_back(RandomRow(random, table, static_cast<int64_t>(i), extreme));
    const AuditRow one = RandomRow(random, table, 1 << 20, true);
    const bool copies = random.Below(2) == 0;
    for (uint64_t k = 0; k <= (table.units ? random.Below(30) : 0); k++)
        table.canary.push_back(copies ? one : RandomRow(random, table, 1 << 20, true));
    return table;
}

// Small trainings; what a method does not know is left out. Ensembles on subsets are drawn once only: in a second one the
// units of both tables would have other coins.
std::vector<GivenOption> RandomOptions(Random& random, const MethodInfo& method, Task task) {
    const auto one_of = [&](std::initializer_list<double> values) {
        return values.begin()[random.Below(values.size())];
    };
    const std::string name = method.name;
    std::vector<GivenOption> all = {Given("trees", name == "auto" ? one_of({1, 3}) : 3),
                                    Given("depth", name == "auto" ? one_of({1, 2, 3, 3}) : one_of({1, 2})),
                                    Given("subsample", 1),
                                    Given("learning_rate", name == "dp_rf" ? 1 : one_of({0.2, 1})),
                                    Given("leaf_clip", 3),
                                    Given("l2", one_of({0, 0.1, 1})),
                                    Given("candidate_count", 4),
                                    Given("rounds", one_of({1, 3})),
                                    Given("ensembles", name == "pure_seq" ? 3 : 1),
                                    Given("trees_per_ensemble", name == "pure_seq" ? 1 : 3)};
    if (name == "dp_tr_ih" || name == "dp_tr_ih_ebm" || name == "dp_tr_batch" || name == "dp_xgb")
        all.push_back(Given("hessian_rounds", 2));
    if (name == "sbdt") {
        all.push_back(Given("hessian_share", one_of({0.02, 0.3, 0.7})));
        all.push_back(Given("gradient_clip", one_of({0.1, 0.5, 2})));
        all.push_back(Given("extra_rounds", one_of({0, 12})));
        if (task != Task::kRegression)
            all.push_back(Given("hessian_clip", one_of({0.01, 0.1, 0.25})));
    }
    if (name == "auto" && task == Task::kRegression && random.Below(2) == 0)
        all.push_back(GivenTruth("intervals", true));
    if (name == "auto" && task != Task::kClasses && random.Below(3) == 0)
        all.push_back(GivenNumbers("monotone", {{"a", one_of({-1, 1})}}));
    if (name == "auto" && task == Task::kRegression && random.Below(2) == 0) {
        const bool huber = random.Below(3) == 0;
        all.push_back(Given("objective", huber ? "huber" : "quantile"));
        if (!huber)
            all.push_back(Given("quantile", one_of({0.02, 0.3, 0.9})));
    }
    if (name == "auto" && random.Below(4) > 0)
        all.push_back(Given("rows_hint", 20000));  // as if there were many: all stages run
    std::vector<GivenOption> given;
    for (const GivenOption& option : all)
        if (method.options.Find(option.key) != nullptr &&
            !(name == "auto" && option.key == "trees" && random.Below(4) > 0))
            given.push_back(option);
    return given;
}

// What the proof allows a unit to change, per mechanism.
struct Allowance {
    double per_event;
    std::size_t dimensions;
    double scale;  // of dimension 0
    SeenDraw::Kind kind;
};

class Uses {
  public:
    double largest_event = 0, largest_training = 0;
    std::size_t trees = 0;  // of all models

    void Add(const std::vector<SeenDraw>& draws, const std::vector<std::vector<int64_t>>& other,
             const Plan& plan, const std::vector<MechanismRequest>& mechanisms) {
        double pool = 0;
        std::map<std::size_t, double> filtered;
        std::size_t next = 0;
        while (next < draws.size()) {
            const std::size_t id = Find(draws[next], plan, mechanisms);
            const double s = plan.NoiseMultiplier(id);
            if (mechanisms[id].pool) {
                pool += Distance(draws[next], draws[next].raw, other[next]) * s * s;
                next++;
                continue;
            }
            double use = 0;
            for (std::size_t d = 0; d < mechanisms[id].dimensions.size(); d++, next++)
                use += Distance(draws[next], draws[next].raw, other[next]);
            use *= mechanisms[id].kind == EventKind::kGaussian ? s * s : s;
            largest_event = std::max(largest_event, use);
            if (mechanisms[id].filter_rounds > 0)
                filtered[id] += use / static_cast<double>(mechanisms[id].count);
        }
        largest_training = std::max(largest_training, pool);
        for (const auto& [id, use] : filtered)
            largest_training = std::max(largest_training, use);
    }

  private:
    static std::size_t Find(const SeenDraw& draw, const Plan& plan,
                            const std::vector<MechanismRequest>& mechanisms) {
        for (std::size_t id = 0; id < mechanisms.size(); id++) {
            if (mechanisms[id].pool && draw.kind == SeenDraw::kGaussian)
                return id;
            const SeenDraw::Kind kind = mechanisms[id].kind == EventKind::kGaussian  ? SeenDraw::kGaussian
                                        : mechanisms[id].kind == EventKind::kLaplace ? SeenDraw::kLaplace
                                                                                     : SeenDraw::kSelection;
            if (!mechanisms[id].pool && draw.kind == kind && plan.ScaleInSteps(id, 0) == draw.scale)
                return id;
        }
        throw std::logic_error("a draw of no mechanism");
    }
};

// Returns how many trees the model has.
std::size_t Train(const Learner& learner, const Dataset& table, const PlanRequest& request, uint64_t number,
                  NoiseSource& noise) {
    ChaChaSource source = AuditSource(number, 3), coin_source = AuditSource(number, 5);
    Random random(source), coin_random(coin_source);
    Plan plan = Plan::Calibrate(request);
    Releaser releaser(plan, noise);
    PublicRandom structure(random);
    PrivateRandom coins(coin_random);
    NoProgress progress;
    NoInterrupt interrupt;
    Model model(table.features(), table.target(), learner.link());
    Run run{table, releaser, structure, coins, model, progress, interrupt, {}};
    learner.Train(run);
    return model.trees().size();
}

void Compare(const MethodInfo& method, const RandomCase& table, Random& random, uint64_t number, Uses* uses) {
    std::vector<AuditRow> joined = table.rows;
    joined.insert(joined.end(), table.canary.begin(), table.canary.end());
    const TargetSpec target = table.logarithmic && method.options.Find("target_scale") != nullptr
                                  ? TargetSpec::Logarithmic(0, 1e4)
                                  : AuditTarget(table.task);
    const Dataset without = AuditTable(table.features, target, table.units, table.rows);
    const Dataset with = AuditTable(table.features, target, table.units, joined);
    const double delta = method.pure ? 0 : 1e-6;
    const LearnerContext context{with.features(), with.target(), table.epsilon, delta};
    const std::unique_ptr<Learner> learner =
        method.make(method, context, RandomOptions(random, method, table.task));
    PlanRequest request;
    request.epsilon = table.epsilon;
    request.delta = delta;
    request.mechanisms = learner->Mechanisms();
    const Plan plan = Plan::Calibrate(request);
    for (const bool recorded_with : {false, true}) {
        ChaChaSource noise_source = AuditSource(number, recorded_with ? 11 : 12);
        Random noise_random(noise_source);
        const uint64_t kind = random.Below(4);
        Tape tape(noise_random, kind == 0 ? 0.01 : kind == 1 ? 20 : 1);
        uses->trees += Train(*learner, recorded_with ? with : without, request, number, tape);
        Replay replay(tape.draws);
        Train(*learner, recorded_with ? without : with, request, number, replay);
        ASSERT_TRUE(replay.SawAll()) << method.name;
        uses->Add(tape.draws, replay.raw, plan, request.mechanisms);
    }
}

TEST(Sensitivity, NoUnitUsesMoreThanItsCharge) {
    ChaChaSource source = AuditSource(2024, 1);
    Random random(source);
    for (const MethodInfo* method : AllMethods()) {
        const std::string name = method->name;
        // Whether a coin is drawn per unit, for who or which row takes part.
        const bool coins = name == "dp_pr" || name == "feverless" || name.rfind("dp_xgb", 0) == 0 ||
                           name.find("_ih") != std::string::npos || name == "dp_tr_batch" || method->pure;
        const bool classes_only = name == "adassp_logistic" || name == "adassp_hinge";
        Uses uses;
        const int tables = Tables() * (name == "auto" ? 4 : 1);  // it has the most options
        for (int t = 0; t < tables; t++) {
            RandomCase table = RandomTables(random, coins, method->options.Find("weight") != nullptr);
            if (classes_only && table.task == Task::kRegression)
                continue;
            Compare(*method, table, random, static_cast<uint64_t>(t), &uses);
        }
        EXPECT_LE(uses.largest_event, 1 + 1e-9) << name;
        EXPECT_LE(uses.largest_training, 1 + 1e-9) << name;
        // The noise is not larger than needed either: somewhere a unit uses (nearly) all of a charge.
        EXPECT_GT(std::max(uses.largest_event, uses.largest_training), 0.5) << name;
        if (name == "auto") {
            EXPECT_GT(uses.trees, 0U) << "no training got to products of features";
        }
        if (std::getenv("DPBOOST_AUDIT_TABLES") != nullptr)
            printf("%-18s largest use of a charge %.7f, of a training %.7f\n", name.c_str(),
                   uses.largest_event, uses.largest_training);
    }
}

TEST(Sensitivity, NorWithSeveralClasses) {
    ChaChaSource source = AuditSource(2025, 1);
    Random random(source);
    int methods = 0;
    for (const MethodInfo* method : AllMethods()) {
        if (!method->classes)
            continue;
        methods++;
        Uses uses;
        for (int t = 0; t < Tables(); t++)
            Compare(*method, RandomTables(random, false, method->options.Find("weight") != nullptr, true),
                    random, static_cast<uint64_t>(t), &uses);
        EXPECT_LE(uses.largest_event, 1 + 1e-9) << method->name;
        EXPECT_LE(uses.largest_training, 1 + 1e-9) << method->name;
        EXPECT_GT(std::max(uses.largest_event, uses.largest_training), 0.5) << method->name;
        if (method == AllMethods().Find("auto")) {
            EXPECT_GT(uses.trees, 0U) << "no training got to products of features";
        }
        if (std::getenv("DPBOOST_AUDIT_TABLES") != nullptr)
            printf("%-18s of classes: largest use of a charge %.7f, of a training %.7f\n", method->name,
                   uses.largest_event, uses.largest_training);
    }
    EXPECT_GE(methods, 2);
}

}  // namespace
}  // namespace dpboost
