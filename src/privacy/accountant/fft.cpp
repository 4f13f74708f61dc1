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

namespace {

// Rounded as two separate transforms would: a pass does the work of two, because reading memory is what costs time.
struct Complex {
    double re, im;
};

inline void Split(Complex& a, Complex& b, double c, double s) {
    const Complex d{a.re - b.re, a.im - b.im};
    a = {a.re + b.re, a.im + b.im};
    b = {d.re * c - d.im * s, d.re * s + d.im * c};
}

inline void Unite(Complex& a, Complex& b, double c, double s) {
    const Complex t{b.re * c + b.im * s, b.im * c - b.re * s};
    b = {a.re - t.re, a.im - t.im};
    a = {a.re + t.re, a.im + t.im};
}

}  // namespace

// Calls four(x, k, l) for all four elements x that lie `near` apart. Pairs of them that lie 2 near apart have the factors
// k and l, those that lie near apart both the factor 2 k.
template <typename Four>
void Fft::ForFours(Spectrum& data, std::size_t near, Four four) const {
    const std::size_t stride = size_ / 4 / near;
    for (std::size_t block = 0; block < size_; block += 4 * near) {
        double* const re = data.re.data() + block;
        double* const im = data.im.data() + block;
        for (std::size_t k = 0; k < near; ++k) {
            const std::size_t at[] = {k, k + near, k + 2 * near, k + 3 * near};
            Complex x[] = {{re[at[0]], im[at[0]]},
                           {re[at[1]], im[at[1]]},
                           {re[at[2]], im[at[2]]},
                           {re[at[3]], im[at[3]]}};
            four(x, k * stride, (k + near) * stride);
            for (int i = 0; i < 4; ++i)
                re[at[i]] = x[i].re, im[at[i]] = x[i].im;
        }
    }
}

// The one stage that is left if their number is odd: neighbours, whose factor is 1.
template <typename Butterfly>
void Fft::ForNeighbours(Spectrum& data, Butterfly butterfly) const {
    for (std::size_t i = 0; i < size_; i += 2) {
        Complex a{data.re[i], data.im[i]}, b{data.re[i + 1], data.im[i + 1]};
        butterfly(a, b, 1, 0);
        data.re[i] = a.re, data.im[i] = a.im;
        data.re[i + 1] = b.re, data.im[i + 1] = b.im;
    }
}

// Decimation in frequency: butterflies of shrinking span.
void Fft::Forward(Spectrum& data) const {
    CheckInternal(data.size() == size_, "spectrum has another size than the transform");
    for (std::size_t near = size_ / 4; near >= 1; near /= 4)
        ForFours(data, near, [this](Complex* x, std::size_t k, std::size_t l) {
            Split(x[0], x[2], cos_[k], sin_[k]);
            Split(x[1], x[3], cos_[l], sin_[l]);
            Split(x[0], x[1], cos_[2 * k], sin_[2 * k]);
            Split(x[2], x[3], cos_[2 * k], sin_[2 * k]);
        });
    if (log2_size_ % 2 == 1)
        ForNeighbours(data, Split);
}

// Decimation in time with conjugated factors: butterflies of growing span.
void Fft::Inverse(Spectrum& data) const {
    CheckInternal(data.size() == size_, "spectrum has another size than the transform");
    if (log2_size_ % 2 == 1)
        ForNeighbours(data, Unite);
    for (std::size_t near = log2_size_ % 2 == 1 ? 2 : 1; near < size_; near *= 4)
        ForFours(data, near, [this](Complex* x, std::size_t k, std::size_t l) {
            Unite(x[0], x[1], cos_[2 * k], sin_[2 * k]);
            Unite(x[2], x[3], cos_[2 * k], sin_[2 * k]);
            Unite(x[0], x[2], cos_[k], sin_[k]);
            Unite(x[1], x[3], cos_[l], sin_[l]);
        });
}

double Fft::RelativeError() const {
    constexpr double kUnitRoundoff = 1.12e-16;
    return 8 * kUnitRoundoff * log2_size_;  // 1 + 4 sqrt 2 = 6.7 rounded up
}

}  // namespace dpboost
