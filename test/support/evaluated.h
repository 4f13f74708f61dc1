// A small model, rows that behave as it says, and what an evaluation of it costs: for tests of evaluation.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/dataset.h"
#include "learner/evaluation/evaluation.h"
#include "learner/evaluation/exact_metrics.h"
#include "learner/evaluation/score_bins.h"
#include "mechanism/chacha_source.h"
#include "model/predictor.h"
#include "support/audit/audit.h"

namespace dpboost {

// Three features of 16 bins.
inline Model EvaluatedModel(Task task, Link link) {
    const std::vector<FeatureSpec> features{AuditColumn("a", 16), AuditColumn("b", 16), AuditColumn("c", 16)};
    Model model(features, task == Task::kBinary ? TargetSpec::Binary() : TargetSpec::Regression(-1, 1), link);
    const double scale = link == Link::kLogistic ? 1 : 0.25;
    model.AddToBase(ToFixed(-0.8 * scale));
    for (size_t feature = 0; feature < 3; feature++) {
        std::vector<int32_t> table(17);
        for (size_t code = 0; code < 16; code++)
            table[code] =
                ToFixed(scale * (static_cast<double>(code) / 7.5 - 1) * (feature == 1 ? -1.2 : 0.9));
        model.AddTable(feature, table);
    }
    return model;
}

// Labels as the model expects them: its probabilities are true; of a regression, off by up to a quarter.
inline Dataset EvaluatedRows(const Model& model, size_t count, uint64_t seed, bool units = false) {
    ChaChaSource source = AuditSource(seed, 77);
    Random random(source);
    std::vector<AuditRow> rows;
    for (size_t i = 0; i < count; i++) {
        AuditRow row{{}, 0, static_cast<int64_t>(units ? random.Below(count / 2 + 1) : i)};
        for (size_t feature = 0; feature < model.features().size(); feature++)
            row.codes.push_back(static_cast<uint16_t>(random.Below(16)));
        const double prediction = model.Predict(row.codes.data());
        const double fraction = static_cast<double>(random.Next32()) / 4294967296.0;
        if (model.target().task() == Task::kBinary)
            row.label = fraction < prediction ? 1 : 0;
        else
            model.target().Label(prediction + 0.5 * fraction * fraction - 0.2, &row.label);
        rows.push_back(row);
    }
    return AuditTable(model.features(), model.target().task(), units, rows);
}

// Features agree, so that rows of a bin are not those that the reference expects; and log odds are `slope` times those of
// the model, and `more`.
inline Dataset OtherRows(const Model& model, size_t count, uint64_t seed, double slope, double more) {
    ChaChaSource source = AuditSource(seed, 78);
    Random random(source);
    std::vector<AuditRow> rows;
    for (size_t i = 0; i < count; i++) {
        const auto a = static_cast<uint16_t>(random.Below(16));
        const bool agree = random.Below(3) == 0;
        const auto b = agree ? static_cast<uint16_t>(15 - a) : static_cast<uint16_t>(random.Below(16));
        const auto c = agree ? a : static_cast<uint16_t>(random.Below(16));
        AuditRow row{{a, b, c}, 0, static_cast<int64_t>(i)};
        const double odds = slope * LogOdds(model.Predict(row.codes.data())) + more;
        row.label = static_cast<double>(random.Next32()) / 4294967296.0 < 1 / (1 + std::exp(-odds));
        rows.push_back(row);
    }
    return AuditTable(model.features(), Task::kBinary, false, rows);
}

inline std::vector<Figure> ExactFigures(const Model& model, const Dataset& rows) {
    ExactClassMetrics classes;
    ExactValueMetrics values;
    Predictor predictor(model);
    std::vector<uint16_t> codes(rows.columns());
    for (size_t row = 0; row < rows.rows(); row++) {
        rows.CopyRow(row, codes.data());
        if (model.target().task() == Task::kBinary)
            classes.Add(predictor.Predict(codes.data()), rows.Label(row) > 0.5F);
        else
            values.Add(predictor.Predict(codes.data()), rows.Label(row));
    }
    NoInterrupt interrupt;
    return model.target().task() == Task::kBinary ? classes.Figures(interrupt) : values.Figures();
}

inline Plan EvaluationPlan(const TargetSpec& target, double epsilon, double delta) {
    PlanRequest request;
    request.epsilon = epsilon;
    request.delta = delta;
    request.mechanisms = {EvaluationRequest(target)};
    request.mechanisms[0].share = 1;
    return Plan::Calibrate(request);
}

inline const Figure& Named(const std::vector<Figure>& figures, std::string_view name) {
    for (const Figure& figure : figures)
        if (figure.name == name)
            return figure;
    throw std::out_of_range(std::string(name));
}

}  // namespace dpboost
