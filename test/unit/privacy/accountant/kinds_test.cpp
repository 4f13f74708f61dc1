// Every kind of mechanism has a full row, and its columns fit each other.
#include "privacy/accountant/kinds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr EventKind kAll[] = {EventKind::kGaussian, EventKind::kLaplace, EventKind::kExponential,
                              EventKind::kPure, EventKind::kGdp};

TEST(Kinds, EveryKindHasARow) {
    for (const EventKind kind : kAll) {
        const MechanismKind& row = KindOf(kind);
        EXPECT_EQ(row.kind, kind);
        EXPECT_EQ(row.Has(kDraws), row.scale != nullptr);
    }
    EXPECT_THROW(KindOf(static_cast<EventKind>(0)), Error);
    EXPECT_THROW(KindOf(static_cast<EventKind>(6)), Error);
}

TEST(Kinds, TheParameterForAShareHasThatShare) {
    for (const EventKind kind : kAll)
        for (const double mu_squared : {1e-6, 0.01, 1.0, 30.0})
            for (const double rate : {1.0, 0.1}) {
                if (rate < 1 && !KindOf(kind).Has(kSamples))
                    continue;
                Event event;
                event.kind = kind;
                event.sampling_rate = rate;
                event.count = 7;
                event.parameter = KindOf(kind).parameter_of(rate, mu_squared / 7);
                EXPECT_NEAR(EffectiveMuSquared(event), mu_squared, 1e-9 * mu_squared)
                    << static_cast<int>(kind);
            }
}

// What says "more of it is more privacy" must be so: for the divergence and for the noise.
TEST(Kinds, ParametersPointWhereTheRowSays) {
    for (const EventKind kind : kAll) {
        const MechanismKind& row = KindOf(kind);
        Event weak, strong;
        weak.kind = strong.kind = kind;
        weak.parameter = row.Has(kParameterIsNoise) ? 1 : 2;
        strong.parameter = row.Has(kParameterIsNoise) ? 2 : 1;
        EXPECT_LT(row.rdp(strong, 8), row.rdp(weak, 8));
        if (row.Has(kDraws)) {
            EXPECT_GT(row.scale(strong.parameter, 5, 0.5), row.scale(weak.parameter, 5, 0.5));
            EXPECT_GT(row.scale(strong.parameter, 6, 0.5), row.scale(strong.parameter, 5, 0.5));
        }
    }
}

}  // namespace
}  // namespace dpboost
