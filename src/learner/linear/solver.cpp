#include "learner/linear/solver.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"

namespace dpboost {
namespace {

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

AdasspSolver::AdasspSolver(std::size_t columns, const std::vector<std::pair<uint16_t, uint16_t>>& products,
                           const std::vector<double>& noisy_sums, double sigma, double ridge,
                           Interrupt& interrupt) {
    constexpr double kRho = 0.05;
    const Eigen::Index size = static_cast<Eigen::Index>(columns);
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(size, size);
    for (std::size_t i = 0; i < products.size(); i++) {
        matrix(products[i].first, products[i].second) = noisy_sums[i];
        matrix(products[i].second, products[i].first) = noisy_sums[i];
    }
    const double p = static_cast<double>(columns);
    lambda_ = ridge * (sigma * std::sqrt(p * portable::Log(2 * p * p / kRho)));
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
