// How the vector of a unit is brought within its bound: a common factor for all its entries, in integers and rounded
// down, so that the bound holds exactly.
#pragma once

#include <cstdint>
#include <vector>

namespace dpboost {

// Its relative error is below 2^-53 (2^10 + n / 2^10 + 2), that of adding up pieces of 1024 squares: less than 1e-10
// for any n below 2^29.
double NormSquared(const std::vector<int64_t>& vector);

// The factor, in units of `unit`, that brings a vector of squared norm `norm` within limit_squared: rounded
// down by more than the rounding errors of the norm (1e-10) and of the three operations.
int64_t ScaleDown(double norm, double limit_squared, int64_t unit);

// Adds the vector to the sums, scaled down to the limit; each entry is rounded towards zero, which makes it no longer.
void AddWithin(double limit_squared, const std::vector<int64_t>& vector, std::vector<int64_t>& sums);

}  // namespace dpboost
