// The linear algebra of `adassp`: the ridge of AdaSSP and the solution of the normal equations. Reads released figures
// only: post-processing, which costs no privacy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/eigen.h"
#include "base/interrupt.h"

namespace dpboost {

class AdasspSolver {
  public:
    // noisy_sums: the entries of X'X that were released, in natural units; sigma the deviation of their noise.
    //
    // lambda = ridge * sigma sqrt(p log(2 p^2 / rho)), rho = 0.05: AdaSSP ([WANG18] Alg 2) with
    // sqrt(log(6 / delta)) / (epsilon / 3) in Gaussian DP's terms 1 / mu_1, which makes sigma = |X|^2 / mu_1. AdaSSP takes
    // a released lower bound of lambda_min(X'X) off; here that is 0 whatever the rows, because the indicators of a
    // feature sum to the intercept, so nothing is spent on it. If the matrix is still not positive definite, lambda is
    // doubled until it is.
    AdasspSolver(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                 const std::vector<double>& noisy_sums, double sigma, double ridge, Interrupt& interrupt);

    double lambda() const { return lambda_; }
    // (X'X + lambda I)^-1 v
    Eigen::VectorXd Solve(const Eigen::VectorXd& v) const;

  private:
    double lambda_ = 0;
    Eigen::MatrixXd factor_;  // L of the Cholesky decomposition, in the lower triangle
};

}  // namespace dpboost
