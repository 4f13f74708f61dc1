// The algorithms and coefficients are those of FDLIBM:
//     Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun Microsystems, Inc.
//     business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice
//     is preserved.
// Compiled without contraction to fused operations, as all of dpboost.
#include "base/portable_math.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace dpboost {
namespace portable {
namespace {

constexpr double kLn2High = 6.93147180369123816490e-01;  // the product with a small integer is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;

template <int kCount>
double Polynomial(const double (&coefficients)[kCount], double x) {
    double sum = coefficients[kCount - 1];
    for (int i = kCount - 2; i >= 0; i--)
        sum = coefficients[i] + x * sum;
    return sum;
}

// sin and cos of x + tail, |x| <= pi / 4.
double SinNear(double x, double tail) {
    constexpr double kS[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04,
                             2.75573137070700676789e-06, -2.50507602534068634195e-08,
                             1.58969099521155010221e-10};
    const double z = x * x, v = z * x;
    return x - ((z * (0.5 * tail - v * Polynomial(kS, z)) - tail) - v * -1.66666666666666324348e-01);
}

double CosNear(double x, double tail) {
    constexpr double kC[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                             2.48015872894767294178e-05, -2.75573143513906633035e-07,
                             2.08757232129817482790e-09, -1.13596475577881948265e-11};
    const double z = x * x, half = 0.5 * z, w = 1 - half;
    return w + (((1 - w) - half) + (z * (z * Polynomial(kC, z)) - x * tail));
}

// |x| < 2^31. Inline, where the library's floor is a call.
int Floor(double x) {
    const int whole = static_cast<int>(x);
    return whole - (whole > x);
}

// 2^k, -1022 <= k <= 1023: a product with it is what ldexp gives, as long as it is a normal number.
double PowerOfTwo(int k) {
    const uint64_t bits = static_cast<uint64_t>(k + 1023) << 52;
    double power;
    std::memcpy(&power, &bits, sizeof bits);
    return power;
}

// erfc(x) exp(x^2) of x >= 1.25, up to 28.
double ScaledErfc(double x) {
    constexpr double kRa[] = {-9.86494403484714822705e-03, -6.93858572707181764372e-01,
                              -1.05586262253232909814e+01, -6.23753324503260060396e+01,
                              -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                              -8.12874355063065934246e+01, -9.81432934416914548592e+00};
    constexpr double kSa[] = {1,
                              1.96512716674392571292e+01,
                              1.37657754143519042600e+02,
                              4.34565877475229228821e+02,
                              6.45387271733267880336e+02,
                              4.29008140027567833386e+02,
                              1.08635005541779435134e+02,
                              6.57024977031928170135e+00,
                              -6.04244152148580987438e-02};
    constexpr double kRb[] = {-9.86494292470009928597e-03, -7.99283237680523006574e-01,
                              -1.77579549177547519889e+01, -1.60636384855821916062e+02,
                              -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                              -4.83519191608651397019e+02};
    constexpr double kSb[] = {1,
                              3.03380607434824582924e+01,
                              3.25792512996573918826e+02,
                              1.53672958608443695994e+03,
                              3.19985821950859553908e+03,
                              2.55305040643316442583e+03,
                              4.74528541206955367215e+02,
                              -2.24409524465858183362e+01};
    const double s = 1 / (x * x);
    const double quotient =
        x < 1 / 0.35 ? Polynomial(kRa, s) / Polynomial(kSa, s) : Polynomial(kRb, s) / Polynomial(kSb, s);
    return Exp(quotient - 0.5625) / x;
}

// erfc of |x| < 1.25.
double ErfcNear(double x) {
    constexpr double kPp[] = {1.28379167095512558561e-01, -3.25042107247001499370e-01,
                              -2.84817495755985104766e-02, -5.77027029648944159157e-03,
                              -2.37630166566501626084e-05};
    constexpr double kQq[] = {1,
                              3.97917223959155352819e-01,
                              6.50222499887672944485e-02,
                              5.08130628187576562776e-03,
                              1.32494738004321644526e-04,
                              -3.96022827877536812320e-06};
    constexpr double kPa[] = {-2.36211856075265944077e-03, 4.14856118683748331666e-01,
                              -3.72207876035701323847e-01, 3.18346619901161753674e-01,
                              -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                              -2.16637559486879084300e-03};
    constexpr double kQa[] = {1,
                              1.06420880400844228286e-01,
                              5.40397917702171048937e-01,
                              7.18286544141962662868e-02,
                              1.26171219808761642112e-01,
                              1.36370839120290507362e-02,
                              1.19844998467991074170e-02};
    constexpr double kErx = 8.45062911510467529297e-01;
    const double a = std::fabs(x);
    if (a < 0.84375) {
        const double z = x * x, y = Polynomial(kPp, z) / Polynomial(kQq, z);
        return x < 0.25 ? 1 - (x + x * y) : 0.5 - (x - 0.5 + x * y);
    }
    const double s = a - 1, quotient = Polynomial(kPa, s) / Polynomial(kQa, s);
    return x >= 0 ? 1 - kErx - quotient : 1 + (kErx + quotient);
}

}  // namespace

double Exp(double x) {
    constexpr double kP[] = {1.66666666666666019037e-01, -2.77777777770155933842e-03,
                             6.61375632143793436117e-05, -1.65339022054652515390e-06,
                             4.13813679705723846039e-08};
    if (x != x)
        return x;
    if (x > 709.7)
        return std::numeric_limits<double>::infinity();
    if (x < -708)
        return 0;
    const int k = Floor(1.44269504088896338700 * x + 0.5);
    const double high = x - k * kLn2High, low = k * kLn2Low;
    const double r = high - low, t = r * r;
    const double c = r - t * Polynomial(kP, t);
    return 2 * (1 - ((low - (r * c) / (2 - c)) - high)) * PowerOfTwo(k - 1);
}

double Log(double x) {
    constexpr double kOdd[] = {6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01,
                               1.479819860511658591e-01};
    constexpr double kEven[] = {3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01};
    if (!(x > 0))
        return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    int exponent;
    double m = std::frexp(x, &exponent);  // in [1/2, 1)
    if (m < 0.70710678118654752440) {
        m *= 2;
        exponent--;
    }
    const double f = m - 1, k = exponent;
    const double s = f / (2 + f), z = s * s, w = z * z;
    const double r = z * Polynomial(kOdd, w) + w * Polynomial(kEven, w);
    const double half = 0.5 * f * f;
    return k * kLn2High - ((half - (s * (half + r) + k * kLn2Low)) - f);
}

double Cos(double x) {
    constexpr double kHalfPi = 1.57079632673412561417e+00, kHalfPiRest = 6.07710050650619224932e-11;
    const double n = std::floor(x * 6.36619772367581382433e-01 + 0.5);
    const double r = x - n * kHalfPi, w = n * kHalfPiRest;
    const double y = r - w, tail = (r - y) - w;
    switch (static_cast<int>(n) & 3) {
        case 0:
            return CosNear(y, tail);
        case 1:
            return -SinNear(y, tail);
        case 2:
            return -CosNear(y, tail);
        default:
            return SinNear(y, tail);
    }
}

double InverseMills(double a) {
    constexpr double kSqrtHalf = 0.7071067811865476, kSqrtTwoPi = 2.5066282746310002;
    const double x = -a * kSqrtHalf;  // the mass is erfc(x) / 2, the density exp(-x^2) / sqrt(2 pi)
    if (x >= 1.25)
        return 2 / (kSqrtTwoPi * ScaledErfc(x));
    const double peak = Exp(-0.5 * a * a);
    const double mass = x > -1.25 ? 0.5 * ErfcNear(x) : 1 - 0.5 * peak * ScaledErfc(-x);
    return peak / (kSqrtTwoPi * mass);
}

// What rounding 1 + x loses of a small x, the quotient gives back: so Kahan.
double Log1p(double x) {
    const double u = 1 + x;
    return u == 1 ? x : Log(u) * (x / (u - 1));
}

double Expm1(double x) {
    const double u = Exp(x);
    if (u == 1)
        return x;
    if (u - 1 == -1 || u == std::numeric_limits<double>::infinity())
        return u - 1;
    return (u - 1) * (x / Log(u));
}

double Pow(double x, double y) {
    return Exp(y * Log(x));
}

}  // namespace portable
}  // namespace dpboost
