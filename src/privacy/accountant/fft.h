// The discrete Fourier transform that convolves privacy losses. Ours rather than a library's, because the
// accountant needs a proven bound of the rounding error, and because a forward transform whose output stays
// in bit-reversed order, followed by pointwise products and the inverse, needs no permutation at all.
#pragma once

#include <cstddef>
#include <vector>

namespace dpboost {

// Complex numbers as two arrays.
struct Spectrum {
    std::vector<double> re;
    std::vector<double> im;

    explicit Spectrum(std::size_t size) : re(size), im(size) {}
    std::size_t size() const { return re.size(); }
};

// Transforms of one power-of-two size.
class Fft {
  public:
    explicit Fft(std::size_t size);  // a power of two, at least 4

    std::size_t size() const { return size_; }

    // In place; natural order in, bit-reversed order out. Not scaled.
    void Forward(Spectrum& data) const;
    // In place; bit-reversed order in, natural order out. Not scaled: divide by size() for the inverse.
    void Inverse(Spectrum& data) const;

    // Bound of |computed - exact|_2 / |exact|_2 of either transform: Higham, Accuracy and Stability of
    // Numerical Algorithms, Thm 24.2, log2(n) (mu + gamma_4 (sqrt 2 + mu)) with twiddle factors correct to mu
    // = u.
    double RelativeError() const;

  private:
    template <typename Four>
    void ForFours(Spectrum& data, std::size_t near, Four four) const;
    template <typename Butterfly>
    void ForNeighbours(Spectrum& data, Butterfly butterfly) const;

    std::size_t size_;
    int log2_size_;
    std::vector<double> cos_;  // exp(-2 pi i k / size), k < size / 2
    std::vector<double> sin_;
};

}  // namespace dpboost
