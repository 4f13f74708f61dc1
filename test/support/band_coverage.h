// Whether the bands of a method's shapes are as wide as its noise: the same table is trained again and again, and the
// contributions of each training are compared with their mean over all.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "dataset/dataset.h"
#include "model/explain/explain.h"

namespace dpboost {

class BandCoverage {
  public:
    explicit BandCoverage(const Dataset& dataset) : weights_(dataset.columns()), sums_(dataset.columns()) {
        std::vector<uint16_t> codes(dataset.columns());
        for (size_t f = 0; f < dataset.columns(); f++)
            weights_[f].assign(dataset.features()[f].cells(), 0.0);
        for (size_t row = 0; row < dataset.rows(); row++) {
            dataset.CopyRow(row, codes.data());
            for (size_t f = 0; f < codes.size(); f++)
                weights_[f][codes[f]] += 1.0 / static_cast<double>(dataset.rows());
        }
        sums_ = squares_ = weights_;
        for (size_t f = 0; f < codes.size(); f++) {
            std::fill(sums_[f].begin(), sums_[f].end(), 0.0);
            squares_[f] = sums_[f];
        }
    }

    void Add(const Model& model) {
        NoInterrupt interrupt;
        Explainer explainer(model, interrupt);
        trainings_.emplace_back();
        for (size_t f = 0; f < weights_.size(); f++) {
            trainings_.back().push_back(explainer.Shape(f));
            for (const ShapeCell& cell : trainings_.back().back()) {
                sums_[f][cell.code] += cell.contribution;
                squares_[f][cell.code] += cell.contribution * cell.contribution;
            }
        }
    }

    // Mean over rows; of one feature or of all.
    struct Figures {
        double coverage = 0;  // of the mean by the bands of 95 %
        double true_sd = 0;   // of contributions over the trainings
        double band_sd = 0;   // as the models tell it

        double Ratio() const { return band_sd / true_sd; }
    };

    // scale: as if the bands were so much wider.
    Figures OfFeature(size_t f, double scale = 1) const {
        const double n = static_cast<double>(trainings_.size());
        Figures figures;
        for (size_t code = 0; code < weights_[f].size(); code++) {
            const double mean = sums_[f][code] / n;
            const double variance = std::max(0.0, squares_[f][code] / n - mean * mean) * n / (n - 1);
            figures.true_sd += weights_[f][code] * std::sqrt(variance);
            for (const std::vector<std::vector<ShapeCell>>& training : trainings_) {
                const ShapeCell& cell = training[f][code];
                // A training is part of the mean, so it is nearer to it than to the truth.
                const double distance = std::fabs(cell.contribution - mean) * std::sqrt(n / (n - 1));
                figures.coverage += weights_[f][code] / n * (distance <= scale * kBandSds * cell.sd ? 1 : 0);
                figures.band_sd += weights_[f][code] / n * cell.sd;
            }
        }
        return figures;
    }

    Figures OfAll(double scale = 1) const {
        Figures all;
        const double features = static_cast<double>(weights_.size());
        for (size_t f = 0; f < weights_.size(); f++) {
            const Figures figures = OfFeature(f, scale);
            all.coverage += figures.coverage / features;
            all.true_sd += figures.true_sd / features;
            all.band_sd += figures.band_sd / features;
        }
        return all;
    }

  private:
    std::vector<std::vector<double>> weights_;  // per feature and code: the rows' share
    std::vector<std::vector<double>> sums_, squares_;
    std::vector<std::vector<std::vector<ShapeCell>>> trainings_;
};

}  // namespace dpboost
