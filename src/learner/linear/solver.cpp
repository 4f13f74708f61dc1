#include "learner/linear/solver.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

// Whether the tridiagonal matrix has an eigenvalue below x: a negative pivot of T - x I.
bool HasEigenvalueBelow(const Vector& diagonal, const Vector& beside, long double x) {
    long double pivot = diagonal(0) - x;
    for (Eigen::Index i = 1; i < diagonal.size() && pivot > 0; i++)
        pivot = diagonal(i) - x - beside(i - 1) * beside(i - 1) / pivot;
    return !(pivot > 0);
}

// The smallest eigenvalue, at least 0, by bisection, which always ends: an iteration that may fail to
// converge on some data would have no sensitivity.
long double BisectSmallest(const Vector& diagonal, const Vector& beside) {
    long double low = 0;
    long double high = std::max(0.0L, diagonal.minCoeff()) + 1;  // the smallest is at most any diagonal entry
    if (HasEigenvalueBelow(diagonal, beside, low))
        return 0;
    for (int step = 0; step < 128; step++) {
        const long double middle = low + (high - low) / 2;
        (HasEigenvalueBelow(diagonal, beside, middle) ? high : low) = middle;
    }
    return low;
}

// Cholesky in panels, so that interrupts are served in between. False if the matrix is not positive definite.
bool Factorise(Eigen::MatrixXd* matrix, Interrupt& interrupt) {
    constexpr Eigen::Index kPanel = 48;
    const Eigen::Index p = matrix->rows();
    for (Eigen::Index k = 0; k < p; k += kPanel) {
        const Eigen::Index width = std::min(kPanel, p - k);
        auto panel = matrix->block(k, k, p - k, width);
        for (Eigen::Index j = 0; j < k; j += kPanel) {
            panel.noalias() -=
                matrix->block(k, j, p - k, kPanel) * matrix->block(k, j, width, kPanel).transpose();
            interrupt.Poll();
        }
        const Eigen::LLT<Eigen::MatrixXd> top(panel.topRows(width));
        if (top.info() != Eigen::Success)
            return false;
        panel.topRows(width) = top.matrixL();
        const Eigen::Index below = p - k - width;
        if (below > 0) {
            auto rest = panel.bottomRows(below);
            rest = top.matrixL().solve(rest.transpose()).transpose().eval();
        }
        interrupt.Poll();
    }
    return true;
}

}  // namespace

double EigenvalueError(std::size_t columns) {
    const double p = static_cast<double>(columns);
    return 100 * p * p * std::ldexp(1, 32 - 64);
}

int64_t SmallestEigenvalue(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                           const std::vector<int64_t>& raw_sums) {
    using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const Eigen::Index p = static_cast<Eigen::Index>(columns);
    Matrix matrix = Matrix::Zero(p, p);
    for (std::size_t i = 0; i < products.size(); i++) {
        matrix(products[i].first, products[i].second) = static_cast<long double>(raw_sums[i]);
        matrix(products[i].second, products[i].first) = static_cast<long double>(raw_sums[i]);
    }
    if (p == 1)
        return std::max<int64_t>(0, raw_sums[0]);
    const Eigen::Tridiagonalization<Matrix> tridiagonal(matrix);
    return static_cast<int64_t>(
        std::nearbyint(BisectSmallest(tridiagonal.diagonal(), tridiagonal.subDiagonal())));
}

AdasspSolver::AdasspSolver(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                           const std::vector<double>& noisy_sums, double sigma, double eigenvalue,
                           double ridge, Interrupt& interrupt) {
    constexpr double kRho = 0.05;
    const Eigen::Index size = static_cast<Eigen::Index>(columns);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    for (std::size_t i = 0; i < products.size(); i++) {
        matrix(products[i].first, products[i].second) = noisy_sums[i];
        matrix(products[i].second, products[i].first) = noisy_sums[i];
    }
    const double p = static_cast<double>(columns);
    lambda_ = ridge * std::max(0.0, sigma * std::sqrt(p * std::log(2 * p * p / kRho)) - eigenvalue);
    // Keeps the condition number within what doubles can solve.
    lambda_ = std::max({lambda_, 1e-9 * matrix.diagonal().cwiseAbs().maxCoeff(), 1e-9});
    for (;;) {
        factor_ = matrix;
        factor_.diagonal().array() += lambda_;
        if (Factorise(&factor_, interrupt))
            return;
        lambda_ *= 2;
    }
}

Eigen::VectorXd AdasspSolver::Solve(const Eigen::VectorXd& v) const {
    const auto lower = factor_.triangularView<Eigen::Lower>();
    return lower.transpose().solve(lower.solve(v));
}

}  // namespace dpboost
