// Gauss-Legendre quadrature on one interval, of a function with values that add and scale. The accountant
// uses it on pieces so short that its error is below 1e-12 of the result; where that matters, the caller
// states the bound.
#pragma once

namespace dpboost {

// Exact for polynomials of degree 5.
template <typename Function>
auto Integrate3(double from, double to, Function f) {
    const double center = 0.5 * (from + to);
    const double half = 0.5 * (to - from);
    const double offset = 0.7745966692414833770 * half;
    return (f(center) * (8.0 / 9) + (f(center - offset) + f(center + offset)) * (5.0 / 9)) * half;
}

// Exact for polynomials of degree 9.
template <typename Function>
auto Integrate5(double from, double to, Function f) {
    const double center = 0.5 * (from + to);
    const double half = 0.5 * (to - from);
    const double near = 0.5384693101056830910 * half;
    const double far = 0.9061798459386639928 * half;
    return (f(center) * 0.5688888888888888889 +
            (f(center - near) + f(center + near)) * 0.4786286704993664680 +
            (f(center - far) + f(center + far)) * 0.2369268850561890875) *
           half;
}

}  // namespace dpboost
