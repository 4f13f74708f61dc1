// The trainings that are audited: every method, on the tables where one unit shows most.
#pragma once

#include <vector>

#include "learner/methods.h"
#include "support/audit/audit.h"

namespace dpboost {

namespace audit_detail {

inline std::vector<AuditRow> Spread(int count, std::vector<uint16_t> cells, bool binary) {
    std::vector<AuditRow> rows;
    for (int i = 0; i < count; i++) {
        AuditRow row{{}, binary ? static_cast<float>(i % 2) : 0.0F, i};
        for (const uint16_t bins : cells)
            row.codes.push_back(static_cast<uint16_t>(i % bins));
        rows.push_back(row);
    }
    return rows;
}

// Two groups that pull apart by either column. The canary sits between them: one column puts it where it agrees, which adds 1 to
// that split's utility, the other where it does not, which takes nearly 3 off (tree/split_score.h). Rows of its kind make
// the first choice likelier, so that the second gives it away.
inline std::vector<AuditRow> TwoGroups(int each, int between = 0) {
    std::vector<AuditRow> rows;
    for (int i = 0; i < each; i++)
        rows.push_back({{1, 0}, -1, i});
    for (int i = 0; i < each; i++)
        rows.push_back({{0, 1}, 1, 1000 + i});
    for (int i = 0; i < between; i++)
        rows.push_back({{1, 1}, -1, 2000 + i});
    return rows;
}

// The same by the two cuts of one column; the canary is a 1.
inline std::vector<AuditRow> TwoEnds(int each) {
    std::vector<AuditRow> rows = TwoGroups(each);
    for (AuditRow& row : rows)
        row.codes = {static_cast<uint16_t>(2 * row.codes[1])};
    return rows;
}

inline std::vector<AuditRow> Canary(int count, std::vector<uint16_t> codes, float label) {
    return std::vector<AuditRow>(static_cast<std::size_t>(count), AuditRow{std::move(codes), label, 1 << 20});
}

}  // namespace audit_detail

inline AuditCase SbdtAudit(const char* name, double rate, int trees, int extra, Task task, int canary_rows,
                           float label, double hessian_share, double clip) {
    AuditCase audit;
    audit.name = name;
    audit.method = AllMethods().Find("sbdt");
    audit.task = task;
    audit.features = {AuditColumn("x", 2)};
    audit.sampling_rate = rate;
    if (rate == 1)
        audit.rows = audit_detail::Spread(5, {1}, false);
    audit.canary = audit_detail::Canary(canary_rows, {1}, label);
    audit.options = {Given("trees", trees),
                     Given("depth", 1),
                     Given("learning_rate", 1),
                     Given("leaf_clip", 20),
                     Given("subsample", rate),
                     Given("gradient_clip", clip),
                     Given("hessian_share", hessian_share),
                     Given("l2", 5),
                     Given("initial_share", rate < 1 ? 0 : 0.05),
                     Given("extra_rounds", extra)};
    return audit;
}

inline AuditCase AutoAudit(Task task, bool unit) {
    AuditCase audit;
    audit.name = std::string("auto ") +
                 (task == Task::kBinary    ? "classification"
                  : task == Task::kClasses ? "classes"
                                           : "regression") +
                 (unit ? ", unit of 30 rows" : "");
    audit.method = AllMethods().Find("auto");
    audit.task = task;
    audit.features = {AuditColumn("a", 4), AuditColumn("b", 8)};
    audit.rows = audit_detail::Spread(10, {4, 8}, task != Task::kRegression);
    audit.canary = audit_detail::Canary(unit ? 30 : 1, {3, 7}, task == Task::kClasses ? 2 : 1);
    return audit;
}

inline AuditCase AutoAudit(const char* what, bool unit, std::vector<GivenOption> options,
                           bool logarithmic = false) {
    AuditCase audit = AutoAudit(Task::kRegression, unit);
    audit.name = std::string("auto ") + what + (unit ? ", unit of 30 rows" : "");
    audit.options = std::move(options);
    audit.logarithmic = logarithmic;
    return audit;
}

// All rows but the canary's count little: it has the largest weight that there may be.
inline AuditCase WeightAudit(Task task, bool unit) {
    AuditCase audit = AutoAudit(task, unit);
    audit.name += ", weight at its bound";
    for (AuditRow& row : audit.rows)
        row.weight = kFullWeight / 8;
    return audit;
}

inline AuditCase FrameworkAudit(const char* method, bool unit) {
    AuditCase audit;
    audit.name = std::string(method) + (unit ? ", unit of 10 rows" : "");
    audit.method = AllMethods().Find(method);
    audit.features = {AuditColumn("a", 2), AuditColumn("b", 2)};
    if (!unit)  // with units a random row stands for each: then other units would only blur the canary
        audit.rows = audit_detail::TwoGroups(20);
    audit.canary = audit_detail::Canary(unit ? 10 : 1, {1, 1}, -1);
    audit.options = {Given("trees", 2), Given("depth", 1), Given("candidate_count", 4), Given("l2", 0.0)};
    for (const char* iterative : {"dp_tr_ih", "dp_tr_ih_ebm", "dp_tr_batch", "dp_xgb"})
        if (audit.method == AllMethods().Find(iterative))
            audit.options.push_back(Given("hessian_rounds", 1));
    return audit;
}

inline AuditCase SampledFrameworkAudit(const char* method) {
    AuditCase audit;
    audit.name = std::string(method) + ", subsample 0.5";
    audit.method = AllMethods().Find(method);
    audit.task = Task::kBinary;
    audit.features = {AuditColumn("x", 2)};
    audit.sampling_rate = 0.5;
    audit.canary = audit_detail::Canary(1, {1}, 1);
    audit.options = {Given("trees", 3), Given("depth", 1), Given("candidate_count", 1), Given("l2", 1),
                     Given("subsample", 0.5)};
    return audit;
}

inline AuditCase LinearAudit(const char* method, bool unit) {
    AuditCase audit;
    audit.name = std::string(method) + (unit ? ", unit of 50 rows" : "");
    audit.method = AllMethods().Find(method);
    audit.task = Task::kBinary;
    audit.features = {AuditColumn("a", 4)};
    audit.rows = audit_detail::Spread(6, {4}, false);
    audit.canary = audit_detail::Canary(unit ? 50 : 1, {3}, 1);
    audit.options = {Given("rounds", 3)};
    if (std::string(method) == "adassp_logistic")  // what a row's gradient is at the start
        audit.options.push_back(Given("gradient_clip", 0.5));
    return audit;
}

// Where a method chooses splits by the exponential mechanism and releases leaves beside it, one row cannot be at its worst
// in both: each has a case that leaves the other next to nothing.
enum class Worst { kLeaves, kSplits };

inline AuditCase GreedyAudit(const char* method, Worst worst, bool unit) {
    AuditCase audit = FrameworkAudit(method, unit);
    const bool splits = worst == Worst::kSplits;
    audit.name += splits ? ", splits" : ", leaves";
    audit.options.push_back(Given("selection_share", splits ? 0.85 : 0.05));
    if (!splits)
        return audit;
    audit.options.push_back(Given("learning_rate", 0.01));  // the groups stay apart
    if (std::string(method) == "dp_xgb_cyclic") {
        audit.features = {AuditColumn("a", 3)};
        audit.rows = audit_detail::TwoEnds(100);
        audit.canary = audit_detail::Canary(unit ? 10 : 1, {1}, -1);
    } else {
        audit.rows = audit_detail::TwoGroups(100);
    }
    return audit;
}

inline AuditCase PureAudit(const char* method, Worst worst, bool unit) {
    const bool splits = worst == Worst::kSplits;
    AuditCase audit;
    audit.name = std::string(method) + (unit ? ", unit of 10 rows" : "") + (splits ? ", splits" : ", leaves");
    audit.method = AllMethods().Find(method);
    audit.delta = 0;
    audit.features = {AuditColumn("a", 2), AuditColumn("b", 2)};
    if (splits)
        audit.rows = audit_detail::TwoGroups(200, 1);
    audit.canary = audit_detail::Canary(unit ? 10 : 1, {1, 1}, -1);
    const bool one_after_the_other = std::string(method) == "pure_seq";
    audit.options = {
        Given("depth", 1), Given("l2", 0.0), Given("ensembles", one_after_the_other && !splits ? 2 : 1),
        Given("trees_per_ensemble", one_after_the_other ? 1 : 2), Given("leaf_share", splits ? 0.05 : 0.95)};
    return audit;
}

// Each with the epsilon that its caller sets. Every method of the product is among them: the audit's test checks that.
inline std::vector<AuditCase> AuditCases() {
    const Task binary = Task::kBinary, numbers = Task::kRegression, classes = Task::kClasses;
    std::vector<AuditCase> cases = {
        SbdtAudit("sbdt", 1, 3, 0, numbers, 1, 1, 0.02, 0.3),
        SbdtAudit("sbdt, unit of 40 rows", 1, 3, 0, numbers, 40, 1, 0.3, 0.3),
        SbdtAudit("sbdt, subsample 0.5", 0.5, 4, 0, numbers, 1, 1, 0.1, 0.1),
        SbdtAudit("sbdt, subsample 0.5, unit of 40 rows", 0.5, 4, 0, binary, 40, 1, 0.1, 0.5),
        SbdtAudit("sbdt, subsample 0.1", 0.1, 20, 0, binary, 1, 1, 0.1, 0.5),
        SbdtAudit("sbdt, filter", 1, 3, 12, numbers, 1, 1, 0.02, 0.3),
        SbdtAudit("sbdt, filter, subsample 0.5", 0.5, 4, 16, numbers, 1, 1, 0.02, 0.1),
        SbdtAudit("sbdt, filter, subsample 0.5, small gradient", 0.5, 4, 16, numbers, 1, 0.3F, 0.02, 1),
        SbdtAudit("sbdt, filter, subsample 0.1, unit of 20 rows", 0.1, 10, 30, binary, 20, 1, 0.1, 0.5),
        SbdtAudit("sbdt, classes", 1, 3, 0, classes, 1, 2, 0.02, 0.3),
        SbdtAudit("sbdt, classes, unit of 40 rows", 1, 3, 0, classes, 40, 2, 0.3, 0.3),
        SbdtAudit("sbdt, classes, subsample 0.5", 0.5, 4, 0, classes, 1, 2, 0.1, 0.3),
        SbdtAudit("sbdt, classes, filter", 1, 3, 12, classes, 1, 2, 0.02, 0.3),
        AutoAudit(classes, false),
        AutoAudit(classes, true),
        AutoAudit(binary, false),
        AutoAudit(binary, true),
        AutoAudit(numbers, false),
        AutoAudit(numbers, true),
        AutoAudit("quantile", false, {Given("objective", "quantile"), Given("quantile", 0.9)}),
        AutoAudit("quantile", true, {Given("objective", "quantile"), Given("quantile", 0.9)}),
        AutoAudit("huber", false, {Given("objective", "huber")}),
        AutoAudit("log target", false, {}, true),
        AutoAudit("log target", true, {}, true),
        AutoAudit("intervals", false, {GivenTruth("intervals", true)}),
        AutoAudit("intervals", true, {GivenTruth("intervals", true)}, true),
        WeightAudit(binary, false),
        WeightAudit(numbers, true),
        AutoAudit("monotone", false, {GivenNumbers("monotone", {{"a", -1}})}),
    };
    for (const char* method :
         {"dp_tr", "dp_tr_ih", "dp_tr_ih_ebm", "dp_tr_batch", "dp_ebm", "dp_rf", "dp_pr", "feverless"})
        for (const bool unit : {false, true})
            cases.push_back(FrameworkAudit(method, unit));
    for (const char* method : {"dp_xgb", "dp_xgb_cyclic"})
        for (const Worst worst : {Worst::kLeaves, Worst::kSplits})
            for (const bool unit : {false, true})
                cases.push_back(GreedyAudit(method, worst, unit));
    for (const char* method : {"feverless", "dp_ebm"})
        cases.push_back(SampledFrameworkAudit(method));
    for (const char* method : {"adassp", "adassp_logistic", "adassp_hinge"})
        for (const bool unit : {false, true})
            cases.push_back(LinearAudit(method, unit));
    for (const char* method : {"pure_trees", "pure_sums", "pure_seq", "pure_para"})
        for (const Worst worst : {Worst::kLeaves, Worst::kSplits})
            for (const bool unit : {false, true})
                cases.push_back(PureAudit(method, worst, unit));
    return cases;
}

}  // namespace dpboost
