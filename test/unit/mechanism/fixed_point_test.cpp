#include "mechanism/fixed_point.h"

#include <gtest/gtest.h>

#include "mechanism/chacha_source.h"
#include "support/scripted_source.h"

namespace dpboost {
namespace {

// e^-t to 1024 bits, by mpmath.
struct Known {
    uint64_t quarters;  // t in quarters
    uint64_t limbs[kMaxLimbs];
};
const Known kKnown[] = {
    {1,
     {0xc75f7cf564105743, 0x415cbc9d6368f3b9, 0x6071095abeaf430d, 0xbc067f714a3c1787, 0x1bfd782b83290a6b,
      0xc2e63bdbafc1425d, 0x70f6d37f5e6faeaf, 0xe7e9d78173481efc, 0x92c225c493daa302, 0xcf88779ddc70c602,
      0x121ba7f736c0a1d6, 0xdce703a17346da85, 0x3777f9c07c21b49f, 0xa6de14b4ef774ed5, 0x230c8262ff5f3d6f,
      0x1b5f921efdb39cd3}},
    {4,
     {0x5e2d58d8b3bcdf1a, 0xbadec7829054f90d, 0xda9805aab56c7733, 0x3024b9d0a507daed, 0xb16400bf472b4215,
      0xb8245b669d90d27a, 0x5aea5550968dc392, 0x29f03c6276dcaa58, 0xc0ec2b3bdbaa9270, 0xd925fdbd580cf14d,
      0xc087c3f3fe444626, 0xcd2ade4e58d11243, 0x67a81bea3764ed4f, 0x7dd5c1b8d90c4ef7, 0xd6dd9188d1c956a5,
      0xa3be55cd31b7802c}},
    {21,
     {0x0157e6bfe8de51a9, 0x9d4dfd8e6a27b702, 0xc0bd65574a33c9c9, 0xf3b12a01109e44a5, 0x803a36157caceedf,
      0x31963e75b61368d2, 0xee9e295d0c0e1407, 0xa6dd09dca181ce16, 0x8f04d5cf639fdf04, 0x6566087a58bb3934,
      0xfbe41e6800da1dff, 0x7d9f9fd81ff71aee, 0xfb4c5411667d5e35, 0xd013d8e6216b0d9e, 0x76687af8f8e6bad6,
      0xab01b7b375b7183b}},
    {92,
     {0x0000000070d49f90, 0xcfeac45fad30edea, 0xcce2ca7233162f26, 0x5f307a805b323f86, 0x92e8fba613eade1a,
      0x46f31daa0abd037f, 0xa6f2c37b832a2f4d, 0x0e0363dfeaba0938, 0xae2851cb188fc123, 0xdf02d348391497ca,
      0x5f475abb5db3806c, 0x6f4e772205d5ce4c, 0x1ccf3c806d5f2f0b, 0xdf6deb4a198bb92d, 0x2ff37042c50fc01d,
      0x8c9c7c3c1ef68de6}},
    {804,
     {0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000000000000, 0x0000000040d11c6c,
      0xaff1ae6f8b833506, 0x04e03fb1869969da, 0xf1732b7dcc94a94e, 0xd8bc0e973b43c6ab, 0x4e3cb41501f82dae,
      0xe2a8b105936ef32e, 0x054fe581882f09d9, 0xb273d1ca99116152, 0xd65bdb849e371602, 0xe44c13d2bdb30c45,
      0xf6a71d26515aa4db}},
};

template <int N>
Mixed<N> Quarters(uint64_t quarters) {
    Mixed<N> t;
    t.whole = quarters / 4;
    t.fraction.limb[0] = quarters % 4 << 62;
    return t;
}

template <int N>
bool Contains(const Enclosure<N>& enclosure, const Fraction<N>& truth) {
    // The truth is rounded down, hence one ulp more on its upper side.
    return !ExceedsBy(truth, enclosure.value, enclosure.error + 1) &&
           !ExceedsBy(enclosure.value, truth, enclosure.error + 1);
}

template <int N>
void CheckKnown() {
    for (const Known& known : kKnown) {
        Fraction<N> truth;
        for (int i = 0; i < N; ++i) {
            truth.limb[i] = known.limbs[i];
        }
        const Enclosure<N> enclosure = ExpNegative(Quarters<N>(known.quarters));
        EXPECT_TRUE(Contains(enclosure, truth)) << N << " limbs, t = " << known.quarters / 4.0;
        EXPECT_LE(enclosure.error, 5u << 11);
    }
}

TEST(FixedPoint, EnclosesKnownExponentials) {
    CheckKnown<1>();
    CheckKnown<2>();
    CheckKnown<4>();
    CheckKnown<8>();
    CheckKnown<16>();
}

template <int N>
void CheckAgainstMoreLimbs(Random& random) {
    for (int i = 0; i < 2000; ++i) {
        Mixed<N> t;
        t.whole = random.Below(i % 2 == 0 ? 3 : 50);
        for (uint64_t& limb : t.fraction.limb) {
            limb = random.Next64();
        }
        Mixed<N + 1> same{t.whole, {}};
        for (int limb = 0; limb < N; ++limb) {
            same.fraction.limb[limb] = t.fraction.limb[limb];
        }
        const Enclosure<N + 1> finer = ExpNegative(same);
        Fraction<N> truth;
        for (int limb = 0; limb < N; ++limb) {
            truth.limb[limb] = finer.value.limb[limb];
        }
        ASSERT_TRUE(Contains(ExpNegative(t), truth));
    }
}

// The proven error against the true one, which a further limb shows: it must hold, and is not far off.
TEST(FixedPoint, ErrorHoldsForRandomArguments) {
    ChaChaSource source(ChaChaSource::Seed{11});
    Random random(source);
    CheckAgainstMoreLimbs<1>(random);
    CheckAgainstMoreLimbs<2>(random);
    CheckAgainstMoreLimbs<3>(random);
}

TEST(FixedPoint, EndsOfTheRange) {
    const Enclosure<1> one = ExpNegative(Mixed<1>{});
    EXPECT_GE(one.value.limb[0], UINT64_MAX - one.error);
    EXPECT_EQ(ExpNegative(Mixed<1>{64, {}}).value.limb[0], 0u);
    EXPECT_EQ(ExpNegative(Mixed<1>{UINT64_MAX, {{UINT64_MAX}}}).value.limb[0], 0u);
    EXPECT_LE(ExpNegative(Mixed<1>{63, {{UINT64_MAX}}}).value.limb[0], 5u << 9);
}

TEST(FixedPoint, Arithmetic) {
    const Fraction<2> a{{0x8000000000000000, 3}};
    const Fraction<2> b{{0x4000000000000000, 5}};
    const Fraction<2> product =
        Multiply(a, b);  // (1/2 + 3e)(1/4 + 5e) = 1/8 + (2.5 + 0.75) e + ..., rounded down
    EXPECT_EQ(product.limb[0], 0x2000000000000000u);
    EXPECT_EQ(product.limb[1], 3u);
    const Fraction<2> difference = Subtract(a, b);
    EXPECT_EQ(difference.limb[0], 0x3fffffffffffffffu);
    EXPECT_EQ(difference.limb[1], UINT64_MAX - 1);
    const Fraction<2> third = Divide(Fraction<2>{{1, 0}}, 3);
    EXPECT_EQ(third.limb[0], 0u);
    EXPECT_EQ(third.limb[1], 0x5555555555555555u);
    const Mixed<2> mixed = MultiplyAdd(7, 6, a);
    EXPECT_EQ(mixed.whole, 10u);
    EXPECT_EQ(mixed.fraction.limb[1], 18u);
    const Fraction<2> shifted = ShiftRight(mixed, 66);
    EXPECT_EQ(shifted.limb[0], 2u);  // 10 / 4 at the next limb
    EXPECT_EQ(shifted.limb[1], 0x8000000000000000u);
    EXPECT_EQ(ShiftRight(mixed, 4).limb[0], uint64_t{10} << 60);
    EXPECT_EQ(ShiftRight(mixed, 1000).limb[1], 0u);
    EXPECT_EQ(ShiftLeft(Mixed<2>{0, a}, 1).whole, 1u);
    EXPECT_EQ(ShiftLeft(Mixed<2>{0, a}, 1).fraction.limb[1], 6u);
}

TEST(FixedPoint, ExceedsByCountsUlps) {
    const Fraction<2> low{{1, UINT64_MAX}};
    const Fraction<2> high{{2, 3}};
    EXPECT_TRUE(ExceedsBy(high, low, 4));
    EXPECT_FALSE(ExceedsBy(high, low, 5));
    EXPECT_FALSE(ExceedsBy(low, high, 0));
    EXPECT_TRUE(ExceedsBy(low, low, 0));
    EXPECT_FALSE(ExceedsBy(low, low, 1));
    EXPECT_TRUE(ExceedsBy(Fraction<2>{{9, 0}}, low, UINT64_MAX));
}

TEST(LazyUniform, KeepsTheDigitsItHasShown) {
    ScriptedSource source({0xffffffffffffffff, 0x1234, 0x5678, 0x9abc});
    Random random(source);
    LazyUniform u(0xabc0000000000000, 12);
    EXPECT_EQ(u.Known<1>().limb[0], 0xabc0000000000000u);
    EXPECT_EQ(u.Digits<1>(random).limb[0], 0xabcfffffffffffffu);
    const Fraction<2> more = u.Digits<2>(random);
    EXPECT_EQ(more.limb[0], 0xabcfffffffffffffu);
    EXPECT_EQ(more.limb[1], 0x1234u);
    EXPECT_EQ(u.Digits<1>(random).limb[0], 0xabcfffffffffffffu);
    EXPECT_EQ(u.Digits<4>(random).limb[3], 0x9abcu);
    EXPECT_EQ(u.known_bits(), 256);
}

}  // namespace
}  // namespace dpboost
