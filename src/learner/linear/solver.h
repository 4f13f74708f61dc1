// The linear algebra of `adassp`: the ridge of AdaSSP and the solution of the normal equations. All but
// SmallestEigenvalue reads released figures only: post-processing, which costs no privacy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/eigen.h"
#include "base/interrupt.h"

namespace dpboost {

// lambda_min of the symmetric integer matrix, at least 0. Raw: what it returns must get noise.
//
// Error: Householder's tridiagonal form and bisection by Sturm counts are backward stable: the result is the
// exact eigenvalue of A + E with |E| <= c(p) v |A|, v the unit roundoff and c(p) a low polynomial (Golub and
// Van Loan, 8.3.1 and 8.4.1; in practice c < p). We take c = 100 p^2, v = 2^-64 (long double of x86; other
// machines have more digits), and |A| at most 2^32 rows times the largest eigenvalue of one: the error is at
// most EigenvalueError(p) times the bound of one unit, whatever the rows.
int64_t SmallestEigenvalue(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                           const std::vector<int64_t>& raw_sums);
double EigenvalueError(std::size_t columns);

class AdasspSolver {
  public:
    // noisy_sums: the entries of X'X that were released, in natural units; sigma the deviation of their
    // noise; eigenvalue: a lower estimate of lambda_min(X'X), 0 if there is none.
    //
    // lambda = ridge * max(0, sigma sqrt(p log(2 p^2 / rho)) - eigenvalue), rho = 0.05: AdaSSP ([WANG18]
    // Alg 2) with sqrt(log(6 / delta)) / (epsilon / 3) in Gaussian DP's terms 1 / mu_1, which makes sigma =
    // |X|^2 / mu_1. If the matrix is still not positive definite, lambda is doubled until it is.
    AdasspSolver(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                 const std::vector<double>& noisy_sums, double sigma, double eigenvalue, double ridge,
                 Interrupt& interrupt);

    double lambda() const { return lambda_; }
    // (X'X + lambda I)^-1 v
    Eigen::VectorXd Solve(const Eigen::VectorXd& v) const;

  private:
    double lambda_ = 0;
    Eigen::MatrixXd factor_;  // L of the Cholesky decomposition, in the lower triangle
};

}  // namespace dpboost
