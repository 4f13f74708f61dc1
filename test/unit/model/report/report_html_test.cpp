// A report is well-formed, escapes every name and level, runs and loads nothing, and stays small; with and without a
// reference, for numbers, two classes and many.
#include "model/report/report_html.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fstream>

#include "unit/model/random_model.h"

namespace dpboost {
namespace {

class NoInterrupt final : public Interrupt {
  public:
    void Poll() override {}
};

std::string Report(const Model& model, const ReportFacts& facts) {
    NoInterrupt interrupt;
    return ReportHtml(model, facts, interrupt);
}

ReportFacts SomeFacts() {
    ReportFacts facts;
    facts.model = "risk";
    facts.version = "3";
    facts.origin = "Method auto.";
    facts.epsilon = "epsilon 1";
    facts.epsilon_note = "delta 1e-6";
    facts.privacy.before_after = {{"50 %", "73.2 %"}};
    facts.privacy.notes = {"a note"};
    facts.record = {{"release", "17"}};
    return facts;
}

size_t Count(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        count++;
    return count;
}

// Tags that nest, attributes in quotes, and no other < or & than of these and of escapes. Returns what is wrong.
std::string Fault(const std::string& html) {
    std::vector<std::string> open;
    for (size_t at = html.find('\n'); at < html.size(); at++) {
        const std::string here = html.substr(at, 60);
        if (html[at] == '&' && html.find(';', at) > at + 8)
            return "bare & at " + here;
        if (html[at] != '<')
            continue;
        const size_t end = html.find('>', at);
        if (end == std::string::npos)
            return "tag without an end at " + here;
        const std::string tag = html.substr(at + 1, end - at - 1);
        if (tag.empty() || tag.find('<') != std::string::npos || Count(tag, "\"") % 2 != 0)
            return "broken tag at " + here;
        const std::string name =
            tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
        if (tag[0] == '/') {
            if (open.empty() || open.back() != name)
                return "wrong end of " + name + " at " + here;
            open.pop_back();
        } else if (tag.back() != '/') {
            open.push_back(name);
        }
        at = end;
    }
    return open.empty() ? "" : "never closed: " + open.back();
}

void ExpectSound(const std::string& html) {
    EXPECT_EQ(Fault(html), "");
    for (const char* banned :
         {"<script", "<link", "<img", "<iframe", "<a ", "href=", "src=", "url(", "@import"})
        EXPECT_EQ(Count(html, banned), 0u) << banned;
    EXPECT_EQ(Count(html, "default-src 'none'; style-src 'unsafe-inline'"), 1u);
    EXPECT_EQ(Count(html, "nan"), 0u);
    EXPECT_EQ(Count(html, "\"inf"), 0u);
    // Debian's xmllint, where it is installed, has the last word.
    if (std::system("command -v xmllint >/dev/null 2>&1") != 0)
        return;
    char path[] = "/tmp/dpboost_report_XXXXXX";
    const int file = mkstemp(path);
    ASSERT_GE(file, 0);
    close(file);
    std::ofstream(path) << html;
    EXPECT_EQ(std::system(("xmllint --noout " + std::string(path)).c_str()), 0);
    std::remove(path);
}

// Released marginals over a few coarse cells, and bands, as method auto gives them.
void AddEvidence(Model* model) {
    Evidence evidence;
    Reference reference;
    reference.rows = 1000;
    reference.rows_sd = 3;
    for (const FeatureSpec& feature : model->features()) {
        Marginal marginal;
        for (uint32_t code = 0; code < feature.cells(); code++) {
            marginal.last_codes.push_back(static_cast<uint16_t>(code));
            marginal.counts.push_back(static_cast<float>(1000.0 / feature.cells()));
        }
        marginal.count_sd = 5;
        reference.marginals.push_back(marginal);
        evidence.bands.emplace_back(feature.cells() * model->outputs(), 0.1f);
    }
    evidence.reference = reference;
    model->SetEvidence(evidence);
}

TEST(ReportHtml, IsSoundForEveryKindOfModel) {
    for (uint64_t seed = 0; seed < 8; seed++) {
        Model model = RandomModel(SmallFeatures(), 4, 3, seed);
        ExpectSound(Report(model, SomeFacts()));
        AddEvidence(&model);
        ExpectSound(Report(model, SomeFacts()));
    }
    Model classes = RandomClassModel(SmallFeatures(), 4, 3, 2, 1);
    const std::string html = Report(classes, SomeFacts());
    ExpectSound(html);
    EXPECT_NE(html.find("Predicts one of 4 classes"), std::string::npos);
    EXPECT_NE(html.find("Towards <code>class 3</code></h2>"), std::string::npos);
}

TEST(ReportHtml, NothingComesThroughUnescaped) {
    const std::string evil = "</title><script>alert('x\"y')</script>&";
    Model model({FeatureSpec::Numeric(evil, {0, 1, Scale::kLinear, 5}),
                 FeatureSpec::Levels(evil + "2", {evil, std::string(10000, '<'), "\x01\"'&<>"})},
                TargetSpec::Classes({evil, "b", "c"}), Link::kSoftmax);
    model.AddTable(0, std::vector<int32_t>(18, 1 << 18));
    std::vector<int32_t> table(12);
    for (size_t i = 0; i < table.size(); i++)
        table[i] = static_cast<int32_t>(i * i) << 14;
    model.AddTable(1, table);
    ReportFacts facts = SomeFacts();
    for (std::string* text :
         {&facts.model, &facts.version, &facts.target, &facts.positive, &facts.origin, &facts.epsilon,
          &facts.epsilon_note, &facts.budget, &facts.budget_note, &facts.evaluation_call})
        *text = evil;
    facts.privacy.before_after = {{evil, evil}};
    facts.privacy.notes = {evil};
    facts.record = {{evil, evil}};
    const std::string html = Report(model, facts);
    ExpectSound(html);
    EXPECT_GT(Count(html, "&lt;script&gt;"), 10u);
    EXPECT_LT(html.size(), 60000u);  // the level of 10 kB is cut
    facts.evaluation = ReportEvaluation{evil, evil, {{evil, evil}}, {}, {}};
    ExpectSound(Report(model, facts));
}

TEST(ReportHtml, SaysWhatIsKnown) {
    Model model(
        {FeatureSpec::Numeric("age", {0, 10, Scale::kLinear, 4}), FeatureSpec::Levels("sex", {"F", "M"})},
        TargetSpec::Binary("no", "yes"), Link::kLogistic);
    model.AddTable(0, {-1048576, 0, 0, 1048576, 0});
    model.AddTable(1, {1024, -1024, 0});
    ReportFacts facts = SomeFacts();
    const std::string bare = Report(model, facts);
    EXPECT_NE(bare.find("Predicts the probability of <code>yes</code>."), std::string::npos);
    EXPECT_NE(bare.find("rows not counted"), std::string::npos);
    EXPECT_NE(bare.find("declared ranges, evenly"), std::string::npos);
    EXPECT_EQ(bare.find("class=\"b\""), std::string::npos);  // no band without knowing the noise
    EXPECT_EQ(bare.find("class=\"h\""), std::string::npos);  // no rows without their histogram
    EXPECT_NE(bare.find("not measured yet"), std::string::npos);
    EXPECT_EQ(bare.find("Left of the budget"), std::string::npos);
    facts.target = "ill";
    EXPECT_NE(
        Report(model, facts).find("Predicts the probability that <code>ill</code> is <code>yes</code>."),
        std::string::npos);
    facts.positive = "<1>";
    EXPECT_NE(Report(model, facts).find("<code>ill</code> is <code>&lt;1&gt;</code>."), std::string::npos);
    AddEvidence(&model);
    facts.evaluation = ReportEvaluation{"AUC 0.9", "release 18", {{"AUC", "0.9 (0.8 to 1)"}}, {}, {}};
    facts.budget = "58 %";
    const std::string full = Report(model, facts);
    EXPECT_NE(full.find("1,000 rows"), std::string::npos);
    EXPECT_NE(full.find("class=\"b\""), std::string::npos);
    EXPECT_NE(full.find("class=\"h\""), std::string::npos);
    EXPECT_NE(full.find("AUC 0.9"), std::string::npos);
    EXPECT_EQ(full.find("ranking (ROC)"), std::string::npos);
    facts.evaluation->bins = {{0.2, 0.1, 0, 0.3, 1, 1}, {0.8, 0.9, 0.7, 1, 0.7, 0.1}};
    ExpectSound(Report(model, facts));
    EXPECT_NE(Report(model, facts).find("ranking (ROC)"), std::string::npos);
    EXPECT_NE(full.find("Left of the budget"), std::string::npos);
    EXPECT_NE(full.find("(may be noise)"), std::string::npos);  // sex: far less than its band
    EXPECT_EQ(Count(full, "(may be noise)"), 1u);
}

TEST(ReportHtml, SaysWhichClassesAreTakenForWhich) {
    const std::string evil = "<b>&";
    const auto page = [&](size_t count, ReportConfusion confusion) {
        std::vector<std::string> classes = {evil};
        while (classes.size() < count)
            classes.push_back("class " + std::to_string(classes.size()));
        const Model model(SmallFeatures(), TargetSpec::Classes(classes), Link::kSoftmax);
        ReportFacts facts = SomeFacts();
        facts.evaluation = ReportEvaluation{"a", "b", {{"accuracy", "0.5"}}, {}, std::move(confusion)};
        const std::string html = Report(model, facts);
        ExpectSound(html);
        return html;
    };
    // 900 rows of the first, none of the second, 100 of the third.
    const std::string html = page(3, {{810, 90, -3, 2, -1, 1, 25, 0, 75}, 2});
    EXPECT_NE(html.find("<th class=\"r\">&lt;b&gt;&amp;</th>"), std::string::npos);
    EXPECT_NE(html.find("<span>90 %</span>"), std::string::npos);
    EXPECT_NE(html.find("<span>10 %</span>"), std::string::npos);
    EXPECT_NE(html.find("<span>75 %</span>"), std::string::npos);
    EXPECT_EQ(Count(html, "too few"), 1u);
    EXPECT_EQ(Count(html, "<span>&#8211;</span>"), 3u);
    EXPECT_EQ(page(3, {}).find("takes for"), std::string::npos);
    EXPECT_EQ(page(3, {{1, 2}, 0}).find("takes for"), std::string::npos);
    ReportConfusion many{std::vector<double>(20 * 20, 0.5), 2};
    many.rows[5 * 20 + 6] = 300;
    const std::string mistakes = page(20, many);
    EXPECT_NE(mistakes.find("<td>class 5</td><td>class 6</td><td>97</td>"), std::string::npos);
    EXPECT_EQ(Count(mistakes, "<td>class 6</td>"), 1u);
}

TEST(ReportHtml, DatesAreDates) {
    Model model({FeatureSpec::Numeric("born", {5479, 9497, Scale::kLinear, 20}),
                 FeatureSpec::Levels("sex", {"Female", "Male"})},
                TargetSpec::Binary(), Link::kLogistic);
    Tree tree = Tree::OfDepth(2);
    tree.splits[0].threshold = 9;
    for (const size_t node : {1, 2}) {
        tree.splits[node].feature = 1;
        tree.splits[node].kind = SplitKind::kLevel;
    }
    tree.leaves = {1 << 20, 0, 0, 1 << 20};
    model.AddTree(tree);
    std::vector<int32_t> table(21, 0);
    table[3] = 1 << 20;
    model.AddTable(0, table);
    ReportFacts facts = SomeFacts();
    EXPECT_NE(Report(model, facts).find(">6000<"), std::string::npos);
    facts.times = {TimeColumn::kDate, TimeColumn::kNone};
    const std::string html = Report(model, facts);
    ExpectSound(html);
    EXPECT_EQ(html.find(">6000<"), std::string::npos);
    EXPECT_NE(html.find(">2018<"), std::string::npos);
    EXPECT_NE(html.find(">from 2015-01-01<"), std::string::npos);
    // Every level of a heat map has its name.
    EXPECT_NE(html.find("rotate(-35)\">Female<"), std::string::npos);
    EXPECT_NE(html.find("rotate(-35)\">Male<"), std::string::npos);
}

TEST(ReportHtml, AForestShowsItsStrongestPairs) {
    const std::string html = Report(RandomModel(SmallFeatures(), 30, 6, 1), SomeFacts());
    ExpectSound(html);
    EXPECT_NE(html.find("Columns that act together"), std::string::npos);
    EXPECT_EQ(html.find("may be noise.</p>"), std::string::npos);
    EXPECT_EQ(html.find("Shaded"), std::string::npos);
    EXPECT_NE(html.find("not known for this method"), std::string::npos);
}

TEST(ReportHtml, AModelThatSaysNothing) {
    const Model model(SmallFeatures(), TargetSpec::Regression(1, 29), Link::kIdentity);
    const std::string html = Report(model, SomeFacts());
    ExpectSound(html);
    EXPECT_NE(html.find("every row gets the same prediction"), std::string::npos);
}

TEST(ReportHtml, StaysSmall) {
    const auto size = [](size_t columns) {
        std::vector<FeatureSpec> features;
        for (size_t i = 0; i < columns; i++)
            features.push_back(
                FeatureSpec::Numeric("column " + std::to_string(i), {0, 1, Scale::kLinear, 254}));
        Model model(features, TargetSpec::Binary(), Link::kLogistic);
        Xorshift random;
        for (size_t i = 0; i < columns; i++) {
            std::vector<int32_t> table(255);
            for (int32_t& value : table)
                value = static_cast<int32_t>(random.Below(2000000)) - 1000000;
            model.AddTable(i, table);
        }
        AddEvidence(&model);
        return Report(model, SomeFacts()).size();
    };
    EXPECT_LT(size(14), 200000u);
    EXPECT_LT(size(100), 1000000u);
}

TEST(ReportHtml, ManyClassesStaySmallAndInWholeRows) {
    for (const size_t count : {7, 10}) {
        std::vector<FeatureSpec> features;
        for (size_t i = 0; i < 14; i++)
            features.push_back(
                FeatureSpec::Numeric("column " + std::to_string(i), {0, 1, Scale::kLinear, 254}));
        std::vector<std::string> classes;
        for (size_t k = 0; k < count; k++)
            classes.push_back("class " + std::to_string(k));
        Model model(features, TargetSpec::Classes(classes), Link::kSoftmax);
        Xorshift random;
        for (size_t i = 0; i < features.size(); i++) {
            std::vector<int32_t> table(255 * count);
            for (int32_t& value : table)
                value = static_cast<int32_t>(random.Below(2000000)) - 1000000;
            model.AddTable(i, table);
        }
        AddEvidence(&model);
        ReportFacts facts = SomeFacts();
        facts.model = "\u05e2\u05de\u05e8";
        const std::string html = Report(model, facts);
        ExpectSound(html);
        EXPECT_LT(html.size(), 300000u);
        EXPECT_EQ(Count(html, "Towards"), count);
        EXPECT_EQ(Count(html, "class=\"shape\""), 3 * count);
        EXPECT_EQ(Count(html, "</code> and 2 more."), count == 10 ? 1u : 0u);
        EXPECT_EQ(Count(html, "<h1><bdi>"), 1u);  // it runs from the right, its version does not
    }
}

// Figures that two digits would make 0.
TEST(ReportHtml, SmallFiguresAreSeen) {
    Model model(SmallFeatures(), TargetSpec::Binary(), Link::kLogistic);
    model.AddTable(2, {-3, 3, 0, 0});
    const std::string html = Report(model, SomeFacts());
    EXPECT_NE(html.find("<span class=\"v\">2e-6</span>"), std::string::npos);
    EXPECT_EQ(html.find("<span class=\"v\">0.00</span>"), std::string::npos);
}

}  // namespace
}  // namespace dpboost
