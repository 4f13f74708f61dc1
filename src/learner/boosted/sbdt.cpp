#include "learner/boosted/sbdt.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "learner/most_start.h"
#include "learner/objective/initial_score.h"
#include "learner/ramp.h"
#include "learner/tree/leaf_values.h"
#include "learner/tree/tree_options.h"
#include "model/scaled.h"

namespace dpboost {

const char kTreesMechanism[] = "trees";

namespace {

// Of an update: its trees, to those of a training, and how much the model counts that it goes on from. A model that fades
// a little leaves room for what is new, takes its own noise along only so long, and forgets what has changed.
constexpr uint32_t kUpdateDivisor = 2;
constexpr double kOldWeight = 0.7;
// In log odds: by how much the share of the positive class may have changed before the model counts less; at twice that it
// counts nothing. Who has come since may have brought all of a class.
constexpr double kSameBase = 0.7;

constexpr const char* kScheduleWords[] = {"cyclic", "any"};
constexpr OptionRow kSbdtRows[] = {
    Word<&SbdtOptions::objective>("objective", kObjectiveWords, kObjectiveHelp),
    kTreesRow<SbdtOptions>,
    kDepthRow<SbdtOptions>,
    kLearningRateRow<SbdtOptions>,
    kSubsampleRow<SbdtOptions>,
    kGradientClipRow<SbdtOptions>,
    kHessianClipRow<SbdtOptions>,
    kHessianShareRow<SbdtOptions>,
    kInitialShareRow<SbdtOptions>,
    kL2Row<SbdtOptions>,
    kLeafClipRow<SbdtOptions>,
    Word<&SbdtOptions::features>("features", kScheduleWords,
                                 "one feature per tree in turn, or any feature in any node"),
    Whole<&SbdtOptions::extra_rounds>(
        "extra_rounds", 0, 100000,
        "more trees at no cost, for people whose influence was small so far (Renyi filter)"),
    Whole<&SbdtOptions::batch>("batch", 1, 100,
                               "trees that are grown from the same scores: across servers one exchange"),
};

std::unique_ptr<Learner> MakeSbdt(const MethodInfo& method, const LearnerContext& context,
                                  const std::vector<GivenOption>& given) {
    SbdtOptions options(context.target.task(), context.epsilon);
    method.options.ApplyWords(given, &options);
    CheckObjective(options.objective, context.target);
    options.FitToObjective(context.target);
    method.options.ApplyNumbers(given, &options);
    if (context.continued != nullptr) {
        options.FitToUpdate();
        if (context.continued->old_weight >= 0) {
            options.old_weight = context.continued->old_weight;
            options.fades_with_base = false;
        }
        method.options.Apply(context.continued->given, &options);
    }
    const auto is_rate = [](const GivenOption& option) {
        return option.key == kLearningRateRow<SbdtOptions>.key;
    };
    bool rate_given = std::any_of(given.begin(), given.end(), is_rate);
    if (context.continued != nullptr)
        rate_given |= std::any_of(context.continued->given.begin(), context.continued->given.end(), is_rate);
    if (!rate_given)  // a batch of Newton steps from the same scores goes no further than one whole step
        options.learning_rate = std::min(options.learning_rate, 1.0 / options.batch);
    return std::make_unique<SbdtLearner>(options);
}

// The trees of a training, once their structure is drawn.
struct Growing {
    Run& run;
    const MechanismId id;
    BoostedRows& rows;
    LeafValues& leaf_values;
    const GradientUnits units;
    const bool classes;

    std::vector<int32_t> Values(const NoisySides& leaves) {
        return classes ? leaf_values.NextOfClasses(leaves.All(), leaves.Gradients())
                       : leaf_values.Next(leaves.All());
    }

    // One group of trees, each by the scores of those before it.
    void OneByOne(std::vector<Tree>& trees, uint64_t first, uint64_t rounds) {
        rows.Begin(trees.data(), static_cast<int>(trees.size()), run.interrupt);
        for (size_t t = 0; t < trees.size(); t++) {
            const int slot = static_cast<int>(t);
            trees[t].leaves = Values(ReleaseLeaves(run, id, rows, slot, units));
            rows.SetLeaves(slot, trees[t].leaves);
            run.model.AddTree(std::move(trees[t]));
            run.progress.Report(first + t + 1, rounds);
            run.interrupt.Poll();
        }
    }

    // All by the same scores.
    void Together(std::vector<Tree>& trees, uint64_t first, uint64_t rounds) {
        const std::vector<NoisySides> leaves = ReleaseTrees(run, id, rows, trees, units);
        for (size_t t = 0; t < trees.size(); t++)
            trees[t].leaves = Values(leaves[t]);
        AddTrees(run, rows, trees);
        for (Tree& tree : trees)
            run.model.AddTree(std::move(tree));
        run.progress.Report(first + trees.size(), rounds);
        run.interrupt.Poll();
    }
};

}  // namespace

const MethodInfo kSbdt = {"sbdt",
                          "random splits, Newton leaves with leaf-balanced noise, Poisson sampling, private "
                          "first guess, Renyi filter",
                          "Peinemann, Kirschte, Stock, Cotrini, Mohammadi: S-BDT: Distributed Differentially "
                          "Private Boosted Decision Trees, "
                          "2025",
                          "many trees with interactions, and all that can be set by hand",
                          false,
                          kSbdtRows,
                          MakeSbdt,
                          true,
                          true};

SbdtOptions::SbdtOptions(Task of_task, double epsilon) {
    task = of_task;
    objective = DefaultObjective(task);
    learning_rate = 0.1;
    hessian_clip = 1;
    if (task == Task::kRegression) {
        trees = static_cast<uint32_t>(std::lround(Ramp(epsilon, 0.1, 1, 150, 300)));
        depth = static_cast<int>(std::lround(Ramp(epsilon, 0.1, 2, 2, 4)));
        subsample = 0.1;
        gradient_clip = Ramp(epsilon, 0.1, 1, 0.1, 0.3);
        hessian_share = 0.2;
        initial_share = 0.1;
        l2 = 15;
        return;
    }
    trees = static_cast<uint32_t>(std::lround(Ramp(epsilon, 0.05, 1, 200, 500)));
    depth = 5;
    subsample = Ramp(epsilon, 0.02, 1, 0.01, 0.1);
    gradient_clip = Ramp(epsilon, 0.05, 0.5, 0.3, 0.5);
    hessian_clip = Ramp(epsilon, 0.05, 1, 0.1, 0.25);
    hessian_share = 0.1;
    initial_share = 0.03;
    l2 = 10;
}

void SbdtOptions::FitToObjective(const TargetSpec& target) {
    if (objective == ObjectiveKind::kPoisson)
        gradient_clip = 1;
    if (objective == ObjectiveKind::kSoftmax)
        outputs = target.classes().size();
}

void SbdtOptions::FitToUpdate() {
    const auto part = [](uint32_t rounds) { return (rounds + kUpdateDivisor - 1) / kUpdateDivisor; };
    continued = true;
    old_weight = kOldWeight;
    trees = part(trees);
    extra_rounds = part(extra_rounds);
}

double SbdtOptions::OldWeight(int32_t old_base, int32_t base) const {
    if (!fades_with_base || objective != ObjectiveKind::kLogistic)
        return old_weight;
    const double change = std::fabs(static_cast<double>(int64_t{base} - old_base)) / kFixedScale;
    return old_weight * std::clamp(2 - change / kSameBase, 0.0, 1.0);
}

void SbdtOptions::Check() const {
    if (objective != ObjectiveKind::kPoisson)
        CheckHessianClip(task == Task::kRegression);
    CheckLargestScore(learning_rate * leaf_clip * rounds(),
                      "The number of trees times \"learning_rate\" times \"leaf_clip\"");
}

SbdtLearner::SbdtLearner(const SbdtOptions& options) : options_(options) {
    options_.Check();
}

std::vector<MechanismRequest> SbdtLearner::Mechanisms() const {
    std::vector<MechanismRequest> mechanisms;
    if (options_.initial_share > 0)
        mechanisms.push_back(InitialScoreRequest(options_.initial_share, options_.outputs));
    mechanisms.push_back(options_.LeavesMechanism(kTreesMechanism));
    mechanisms.back().filter_rounds = options_.extra_rounds;
    return mechanisms;
}

std::string SbdtLearner::main_mechanism() const {
    return kTreesMechanism;
}

// Also of K classes a unit is charged by what it adds. Neighbours: add or remove one unit. Its u of a round is that of
// UnitSum::Clip (leaf_sums.h, with its proof): (r1 sum H^2 + r2 sum |G_l|^2) / S^2 with |G_l| the length of the vector of
// all K gradients, of the very integers that are summed, rounded up. The noise has one sigma in all K gradients of a leaf
// (LeafWeights::Dimensions), so the draw is a Gaussian of squared sensitivity u <= 1 whatever K is, which is all that
// renyi_filter.h asks for. The counts of classes that scores start from are another event, and paid whole.
std::string SbdtLearner::rounds_mechanism() const {
    return kTreesMechanism;
}

BoostedRowsOptions SbdtOptions::RowsOptions(int32_t base, const std::vector<int32_t>& class_bases) const {
    BoostedRowsOptions rows = BoostingOptions::RowsOptions(base);
    rows.class_bases = class_bases;
    rows.filter_limit = extra_rounds > 0 ? trees : 0;
    return rows;
}

Footprint SbdtLearner::footprint(bool) const {
    const std::vector<int32_t> class_bases(options_.outputs > 1 ? options_.outputs : 0, 0);
    // Sums of a batch, raw, noisy and in natural units.
    const size_t bytes =
        options_.batch > 1 ? 3 * options_.batch * options_.leaves() * (options_.outputs + 1) * sizeof(double)
                           : 0;
    return {options_.rounds(), static_cast<unsigned>(options_.depth),
            BoostedRows::BytesPerRow(options_.RowsOptions(0, class_bases)), bytes, options_.outputs};
}

Link SbdtLearner::link() const {
    if (options_.objective == ObjectiveKind::kPoisson)
        return Link::kLog;
    if (options_.objective == ObjectiveKind::kSoftmax)
        return Link::kSoftmax;
    return options_.task == Task::kBinary ? Link::kLogistic : Link::kIdentity;
}

void SbdtLearner::Train(Run& run) const {
    CheckInternal(options_.task == run.model.target().task(),
                  "the options are for another task than the rows");
    const MechanismId id = run.releaser.Find(kTreesMechanism);
    const uint64_t rounds = options_.rounds();
    CheckInternal(run.releaser.plan().Rounds(id) == rounds, "the plan is for another number of trees");
    const bool classes = options_.outputs > 1;
    // Today's mean label may be another than the model's: the base is drawn anew, and what is above it goes on.
    const bool keeps_base = options_.continued && options_.initial_share == 0;
    std::vector<int32_t> class_bases(classes ? options_.outputs : 0, 0);
    if (classes && options_.initial_share > 0)
        class_bases = DrawInitialClasses(run);
    const int32_t base = classes      ? 0
                         : keeps_base ? std::clamp(run.model.base(), -kMostStart, kMostStart)
                                      : DrawStart(run, options_);
    SbdtOptions options = options_;
    options.gradient_clip *= MakeObjective(options.objective, run.model.target(), 1, 1, base)->spread();
    if (options_.continued)
        run.model = Scaled(run.model, options_.OldWeight(run.model.base(), base), 0);
    run.model.AddToBase(base);
    for (size_t k = 0; k < class_bases.size(); k++)
        run.model.AddToBase(k, class_bases[k]);
    const RandomStructure structure(run.model.features(), options_.depth, options_.features);
    WorkerPool pool(ThreadsFor(run.rows, run.settings.threads));
    BoostedRowsOptions rows_options = options.RowsOptions(base, class_bases);
    rows_options.unit_rounds = run.unit_rounds;
    if (run.unit_rounds != nullptr)  // also without extra rounds: it charges each unit what it has lost
        rows_options.filter_limit = options_.trees;
    BoostedRows rows(run.rows, rows_options, run.settings.simd, pool);
    if (options_.continued)
        rows.StartFrom(run.model, run.interrupt);
    // Of classes the loss is curved at most twice as much as the largest p (1 - p) along any direction.
    LeafValues leaf_values({LeafPart::kNewton, options_.learning_rate / (classes ? 2 : 1), options_.l2,
                            options_.leaf_clip, 0, false});

    Growing growing{run, id, rows, leaf_values, options.units(), classes};
    const uint64_t step = options_.batch > 1 ? options_.batch : static_cast<uint64_t>(rows.trees_per_group());
    for (uint64_t first = 0; first < rounds; first += step) {
        std::vector<Tree> trees;
        for (uint64_t round = first; round < std::min(first + step, rounds); round++)
            trees.push_back(structure.Draw(round, run.structure));
        if (options_.batch > 1)
            growing.Together(trees, first, rounds);
        else
            growing.OneByOne(trees, first, rounds);
    }
    rows.SettleUnits();
}

}  // namespace dpboost
