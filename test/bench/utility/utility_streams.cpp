// Models that go on learning while every person's loss of a lifetime stays within one limit (the experiment of [SBDT] 8.4 and
// more), at delta 1e-6: AUC and log loss on rows that no training saw, after each month, for ways to spend the limit.
// Accounts, trainings and updates are the product's own; a shelf in memory stands for the catalog.
//     utility_streams                         3 runs of everything
//     utility_streams 8 'late adult'          8 runs of the lines that contain this
//     utility_streams 3 months train.trees=100 update.trees=30 old_weight=0.5     other options, where a method has them
// late: rows with label 1 come in the second month only. months: a sixth of the rows comes each month, and in the seventh
// nobody. drift: from the fourth month on the other half of the people comes, by the first column's median, and those
// are tested.
//
// A way is a method, the number of parts that a lifetime's limit is spent in, and what happens each month: `new` trains
// from the start on all rows, `update` goes on from the last model. `cap` is today's accounting by release: one charge for all, and
// nothing more when it is gone. `once`: all rows at once with the whole limit, which no stream can have.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "bench/scoring.h"
#include "bench/tables.h"
#include "learner/auto/auto.h"
#include "learner/boosted/sbdt.h"
#include "privacy/accountant/gdp.h"
#include "support/continue_with.h"
#include "support/train_with.h"
#include "support/units/unit_shelf.h"

namespace dpboost {
namespace {

constexpr double kDelta = 1e-6;
NoInterrupt interrupt;

enum class Monthly { kNew, kUpdate, kCap, kNewcomers, kOnce };

struct Way {
    const char* name;
    const MethodInfo* method;
    double first;  // the first training costs a person this part of its limit at the most
    double later;  // and each that follows this one
    Monthly monthly;
};

const Way kWays[] = {
    {"sbdt, cap, update", &kSbdt, 0, 0, Monthly::kCap},
    {"sbdt, newcomers only, update", &kSbdt, 1, 1, Monthly::kNewcomers},
    {"sbdt, new", &kSbdt, 1, 1, Monthly::kNew},
    {"sbdt, new, thirds", &kSbdt, 1 / 3.0, 1 / 3.0, Monthly::kNew},
    {"sbdt, update", &kSbdt, 1, 1, Monthly::kUpdate},
    {"sbdt, update, quarter", &kSbdt, 1, 1 / 4.0, Monthly::kUpdate},
    {"sbdt, update, halves", &kSbdt, 1 / 2.0, 1 / 2.0, Monthly::kUpdate},
    {"sbdt, update, thirds", &kSbdt, 1 / 3.0, 1 / 3.0, Monthly::kUpdate},
    {"sbdt, once", &kSbdt, 1, 1, Monthly::kOnce},
    {"auto, cap, update", &kAuto, 0, 0, Monthly::kCap},
    {"auto, new", &kAuto, 1, 1, Monthly::kNew},
    {"auto, update", &kAuto, 1, 1, Monthly::kUpdate},
    {"auto, update, halves", &kAuto, 1 / 2.0, 1 / 2.0, Monthly::kUpdate},
    {"auto, update, thirds", &kAuto, 1 / 3.0, 1 / 3.0, Monthly::kUpdate},
    {"auto, update, sixths", &kAuto, 1 / 6.0, 1 / 6.0, Monthly::kUpdate},
    {"auto, once", &kAuto, 1, 1, Monthly::kOnce},
};

struct Line {
    const char* name;
    const char* table;
    double epsilon;
    std::vector<double> goals;  // AUC by month; 0: none
};

const Line kLines[] = {
    {"late adult 0.1", "adult", 0.1, {0, .883}},
    {"late adult 0.5", "adult", 0.5, {0, .897}},
    {"months adult 0.1", "adult", 0.1, {.845, 0, .866, 0, 0, .880, 0}},
    {"months magic 0.5", "magic", 0.5, {}},
    {"months credit2 0.5", "credit2", 0.5, {}},
    {"drift adult 0.1", "adult", 0.1, {}},
    {"drift magic 0.5", "magic", 0.5, {}},
};

// Which rows there are in each month, and which are tested after it.
struct Stream {
    std::vector<std::vector<uint32_t>> months;
    std::vector<std::vector<uint32_t>> tests;
};

std::vector<uint32_t> Joined(std::vector<uint32_t> a, const std::vector<uint32_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

std::vector<uint32_t> Part(const std::vector<uint32_t>& rows, size_t part, size_t parts) {
    return {rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * part / parts),
            rows.begin() + static_cast<std::ptrdiff_t>(rows.size() * (part + 1) / parts)};
}

template <class Chosen>
std::pair<std::vector<uint32_t>, std::vector<uint32_t>> Divided(const std::vector<uint32_t>& rows,
                                                                Chosen chosen) {
    std::pair<std::vector<uint32_t>, std::vector<uint32_t>> parts;
    for (const uint32_t row : rows)
        (chosen(row) ? parts.first : parts.second).push_back(row);
    return parts;
}

Stream MakeStream(const std::string& kind, const EncodedTable& table, Random& random) {
    std::vector<uint32_t> order(table.rows());
    random.Permutation(order.data(), order.size());
    const std::vector<uint32_t> test = Part(order, 0, 5), train = Joined(Part(order, 1, 5), {});
    std::vector<uint32_t> rest(order.begin() + static_cast<std::ptrdiff_t>(test.size()), order.end());
    Stream stream;
    if (kind == "late") {
        const auto [late, early] = Divided(rest, [&](uint32_t row) { return table.values[row] > 0.5; });
        stream.months = {early, Joined(early, late)};
    } else if (kind == "months") {
        std::vector<uint32_t> all;
        for (size_t month = 0; month < 6; month++)
            stream.months.push_back(all = Joined(all, Part(rest, month, 6)));
        stream.months.push_back(all);
    } else {
        std::vector<uint16_t> codes;
        for (const uint32_t row : rest)
            codes.push_back(*table.Row(row));
        std::nth_element(codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(codes.size() / 2),
                         codes.end());
        const uint16_t median = codes[codes.size() / 2];
        const auto is_first = [&](uint32_t row) { return *table.Row(row) < median; };
        const auto [first, second] = Divided(rest, is_first);
        const auto tests = Divided(test, is_first);
        std::vector<uint32_t> all;
        for (size_t month = 0; month < 6; month++) {
            stream.months.push_back(all = Joined(all, Part(month < 3 ? first : second, month % 3, 3)));
            stream.tests.push_back(month < 3 ? tests.first : tests.second);
        }
    }
    stream.tests.resize(stream.months.size(), test);
    return stream;
}

struct Settings {
    std::vector<GivenOption> train, update;
    double old_weight = -1;
};

// What persons have spent, and the last model.
class Life {
  public:
    Life(const EncodedTable& table, const MethodInfo& method, double epsilon, const Settings& given)
        : table_(table),
          method_(method),
          given_(given),
          limit_(epsilon, kDelta, Budget(epsilon, kDelta).order()) {}

    // The epsilon of a Gaussian training that costs a unit this part of its limit.
    double PartEpsilon(double part) const {
        if (part == 1)
            return limit_.epsilon();
        const double mu_squared = 2 * part * limit_.rho() / limit_.order();
        return GdpEpsilon(std::sqrt(mu_squared), kDelta) * (1 - 1e-6);
    }

    const Model& Release(const std::vector<uint32_t>& rows, double epsilon, bool goes_on, Random& random) {
        const bool continued = goes_on && model_.has_value();
        const Continued from{continued ? *model_ : empty_, given_.update, given_.old_weight};
        const std::unique_ptr<Learner> learner = method_.make(
            method_, {table_.features, table_.target, epsilon, kDelta, continued ? &from : nullptr},
            given_.train);
        PlanRequest request{
            epsilon, kDelta, learner->Mechanisms(), {limit_.PerRelease().Constraint("it")}, {}};
        Plan plan = Plan::Calibrate(request);
        UnitAccount account(limit_);
        Dataset dataset = Build(rows, account.keys());
        shelf_.LoadInto(&account.Open(shelf_.salt, shelf_.header, size_t{1} << 33, interrupt));
        const std::string rounds = learner->rounds_mechanism();
        const UnitCharge charge =
            rounds.empty() ? UnitCharge::Whole(limit_, plan.release())
                           : UnitCharge::ByRounds(limit_, plan.release(), plan.FirstEvent(plan.Find(rounds)));
        shelf_.Write(account.Reserve(charge, &dataset, interrupt));
        ExactNoise noise(random);
        Releaser releaser(plan, noise);
        PublicRandom structure(random);
        PrivateRandom coins(random);
        NoProgress progress;
        Model model = continued ? *model_ : Model(table_.features, table_.target, learner->link());
        Run run{dataset, releaser, structure, coins, model, progress, interrupt, {}};
        run.unit_rounds = account.rounds();
        learner->Train(run);
        if (const std::string& settled = account.Settle(interrupt); !settled.empty())
            shelf_.Write(settled);
        NoteNoise(plan, continued, &model);
        model_ = std::move(model);
        return *model_;
    }

    // Of the limit, what those who have rows have left on average.
    double MeanLeft(const std::vector<uint32_t>& rows) const {
        std::vector<UnitKey> keys;
        for (const uint32_t row : rows)
            keys.push_back(UnitKeyOf(int64_t{row}));
        double left = 0;
        for (const uint32_t spent : shelf_.Spent(keys))
            left += std::ldexp(UnitLeft(spent), -31);
        return left / static_cast<double>(rows.size());
    }

  private:
    Dataset Build(const std::vector<uint32_t>& rows, std::vector<UnitKey>* keys) const {
        DatasetBuilder builder(table_.features, table_.target, true);
        for (const uint32_t row : rows) {
            if (builder.Full())
                builder.Grow();
            for (size_t column = 0; column < table_.features.size(); column++)
                builder.SetCode(column, table_.Row(row)[column]);
            float label = 0;
            table_.target.Label(table_.values[row], &label);
            builder.AppendRow(label, UnitKeyOf(int64_t{row}));
        }
        return builder.Finish(interrupt, keys);
    }

    // As TrainingCore does.
    static void NoteNoise(const Plan& plan, bool continued, Model* model) {
        Evidence evidence = model->evidence();
        const double mu_squared =
            GaussianMuSquared(plan.events()) + (continued ? evidence.mu * evidence.mu : 0);
        const bool gaussian =
            std::isfinite(mu_squared) && (!continued || evidence.noise == NoiseKind::kGaussian);
        evidence.noise = gaussian ? NoiseKind::kGaussian : NoiseKind::kUnstated;
        evidence.mu = gaussian ? std::sqrt(mu_squared) : 0;
        model->SetEvidence(std::move(evidence));
    }

    const EncodedTable& table_;
    const MethodInfo& method_;
    const Settings& given_;
    UnitLimit limit_;
    UnitShelf shelf_;
    std::optional<Model> model_;
    Model empty_{{FeatureSpec::Boolean("b")}, TargetSpec::Binary(), Link::kLogistic};
};

struct Result {
    Tally auc, log_loss, left;
};

void RunOnce(const Line& line, const Way& way, const EncodedTable& table, const Settings& given, int run,
             std::vector<Result>* results) {
    ChaChaSource order = SourceOf(static_cast<uint32_t>(run), 84),
                 source = SourceOf(static_cast<uint32_t>(run), 16);
    Random shuffled(order), random(source);
    const std::string kind(line.name, std::string(line.name).find(' '));
    const Stream stream = MakeStream(kind, table, shuffled);
    Life life(table, *way.method, line.epsilon, given);
    const auto released = static_cast<int>(stream.months.size()) - (kind == "months" ? 1 : 0);
    const bool cap = way.monthly == Monthly::kCap;
    const double first = life.PartEpsilon(cap ? 1.0 / released : way.first);
    const double later = life.PartEpsilon(cap ? 1.0 / released : way.later);
    results->resize(stream.months.size());
    const Model* model = nullptr;
    std::vector<uint32_t> before;
    for (size_t month = 0; month < stream.months.size(); month++) {
        const std::vector<uint32_t>& rows = stream.months[month];
        const bool ended = cap && static_cast<int>(month) >= released;
        const bool waits = way.monthly == Monthly::kOnce && static_cast<int>(month) != released - 1;
        if (!ended && !waits) {
            std::vector<uint32_t> taken = rows;
            if (way.monthly == Monthly::kNewcomers)
                taken.erase(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(before.size()));
            model =
                &life.Release(taken, model == nullptr ? first : later, way.monthly != Monthly::kNew, random);
        }
        before = rows;
        if (model == nullptr)
            continue;
        const Predictions predictions = PredictRows(*model, table, stream.tests[month]);
        (*results)[month].auc.Add(Auc(predictions.predicted, predictions.values));
        (*results)[month].log_loss.Add(LogLoss(predictions.predicted, predictions.values));
        (*results)[month].left.Add(life.MeanLeft(rows));
    }
}

void Print(const Line& line, const Way& way, const std::vector<Result>& results) {
    std::printf("%-20s %-32s", line.name, way.name);
    bool reached = true;
    for (size_t month = 0; month < results.size(); month++) {
        const Result& result = results[month];
        if (result.auc.runs == 0) {
            std::printf("  %-22s", "-");
            continue;
        }
        std::printf("  %.4f+-%.4f %.3f %2.0f%%", result.auc.Mean(), result.auc.StandardError(),
                    result.log_loss.Mean(), 100 * result.left.Mean());
        if (month < line.goals.size())
            reached = reached && result.auc.Mean() >= line.goals[month];
    }
    std::printf("%s\n", line.goals.empty() ? "" : reached ? "  reached" : "  below");
    std::fflush(stdout);
}

Settings ReadSettings(const std::vector<std::string>& settings, const MethodInfo& method) {
    Settings given;
    for (const std::string& one : settings) {
        const size_t equal = one.find('='), dot = one.find('.');
        const double value = std::strtod(one.c_str() + equal + 1, nullptr);
        if (one.rfind("old_weight=", 0) == 0) {
            given.old_weight = value;
            continue;
        }
        if (dot == std::string::npos || dot > equal)
            throw Error(ErrorCode::kInvalidParameter, "no setting \"" + one + "\"");
        const std::string key = one.substr(dot + 1, equal - dot - 1);
        if (method.options.Find(key) != nullptr)
            (one[0] == 't' ? given.train : given.update).push_back(Given(key.c_str(), value));
    }
    return given;
}

void RunAll(const Arguments& arguments) {
    std::printf("%-20s %-32s  AUC, log loss and what is left to a person on average, after each month\n", "",
                "");
    for (const Line& line : kLines) {
        std::optional<EncodedTable> table;
        for (const Way& way : kWays) {
            if ((std::string(line.name) + " " + way.name).find(arguments.only) == std::string::npos)
                continue;
            if (!table)
                table = LoadPublic(line.table);
            const Settings given = ReadSettings(arguments.settings, *way.method);
            std::vector<Result> results;
            for (int run = 0; run < arguments.runs; run++)
                RunOnce(line, way, *table, given, run, &results);
            Print(line, way, results);
        }
    }
}

}  // namespace
}  // namespace dpboost

int main(int argc, char** argv) {
    using namespace dpboost;
    return Guarded([&] { RunAll(ReadArguments(argc, argv, 3)); });
}
