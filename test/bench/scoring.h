// How good predictions are, and means over runs; for the benchmarks of accuracy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace dpboost {

// Ties count half.
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

}  // namespace dpboost
