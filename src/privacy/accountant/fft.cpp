// Radix-2 transforms on separate real and imaginary arrays.
#include "privacy/accountant/fft.h"

#include <cmath>

#include "base/error.h"

namespace dpboost {

Fft::Fft(std::size_t size) : size_(size), log2_size_(0), cos_(size / 2), sin_(size / 2) {
    while ((std::size_t{1} << log2_size_) < size)
        ++log2_size_;
    CheckInternal(size >= 4 && (std::size_t{1} << log2_size_) == size,
                  "transform size is not a power of two");
    // Angles in the first octant only, where cos and sin are correct to one unit in the last place; the
    // others follow by symmetry.
    const std::size_t eighth = size / 8;
    const double step = 2 * M_PI / static_cast<double>(size);
    for (std::size_t k = 0; k <= eighth; ++k) {
        const double c = std::cos(step * static_cast<double>(k));
        const double s = std::sin(step * static_cast<double>(k));
        const std::size_t quarter = size / 4;
        const std::size_t half = size / 2;
        cos_[k] = c, sin_[k] = -s;
        cos_[quarter - k] = s, sin_[quarter - k] = -c;
        cos_[quarter + k] = -s, sin_[quarter + k] = -c;
        if (k > 0)
            cos_[half - k] = -c, sin_[half - k] = -s;
    }
}

// Calls butterfly(a_re, a_im, b_re, b_im, cos, sin) for all pairs that lie `half` apart, with their factor.
template <typename Butterfly>
void Fft::ForPairs(Spectrum& data, std::size_t half, Butterfly butterfly) const {
    const std::size_t stride = size_ / 2 / half;
    for (std::size_t block = 0; block < size_; block += 2 * half) {
        double* const a_re = data.re.data() + block;
        double* const a_im = data.im.data() + block;
        double* const b_re = a_re + half;
        double* const b_im = a_im + half;
        for (std::size_t k = 0; k < half; ++k)
            butterfly(a_re[k], a_im[k], b_re[k], b_im[k], cos_[k * stride], sin_[k * stride]);
    }
}

// Decimation in frequency: butterflies of shrinking span.
void Fft::Forward(Spectrum& data) const {
    CheckInternal(data.size() == size_, "spectrum has another size than the transform");
    for (std::size_t half = size_ / 2; half >= 1; half /= 2)
        ForPairs(data, half, [](double& a_re, double& a_im, double& b_re, double& b_im, double c, double s) {
            const double d_re = a_re - b_re;
            const double d_im = a_im - b_im;
            a_re += b_re;
            a_im += b_im;
            b_re = d_re * c - d_im * s;
            b_im = d_re * s + d_im * c;
        });
}

// Decimation in time with conjugated factors: butterflies of growing span.
void Fft::Inverse(Spectrum& data) const {
    CheckInternal(data.size() == size_, "spectrum has another size than the transform");
    for (std::size_t half = 1; half < size_; half *= 2)
        ForPairs(data, half, [](double& a_re, double& a_im, double& b_re, double& b_im, double c, double s) {
            const double t_re = b_re * c + b_im * s;
            const double t_im = b_im * c - b_re * s;
            b_re = a_re - t_re;
            b_im = a_im - t_im;
            a_re += t_re;
            a_im += t_im;
        });
}

double Fft::RelativeError() const {
    constexpr double kUnitRoundoff = 1.12e-16;
    return 8 * kUnitRoundoff * log2_size_;  // 1 + 4 sqrt 2 = 6.7 rounded up
}

}  // namespace dpboost
