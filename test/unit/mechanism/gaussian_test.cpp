#include "mechanism/gaussian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "mechanism/chacha_source.h"
#include "support/draw_key.h"
#include "support/scripted_source.h"

namespace dpboost {
namespace {

constexpr double kSigma = 1048576;

int64_t DrawFrom(std::vector<uint64_t> words, double sigma = kSigma) {
    ScriptedSource source(std::move(words));
    Random random(source);
    int64_t value = 0;
    GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromSteps(sigma)).AddTo(&value, 1);
    return value;
}

// A point in cell (column 30, level 58) that lies below the curve by 2^-(64 d + 41), computed with mpmath:
// the first word has the cell and 51 digits of u, then come digits of v and u in the order in which they are
// asked for. With d limbs it cannot be decided. `above` names the digit word of v that must grow by 2^31 to
// be as far above.
struct NearCurve {
    std::size_t above;
    int64_t magnitude;  // round(sigma x), if accepted
    std::vector<uint64_t> words;
};

std::vector<NearCurve> NearCurves() {
    return {
        {4,
         1313036,
         {0x87b0b125ec1d6c5d, 0x70e2ac1ac11c925c, 0xed00000000000000, 0xa6eb8c9ebd69fe29,
          0x66f422dc2408bc64}},
        {7,
         1306616,
         {0x617959ce3f1f6c5d, 0xe3c03a1eb922e0ff, 0x2d40000000000000, 0xde5271007814e8a2, 0x03abdf513e5748f7,
          0x5f2dd97f1cfb10f6, 0x2827688de6a16a3b, 0xe0ce824730f08eac, 0x97e59688b555f9eb}},
        {25,
         1310146,
         {0x767d5274c68dec5d, 0xa48bc6f172c07710, 0x5ae8000000000000, 0x403a960a8652dbd0, 0x66144785a99617a3,
          0xe488b6c85ad3ba32, 0x8332f05a58296818, 0x2ecd0dd6503db060, 0x0e52d1b51e9735d7, 0x76531737f129c8c6,
          0xd1ca4dc4edfde416, 0x3eff8b3fc177f113, 0x1e782196324f3e81, 0x75932d8ad4b9c1ba, 0x8721d41ba55fdad8,
          0x3c3a7123af7e9fa8, 0x5ec4766015eaf701, 0xf453324ef486ab73, 0x9faba8272e50bd4e, 0xb52fa53c0bf64ef7,
          0x73ec28d00252f615, 0xd75b1e249419cf4d, 0x60597bdc5dbe4409, 0x6b384309c9a937a6, 0x8c8f95ef04a012e8,
          0xd8b90d5230526ffa, 0x8b9d7c92f7cc26f5, 0x4071727fa5fa220c, 0xade7b914508ee254, 0x71fb8a690f7b5fe3,
          0x37dce6f5bd7fdaa1, 0x9d50da4e3d01bca8, 0xc8655eb0518f0481}},
    };
}

TEST(Gaussian, DecidesPointsNextToTheCurve) {
    for (NearCurve point : NearCurves()) {
        EXPECT_EQ(DrawFrom(point.words), point.magnitude);
        // Above the curve it is rejected; the zeros that follow are the origin, a cell below the curve.
        point.words[point.above] += uint64_t{1} << 31;
        EXPECT_EQ(DrawFrom(point.words), 0);
    }
}

TEST(Gaussian, TheSignIsOneBit) {
    for (NearCurve point : NearCurves()) {
        point.words[0] |= uint64_t{1} << 12;
        EXPECT_EQ(DrawFrom(point.words), -point.magnitude);
    }
}

// sigma x = 12345.5 but for a difference that only the digits after the first 1 or 4 limbs show.
TEST(Gaussian, RoundsPointsNextToAHalf) {
    EXPECT_EQ(DrawFrom({0x497c30c30c30c000, 0x1860000000000000, 0x30c2fc30c30c30c3}), 12345);
    EXPECT_EQ(DrawFrom({0x497c30c30c30c000, 0x1860000000000000, 0x30c31c30c30c30c3}), 12346);
    EXPECT_EQ(DrawFrom({0x497c30c30c30c000, 0x1860000000000000, 0x30c30c30c30c30c3, 0x0c30c30c30c30c30,
                        0xc30c30c30c30c30c, 0x30c2fc30c30c30c3, 0x0c30c30c30c30c30, 0xc30c30c30c30c30c,
                        0x30c30c30c30c30c3}),
              12345);
    EXPECT_EQ(DrawFrom({0x497c30c30c30c000, 0x1860000000000000, 0x30c30c30c30c30c3, 0x0c30c30c30c30c30,
                        0xc30c30c30c30c30c, 0x30c31c30c30c30c3, 0x0c30c30c30c30c30, 0xc30c30c30c30c30c,
                        0x30c30c30c30c30c3}),
              12346);
}

TEST(Gaussian, UndecidedForeverIsAnErrorNotALoop) {
    // A source that yields zeros for ever sends a draw that starts in the tail through all its rectangles.
    bool threw = false;
    for (uint64_t index = 0; index < 4096 && !threw; ++index) {
        ScriptedSource source({index});
        Random random(source);
        int64_t value = 0;
        try {
            GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromSteps(1)).AddTo(&value, 1);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kInternal);
            threw = true;
        }
    }
    EXPECT_TRUE(threw);
}

TEST(Gaussian, SaturatesInsteadOfOverflowing) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    std::vector<int64_t> values(64, INT64_MAX);
    std::fill(values.begin() + 32, values.end(), INT64_MIN);
    GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromSteps(1e12)).AddTo(values.data(), 64);
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_GT(values[i], INT64_MAX - int64_t{20000000000000});
        EXPECT_LT(values[i + 32], INT64_MIN + int64_t{20000000000000});
    }
    EXPECT_GT(std::count(values.begin(), values.begin() + 32, INT64_MAX), 4);
    EXPECT_GT(std::count(values.begin() + 32, values.end(), INT64_MIN), 4);
}

TEST(Gaussian, TinyAndLargestScales) {
    ChaChaSource source(ChaChaSource::Seed{1});
    Random random(source);
    std::vector<int64_t> values(1000, 0);
    GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromUnits(1)).AddTo(values.data(), 1000);
    EXPECT_EQ(std::count(values.begin(), values.end(), 0), 1000);
    GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromUnits(GaussianScale::kMaxUnits))
        .AddTo(values.data(), 1000);
    EXPECT_LT(std::abs(values[0]), int64_t{1} << 43);
    GaussianSampler<>(TestDrawKey::Make(), random, GaussianScale::FromSteps(1)).AddTo(nullptr, 0);
}

}  // namespace
}  // namespace dpboost
