// Elementary functions of + - * / and sqrt alone, which IEEE 754 defines to the last bit: the same result on every machine,
// compiler and C library. For what servers that train together compute from totals and options: a last bit that differs
// would make them ask different questions. The library's own functions are for everything else.
//
// Errors, against 80-bit references (portable_math_test.cpp): below one unit in the last place; of InverseMills
// 10 units where x < 0, else 10 + x^2; of Log1p and Expm1 4; of Pow 2 |y log(x)| + 2.
#pragma once

namespace dpboost {
namespace portable {

double Exp(double x);    // any x; below -708 zero
double Log(double x);    // of x >= 0, finite
double Log1p(double x);  // of x >= 0, finite
double Expm1(double x);  // any x
double Cos(double x);    // of |x| up to 1000; absolute error
// The density of the standard normal distribution at x over its mass below x, of |x| up to 37.
double InverseMills(double x);
// Of x > 0, where |y log(x)| is below 700.
double Pow(double x, double y);

}  // namespace portable
}  // namespace dpboost
