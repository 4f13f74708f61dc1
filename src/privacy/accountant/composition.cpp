// Exponential tilting: instead of the masses p(l) of each loss, p(l) exp(lambda l) / M are convolved, with
// lambda such that the tilted total has its mean at the epsilon of interest. There the tilted masses are of
// order one however small delta is, so that rounding errors of the FFT, which are absolute, stay relative to
// delta, and a window of a few deviations is enough. What wraps around from above the window is lost to delta
// and therefore bounded by Chernoff and added; what wraps around from below only adds.
#include "privacy/accountant/composition.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/current_interrupt.h"
#include "base/error.h"
#include "privacy/accountant/fft.h"

namespace dpboost {
namespace {

constexpr double kUnitRoundoff = 1.12e-16;
// The window ends where what lies beyond matters less than exp(-kNegligible) of delta.
constexpr double kNegligible = 18;

// z <- z^count by repeated squaring. Values so small that they cannot matter become 0, because arithmetic
// with denormal numbers is slow; the error of that is covered by the bound that Convolve adds to every point.
void Power(Spectrum& z, uint64_t count) {
    const std::size_t n = z.size();
    Spectrum base = z;
    bool started = false;
    for (uint64_t bits = count; bits != 0; bits >>= 1) {
        InterruptScope::Poll();
        if (bits & 1) {
            for (std::size_t k = 0; started && k < n; ++k) {
                const double re = z.re[k] * base.re[k] - z.im[k] * base.im[k];
                z.im[k] = z.re[k] * base.im[k] + z.im[k] * base.re[k];
                z.re[k] = re;
            }
            if (!started)
                z = base;
            started = true;
        }
        for (std::size_t k = 0; bits > 1 && k < n; ++k) {
            const double re = base.re[k] * base.re[k] - base.im[k] * base.im[k];
            const double im = 2 * base.re[k] * base.im[k];
            const bool tiny = std::fabs(re) + std::fabs(im) < 1e-60;
            base.re[k] = tiny ? 0 : re;
            base.im[k] = tiny ? 0 : im;
        }
    }
}

// (|z| + error)^(count - 1), rounded up.
double PowerBound(double magnitude, double error, uint64_t count) {
    if (count == 1)
        return 1;
    const double base = magnitude + error;
    if (base <= 0.5 && count > 200)
        return 1e-59;
    return std::exp(static_cast<double>(count - 1) * std::log(base)) * (1 + 1e-9);
}

double SquareSum(const Spectrum& z) {
    double sum = 0;
    for (std::size_t k = 0; k < z.size(); ++k)
        sum += z.re[k] * z.re[k] + z.im[k] * z.im[k];
    return sum;
}

}  // namespace

Composition::Composition(const std::vector<GridUse>& uses, double epsilon, double delta, double lambda_hint,
                         std::size_t max_size)
    : step_(uses.at(0).grid->step), center_(epsilon) {
    ChooseTilt(uses, lambda_hint);
    ChooseWindow(uses, delta);
    if (size_ > max_size)
        return;
    double relative_error = 1e-9;
    for (const GridUse& use : uses) {
        const double count = static_cast<double>(use.count);
        relative_error += count * (use.grid->relative_error + 1e-13);
        lost_ += count * use.grid->infinite_mass;
    }
    inflation_ = std::exp(relative_error);
    Convolve(uses);
}

// log E exp(lambda L) of the composed loss, and mean and variance of the tilted one. Good to 1e-11 or so: it
// only steers; what enters delta is computed anew.
Composition::Cumulants Composition::At(const Uses& uses, double lambda) const {
    Cumulants total{lambda, 0, 0, 0};
    for (const GridUse& use : uses) {
        const LossGrid& grid = *use.grid;
        const std::size_t n = grid.mass.size();
        const double scale = lambda >= 0 ? grid.Loss(n - 1) : grid.Loss(0);
        const double factor = std::exp(lambda * step_);
        double weight = std::exp(lambda * (grid.Loss(0) - scale));
        double sum = 0;
        double first = 0;
        double second = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if ((i & 63) == 0)
                weight = std::exp(lambda * (grid.Loss(i) - scale));
            const double x = static_cast<double>(i);
            const double tilted = grid.mass[i] * weight;
            sum += tilted;
            first += tilted * x;
            second += tilted * x * x;
            weight *= factor;
        }
        if (!(sum > 0))
            return {lambda, std::numeric_limits<double>::infinity(), 0, 0};  // underflow: claims nothing
        const double mean = first / sum;
        const double count = static_cast<double>(use.count);
        total.log_mgf += count * (std::log(sum) + lambda * scale);
        total.mean += count * (grid.Loss(0) + mean * step_);
        total.variance += count * std::max(0.0, second / sum - mean * mean) * step_ * step_;
    }
    return total;
}

// Solves mean(lambda) = epsilon for lambda >= 0 by safeguarded Newton steps; any lambda is sound.
void Composition::ChooseTilt(const Uses& uses, double lambda_hint) {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double widest = 0;
    for (const GridUse& use : uses)
        widest = std::max(widest, static_cast<double>(use.grid->mass.size()) * step_);
    const double limit = 600 / widest;  // so that no tilted mass overflows or all but one underflow
    lambda_ = std::min(limit, std::max(0.0, lambda_hint));
    for (int iteration = 0; iteration < 40; ++iteration) {
        tilt_ = At(uses, lambda_);
        InterruptScope::Poll();
        const double difference = center_ - tilt_.mean;
        if (std::fabs(difference) < 0.02 * std::sqrt(tilt_.variance))
            return;
        if (difference > 0)
            low = lambda_;
        else
            high = lambda_;
        double next = lambda_ + difference / std::max(tilt_.variance, 1e-300);
        next = std::min(next, std::min(limit, 4 * lambda_ + 1 / widest));
        if (!(next > low && next < high))
            next = std::isinf(high) ? limit : 0.5 * (low + high);
        if (next == lambda_ || (low == 0 && high < 1e-9 * limit))
            break;
        lambda_ = next;
    }
    tilt_ = At(uses, lambda_);
}

// By Chernoff with a further tilt of theta > 0, the log of the tilted mass beyond (log_mgf(lambda + d theta)
// - log_mgf(lambda) + drop) / theta, in direction d = 1 (above) or -1 (below), is at most -drop. Every theta
// is sound; this looks for one that gives an end close to the mean, starting from the best for a normal law.
double Composition::ChernoffEnd(const Uses& uses, double lambda, const Cumulants& at, int direction,
                                double drop) const {
    auto distance = [&](double theta) {
        return (At(uses, lambda + direction * theta).log_mgf - at.log_mgf + drop) / theta;
    };
    double theta = std::sqrt(2 * drop / std::max(at.variance, step_ * step_));
    double best = distance(theta);
    for (double factor : {0.7, 1.4}) {
        for (double next = distance(theta * factor); next < best; next = distance(theta * factor)) {
            theta *= factor;
            best = next;
        }
    }
    return direction * best;
}

// Losses are told apart only modulo the length of the window. What lies above its top is lost and counted.
// What decides about its length is only accuracy: what wraps around from below to under the top, and from
// above to over epsilon, must be negligible. Where rare large losses matter, the full tilt makes them so
// frequent that the window would have to reach far beyond its top; then a weaker tilt needs less, at the
// price of a larger relative rounding error.
void Composition::ChooseWindow(const Uses& uses, double delta) {
    double support_top = 0;
    double support_bottom = 0;
    for (const GridUse& use : uses) {
        support_top += static_cast<double>(use.count) * use.grid->Loss(use.grid->mass.size() - 1);
        support_bottom += static_cast<double>(use.count) * use.grid->Loss(0);
    }
    top_ = support_top;
    const double end = ChernoffEnd(uses, 0, At(uses, 0), 1, kNegligible - std::log(delta));
    if (end < support_top) {
        top_ = std::max(end, center_ + step_);
        lost_ = delta * std::exp(-kNegligible) * (1 + 1e-3);
    }
    double fewest = std::numeric_limits<double>::infinity();
    for (double lambda = lambda_; lambda > lambda_ / 10; lambda /= 2) {
        const Cumulants at = At(uses, lambda);
        const double far_top = std::min(support_top, ChernoffEnd(uses, lambda, at, 1, kNegligible));
        const double drop = std::max(6.0, kNegligible - lambda * std::max(top_ - center_, 0.0));
        const double bottom = std::max(support_bottom, ChernoffEnd(uses, lambda, at, -1, drop));
        const double points = std::max(top_ - bottom, far_top - center_) / step_ + 3;
        if (points > 0.8 * fewest)
            break;
        fewest = points;
        bottom_ = bottom;
        tilt_ = at;
        tilt_.lambda = lambda;
    }
    lambda_ = tilt_.lambda;
    size_ = 64;
    while (static_cast<double>(size_) < fewest && size_ < (std::size_t{1} << 40))
        size_ *= 2;
}

// The tilted and normalised masses of one grid on the circle of n points; adds count times the logarithm of
// the normaliser to log_mgf.
Spectrum Composition::Tilted(const GridUse& use, double* log_mgf) const {
    const LossGrid& grid = *use.grid;
    const double scale = grid.Loss(grid.mass.size() - 1);
    std::vector<double> weights(grid.mass.size());
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = grid.mass[i] * std::exp(lambda_ * (grid.Loss(i) - scale));
        sum += weights[i];
    }
    CheckInternal(sum > 0, "privacy loss has no mass");
    *log_mgf += static_cast<double>(use.count) * (std::log(sum) + lambda_ * scale);
    Spectrum tilted(size_);
    for (std::size_t i = 0; i < weights.size(); ++i)
        tilted.re[static_cast<std::size_t>(grid.first + static_cast<int64_t>(i)) & (size_ - 1)] +=
            weights[i] / sum;
    return tilted;
}

// Error bound per point of the tilted, convolved masses: the forward transform of masses x is off by at most
// e = RelativeError sqrt(N) |x|_2 in every frequency; a power by count e (|z| + e)^(count-1) and rounding of
// 4 u per product; the inverse adds the mean of these over frequencies and its own error in L2.
void Composition::Convolve(const Uses& uses) {
    const std::size_t n = size_;
    const double size = static_cast<double>(n);
    const Fft fft(n);
    Spectrum product(n);
    product.re.assign(n, 1.0);
    std::vector<double> error(n, 0.0);
    std::vector<double> magnitude(n);
    tilt_.log_mgf = 0;
    for (const GridUse& use : uses) {
        Spectrum z = Tilted(use, &tilt_.log_mgf);
        const double e = fft.RelativeError() * std::sqrt(size * SquareSum(z));
        const double count = static_cast<double>(use.count);
        fft.Forward(z);
        InterruptScope::Poll();
        for (std::size_t k = 0; k < n; ++k)
            magnitude[k] = std::sqrt(z.re[k] * z.re[k] + z.im[k] * z.im[k]);
        Power(z, use.count);
        for (std::size_t k = 0; k < n; ++k) {
            const double bound = PowerBound(magnitude[k], e, use.count);
            const double power = bound * (magnitude[k] + e);
            const double power_error = count * (e * bound + 4 * kUnitRoundoff * power);
            const double before = std::sqrt(product.re[k] * product.re[k] + product.im[k] * product.im[k]);
            error[k] = error[k] * (power + power_error) + before * (power_error + 4 * kUnitRoundoff * power);
            const double re = product.re[k] * z.re[k] - product.im[k] * z.im[k];
            product.im[k] = product.re[k] * z.im[k] + product.im[k] * z.re[k];
            product.re[k] = re;
        }
    }
    double error_sum = 0;
    for (double value : error)
        error_sum += value;
    const double square_sum = SquareSum(product);
    fft.Inverse(product);
    InterruptScope::Poll();
    for (double& value : product.re)
        value /= size;
    AccumulateSuffixes(product.re,
                       error_sum / size + fft.RelativeError() * std::sqrt(square_sum / size) + 1e-58);
}

// Undoes the tilt and goes down from the top, so that delta at any epsilon is one lookup. With masses m_j at
// losses l_j, h apart, both figures of a point follow from those of the next by adding what is positive:
//     Q_i = sum over j >= i of m_j exp(l_i - l_j)       = m_i + exp(-h) Q_i+1,
//     D_i = sum over j >= i of m_j (1 - exp(l_i - l_j)) = D_i+1 + (1 - exp(-h)) Q_i+1.
// (A difference of two sums would lose all digits where the tilt makes far lower losses enormous.)
void Composition::AccumulateSuffixes(const std::vector<double>& tilted, double error) {
    const std::size_t n = size_;
    const double shrink = std::exp(-step_);
    const double rise = -std::expm1(-step_);
    first_ = static_cast<int64_t>(std::ceil(top_ / step_)) - static_cast<int64_t>(n) + 1;
    suffix_.assign(n + 1, Suffix{});
    for (std::size_t i = n; i-- > 0;) {
        const int64_t point = first_ + static_cast<int64_t>(i);
        const double loss = static_cast<double>(point) * step_;
        const double kept = std::max(0.0, tilted[static_cast<std::size_t>(point) & (n - 1)]) + error;
        const double mass = kept * std::exp(tilt_.log_mgf - lambda_ * loss);
        suffix_[i].q_mass = mass + shrink * suffix_[i + 1].q_mass;
        suffix_[i].delta = suffix_[i + 1].delta + rise * suffix_[i + 1].q_mass;
        if (loss < bottom_ && point < 0)
            break;
    }
}

// delta = sum over losses l_j above epsilon of m_j (1 - exp(epsilon - l_j)). With l_i the first of them that
// is D_i + (1 - exp(epsilon - l_i)) Q_i, both terms positive. Where masses overflowed nothing is claimed.
double Composition::Delta(double epsilon) const {
    if (!(epsilon >= 0))
        return 1;
    const double point = std::ceil(epsilon / step_);
    const double top = static_cast<double>(first_) + static_cast<double>(size_);
    if (point >= top)
        return std::min(1.0, lost_ * inflation_);
    if (point < static_cast<double>(first_))
        return 1;
    const Suffix& suffix = suffix_[static_cast<std::size_t>(static_cast<int64_t>(point) - first_)];
    const double inside = suffix.delta - std::expm1(std::min(0.0, epsilon - point * step_)) * suffix.q_mass;
    const double delta = (inside + lost_) * inflation_ + 1e-300;
    return delta < 1 ? delta : 1;  // also if it is not a number
}

double Composition::Epsilon(double delta) const {
    if (Delta(0) <= delta)
        return 0;
    double low = 0;
    double high = static_cast<double>(first_ + static_cast<int64_t>(size_)) * step_;
    if (Delta(high) > delta)
        return std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < 100 && high - low > 1e-12 * high; ++iteration) {
        const double middle = 0.5 * (low + high);
        (Delta(middle) > delta ? low : high) = middle;
    }
    return high;
}

bool Composition::Accurate(double epsilon) const {
    const double deviation = std::sqrt(tilt_.variance);
    return std::fabs(epsilon - center_) <= std::min(0.7 * deviation, 0.1 * epsilon) + 1e-9 * center_;
}

}  // namespace dpboost
