// Gauss-Legendre quadrature on [0, 1]: with so many nodes exact up to degree 2 nodes - 1.
#pragma once

#include <cstddef>
#include <type_traits>

namespace dpboost {

template <size_t kNodes>
struct Quadrature;
template <>
struct Quadrature<1> {
    static constexpr double at[] = {0.5};
    static constexpr double weight[] = {1};
};
template <>
struct Quadrature<2> {
    static constexpr double at[] = {0.5 - 0.5773502691896257645 / 2, 0.5 + 0.5773502691896257645 / 2};
    static constexpr double weight[] = {0.5, 0.5};
};
template <>
struct Quadrature<3> {
    static constexpr double at[] = {0.5 - 0.7745966692414833770 / 2, 0.5, 0.5 + 0.7745966692414833770 / 2};
    static constexpr double weight[] = {5.0 / 18, 4.0 / 9, 5.0 / 18};
};
template <>
struct Quadrature<4> {
    static constexpr double at[] = {0.5 - 0.8611363115940525752 / 2, 0.5 - 0.3399810435848562648 / 2,
                                    0.5 + 0.3399810435848562648 / 2, 0.5 + 0.8611363115940525752 / 2};
    static constexpr double weight[] = {0.3478548451374538574 / 2, 0.6521451548625461426 / 2,
                                        0.6521451548625461426 / 2, 0.3478548451374538574 / 2};
};
template <>
struct Quadrature<6> {
    static constexpr double at[] = {0.5 - 0.9324695142031520278 / 2, 0.5 - 0.6612093864662645136 / 2,
                                    0.5 - 0.2386191860831969086 / 2, 0.5 + 0.2386191860831969086 / 2,
                                    0.5 + 0.6612093864662645136 / 2, 0.5 + 0.9324695142031520278 / 2};
    static constexpr double weight[] = {0.1713244923791703450 / 2, 0.3607615730481386076 / 2,
                                        0.4679139345726910473 / 2, 0.4679139345726910473 / 2,
                                        0.3607615730481386076 / 2, 0.1713244923791703450 / 2};
};

// Calls use(number of nodes, as a type) with as many as a product of `width` - 1 linear factors needs; width <= 12.
template <typename Use>
void WithNodes(size_t width, const Use& use) {
    if (width <= 2)
        use(std::integral_constant<size_t, 1>());
    else if (width <= 4)
        use(std::integral_constant<size_t, 2>());
    else if (width <= 6)
        use(std::integral_constant<size_t, 3>());
    else if (width <= 8)
        use(std::integral_constant<size_t, 4>());
    else
        use(std::integral_constant<size_t, 6>());
}

}  // namespace dpboost
