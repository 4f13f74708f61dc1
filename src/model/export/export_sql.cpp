#include "model/export/export_sql.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "model/code_runs.h"
#include "model/export/sql_link.h"

namespace dpboost {
namespace {

constexpr const char* kLargestText = "1.7976931348623157e308";

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
    SqlWriter(const Model& model, SqlDialect dialect, const std::vector<TimeColumn>& times,
              Interrupt& interrupt);

    std::string Prediction();
    std::string ClassScores();

  private:
    Bounds TableBounds(size_t index, size_t output) const;
    void Measure(size_t output);
    void AddScore(size_t output);
    void AddTerms(size_t output, size_t begin, size_t end);
    void AddTable(size_t index, size_t output);
    void AddNumberSearch(const Column& column, const std::vector<CodeRun>& runs, size_t begin, size_t end);
    void AddNode(const Tree& tree, size_t output, size_t node, unsigned level);
    void AddNumber(int64_t number);
    Condition MakeCondition(const Tree& tree, size_t node) const;
    const Condition& ConditionOf(const Tree& tree, size_t node);

    const Model& model_;
    SqlDialect dialect_;
    Interrupt& interrupt_;
    size_t outputs_;
    std::vector<Column> columns_;
    std::vector<size_t> tables_;                          // features that have one
    Bounds bounds_;                                       // of the output that is written
    std::unordered_map<uint64_t, Condition> conditions_;  // on numbers, by feature and split
    Condition last_;                                      // on something else
    std::string text_;
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

// As the numbers that a training makes of dates and times: days or seconds since 2000-01-01. What is infinite stays so.
std::string NumberOf(const std::string& name, TimeColumn time) {
    if (time == TimeColumn::kDate)
        return "CAST(EXTRACT(epoch FROM " + name + ") / 86400 - 10957 AS double precision)";
    if (time == TimeColumn::kTimestamp)
        return "CAST(EXTRACT(epoch FROM " + name + ") - 946684800 AS double precision)";
    return "CAST(" + name + " AS double precision)";
}

SqlWriter::SqlWriter(const Model& model, SqlDialect dialect, const std::vector<TimeColumn>& times,
                     Interrupt& interrupt)
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
            column.value = NumberOf(
                name, i < times.size() && dialect == SqlDialect::kPostgres ? times[i] : TimeColumn::kNone);
        else
            column.value =
                dialect == SqlDialect::kPostgres ? "CAST(" + name + " AS text) COLLATE \"C\"" : name;
        for (const double edge : feature.grid().edges)
            column.edges.push_back(JsonNumber(edge));
        for (const std::string& level : feature.levels())
            column.levels.push_back(Literal(level, dialect));
        column.codes = ReachableCodes(feature);
        if (!model.table(i).empty())
            tables_.push_back(i);
    }
}

// ---- conditions ----

// Values of the runs from `begin` to before `end`, none of which is missing.
std::string InRuns(const Column& column, const std::vector<CodeRun>& runs, size_t begin, size_t end) {
    const std::string upper = end == runs.size() ? kLargestText : column.edges[runs[end - 1].last_code];
    if (begin == 0)
        return column.value + " BETWEEN -" + kLargestText + " AND " + upper;
    return column.value + " > " + column.edges[runs[begin - 1].last_code] + " AND " + column.value +
           " <= " + upper;
}

// The condition is that of the side to which missing values do not go: where it is not known, they are.
Condition SqlWriter::MakeCondition(const Tree& tree, size_t node) const {
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
    for (const uint16_t code : column.codes) {
        if (tree.SplitGoesLeft(node, code, feature.missing()) != condition.left)
            continue;
        condition.text += condition.text.empty() ? "" : ", ";
        condition.text += column.levels[code];
    }
    if (!condition.text.empty())
        condition.text = column.value + " IN (" + condition.text + ")";
    return condition;
}

const Condition& SqlWriter::ConditionOf(const Tree& tree, size_t node) {
    const Split& split = tree.splits[node];
    // Lists of levels may be long.
    if (split.kind == SplitKind::kSubset || !model_.features()[split.feature].ordered())
        return last_ = MakeCondition(tree, node);
    const uint64_t key = (uint64_t{split.feature} << 32) | (uint64_t{split.threshold} << 8) |
                         (split.kind == SplitKind::kLevel ? 2U : 0U) | (split.missing_left ? 1U : 0U);
    const auto found = conditions_.find(key);
    return found != conditions_.end() ? found->second
                                      : conditions_.emplace(key, MakeCondition(tree, node)).first->second;
}

// ---- terms ----

void SqlWriter::AddNumber(int64_t number) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// A search by halves among the runs from `begin` to before `end`.
void SqlWriter::AddNumberSearch(const Column& column, const std::vector<CodeRun>& runs, size_t begin,
                                size_t end) {
    if (end - begin == 1)
        return AddNumber(runs[begin].outcome);
    const size_t middle = (begin + end) / 2;
    text_.append("CASE WHEN ").append(column.value).append(" <= ");
    text_.append(column.edges[runs[middle - 1].last_code]).append(" THEN ");
    AddNumberSearch(column, runs, begin, middle);
    text_ += " ELSE ";
    AddNumberSearch(column, runs, middle, end);
    text_ += " END";
}

Bounds SqlWriter::TableBounds(size_t index, size_t output) const {
    const std::vector<int32_t>& table = model_.table(index);
    int32_t least = table[model_.features()[index].missing() * outputs_ + output], most = least;
    for (const uint16_t code : columns_[index].codes) {
        least = std::min(least, table[code * outputs_ + output]);
        most = std::max(most, table[code * outputs_ + output]);
    }
    Bounds bounds;
    bounds.Add(least, most);
    return bounds;
}

void SqlWriter::AddTable(size_t index, size_t output) {
    const std::vector<int32_t>& table = model_.table(index);
    const FeatureSpec& feature = model_.features()[index];
    const Column& column = columns_[index];
    const auto value = [&](size_t code) { return table[code * outputs_ + output]; };
    const int32_t missing = value(feature.missing());
    const Bounds bounds = TableBounds(index, output);
    if (bounds.lower == bounds.upper)
        return AddNumber(missing);
    if (feature.ordered()) {
        const std::vector<CodeRun> runs = MakeRuns(column.codes, value);
        text_ += "CASE WHEN " + InRuns(column, runs, 0, runs.size()) + " THEN ";
        AddNumberSearch(column, runs, 0, runs.size());
    } else {
        text_ += "CASE " + column.value;
        for (const uint16_t code : column.codes)
            if (value(code) != missing) {
                text_.append(" WHEN ").append(column.levels[code]).append(" THEN ");
                AddNumber(value(code));
            }
    }
    text_ += " ELSE ";
    AddNumber(missing);
    text_ += " END";
}

void SqlWriter::AddNode(const Tree& tree, size_t output, size_t node, unsigned level) {
    if (const std::optional<int32_t> leaf = OneLeafBelow(tree, node, level, outputs_, output))
        return AddNumber(*leaf);
    interrupt_.Poll();
    CheckExportedText(text_.size());
    const Condition& condition = ConditionOf(tree, node);
    const size_t left = 2 * node + 1, right = left + 1;
    const size_t then = condition.left ? left : right, otherwise = condition.left ? right : left;
    if (condition.text.empty())
        return AddNode(tree, output, otherwise, level + 1);
    text_.append("CASE WHEN ").append(condition.text).append(" THEN ");
    AddNode(tree, output, then, level + 1);
    text_ += " ELSE ";
    AddNode(tree, output, otherwise, level + 1);
    text_ += " END";
}

void SqlWriter::Measure(size_t output) {
    bounds_ = {};
    bounds_.Add(model_.base(output), model_.base(output));
    for (const size_t index : tables_) {
        const Bounds table = TableBounds(index, output);
        bounds_.Add(table.lower, table.upper);
    }
    for (const Tree& tree : model_.trees()) {
        interrupt_.Poll();
        int32_t least = tree.leaves[output], most = least;
        for (size_t i = output; i < tree.leaves.size(); i += outputs_) {
            least = std::min(least, tree.leaves[i]);
            most = std::max(most, tree.leaves[i]);
        }
        bounds_.Add(least, most);
    }
}

// Base, tables and trees, in parentheses by halves: databases limit the depth of an expression, and a plain sum is as deep
// as it is long.
void SqlWriter::AddTerms(size_t output, size_t begin, size_t end) {
    if (end - begin > 1) {
        const size_t middle = (begin + end) / 2;
        text_ += "(";
        AddTerms(output, begin, middle);
        text_ += "\n+ ";
        AddTerms(output, middle, end);
        text_ += ")";
        return;
    }
    interrupt_.Poll();
    CheckExportedText(text_.size());
    const bool wide = bounds_.size >= int64_t{1} << 31;  // such literals are 32-bit integers
    text_ += wide ? "CAST(" : "";
    if (begin == 0)
        AddNumber(model_.base(output));
    else if (begin <= tables_.size())
        AddTable(tables_[begin - 1], output);
    else
        AddNode(model_.trees()[begin - 1 - tables_.size()], output, 0, 0);
    text_ += wide ? " AS bigint)" : "";
}

void SqlWriter::AddScore(size_t output) {
    AddTerms(output, 0, 1 + tables_.size() + model_.trees().size());
}

std::string SqlWriter::Prediction() {
    Measure(0);
    const LinkRange range = RangeOf(model_);
    const Around link = LinkOf(model_);
    const bool inside = bounds_.lower > range.lower_score && bounds_.upper < range.upper_score;
    const std::string lower = std::to_string(range.lower_score), upper = std::to_string(range.upper_score);
    if (!inside && dialect_ == SqlDialect::kStandard) {
        AddScore(0);
        const std::string score = std::move(text_);
        return "CASE WHEN " + score + " <= " + lower + " THEN " + range.lower + "\nWHEN " + score +
               " >= " + upper + " THEN " + range.upper + "\nELSE " + link.before + score + link.after +
               " END";
    }
    Around all = link;
    if (!inside) {
        all = Limited(lower, upper).Within(link);
        if (model_.link() != Link::kLogistic)
            all = all.Within(Limited(range.lower, range.upper));
    }
    text_ = all.before;
    AddScore(0);
    text_ += all.after;
    return std::move(text_);
}

std::string SqlWriter::ClassScores() {
    for (size_t output = 0; output < outputs_; output++) {
        Measure(output);
        text_ += (output == 0 ? "" : ",\n") + InUnits().before;
        AddScore(output);
        text_ += InUnits().after + " AS " + InQuotes(model_.target().classes()[output], '"');
    }
    return std::move(text_);
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

std::string ToSql(const Model& model, SqlDialect dialect, Interrupt& interrupt,
                  const std::vector<TimeColumn>& times) {
    SqlWriter writer(model, dialect, times, interrupt);
    return model.outputs() == 1 ? writer.Prediction() : writer.ClassScores();
}

}  // namespace dpboost
