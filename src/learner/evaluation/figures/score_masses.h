// Where rows of either class lie, from noisy counts in soft score bins: masses on the bins' nodes, of a density that is
// what the reference expects times a function that is linear between knots. The masses are linear in the
// counts, and a mean over them is that over the rows wherever what is averaged is linear between knots; noise therefore
// passes to figures by known weights, and what counts cannot tell is the curvature. Post-processing of noisy counts.
#pragma once

#include <vector>

#include "base/eigen.h"
#include "learner/evaluation/score_bins.h"

namespace dpboost {

// Noisy, one entry per score bin; each has independent noise of standard deviation sigma (0: exact counts).
struct ClassCounts {
    std::vector<double> positives;
    std::vector<double> negatives;
    double sigma = 0;
};

// A number for every score, by class: masses of rows, or what a row there contributes to a figure.
struct ByClass {
    std::vector<double> positives;
    std::vector<double> negatives;

    const std::vector<double>& of(bool positive) const { return positive ? positives : negatives; }
    std::vector<double>& of(bool positive) { return positive ? positives : negatives; }
};

class ScoreMasses {
  public:
    ScoreMasses(const ScoreBins& bins, const ClassCounts& counts);

    const ByClass& masses() const { return masses_; }
    // Of a sum over rows of `terms`: the variance of the noise in it, and of what counts cannot tell.
    double Doubt(const ByClass& terms) const;

  private:
    double DoubtOf(bool positive, const std::vector<double>& terms) const;
    double Beyond(bool positive, const Eigen::VectorXd& told) const;

    const ScoreBins& bins_;
    ClassCounts counts_;
    Eigen::LDLT<Eigen::MatrixXd> fit_;
    ByClass masses_;
};

}  // namespace dpboost
