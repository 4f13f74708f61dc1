#include "learner/evaluation/figures/tilt_chain.h"

#include <algorithm>
#include <cmath>

namespace dpboost {
namespace {

// By how much the slope may change over one spread of the scores, each thought equally likely before a count is seen. Of
// a normal distribution it changes by one.
constexpr double kBends[] = {0.1, 0.25, 0.5, 1, 2};
// The slope of the first bin before a count is seen: standard deviation, likewise.
constexpr double kFirstSlope = 1;
constexpr double kMostTilt = 8;
constexpr int kSteps = 12;

double Square(double x) {
    return x * x;
}

// What a bin is expected to hold, and how far from its place, at a level and tilt.
struct Expected {
    double rows = 0;
    double far = 0;  // mean
};

Expected ExpectedIn(const TiltBin& bin, double level, double tilt) {
    Expected expected;
    for (const TiltBin::Node& node : bin.nodes) {
        const double rows = node.weight * std::exp(level + tilt * node.far);
        expected.rows += rows;
        expected.far += rows * node.far;
    }
    if (expected.rows > 0)
        expected.far /= expected.rows;
    return expected;
}

}  // namespace

TiltChain::TiltChain(const std::vector<TiltBin>& bins)
    : tilts_(bins.size()), doubts_(bins.size(), kFirstSlope) {
    if (bins.empty())
        return;
    for (const double bend : kBends) {
        Fit fit;
        fit.bend = bend;
        if (fits_.empty())
            for (const TiltBin& bin : bins) {
                const double rows = std::max(ExpectedIn(bin, 0, 0).rows, 1e-12);
                fit.states.push_back({std::log(std::max(bin.count, std::sqrt(bin.variance)) / rows), 0});
            }
        else
            fit.states = fits_.back().states;
        Solve(bins, &fit);
        fits_.push_back(std::move(fit));
    }
    Summarize();
}

// The precision of levels and tilts about the present states, eliminated block by block, and the slope of the log
// likelihood there. Returns the log likelihood.
double TiltChain::Factor(const std::vector<TiltBin>& bins, Fit* fit, std::vector<Vector>* slope) const {
    const size_t count = bins.size();
    fit->inverse.assign(count, {});
    fit->below.assign(count, {});
    fit->log_determinant = 0;
    slope->assign(count, {});
    double log_likelihood = 0;
    Matrix pivot{1e-6, 0, 1 / Square(kFirstSlope)};
    (*slope)[0] = {0, -fit->states[0][1] / Square(kFirstSlope)};
    log_likelihood -= Square(fit->states[0][1] / kFirstSlope) / 2;
    for (size_t b = 0; b < count; b++) {
        const Vector& state = fit->states[b];
        const Expected expected = ExpectedIn(bins[b], state[0], state[1]);
        const double sure = 1 / bins[b].variance, missing = bins[b].count - expected.rows;
        const Vector change{expected.rows, expected.rows * expected.far};
        log_likelihood -= Square(missing) * sure / 2;
        for (size_t i = 0; i < 2; i++)
            (*slope)[b][i] += change[i] * missing * sure;
        pivot[0] += change[0] * change[0] * sure;
        pivot[1] += change[0] * change[1] * sure;
        pivot[2] += change[1] * change[1] * sure;
        Matrix next{};
        Full below{};
        if (b + 1 < count) {  // the next state is F times this one, and a draw of covariance Q
            const double step = std::max(bins[b + 1].at - bins[b].at, 1e-3), scale = 1 / Square(fit->bend);
            next = {12 * scale / (step * step * step), -6 * scale / Square(step), 4 * scale / step};
            const Vector off{fit->states[b + 1][0] - state[0] - step * state[1],
                             fit->states[b + 1][1] - state[1]};
            const Vector pull{next[0] * off[0] + next[1] * off[1], next[1] * off[0] + next[2] * off[1]};
            log_likelihood -= (off[0] * pull[0] + off[1] * pull[1]) / 2;
            log_likelihood += std::log(12 * Square(scale) / Square(Square(step))) / 2;
            (*slope)[b + 1] = {-pull[0], -pull[1]};
            (*slope)[b][0] += pull[0];
            (*slope)[b][1] += step * pull[0] + pull[1];
            below = {-next[0], -next[1], -(step * next[0] + next[1]), -(step * next[1] + next[2])};
            pivot[0] += next[0];
            pivot[1] += step * next[0] + next[1];
            pivot[2] += step * (step * next[0] + 2 * next[1]) + next[2];
        }
        const double determinant = pivot[0] * pivot[2] - Square(pivot[1]);
        fit->log_determinant += std::log(std::max(determinant, 1e-300));
        const Matrix inverse{pivot[2] / determinant, -pivot[1] / determinant, pivot[0] / determinant};
        fit->inverse[b] = inverse;
        fit->below[b] = below;
        const auto product = [&](size_t i, size_t j) {
            const Vector left{below[i], below[2 + i]}, right{below[j], below[2 + j]};
            return left[0] * (inverse[0] * right[0] + inverse[1] * right[1]) +
                   left[1] * (inverse[1] * right[0] + inverse[2] * right[1]);
        };
        pivot = {next[0] - product(0, 0), next[1] - product(0, 1), next[2] - product(1, 1)};
    }
    return log_likelihood;
}

// The inverse of the precision times a vector.
std::vector<TiltChain::Vector> TiltChain::Apply(const Fit& fit, std::vector<Vector> right) {
    const auto times = [&](size_t b, const Vector& v) {
        const Matrix& inverse = fit.inverse[b];
        return Vector{inverse[0] * v[0] + inverse[1] * v[1], inverse[1] * v[0] + inverse[2] * v[1]};
    };
    for (size_t b = 0; b + 1 < right.size(); b++) {
        const Vector done = times(b, right[b]);
        for (size_t j = 0; j < 2; j++)
            right[b + 1][j] -= fit.below[b][j] * done[0] + fit.below[b][2 + j] * done[1];
    }
    for (size_t b = right.size(); b-- > 0;) {
        if (b + 1 < right.size())
            for (size_t i = 0; i < 2; i++)
                right[b][i] -=
                    fit.below[b][2 * i] * right[b + 1][0] + fit.below[b][2 * i + 1] * right[b + 1][1];
        right[b] = times(b, right[b]);
    }
    return right;
}

void TiltChain::Solve(const std::vector<TiltBin>& bins, Fit* fit) const {
    std::vector<Vector> slope;
    for (int step = 0; step < kSteps; step++) {
        Factor(bins, fit, &slope);
        const std::vector<Vector> move = Apply(*fit, slope);
        double largest = 0;
        for (const Vector& by : move)
            largest = std::max({largest, std::fabs(by[0]), std::fabs(by[1])});
        const double part = largest > 1 ? 1 / largest : 1;
        for (size_t b = 0; b < bins.size(); b++) {
            fit->states[b][0] += part * move[b][0];
            fit->states[b][1] = std::clamp(fit->states[b][1] + part * move[b][1], -kMostTilt, kMostTilt);
        }
        if (largest < 1e-3)
            break;
    }
    fit->log_evidence = Factor(bins, fit, &slope) - fit->log_determinant / 2;
}

// Mean and standard deviation over the bends.
void TiltChain::Summarize() {
    double best = fits_[0].log_evidence, total = 0;
    for (const Fit& fit : fits_)
        best = std::max(best, fit.log_evidence);
    for (Fit& fit : fits_)
        total += fit.weight = std::exp(fit.log_evidence - best);
    std::vector<double> squares(size());
    for (Fit& fit : fits_) {
        fit.weight /= total;
        Matrix below{};  // covariance of the bin above
        for (size_t b = size(); b-- > 0;) {
            const Matrix& inverse = fit.inverse[b];
            const Full& o = fit.below[b];
            Matrix own = inverse;
            if (b + 1 < size()) {  // inverse (1 + o covariance o' inverse)
                const auto middle = [&](size_t i, size_t j) {
                    return o[2 * i] * (below[0] * o[2 * j] + below[1] * o[2 * j + 1]) +
                           o[2 * i + 1] * (below[1] * o[2 * j] + below[2] * o[2 * j + 1]);
                };
                const double m00 = middle(0, 0), m01 = middle(0, 1), m11 = middle(1, 1);
                const auto sandwich = [&](double a0, double a1, double c0, double c1) {
                    return a0 * (m00 * c0 + m01 * c1) + a1 * (m01 * c0 + m11 * c1);
                };
                own[0] += sandwich(inverse[0], inverse[1], inverse[0], inverse[1]);
                own[1] += sandwich(inverse[0], inverse[1], inverse[1], inverse[2]);
                own[2] += sandwich(inverse[1], inverse[2], inverse[1], inverse[2]);
            }
            below = own;
            tilts_[b] += fit.weight * fit.states[b][1];
            squares[b] += fit.weight * (own[2] + Square(fit.states[b][1]));
        }
    }
    for (size_t b = 0; b < size(); b++)
        doubts_[b] = std::sqrt(std::max(0.0, squares[b] - Square(tilts_[b])));
}

double TiltChain::Variance(const std::vector<double>& gradient) const {
    double mean = 0, squares = 0;
    for (const Fit& fit : fits_) {
        std::vector<Vector> right(size());
        double value = 0;
        for (size_t b = 0; b < size(); b++) {
            right[b] = {0, gradient[b]};
            value += gradient[b] * fit.states[b][1];
        }
        const std::vector<Vector> solved = Apply(fit, right);
        double variance = 0;
        for (size_t b = 0; b < size(); b++)
            variance += gradient[b] * solved[b][1];
        mean += fit.weight * value;
        squares += fit.weight * (variance + Square(value));
    }
    return std::max(0.0, squares - Square(mean));
}

}  // namespace dpboost
