// The figures of predictions against the truth, exactly: for those who may read the rows. Nothing here is private. The
// intervals hold the chance of the rows alone.
#pragma once

#include <vector>

#include "base/interrupt.h"
#include "learner/evaluation/figures/figure.h"

namespace dpboost {

// Of a classifier: the same figures as class_figures.h gives, with every prediction a bin of its own.
class ExactClassMetrics {
  public:
    // What is no probability is cut off at 0 or 1.
    void Add(double prediction, bool positive);
    // Consumes what was added.
    std::vector<Figure> Figures(Interrupt& interrupt);

  private:
    struct Row {
        double prediction;
        bool positive;
    };
    std::vector<Row> rows_;
};

// Of a regression, without a clip.
class ExactValueMetrics {
  public:
    void Add(double prediction, double value);
    std::vector<Figure> Figures() const;

  private:
    double rows_ = 0, error_ = 0, absolute_ = 0, square_ = 0, fourth_ = 0;
    double mean_ = 0, squares_about_mean_ = 0;  // of the values, updated row by row
};

}  // namespace dpboost
