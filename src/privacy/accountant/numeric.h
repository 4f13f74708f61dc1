// Small numerical tools of the accountant: functions that keep their relative accuracy near zero, and a root
// finder for monotone functions.
#pragma once

#include <cmath>
#include <utility>

namespace dpboost {

// log(exp(x) - 1) for x > 0.
inline double LogExpm1(double x) {
    return x < 30 ? std::log(std::expm1(x)) : x + std::log1p(-std::exp(-x));
}

// log(1 + exp(x)).
inline double Log1pExp(double x) {
    return x > 30 ? x + std::exp(-x) : std::log1p(std::exp(x));
}

// exp(x) - 1 - x, by its series where the difference would cancel.
inline double Expm1MinusX(double x) {
    if (std::fabs(x) > 0.25)
        return std::expm1(x) - x;
    double term = x * x / 2;
    double sum = term;
    for (int n = 3; n < 20; ++n) {
        term *= x / n;
        sum += term;
    }
    return sum;
}

// The normal distribution's P(X > x), accurate in its tail.
inline double NormalTail(double x) {
    return 0.5 * std::erfc(x * M_SQRT1_2);
}

// A bracket of the root of a decreasing function: f(low) > 0 >= f(high). Shrinks it by false position with
// the Illinois rule and bisection until it is relatively narrower than `tolerance`, or f is within
// `value_tolerance` below 0 at high; returns high, where f <= 0. low, high > 0.
template <typename Function>
double SolveDecreasing(Function f, double low, double f_low, double high, double f_high, double tolerance,
                       double value_tolerance = 0) {
    int last_side = 0;
    for (int step = 0; step < 200 && high - low > tolerance * high && f_high < -value_tolerance; ++step) {
        double middle = step % 3 == 2 || !std::isfinite(f_low) || !std::isfinite(f_high)
                            ? 0.5 * (low + high)
                            : low + (high - low) * f_low / (f_low - f_high);
        if (!(middle > low && middle < high))
            middle = 0.5 * (low + high);
        if (!(middle > low && middle < high))
            break;
        const double value = f(middle);
        if (value > 0) {
            low = middle;
            f_low = value;
            f_high *= last_side == 1 ? 0.5 : 1;
            last_side = 1;
        } else {
            high = middle;
            f_high = value;
            f_low *= last_side == -1 ? 0.5 : 1;
            last_side = -1;
        }
    }
    return high;
}

}  // namespace dpboost
