// What the benchmarks of accuracy share: predictions and how good they are, means over runs, seeds and halves of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bench/csv_data.h"
#include "mechanism/chacha_source.h"
#include "model/predictor.h"

namespace dpboost {

// Area under the ROC curve; ties count half.
inline double Auc(const std::vector<double>& predictions, const std::vector<double>& values) {
    std::vector<size_t> order(predictions.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return predictions[a] < predictions[b]; });
    double rank_sum = 0, positives = 0;
    for (size_t i = 0; i < order.size();) {
        size_t end = i;
        while (end < order.size() && predictions[order[end]] == predictions[order[i]])
            end++;
        for (size_t k = i; k < end; k++) {
            if (values[order[k]] > 0.5) {
                rank_sum += static_cast<double>(i + end + 1) / 2;
                positives++;
            }
        }
        i = end;
    }
    const double negatives = static_cast<double>(predictions.size()) - positives;
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

inline double LogLoss(const std::vector<double>& predictions, const std::vector<double>& values) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); i++) {
        const double p = std::clamp(predictions[i], 1e-12, 1 - 1e-12);
        sum -= values[i] > 0.5 ? std::log(p) : std::log1p(-p);
    }
    return sum / static_cast<double>(values.size());
}

// Of the positive class, at the threshold 1/2.
inline double F1(const std::vector<double>& predictions, const std::vector<double>& values) {
    double hits = 0, predicted = 0, positive = 0;
    for (size_t i = 0; i < values.size(); i++) {
        hits += predictions[i] > 0.5 && values[i] > 0.5;
        predicted += predictions[i] > 0.5;
        positive += values[i] > 0.5;
    }
    return 2 * hits / std::max(1.0, predicted + positive);
}

// In the target's own units.
inline double Rmse(const std::vector<double>& predictions, const std::vector<double>& values) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); i++)
        sum += (predictions[i] - values[i]) * (predictions[i] - values[i]);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

// Results over runs.
struct Tally {
    int runs = 0;
    double sum = 0, squares = 0;

    void Add(double result) {
        runs++;
        sum += result;
        squares += result * result;
    }
    double Mean() const { return sum / runs; }
    double StandardError() const {
        return std::sqrt(std::max(0.0, squares / runs - Mean() * Mean()) / std::max(1, runs - 1));
    }
};

// What a model says about rows, and what is true.
struct Predictions {
    std::vector<double> predicted;
    std::vector<double> values;
};

inline Predictions PredictRows(const Model& model, const EncodedTable& table,
                               const std::vector<uint32_t>& rows) {
    Predictor predictor(model);
    Predictions out;
    for (const uint32_t row : rows) {
        out.predicted.push_back(predictor.Predict(table.Row(row)));
        out.values.push_back(table.values[row]);
    }
    return out;
}

// AUC of a classification, RMSE of a regression.
inline double Score(Task task, const Predictions& rows) {
    return task == Task::kBinary ? Auc(rows.predicted, rows.values) : Rmse(rows.predicted, rows.values);
}

// Of more than two classes: the part of the rows whose class is the most probable one, and the mean log loss.
struct ClassQuality {
    double accuracy = 0, log_loss = 0;
};

inline ClassQuality QualityOfClasses(const Model& model, const EncodedTable& table,
                                     const std::vector<uint32_t>& rows) {
    Predictor predictor(model);
    std::vector<int64_t> scores(model.outputs());
    std::vector<double> probabilities(model.outputs());
    ClassQuality quality;
    for (const uint32_t row : rows) {
        predictor.Scores(table.Row(row), scores.data());
        Softmax(scores.data(), scores.size(), probabilities.data());
        const auto label = static_cast<size_t>(table.values[row]);
        const auto best = std::max_element(scores.begin(), scores.end()) - scores.begin();
        quality.accuracy += static_cast<size_t>(best) == label ? 1 : 0;
        quality.log_loss -= std::log(std::max(probabilities[label], 1e-9));
    }
    quality.accuracy /= static_cast<double>(rows.size());
    quality.log_loss /= static_cast<double>(rows.size());
    return quality;
}

inline ChaChaSource SourceOf(uint32_t a, uint32_t b) {
    ChaChaSource::Seed seed{};
    std::memcpy(seed.data(), &a, sizeof a);
    std::memcpy(seed.data() + 4, &b, sizeof b);
    return ChaChaSource(std::move(seed));
}

// Half 1 is what numbers were chosen on: rows whose hashed number is odd. Half 0: all.
inline std::vector<uint32_t> RowsOfHalf(size_t rows, int half) {
    std::vector<uint32_t> chosen;
    for (size_t row = 0; row < rows; row++) {
        uint64_t hash = (row + 1) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
        hash *= 0xBF58476D1CE4E5B9U;
        if (half == 0 || ((hash >> 40) & 1) == (half == 1 ? 1U : 0U))
            chosen.push_back(static_cast<uint32_t>(row));
    }
    return chosen;
}

// How a program was called: RUNS, what a line must contain, and settings.
struct Arguments {
    int runs;
    std::string only;
    std::vector<std::string> settings;
};

inline Arguments ReadArguments(int argc, char** argv, int default_runs) {
    Arguments arguments{default_runs, {}, {}};
    if (argc > 1)
        arguments.runs = std::max(1, std::atoi(argv[1]));
    if (argc > 2)
        arguments.only = argv[2];
    for (int i = 3; i < argc; i++)
        arguments.settings.emplace_back(argv[i]);
    return arguments;
}

// The exit status of a program that does this.
template <typename Work>
int Guarded(Work work) {
    try {
        work();
    } catch (const Error& error) {
        std::fprintf(stderr, "%s %s %s\n", error.message().c_str(), error.detail().c_str(),
                     error.hint().c_str());
        return 1;
    }
    return 0;
}

}  // namespace dpboost
