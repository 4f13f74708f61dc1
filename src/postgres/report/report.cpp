// dpboost_report: a model as a page for people. PostgreSQL's side gathers what the caller may see, the core puts it into
// words and pictures. No row is read, and nothing is drawn.
#include "base/text.h"
#include "model/explain/explain.h"
#include "model/report/report_html.h"
#include "model/report/svg.h"
#include "privacy/words/in_words.h"

#include "postgres/boundary/arguments.h"
#include "postgres/boundary/boundary.h"
#include "postgres/predict/lineage.h"
#include "postgres/predict/model_cache.h"
#include "postgres/predict/time_columns.h"
#include "postgres/report/report_sight.h"

extern "C" {
PG_FUNCTION_INFO_V1(dpboost_report);
}

namespace dpboost {
namespace {

constexpr double kFalseAlarms = 0.05;

// All that the page is made of. Plain data.
struct ReportSources {
    const char* name;  // owner.name
    int32 version;
    ModelFacts facts;
    const JsonValue* features;  // of facts, read
    ReportSight sight;
    Lineage lineage;
};

// ---- core side: words ----

std::string Short(double number, int digits = 4) {
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    return Printed(strtod(text, nullptr));  // as people write it
}

// Rounded up, where it is not what somebody asked for.
std::string EpsilonOf(const ReportSources& sources) {
    return sources.lineage.count > 1 ? PrintedUp(sources.facts.epsilon, 4) : Short(sources.facts.epsilon);
}

ProvenLoss LossOf(const ReportSources& sources, const Evidence& evidence) {
    if (sources.lineage.count > 1)
        return ProvenLoss::OfRelease(CostOf(sources.lineage));
    if (sources.sight.plan_bytes != nullptr)
        return ProvenLoss::OfRelease(
            Cost::Parse(std::string_view(sources.sight.plan_bytes, sources.sight.plan_size)));
    ProvenLoss loss = ProvenLoss::OfPair(sources.facts.epsilon, sources.facts.delta);
    if (evidence.noise == NoiseKind::kGaussian && !sources.facts.imported)
        loss.mu = evidence.mu;
    return loss;
}

// What one person is.
std::string UnitOf(const ReportSources& sources) {
    if (!sources.sight.in_ledger)
        return "";
    if (sources.sight.privacy_unit == nullptr)
        return "one row is one person";
    return "all rows of one \"" + std::string(sources.sight.privacy_unit) + "\" are one person";
}

// With what went before it, where a model is an update.
std::string UpdatesOf(const Lineage& lineage) {
    if (lineage.count <= 1)
        return "";
    return ", with the " + std::to_string(lineage.count - 1) +
           (lineage.count == 2 ? " release" : " releases") + " that it goes on from";
}

std::string OriginOf(const ReportSources& sources) {
    const ModelFacts& facts = sources.facts;
    const ReportSight& sight = sources.sight;
    if (facts.imported)
        return "Imported " + std::string(sight.trained_at) + ". Its method (" + facts.method +
               "), epsilon and delta are claims of who exported it, which this server cannot check.";
    std::string origin = "Method " + std::string(facts.method) + ", trained ";
    if (sight.in_ledger)
        origin += "by " + std::string(sight.role) + " on " + sight.relations + ", ";
    return origin + sight.trained_at + "." +
           (sight.in_ledger ? " Release " + std::to_string(facts.release_id) + " of the ledger." : "");
}

ReportPrivacy PrivacyOf(const ProvenLoss& loss, bool imported) {
    const LossInWords words = InWords(loss);
    ReportPrivacy privacy;
    privacy.before_after = {
        {"she thinks it is 50 % likely that the person's data was used",
         PrintedUp(100 * BeliefAfter(0.5, loss.epsilon), 1) + " %"},
        {"she thinks it is 1 % likely that something holds of the person that only her data would show",
         PrintedUp(100 * BeliefAfter(0.01, loss.epsilon), 1) + " %"},
        {"she guesses at even odds whether the person's data was used",
         "right in " + PrintedUp(100 * GuessSuccess(loss), 1) + " of 100 cases; a coin is right in 50"},
        {"she accuses 5 of 100 people whose data was not used",
         "finds " + PrintedUp(100 * FoundShare(loss, kFalseAlarms), 1) +
             " of 100 whose data was; blind guessing finds 5"}};
    if (!words.failure.empty())
        privacy.notes.push_back("The first two lines follow from epsilon. " + words.failure);
    if (std::isfinite(loss.mu))
        privacy.notes.push_back("The last two are exact for this method, whose noise is all Gaussian (mu = " +
                                Short(loss.mu) + ").");
    privacy.notes.push_back(words.family);
    privacy.notes.push_back(
        imported ? "All this holds only if what its exporter claims is true."
                 : "Everything on this page is computed from the model and the ledger, so reading it "
                   "costs nothing more.");
    return privacy;
}

// Noise of the number of rows is that of all cells together.
ReportConfusion ConfusionOf(const ReportSight& sight, const std::vector<std::string>& classes) {
    ReportConfusion confusion;
    if (sight.count_count == 0)
        return confusion;
    confusion.rows.assign(classes.size() * classes.size(), 0.0);
    for (int i = 0; i < sight.count_count; ++i) {
        const auto place = [&classes](const char* label) {
            return static_cast<size_t>(std::find(classes.begin(), classes.end(), label) - classes.begin());
        };
        const size_t truth = place(sight.counts[i].truth), said = place(sight.counts[i].said);
        if (truth < classes.size() && said < classes.size())
            confusion.rows[truth * classes.size() + said] = sight.counts[i].rows;
    }
    for (int i = 0; i < sight.figure_count; ++i)
        if (strcmp(sight.figures[i].name, "rows") == 0 && sight.figures[i].lower != nullptr &&
            sight.figures[i].upper != nullptr)
            confusion.sd =
                (strtod(sight.figures[i].upper, nullptr) - strtod(sight.figures[i].lower, nullptr)) /
                (2 * kBandSds * static_cast<double>(classes.size()));
    return confusion;
}

// A figure in words: its value, and its interval, of which either end may be open.
struct WordedFigure {
    std::string name, value, interval, reach;

    explicit WordedFigure(const SeenFigure& figure) : name(figure.name) {
        std::replace(name.begin(), name.end(), '_', ' ');
        if (name == "auc" || name == "rmse" || name == "mae" || name == "r2")
            std::transform(name.begin(), name.end(), name.begin(),
                           [](unsigned char c) { return std::toupper(c); });
        const bool above = figure.lower != nullptr, below = figure.upper != nullptr;
        const double lower = above ? strtod(figure.lower, nullptr) : 0;
        const double upper = below ? strtod(figure.upper, nullptr) : 0;
        const double width = above && below ? upper - lower : 0;
        const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(width, 1.0)) - 0.5)));
        const auto printed = [this, unit](double number) {
            return name == "rows" ? Separated(number, unit) : Short(number, 3);
        };
        value = figure.value == nullptr ? "not known" : printed(strtod(figure.value, nullptr));
        if (above && below)
            interval = printed(lower) + " to " + printed(upper);
        else
            interval = above   ? "at least " + printed(lower)
                       : below ? "at most " + printed(upper)
                               : "nothing bounds it";
        if (figure.value != nullptr)
            reach = above && below ? " \u00b1 " + Short(width / 2, 1) : ", " + interval;
    }
};

std::optional<ReportEvaluation> EvaluationOf(const ReportSight& sight, const Model& model) {
    if (sight.evaluation == 0 || sight.figure_count == 0)
        return std::nullopt;
    ReportEvaluation evaluation;
    for (int i = 0; i < sight.figure_count; ++i) {
        const WordedFigure figure(sight.figures[i]);
        evaluation.figures.emplace_back(figure.name, figure.value + " (" + figure.interval + ")");
        if (i == 0)
            evaluation.headline = figure.name + " " + figure.value + figure.reach;
    }
    for (int i = 0; i < sight.bin_count; ++i) {
        const SeenBin& bin = sight.bins[i];
        evaluation.bins.push_back({bin.predicted, bin.observed, bin.low, bin.high, bin.true_positive_rate,
                                   bin.false_positive_rate});
    }
    evaluation.confusion = ConfusionOf(sight, model.target().classes());
    evaluation.source = "release " + std::to_string(sight.evaluation) + ", " + sight.evaluated_on +
                        ", epsilon " + Short(sight.evaluation_epsilon);
    return evaluation;
}

std::string Literal(std::string_view text) {
    std::string literal = "'";
    for (const char c : text)
        literal.append(c == '\'' ? 2 : 1, c);
    return literal + "'";
}

// What would measure it, on the first of the tables where that is known.
std::string EvaluationCall(const ReportSources& sources) {
    std::string table = sources.sight.in_ledger ? sources.sight.relations : "table";
    table = table.substr(0, table.find(", "));
    const char* target = sources.facts.target[0] != '\0' ? sources.facts.target : "target";
    return "SELECT dpboost_evaluate(" + Literal(sources.name) + ", " + Literal(table) + ", " +
           Literal(target) + ", epsilon => 0.1)";
}

ReportRows RecordOf(const ReportSources& sources, const Model& model, const ProvenLoss& loss) {
    const ModelFacts& facts = sources.facts;
    const std::string unit = UnitOf(sources);
    ReportRows rows;
    if (!facts.imported)
        rows.emplace_back("release", std::to_string(facts.release_id) +
                                         ", charged in a commit of its own before anything was drawn");
    rows.emplace_back(
        facts.imported ? "claim" : "promise",
        "(" + EpsilonOf(sources) + ", " + Short(facts.delta) + ")-differential privacy" +
            UpdatesOf(sources.lineage) + (unit.empty() ? "" : "; " + unit) +
            (std::isfinite(loss.mu) ? "; Gaussian differential privacy with mu = " + Short(loss.mu) : ""));
    if (sources.sight.in_ledger)
        rows.emplace_back("tables read", sources.sight.relations);
    rows.emplace_back("public before",
                      std::to_string(model.features().size()) +
                          " columns, with their ranges, levels or hashes; nothing was taken from rows "
                          "without noise");
    if (sources.sight.in_ledger)
        rows.emplace_back(
            "check it", "SELECT dpboost_verify(" + std::to_string(facts.release_id) +
                            "); in words: SELECT dpboost_statement(" +
                            Literal(std::string(sources.name) + "@" + std::to_string(sources.version)) + ")");
    rows.emplace_back("made by",
                      "SELECT dpboost_report(" +
                          Literal(std::string(sources.name) + "@" + std::to_string(sources.version)) +
                          "), dpboost " DPBOOST_VERSION "; no script, no request to any server");
    return rows;
}

ReportFacts FactsOf(const ReportSources& sources, const Model& model) {
    const ReportSight& sight = sources.sight;
    const ProvenLoss loss = LossOf(sources, model.evidence());
    const std::string unit = UnitOf(sources);
    ReportFacts facts;
    facts.model = sources.name;
    facts.version = std::to_string(sources.version);
    facts.target = sources.facts.target;
    facts.positive = sources.facts.positive == nullptr ? "" : sources.facts.positive;
    facts.origin = OriginOf(sources);
    facts.evaluation = EvaluationOf(sight, model);
    facts.times = TimesOf(*sources.features);
    if (sight.can_evaluate)
        facts.evaluation_call = EvaluationCall(sources);
    facts.epsilon = "epsilon " + EpsilonOf(sources);
    facts.epsilon_note = "delta " + Short(sources.facts.delta) + (unit.empty() ? "" : ", " + unit) +
                         (sources.facts.imported ? "; as claimed elsewhere" : "") +
                         UpdatesOf(sources.lineage);
    if (sight.budget_of != nullptr) {
        facts.budget = Short(std::floor(1000 * sight.budget_share) / 10) + " %";
        facts.budget_note =
            std::string(sight.budget_of) +
            (sight.budget_role == nullptr ? ", everyone together" : ", " + std::string(sight.budget_role)) +
            "; the largest training that still fits: epsilon " +
            Short(std::floor(1000 * sight.budget_epsilon) / 1000);
    }
    facts.privacy = PrivacyOf(loss, sources.facts.imported);
    facts.record = RecordOf(sources, model, loss);
    return facts;
}

}  // namespace
}  // namespace dpboost

using namespace dpboost;

Datum dpboost_report(PG_FUNCTION_ARGS) {
    RequireArguments(fcinfo, {"model"});
    const text* argument = PG_GETARG_TEXT_PP(0);
    auto* holder = CoreState<std::shared_ptr<CachedModel>>::Make(CurrentMemoryContext);
    auto* page = CoreState<std::string>::Make(CurrentMemoryContext);
    ReportSources sources;
    ModelText read;
    ModelEntry entry;
    ReadModelText(VARDATA_ANY(argument), VARSIZE_ANY_EXHDR(argument), NameUse::kRead, &read);
    FindModel(GetUserId(), read, &entry);
    LoadModelOf(entry, holder->get());
    ReadModelFacts(entry, &sources.facts);
    CloseModelEntry(&entry);
    sources.lineage = sources.facts.imported ? Lineage{} : LineageOf(sources.facts.release_id);
    sources.facts.epsilon = LineageEpsilon(sources.lineage, sources.facts.epsilon);
    sources.features = ReadJson(sources.facts.features);
    sources.name = entry.name;
    sources.version = entry.version;
    LookAround(entry, sources.facts, get_func_namespace(fcinfo->flinfo->fn_oid), &sources.sight);
    const Model& model = holder->get()->get()->model;
    PgInterrupt interrupt;
    CallCore([&] { **page = ReportHtml(model, FactsOf(sources, model), interrupt); });
    PG_RETURN_TEXT_P(cstring_to_text_with_len((*page)->data(), static_cast<int>((*page)->size())));
}
