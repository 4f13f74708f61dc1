// For static_assert: whether a class offers its draws to everybody. Noise sources must not; only the Releaser draws.
#pragma once

#include <type_traits>
#include <utility>

#include "mechanism/noise.h"

namespace dpboost {

template <typename Source, typename = void>
struct CanDraw : std::false_type {};
template <typename Source>
struct CanDraw<Source, std::void_t<decltype(std::declval<Source&>().AddGaussian(
                           GaussianScale::FromUnits(1), nullptr, 0))>> : std::true_type {};

}  // namespace dpboost
