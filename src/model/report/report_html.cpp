#include "model/report/report_html.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/explain/explain.h"
#include "model/report/heat_map.h"
#include "model/report/report_style.h"
#include "model/report/report_words.h"
#include "model/report/shape_plot.h"
#include "model/report/svg.h"

namespace dpboost {
namespace {

constexpr size_t kMaxShapes = 30;
constexpr size_t kMaxHeatMaps = 6, kMaxHeatPictures = 12;
constexpr size_t kMaxBars = 300;
constexpr double kIdle = 0.002;  // of the largest importance: a bar or tick of less could not be seen
constexpr size_t kMaxIdle = 24;
constexpr size_t kName = 60;  // characters of a name
constexpr size_t kFact = 2000;

// What noise alone could give.
bool IsWeak(const Importance& item) {
    return !std::isnan(item.noise) && item.importance < 2 * item.noise;
}

class Page {
  public:
    Page(const Model& model, const ReportFacts& facts, Interrupt& interrupt)
        : model_(model), facts_(facts), interrupt_(interrupt), explainer_(model, interrupt, true) {}

    std::string Write();

  private:
    void Head();
    void Cards();
    void Evaluation();
    void Privacy();
    void MeasureImportances();
    void Bars();
    void Shapes();
    // How many columns it leaves out.
    size_t ShapesOf(size_t output, size_t most);
    TimeColumn TimeOf(size_t feature) const {
        return feature < facts_.times.size() ? facts_.times[feature] : TimeColumn::kNone;
    }
    void Interactions();
    struct Together {
        const Interaction* group;
        size_t output;
        double size;
    };
    std::vector<Together> Chosen(const std::vector<std::vector<Interaction>>& found) const;
    void Record();

    void Card(const char* title, const std::string& headline, const std::string& note);
    void Rows(const ReportRows& rows);
    std::string NamesOf(const std::vector<size_t>& features) const;
    // Whether the noise of anything on the page is known; once importances are measured.
    bool has_bands() const {
        return std::any_of(overall_.begin(), overall_.end(),
                           [](const Importance& item) { return !std::isnan(item.noise); });
    }

    const Model& model_;
    const ReportFacts& facts_;
    Interrupt& interrupt_;
    Explainer explainer_;
    std::vector<std::vector<Importance>> importances_;  // per output
    std::vector<Importance> overall_;                   // over the outputs
    std::string html_;
};

// ---- the top ----

void Page::Head() {
    html_ +=
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/><meta "
        "http-equiv=\"Content-Security-Policy\" "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\"/><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"/><meta name=\"color-scheme\" content=\"light "
        "dark\"/><title>" +
        Shortened(facts_.model, kName) + "@" + Escaped(facts_.version) + "</title><style>" + kReportStyle +
        "</style></head><body><main>\n<h1><bdi>" + Shortened(facts_.model, 200) +
        "</bdi><span class=\"mute\">@" + Escaped(facts_.version) + "</span></h1><p class=\"sub\">" +
        Predicts(model_, facts_) + " " + Shortened(facts_.origin, kFact) + "</p>\n";
}

void Page::Card(const char* title, const std::string& headline, const std::string& note) {
    html_ += std::string("<div class=\"card\"><span>") + title + "</span><b>" + headline + "</b><span>" +
             note + "</span></div>\n";
}

void Page::Cards() {
    html_ += "<div class=\"cards\">\n";
    if (facts_.evaluation)
        Card("How good (private evaluation)", Shortened(facts_.evaluation->headline, kName),
             Shortened(facts_.evaluation->source, 200));
    else
        Card("How good", "not measured yet",
             facts_.evaluation_call.empty() ? "predictions can be compared by whoever may read rows"
                                            : "<code>" + Shortened(facts_.evaluation_call, 400) + "</code>");
    Card("Privacy loss of this model", Shortened(facts_.epsilon, kName), Shortened(facts_.epsilon_note, 200));
    if (!facts_.budget.empty())
        Card("Left of the budget", Shortened(facts_.budget, kName), Shortened(facts_.budget_note, 200));
    const std::optional<Reference>& reference = model_.evidence().reference;
    if (reference)
        Card("Trained on about", About(reference->rows) + " rows",
             "a noisy figure; the exact one is not public");
    else
        Card("Trained on", "rows not counted", "this method released no number of rows");
    html_ += "</div>\n";
}

void Page::Rows(const ReportRows& rows) {
    for (const auto& [name, value] : rows)
        html_ += "<tr><th class=\"k\">" + Shortened(name, 200) + "</th><td>" + Shortened(value, kFact) +
                 "</td></tr>\n";
}

void Page::Evaluation() {
    if (!facts_.evaluation || facts_.evaluation->figures.empty())
        return;
    html_ +=
        "<h2>How good it is</h2><p>Measured with noise, so that it reveals no row: each figure with the "
        "interval in which the true one lies in 95 of 100 cases.</p><table>\n";
    Rows(facts_.evaluation->figures);
    html_ += "</table>\n" + ConfusionTable(model_.target().classes(), facts_.evaluation->confusion);
    const std::vector<ReportBin>& bins = facts_.evaluation->bins;
    if (bins.empty())
        return;
    html_ +=
        "<div class=\"shapes wide\">\n<div class=\"shape\"><h3>ranking (ROC)<small>positive rows above a "
        "limit "
        "of the score</small></h3>" +
        RocPlot(bins) +
        "</div>\n<div class=\"shape\"><h3>calibration<small>rows that are positive</small></h3>" +
        CalibrationPlot(bins) +
        "</div>\n</div>\n<p class=\"mute\">Ranking: the further above the diagonal, the better. Calibration: "
        "on "
        "the diagonal probabilities are true; lines are intervals of 95 %, and scores where noise hides the "
        "rows "
        "are left out.</p>\n";
}

void Page::Privacy() {
    html_ +=
        "<h2>What the privacy figures mean</h2><p>Take any person whose data may or may not have been used, "
        "and an "
        "attacker who knows everything else about the table, sees this model and has unlimited computers. "
        "Whatever she looks "
        "for, these limits hold:</p><table><tr><th>before she sees the model</th><th>after she has seen it, "
        "at "
        "most</th></tr>\n";
    for (const auto& [before, after] : facts_.privacy.before_after)
        html_ += "<tr><td>" + Shortened(before, 400) + "</td><td>" + Shortened(after, 400) + "</td></tr>\n";
    html_ += "</table>";
    for (const std::string& note : facts_.privacy.notes)
        html_ += "<p class=\"mute\">" + Shortened(note, kFact) + "</p>\n";
}

// ---- what matters ----

std::string Page::NamesOf(const std::vector<size_t>& features) const {
    std::string names;
    for (const size_t feature : features)
        names += (names.empty() ? "" : " &#215; ") + Shortened(model_.features()[feature].name(), kName);
    return names;
}

// Over several classes: the mean of each group.
void Page::MeasureImportances() {
    std::map<std::vector<size_t>, size_t> places;
    for (size_t output = 0; output < model_.outputs(); output++) {
        importances_.push_back(explainer_.Importances(output));
        for (const Importance& found : importances_.back()) {
            const auto [place, is_new] = places.emplace(found.features, overall_.size());
            if (is_new) {
                overall_.push_back(found);
                continue;
            }
            overall_[place->second].importance += found.importance;
            overall_[place->second].noise += found.noise;
        }
    }
    for (Importance& item : overall_) {
        item.importance /= static_cast<double>(model_.outputs());
        item.noise /= static_cast<double>(model_.outputs());
    }
    SortByImportance(&overall_);
}

void Page::Bars() {
    html_ += "<h2>What matters most</h2>";
    const double largest = overall_.empty() ? 0 : overall_.front().importance;
    if (!(largest > 0)) {
        html_ += "<p>Nothing: every row gets the same prediction.</p>\n";
        return;
    }
    html_ += "<p>Bar: how much a column moves the " + ScaleName(model_, facts_) +
             ", on average over the rows" +
             (explainer_.masses().released() ? "" : " that its declared range allows") +
             (model_.outputs() > 1 ? " and over the classes" : "") + ".";
    if (has_bands())
        html_ += " Tick: what noise alone would give; grey: less than twice of that.";
    html_ += "</p><div class=\"bars\">\n";
    size_t shown = 0, left_out = 0;
    std::vector<std::string> idle;
    for (const Importance& item : overall_) {
        const bool known = !std::isnan(item.noise), weak = IsWeak(item);
        if (item.features.size() == 1 && item.importance < kIdle * largest &&
            !(item.noise >= kIdle * largest)) {
            idle.push_back(NamesOf(item.features));
            continue;
        }
        if (shown == kMaxBars || (item.features.size() > 1 && (weak || !(item.importance > 0)))) {
            left_out++;
            continue;
        }
        shown++;
        html_ += "<span class=\"n\">" + NamesOf(item.features) + "</span><span class=\"track\"><i" +
                 (weak ? " class=\"w\"" : "") + " style=\"width:" + Percent(item.importance / largest) +
                 "\"></i>" + (known ? "<u style=\"left:" + Percent(item.noise / largest) + "\"></u>" : "") +
                 "</span><span class=\"v\">" + Figure(item.importance) +
                 (weak ? " <small>(may be noise)</small>" : "") + "</span>\n";
    }
    html_ += "</div>\n";
    if (!idle.empty()) {
        html_ += "<p class=\"mute\">" + std::string(idle.size() == 1 ? "Does" : "Do") + " next to nothing: ";
        for (size_t i = 0; i < std::min(idle.size(), kMaxIdle); i++)
            html_ += (i == 0 ? "" : ", ") + idle[i];
        html_ += idle.size() > kMaxIdle ? " and " + std::to_string(idle.size() - kMaxIdle) + " more.</p>\n"
                                        : ".</p>\n";
    }
    if (left_out > 0)
        html_ += "<p class=\"mute\">" + std::to_string(left_out) +
                 (left_out == 1 ? " more is" : " more are") +
                 " not shown: too small, or columns that act together no more "
                 "than noise alone would make them.</p>\n";
}

// ---- shapes ----

size_t Page::ShapesOf(size_t output, size_t most) {
    std::vector<ReportShape> shapes;
    size_t features = 0;
    for (const Importance& item : importances_[output]) {
        if (item.features.size() != 1)
            continue;
        features++;
        if (shapes.size() == most || !(item.importance > 0))
            continue;
        const size_t feature = item.features[0];
        shapes.push_back(
            {feature, explainer_.Shape(feature, output), explainer_.masses().of(feature), item.importance});
        interrupt_.Poll();
    }
    const double common = CommonScale(shapes);
    html_ += "<div class=\"shapes\">\n";
    for (const ReportShape& shape : shapes) {
        const FeatureSpec& feature = model_.features()[shape.feature];
        bool own;
        const double scale = ScaleFor(shape, common, &own);
        html_ += "<div class=\"shape\"><h3><span>" + Shortened(feature.name(), kName) + "</span><small>" +
                 (own ? "own scale, " : "") + Figure(shape.importance) + "</small></h3>" +
                 (feature.ordered() ? NumericPlot(feature, shape, scale, TimeOf(shape.feature))
                                    : LevelsPlot(feature, shape, scale)) +
                 "</div>\n";
        interrupt_.Poll();
    }
    html_ += "</div>\n";
    return features - shapes.size();
}

void Page::Shapes() {
    if (overall_.empty() || !(overall_.front().importance > 0))
        return;
    html_ +=
        "<h2>How each column moves the prediction</h2><p>The vertical axis (horizontal for categories) is " +
        ReadingHint(model_, facts_) + "; on the same scale unless it says otherwise.";
    if (has_bands())
        html_ += " Shaded: where the curve could as well be, given the noise that privacy added (95 %).";
    if (explainer_.masses().released())
        html_ +=
            " Grey bars: how many rows lie there, itself noisy. Grey line or hollow dot: too few rows to "
            "tell.";
    html_ += "</p>\n";
    size_t left_out = 0;
    for (size_t output = 0; output < model_.outputs(); output++) {
        if (model_.outputs() > 1)
            html_ += "<h2 class=\"class\">Towards " + InCode(model_.target().classes()[output]) + "</h2>\n";
        left_out = ShapesOf(output, std::max<size_t>(3, kMaxShapes / model_.outputs() / 3 * 3));
    }
    if (left_out > 0)
        html_ += "<p class=\"mute\">" + std::to_string(left_out) +
                 (left_out == 1 ? " column that matters" : " columns that matter") + " less" +
                 (model_.outputs() > 1 ? " to a class" : "") + ", or not at all, " +
                 (left_out == 1 ? "is" : "are") + " not drawn.</p>\n";
}

// The groups that matter most, if noise alone would not give them; of a forest, whose noise nobody knows, the strongest.
std::vector<Page::Together> Page::Chosen(const std::vector<std::vector<Interaction>>& found) const {
    std::vector<Together> chosen;
    for (size_t output = 0; output < found.size(); output++)
        for (const Interaction& group : found[output]) {
            double size = 0;  // of a forest's pair: the largest, which is what a picture shows
            if (explainer_.is_forest())
                for (const double value : group.contributions)
                    size = std::max(size, std::fabs(value));
            for (const Importance& item : importances_[output])
                if (item.features == group.features && item.features.size() <= 3 && !IsWeak(item))
                    size = std::max(size, item.importance);
            if (size > 0)
                chosen.push_back({&group, output, size});
        }
    if (!explainer_.is_forest() || found.size() > 1)  // a forest's are in order
        std::stable_sort(chosen.begin(), chosen.end(),
                         [](const Together& a, const Together& b) { return a.size > b.size; });
    size_t pictures = 0, shown = 0;
    while (shown < std::min(chosen.size(), kMaxHeatMaps) && pictures < kMaxHeatPictures)
        pictures += chosen[shown++].group->features.size() > 2 ? kPicturesOfThree : 1;
    chosen.resize(shown);
    return chosen;
}

void Page::Interactions() {
    std::string maps;
    std::vector<std::vector<Interaction>> found;
    bool any = false;
    for (size_t output = 0; output < model_.outputs(); output++) {
        found.push_back(explainer_.Interactions(output));
        any = any || !found.back().empty();
    }
    for (const Together& item : Chosen(found)) {
        const HeatPicture picture = HeatMap(model_, explainer_.masses(), *item.group, facts_.times);
        const std::string of =
            model_.outputs() > 1 ? Shortened(model_.target().classes()[item.output], 20) + ", " : "";
        maps += "<div class=\"shape map\"><h3><span>" + NamesOf(item.group->features) + "</span><small>" +
                of + "up to &#177;" + Figure(picture.largest) + "</small></h3>" + picture.svg + "</div>\n";
        interrupt_.Poll();
    }
    if (!any)
        return;
    html_ += "<h2>Columns that act together</h2>";
    if (maps.empty()) {
        html_ +=
            "<p>The model has trees on several columns, but what they add beyond each column alone may be "
            "noise.</p>\n";
        return;
    }
    html_ +=
        "<p>What columns add beyond what each of them adds alone. Blue: more, red: less, the stronger the "
        "more; "
        "point at a field for its figure. The first column runs downwards, the second across." +
        std::string(has_bands() ? "" : " How much of it is noise is not known for this method.") +
        "</p><div class=\"shapes\">\n" + maps + "</div>\n";
}

void Page::Record() {
    html_ += "<h2>Facts for the record</h2><table>\n";
    Rows(facts_.record);
    Rows(
        {{"reference",
          explainer_.masses().released()
              ? "noisy histograms that the training released; what a column adds is compared with their mean"
              : "declared ranges, evenly: the training released no histograms"},
         {"bands",
          has_bands()
              ? "noise of every released sum, carried through the training without counting that later steps "
                "correct earlier ones: rather too wide. They do not show sampling error or what shrinkage "
                "hides."
              : "not known for this method"}});
    if (model_.evidence().residuals && model_.target().task() == Task::kRegression)
        Rows({{"intervals", IntervalWords(model_, explainer_.base_value())}});
    html_ += "</table>\n</main></body></html>\n";
}

std::string Page::Write() {
    Head();
    Cards();
    Evaluation();
    Privacy();
    MeasureImportances();
    Bars();
    Shapes();
    Interactions();
    Record();
    return std::move(html_);
}

}  // namespace

std::string ReportHtml(const Model& model, const ReportFacts& facts, Interrupt& interrupt) {
    return Page(model, facts, interrupt).Write();
}

}  // namespace dpboost
