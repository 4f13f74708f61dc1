// The table of cells, the fast path, and the exact decisions behind it.
#include "mechanism/gaussian.h"

#include <array>

#include "mechanism/fixed_point.h"
#include "mechanism/saturate.h"

namespace dpboost {
namespace {

// Geometry of the cells: column j is x in [j w, (j+1) w), level i is y in [i h, (i+1) h).
constexpr uint64_t kWidthNumerator = 21;  // w = 21 / 2^9, h = 2^-7
constexpr int kWidthShift = 9;
constexpr int kLevelBits = 7;
constexpr uint64_t kColumns = 77;  // the grid ends at X = 77 w = 3.158
// The tail beyond X: rectangle k >= 0 is x in [X + k 6w, X + (k+1) 6w), y in [0, 2^-(7+k)).
constexpr uint64_t kTailWidth = 6;
constexpr int kTailBits = 7;
// Its area is 6w 2^-7 (1 + 1/2 + 1/4 + ...) = 12 w h: that of 12 cells.
constexpr std::size_t kTailCells = 12;
static_assert(kTailBits == kLevelBits && kTailCells == 2 * kTailWidth, "area of the tail in cells");
// It covers the curve: f(X) <= 2^-7 is checked with the table, and from one rectangle to the next the curve
// falls by e^(-x 6w - ...) <= e^(-X 6w) <= 1/2, that is, 77 * 6 * w^2 >= ln 2.
static_assert(kColumns * kTailWidth * kWidthNumerator * kWidthNumerator * 10000 >= uint64_t{6932}
                                                                                       << (2 * kWidthShift),
              "rectangles of the tail fall more slowly than the curve");

// A table entry: column (7 bits), level (7 bits), kind (2 bits). An entry below 128 is the column of a cell
// that lies below the curve.
enum Kind : uint16_t { kBelow = 0, kCrossed = 1, kTail = 2, kRejected = 3 };
constexpr int kIndexBits = 12;
constexpr std::size_t kCells = std::size_t{1} << kIndexBits;
constexpr uint16_t kFirstOther = 128;
static_assert(kColumns <= kFirstOther, "columns do not fit into seven bits");

constexpr uint16_t MakeEntry(Kind kind, uint64_t column, uint64_t level) {
    return static_cast<uint16_t>(kind << 14 | level << 7 | column);
}
constexpr Kind EntryKind(uint16_t entry) {
    return static_cast<Kind>(entry >> 14);
}
constexpr uint64_t EntryColumn(uint16_t entry) {
    return entry & 127;
}
constexpr uint64_t EntryLevel(uint16_t entry) {
    return entry >> 7 & 127;
}

// f at the left edge of a column; t = (21 j)^2 / 2^19 is exact.
constexpr Enclosure<1> CurveAtColumn(uint64_t column) {
    constexpr int shift = 2 * kWidthShift + 1;
    const uint64_t square = kWidthNumerator * kWidthNumerator * column * column;
    return ExpNegative<1>({square >> shift, {{square << (64 - shift)}}});
}

// Lists every cell that has a point below the curve. Where the enclosure leaves it open a cell counts as
// crossed, which is always right: then the point is compared with the curve.
constexpr std::array<uint16_t, kCells> BuildCells() {
    std::array<uint16_t, kCells> cells{};
    std::size_t used = 0;
    for (uint64_t column = 0; column < kColumns; ++column) {
        const Enclosure<1> left = CurveAtColumn(column);
        const Enclosure<1> right = CurveAtColumn(column + 1);
        for (uint64_t level = 0; level < uint64_t{1} << kLevelBits; ++level) {
            const Fraction<1> bottom{{level << (64 - kLevelBits)}};
            const Fraction<1> top{
                {((level + 1) << (64 - kLevelBits)) - 1}};  // one ulp short: 1 is no Fraction
            if (ExceedsBy(bottom, left.value, left.error))
                continue;
            const bool below = ExceedsBy(right.value, top, right.error + 1);
            cells.at(used++) = below ? column : MakeEntry(kCrossed, column, level);
        }
    }
    const Enclosure<1> end = CurveAtColumn(kColumns);
    if (!ExceedsBy(Fraction<1>{{uint64_t{1} << (64 - kTailBits)}}, end.value, end.error))
        throw "the curve is above the tail";
    for (std::size_t i = 0; i < kTailCells; ++i) {
        cells.at(used++) = MakeEntry(kTail, 0, 0);
    }
    while (used < kCells) {
        cells.at(used++) = MakeEntry(kRejected, 0, 0);
    }
    return cells;
}

constexpr std::array<uint16_t, kCells> kCellTable = BuildCells();

// A point of the region: x = w (a + b u), y = 2^-shift (level + v).
struct Point {
    uint64_t a;
    uint64_t b;
    LazyUniform u;
    uint64_t level;
    int shift;
    LazyUniform v;
};

// e^(-x^2/2) at the known digits of u, i.e. at the smallest x that they allow. With x < 2^e, X = x 2^-e is
// rounded down (1 ulp), X^2 too (2 + 1 ulps), and t = X^2 2^(2e-1) is too small by at most 3 * 2^(2e-1) ulps;
// as e^-t falls with a slope of at most 1, that many ulps are added to the error.
template <int N>
Enclosure<N> CurveAt(const Point& point) {
    Mixed<N> x = MultiplyAdd(point.a, point.b, point.u.Known<N>());
    x = MultiplyAdd(kWidthNumerator * x.whole, kWidthNumerator, x.fraction);
    int e = 1;
    while (x.whole >> (kWidthShift + e) != 0) {
        ++e;
    }
    const Fraction<N> scaled = ShiftRight(x, kWidthShift + e);
    const Mixed<N> t = ShiftLeft(Mixed<N>{0, Multiply(scaled, scaled)}, 2 * e - 1);
    Enclosure<N> curve = ExpNegative(t);
    curve.error += uint64_t{3} << (2 * e - 1);
    return curve;
}

// Whether y < f(x). One limb uses the digits of x that are known; more limbs draw more.
template <int N>
bool IsBelowCurve(Random& random, Point& point) {
    if constexpr (N > 1)
        point.u.Digits<N>(random);
    const Enclosure<N> curve = CurveAt<N>(point);
    // y is in [y0, y0 + 2 ulps): its digits and the shift are rounded down.
    const Fraction<N> y0 = ShiftRight(Mixed<N>{point.level, point.v.Digits<N>(random)}, point.shift);
    // The digits of u to come raise x by less than b w 2^-known <= 2^-known, and |f'| < 1.
    const int open_bits = 64 * N - point.u.known_bits();
    const uint64_t open = open_bits > 0 ? uint64_t{1} << open_bits : 1;
    if (ExceedsBy(y0, curve.value, curve.error))
        return false;
    if (ExceedsBy(curve.value, y0, curve.error + open + 2))
        return true;
    if constexpr (N < kMaxLimbs)
        return IsBelowCurve<2 * N>(random, point);
    ThrowUndecided();
}

// floor(sigma x + 1/2) for sigma = units 2^-20: T = 21 units (a + b u) has to be divided by 2^29. Drawing
// digits of u until the smallest and the largest T they allow give the same quotient.
template <int N>
uint64_t RoundExactly(Random& random, uint64_t units, Point& point) {
    constexpr int shift = GaussianScale::kFractionBits + kWidthShift;
    constexpr Wide half = Wide{1} << (shift - 1);
    Mixed<N> x = MultiplyAdd(point.a, point.b, point.u.Digits<N>(random));
    x = MultiplyAdd(kWidthNumerator * x.whole, kWidthNumerator, x.fraction);
    // T at the known digits, and what is added to it, in ulps, by digits that are all ones.
    const Mixed<N> product = MultiplyAdd(0, units, x.fraction);
    const Wide whole = static_cast<Wide>(units) * x.whole + product.whole;
    Wide carry = static_cast<Wide>(units) * (kWidthNumerator * point.b) - 1;
    for (int i = N - 1; i >= 0; --i) {
        carry += product.fraction.limb[i];
        carry >>= 64;
    }
    const Wide least = (whole + half) >> shift;
    const Wide most = (whole + carry + half) >> shift;
    if (least == most)
        return static_cast<uint64_t>(least);
    if constexpr (N < kMaxLimbs)
        return RoundExactly<2 * N>(random, units, point);
    ThrowUndecided();
}

// The rectangle of the tail: k = 0, 1, 2, ... with probability 1/2, 1/4, 1/8, ..., as their areas are.
uint64_t DrawTailRectangle(Random& random) {
    uint64_t k = 0;
    uint64_t word = random.Next64();
    while (word == 0) {
        k += 64;
        if (k > 64 * kMaxLimbs)
            ThrowUndecided();
        word = random.Next64();
    }
    return k + static_cast<uint64_t>(__builtin_ctzll(word));
}

// Everything but the fast path: decides about a cell, and on acceptance writes the magnitude of the draw.
__attribute__((noinline)) bool DrawSlowly(Random& random, uint64_t units, uint16_t entry, LazyUniform u,
                                          uint64_t* magnitude) {
    Point point{EntryColumn(entry), 1, u, EntryLevel(entry), kLevelBits, {}};
    switch (EntryKind(entry)) {
        case kRejected:
            return false;
        case kTail: {
            const uint64_t k = DrawTailRectangle(random);
            point.a = kColumns + kTailWidth * k;
            point.b = kTailWidth;
            point.shift = kTailBits + static_cast<int>(k);
            if (!IsBelowCurve<1>(random, point))
                return false;
            break;
        }
        case kCrossed:
            if (!IsBelowCurve<1>(random, point))
                return false;
            break;
        case kBelow:
            break;
    }
    *magnitude = RoundExactly<1>(random, units, point);
    return true;
}

}  // namespace

template <int kFirstDigits>
void GaussianSampler<kFirstDigits>::AddTo(int64_t* values, std::size_t n) {
    // The word: 12 bits of table index, the sign, and the first digits of u from the top.
    static_assert(kFirstDigits >= 1 && kFirstDigits <= 64 - kIndexBits - 1, "digits of the first word");
    constexpr int shift = kFirstDigits + kWidthShift + GaussianScale::kFractionBits;
    constexpr Wide half = Wide{1} << (shift - 1);
    const uint64_t units = sigma_.units();
    // By how much 21 units (j + u) can still grow, in multiples of 2^-kFirstDigits.
    const Wide open = static_cast<Wide>(units) * kWidthNumerator - 1;
    for (std::size_t i = 0; i < n; ++i) {
        uint64_t magnitude;
        uint64_t word;
        for (;;) {
            word = random_.Next64();
            const uint16_t entry = kCellTable[word & (kCells - 1)];
            const uint64_t digits = word >> (64 - kFirstDigits);
            if (__builtin_expect(entry < kFirstOther, 1)) {
                // 21 (j + u) 2^51 < 2^63 and units <= 2^60: nothing overflows 128 bits.
                const uint64_t x = kWidthNumerator * (static_cast<uint64_t>(entry) << kFirstDigits | digits);
                const Wide least = static_cast<Wide>(x) * units + half;
                magnitude = static_cast<uint64_t>(least >> shift);
                if (__builtin_expect(magnitude == static_cast<uint64_t>((least + open) >> shift), 1))
                    break;
            }
            const LazyUniform u(digits << (64 - kFirstDigits), kFirstDigits);
            if (DrawSlowly(random_, units, entry, u, &magnitude))
                break;
        }
        const int64_t draw = static_cast<int64_t>(magnitude);
        values[i] = SaturatingAdd(values[i], word >> kIndexBits & 1 ? -draw : draw);
    }
}

template class GaussianSampler<51>;
template class GaussianSampler<4>;

}  // namespace dpboost
