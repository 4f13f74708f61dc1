#include "model/export/export_sql.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/code_runs.h"

namespace dpboost {
namespace {

constexpr int64_t kOne = int64_t{1} << kFixedBits;
constexpr int64_t kLargestExponent = 700 * kOne;  // exp of more is an error in some databases
constexpr const char* kLargest = "1.7976931348623157e308";

std::string InQuotes(std::string_view text, char quote) {
    std::string quoted(1, quote);
    for (const char c : text) {
        quoted += c;
        if (c == quote)
            quoted += c;
    }
    return quoted += quote;
}

// With a backslash PostgreSQL reads a plain literal as one of its settings says, and this form always alike.
std::string Literal(const std::string& text, SqlDialect dialect) {
    if (dialect != SqlDialect::kPostgres || text.find('\\') == std::string::npos)
        return InQuotes(text, '\'');
    std::string doubled;
    for (const char c : text)
        doubled += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return "E" + InQuotes(doubled, '\'');
}

// What a score can be, and how large its part sums.
struct Bounds {
    int64_t lower = 0;
    int64_t upper = 0;
    int64_t size = 0;

    void Add(int64_t least, int64_t most) {
        lower += least;
        upper += most;
        size += std::max(std::abs(least), std::abs(most));
    }
};

// How a feature's column is written, and what can be asked about it.
struct Column {
    std::string value;                // as a number, or as text
    std::vector<std::string> edges;   // upper edges of bins
    std::vector<std::string> levels;  // in quotes
    std::vector<uint16_t> codes;      // those that values can have
};

// A question of which NULL, NaN, infinities and unknown levels are never the answer. Empty: nothing is.
struct Condition {
    std::string text;
    bool left;  // where those go for which it holds
};

class SqlWriter {
  public:
    SqlWriter(const Model& model, SqlDialect dialect, Interrupt& interrupt);

    std::string Score(size_t output, Bounds* bounds) const;
    std::string Prediction() const;
    std::string ClassScores() const;

  private:
    void AddTable(size_t index, size_t output, std::string* text, Bounds* bounds) const;
    void AddNumberSearch(const Column& column, const std::vector<CodeRun>& runs, size_t begin, size_t end,
                         std::string* text) const;
    void AddTree(const Tree& tree, size_t output, std::string* text, Bounds* bounds) const;
    void AddNode(const Tree& tree, size_t output, size_t node, unsigned level, std::string* text) const;
    Condition ConditionOf(const Tree& tree, size_t node) const;
    std::string Linked(const std::string& score, const Bounds& bounds) const;
    std::string Within(const std::string& value, const std::string& lower, const std::string& upper) const;

    const Model& model_;
    SqlDialect dialect_;
    Interrupt& interrupt_;
    size_t outputs_;
    std::vector<Column> columns_;
};

void CheckNotHashed(const Model& model) {
    std::vector<bool> used(model.features().size());
    for (const Tree& tree : model.trees())
        for (const Split& split : tree.splits)
            used[split.feature] = true;
    for (size_t i = 0; i < used.size(); i++)
        if (model.features()[i].kind() == FeatureKind::kHashed && (used[i] || !model.table(i).empty()))
            throw Error(
                ErrorCode::kUnsupported,
                "feature " + Quoted(model.features()[i].name()) +
                    " is hashed text, which cannot be written in SQL",
                "Without a list of its values, a model knows a text by a hash only.",
                "Declare the values by a CHECK constraint, an enum type or dpboost_set_domain, and train "
                "again.");
}

SqlWriter::SqlWriter(const Model& model, SqlDialect dialect, Interrupt& interrupt)
    : model_(model),
      dialect_(dialect),
      interrupt_(interrupt),
      outputs_(model.outputs()),
      columns_(model.features().size()) {
    CheckNotHashed(model);
    CheckExportedBins(model.features());
    for (size_t i = 0; i < columns_.size(); i++) {
        interrupt.Poll();
        const FeatureSpec& feature = model.features()[i];
        Column& column = columns_[i];
        const std::string name = InQuotes(feature.name(), '"');
        if (feature.ordered())
            column.value = "CAST(" + name + " AS double precision)";
        else
            column.value =
                dialect == SqlDialect::kPostgres ? "CAST(" + name + " AS text) COLLATE \"C\"" : name;
        for (const double edge : feature.grid().edges)
            column.edges.push_back(JsonNumber(edge));
        for (const std::string& level : feature.levels())
            column.levels.push_back(Literal(level, dialect));
        column.codes = ReachableCodes(feature);
    }
}

// ---- conditions ----

// Values of the runs from `begin` to before `end`, none of which is missing.
std::string InRuns(const Column& column, const std::vector<CodeRun>& runs, size_t begin, size_t end) {
    const std::string upper = end == runs.size() ? kLargest : column.edges[runs[end - 1].last_code];
    if (begin == 0)
        return column.value + " BETWEEN -" + kLargest + " AND " + upper;
    return column.value + " > " + column.edges[runs[begin - 1].last_code] + " AND " + column.value +
           " <= " + upper;
}

// The condition is that of the side to which missing values do not go: where it is not known, they are.
Condition SqlWriter::ConditionOf(const Tree& tree, size_t node) const {
    const size_t index = tree.splits[node].feature;
    const FeatureSpec& feature = model_.features()[index];
    const Column& column = columns_[index];
    Condition condition = {"", !tree.SplitGoesLeft(node, feature.missing(), feature.missing())};
    if (feature.ordered()) {
        const std::vector<CodeRun> runs = RunsOfSplit(tree, node, feature, column.codes);
        for (size_t i = 0; i < runs.size(); i++)
            if ((runs[i].outcome != 0) == condition.left)
                condition.text += (condition.text.empty() ? "" : " OR ") + InRuns(column, runs, i, i + 1);
        return condition;
    }
    for (const uint16_t code : column.codes)
        if (tree.SplitGoesLeft(node, code, feature.missing()) == condition.left)
            condition.text += (condition.text.empty() ? "" : ", ") + column.levels[code];
    if (!condition.text.empty())
        condition.text = column.value + " IN (" + condition.text + ")";
    return condition;
}

// ---- terms ----

// A search by halves among the runs from `begin` to before `end`.
void SqlWriter::AddNumberSearch(const Column& column, const std::vector<CodeRun>& runs, size_t begin,
                                size_t end, std::string* text) const {
    if (end - begin == 1) {
        *text += std::to_string(runs[begin].outcome);
        return;
    }
    const size_t middle = (begin + end) / 2;
    *text += "CASE WHEN " + column.value + " <= " + column.edges[runs[middle - 1].last_code] + " THEN ";
    AddNumberSearch(column, runs, begin, middle, text);
    *text += " ELSE ";
    AddNumberSearch(column, runs, middle, end, text);
    *text += " END";
}

void SqlWriter::AddTable(size_t index, size_t output, std::string* text, Bounds* bounds) const {
    const std::vector<int32_t>& table = model_.table(index);
    const FeatureSpec& feature = model_.features()[index];
    const Column& column = columns_[index];
    const auto value = [&](size_t code) { return table[code * outputs_ + output]; };
    const int32_t missing = value(feature.missing());
    int32_t least = missing, most = missing;
    for (const uint16_t code : column.codes) {
        least = std::min(least, value(code));
        most = std::max(most, value(code));
    }
    bounds->Add(least, most);
    if (least != most && feature.ordered()) {
        const std::vector<CodeRun> runs = MakeRuns(column.codes, value);
        *text += "CASE WHEN " + InRuns(column, runs, 0, runs.size()) + " THEN ";
        AddNumberSearch(column, runs, 0, runs.size(), text);
        *text += " ELSE ";
    } else if (least != most) {
        *text += "CASE " + column.value;
        for (const uint16_t code : column.codes)
            if (value(code) != missing)
                *text += " WHEN " + column.levels[code] + " THEN " + std::to_string(value(code));
        *text += " ELSE ";
    }
    *text += std::to_string(missing) + (least != most ? " END" : "");
}

void SqlWriter::AddNode(const Tree& tree, size_t output, size_t node, unsigned level,
                        std::string* text) const {
    const size_t width = size_t{1} << (tree.depth - level);  // leaves below the node
    const size_t first = (node + 1 - (size_t{1} << level)) * width;
    const auto leaf = [&](size_t i) { return tree.leaves[(first + i) * outputs_ + output]; };
    size_t equal = 1;
    while (equal < width && leaf(equal) == leaf(0))
        equal++;
    if (equal == width) {
        *text += std::to_string(leaf(0));
        return;
    }
    interrupt_.Poll();
    CheckExportedText(text->size());
    const Condition condition = ConditionOf(tree, node);
    const size_t left = 2 * node + 1, right = left + 1;
    if (condition.text.empty())
        return AddNode(tree, output, condition.left ? right : left, level + 1, text);
    *text += "CASE WHEN " + condition.text + " THEN ";
    AddNode(tree, output, condition.left ? left : right, level + 1, text);
    *text += " ELSE ";
    AddNode(tree, output, condition.left ? right : left, level + 1, text);
    *text += " END";
}

void SqlWriter::AddTree(const Tree& tree, size_t output, std::string* text, Bounds* bounds) const {
    int32_t least = tree.leaves[output], most = least;
    for (size_t i = output; i < tree.leaves.size(); i += outputs_) {
        least = std::min(least, tree.leaves[i]);
        most = std::max(most, tree.leaves[i]);
    }
    bounds->Add(least, most);
    AddNode(tree, output, 0, 0, text);
}

// In parentheses by halves: databases limit the depth of an expression, and a plain sum is as deep as it is long.
void AddSum(const std::vector<std::string>& terms, size_t begin, size_t end, std::string* text) {
    if (end - begin == 1) {
        *text += terms[begin];
        return;
    }
    const size_t middle = (begin + end) / 2;
    *text += "(";
    AddSum(terms, begin, middle, text);
    *text += "\n+ ";
    AddSum(terms, middle, end, text);
    *text += ")";
}

std::string SqlWriter::Score(size_t output, Bounds* bounds) const {
    std::vector<std::string> terms = {std::to_string(model_.base(output))};
    bounds->Add(model_.base(output), model_.base(output));
    size_t size = 0;
    const auto count = [&] {
        interrupt_.Poll();
        CheckExportedText(size += terms.back().size());
    };
    for (size_t i = 0; i < columns_.size(); i++)
        if (!model_.table(i).empty()) {
            AddTable(i, output, &terms.emplace_back(), bounds);
            count();
        }
    for (const Tree& tree : model_.trees()) {
        AddTree(tree, output, &terms.emplace_back(), bounds);
        count();
    }
    if (bounds->size >= int64_t{1} << 31)  // such literals are 32-bit integers
        for (std::string& term : terms)
            term = "CAST(" + term + " AS bigint)";
    std::string score;
    AddSum(terms, 0, terms.size(), &score);
    return score;
}

// ---- the link ----

std::string SqlWriter::Within(const std::string& value, const std::string& lower,
                              const std::string& upper) const {
    return "LEAST(GREATEST(" + value + ", " + lower + "), " + upper + ")";
}

// The score in units of 1 goes through the link; beyond these scores the prediction does not change.
struct LinkRange {
    int64_t lower_score;
    int64_t upper_score;
    std::string lower;
    std::string upper;
};

LinkRange RangeOf(const Model& model) {
    const TargetSpec& target = model.target();
    if (model.link() == Link::kLogistic)
        return {-kLargestExponent, kLargestExponent, "0", "1"};
    if (model.link() == Link::kIdentity)
        return {-kOne, kOne, JsonNumber(target.lower()), JsonNumber(target.upper())};
    const auto score = [](double value) {
        return value > 0 ? std::clamp<int64_t>(std::llround(std::log(value) * kFixedScale), -kLargestExponent,
                                               kLargestExponent)
                         : -kLargestExponent;
    };
    LinkRange range = {score(target.lower()), score(target.upper()), JsonNumber(target.lower()),
                       JsonNumber(target.upper())};
    while (model.Respond(range.lower_score) > target.lower() && range.lower_score > -kLargestExponent)
        range.lower_score--;
    while (model.Respond(range.upper_score) < target.upper() && range.upper_score < kLargestExponent)
        range.upper_score++;
    return range;
}

std::string InUnits(const std::string& score) {
    return "CAST(" + score + " AS double precision) / " + std::to_string(kOne);
}

std::string LinkOf(const Model& model, const std::string& score) {
    const std::string value = InUnits(score);
    const TargetSpec& target = model.target();
    if (model.link() == Link::kLogistic)
        return "1 / (1 + exp(-" + value + "))";
    if (model.link() == Link::kLog)
        return "exp(" + value + ")";
    return JsonNumber(target.lower()) + " + " + JsonNumber(target.upper() - target.lower()) + " * ((" +
           value + " + 1) / 2)";
}

std::string SqlWriter::Linked(const std::string& score, const Bounds& bounds) const {
    const LinkRange range = RangeOf(model_);
    if (bounds.lower > range.lower_score && bounds.upper < range.upper_score)
        return LinkOf(model_, score);
    if (dialect_ == SqlDialect::kStandard)
        return "CASE WHEN " + score + " <= " + std::to_string(range.lower_score) + " THEN " + range.lower +
               "\nWHEN " + score + " >= " + std::to_string(range.upper_score) + " THEN " + range.upper +
               "\nELSE " + LinkOf(model_, score) + " END";
    const std::string within =
        Within(score, std::to_string(range.lower_score), std::to_string(range.upper_score));
    if (model_.link() == Link::kLogistic)
        return LinkOf(model_, within);
    return Within(LinkOf(model_, within), range.lower, range.upper);
}

std::string SqlWriter::Prediction() const {
    Bounds bounds;
    const std::string score = Score(0, &bounds);
    return Linked(score, bounds);
}

std::string SqlWriter::ClassScores() const {
    std::string list;
    for (size_t output = 0; output < outputs_; output++) {
        Bounds bounds;
        CheckExportedText(list.size());
        list += (output == 0 ? "" : ",\n") + InUnits(Score(output, &bounds)) + " AS " +
                InQuotes(model_.target().classes()[output], '"');
    }
    return list;
}

}  // namespace

SqlDialect ParseSqlDialect(std::string_view name) {
    if (name == "postgres")
        return SqlDialect::kPostgres;
    if (name == "standard")
        return SqlDialect::kStandard;
    throw Error(ErrorCode::kInvalidParameter, "unknown SQL dialect " + Quoted(Start(name, 64)),
                "Dialects are \"postgres\" and \"standard\".", NearestHint(name, {"postgres", "standard"}));
}

std::string ToSql(const Model& model, SqlDialect dialect, Interrupt& interrupt) {
    const SqlWriter writer(model, dialect, interrupt);
    return model.outputs() == 1 ? writer.Prediction() : writer.ClassScores();
}

}  // namespace dpboost
