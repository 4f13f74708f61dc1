// A model on one page of HTML: how good, how private, what matters, how each column moves the prediction. The page holds
// all it needs, runs nothing and asks no server. It is a function of the model and of what the caller may see in the
// catalog; no row is read, so it costs nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "model/labels/time_label.h"
#include "model/model.h"
#include "model/report/confusion_table.h"
#include "model/report/evaluation_plot.h"

namespace dpboost {

// Texts are plain: the page escapes them.
using ReportRows = std::vector<std::pair<std::string, std::string>>;

// The last evaluation of the model.
struct ReportEvaluation {
    std::string headline;         // "AUC 0.908 +- 0.009"
    std::string source;           // "release 18, public.holdout, epsilon 0.1"
    ReportRows figures;           // name and value of each
    std::vector<ReportBin> bins;  // of two classes
    ReportConfusion confusion;    // of more
};

struct ReportPrivacy {
    ReportRows before_after;         // what an attacker believes, and may believe after
    std::vector<std::string> notes;  // sentences
};

struct ReportFacts {
    std::string model;  // name or owner.name
    std::string version;
    std::string target;    // name of what it predicts; may be empty
    std::string positive;  // the positive class; may be empty
    std::string origin;    // a sentence or two below the title: method, who, when, tables, release
    std::optional<ReportEvaluation> evaluation;
    std::string evaluation_call;  // how to get one, where there is none; may be empty
    std::string epsilon;
    std::string epsilon_note;  // "delta 1e-6, one row is one person"
    std::string budget;        // what is left; empty where the caller may not see it
    std::string budget_note;
    ReportPrivacy privacy;
    ReportRows record;              // facts for the record
    std::vector<TimeColumn> times;  // per feature, or empty: what is a date or a time
};

// Throws what a poll of the interrupt throws.
std::string ReportHtml(const Model& model, const ReportFacts& facts, Interrupt& interrupt);

}  // namespace dpboost
