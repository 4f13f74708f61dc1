// Every person's own budget: an individual Renyi filter that lives as long as the person's accumulator. Whatever is
// trained, however often and by whomever, nobody loses more than the limit; who has used his up is left out, and
// everybody else goes on. Here is its arithmetic, in integers and rounded against the spender; the accumulators are
// training/units', and the catalog's.
//
// The rule. A limit has one order alpha for life and B, the divergence at alpha that [SBDT] Cor 6 turns into its
// (epsilon, delta); delta = 0: alpha is infinity and B epsilon. Every unit has what it has spent, in 2^-31 of B. A release
// says what it asks of a unit at most. A unit takes part only while spent + that stays within B, what it may lose is
// added before anything is drawn, and what it did not lose is given back when the release is over.
//
// Proof ([FZ21] Thm 4.3 and 4.5, [SBDT] Thm 11 and 12, for releases that are themselves chosen on the way). Neighbours:
// two histories of a database in one of which a unit i never had a row; rows of others may come, change and go, also
// because of what was released, alike in both. Cut all releases into single draws t = 1, 2, ...; h is everything that was
// released before t. Given h
// - the draw, its noise and its number are the same in both: they follow from h and from what is public;
// - each other unit j takes part in both or in neither: that follows from j's own rows, j's own accumulator (a sum of
//   losses that follow from j's rows and h), and h. So nobody's presence decides about another, which is why a unit's key
//   must be its own (dataset/units.h);
// - if i takes no part, the draw has the same distribution in both. If it does, the divergence at alpha of the two, in
//   either direction, is at most rho_t(i), which follows from i's rows and h.
// Let P and Q be the laws of the transcript with and without i, and L_t the log ratio of draw t given h. Then
//     E_Q exp(alpha L_t - (alpha - 1) rho_t(i) | h) <= 1,
// so the product of these over t is a supermartingale under Q, and since the sum of rho_t(i) never exceeds B,
//     E_Q (P/Q)^alpha <= exp((alpha - 1) B):   everything that was ever released is (alpha, B)-RDP for i, and so the
// other way round. alpha = infinity: |L_t| <= rho_t(i), and they add up. Cor 6 makes that (epsilon, delta). []
//
// What a draw asks of a unit: at most its event's divergence at alpha. A boosted round asks less of who adds less: u times
// that, at every integer order (renyi_filter.h), and so it is charged by rounds: UnitCharge::ByRounds. Poisson sampling is
// part of a draw: a unit is charged whether it was sampled or not. A draw aside (Plan::Calibrate) is for units that take
// no part in the others, by a coin of their own: given the coin a unit loses at most one of the two, and a mixture's
// divergence is at most the larger.
//
// Secret: who has an accumulator, what is in it, who is left out and how many they are. All of it follows from rows. It
// is shown to nobody but the owner of the rows, and changes no message, error or number of rounds. Public: the limit
// and what a release asks of a unit at most. Sizes in the catalog follow from noisy counts of who came, draws like any
// other, of which each unit is in some (training/units/unit_rooms.h). What they cost at most is a hundredth of the limit,
// taken off for everybody and for ever: B here is the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "privacy/budget.h"
#include "privacy/cost.h"

namespace dpboost {

// What a unit has spent, in 2^-31 of B.
constexpr uint32_t kUnitWhole = uint32_t{1} << 31;
// Somebody who asked to be forgotten, and takes part in nothing more. Any value above kUnitWhole is used up.
constexpr uint32_t kUnitForgotten = UINT32_MAX;

class UnitLimit {
  public:
    // Throws kInvalidParameter if the order cannot certify (epsilon, delta).
    UnitLimit(double epsilon, double delta, uint32_t order);

    double epsilon() const { return epsilon_; }
    double delta() const { return delta_; }
    uint32_t order() const { return order_; }
    double rho() const { return rho_; }  // B
    // How far apart noisy counts of units have to be from the truth that are paid by the limit's part for them, if a unit
    // is in so many: a standard deviation.
    double RoomsSigma(int counts) const;

    // What a divergence at the order takes of a unit, rounded up; kUnitWhole + 1 if that is more than all. Nothing that
    // has a cost is free.
    uint32_t Price(double rho) const;
    // The limit as a training is calibrated to it: one of which nothing is spent but of which no single release may ask
    // for more than B at the order.
    Budget PerRelease() const;
    // Where somebody starts who may have been in all releases of a limit that was accounted by release until now.
    //
    // What is left to him is what the Renyi filter of budget.h has left, whose case may be (c): then transcripts in which
    // the Gaussian filter alone was left take 4/5 of delta already. Nothing more is released about him in those, and in all
    // others the sum of rho, before and after, stays within what is worth 1/5 of delta: together delta, as proven there.
    // To go on to B, which is worth all of delta, would be 9/5 of it.
    uint32_t StartAfter(const BudgetSpent& spent) const;
    // What a part of it is worth to a single Gaussian-like release at the limit's delta, for people.
    double EpsilonOf(uint32_t spent) const;
    // The most that a training of full-batch Gaussian noise, at the limit's delta, may ask for so that somebody who has
    // spent so much still takes part.
    double EpsilonLeft(uint32_t spent) const;

    bool operator==(const UnitLimit& other) const {
        return epsilon_ == other.epsilon_ && delta_ == other.delta_ && order_ == other.order_;
    }

  private:
    double epsilon_;
    double delta_;
    uint32_t order_;
    double rho_;
    double whole_;  // with what is for sizes
};

inline uint32_t UnitLeft(uint32_t spent) {
    return spent < kUnitWhole ? kUnitWhole - spent : 0;
}

// The sum of two accumulators or charges, never back below the limit once above.
inline uint32_t AddSpent(uint32_t a, uint32_t b) {
    return b > kUnitForgotten - a ? kUnitForgotten : a + b;
}

// What one release asks of every unit that takes part.
class UnitCharge {
  public:
    // The whole of it, of everyone.
    static UnitCharge Whole(const UnitLimit& limit, const Cost& cost);
    // The rounds of one of its events (index into cost.events), of which each unit pays what a Renyi filter charges it,
    // and everything else whole.
    static UnitCharge ByRounds(const UnitLimit& limit, const Cost& cost, std::size_t event);

    bool by_rounds() const { return round_price_ > 0; }
    uint32_t most() const { return most_; }

    // What a unit with so much spent is charged before anything is drawn: the most that it could lose. 0: it takes no
    // part. By rounds: so does one that could only pay for what comes before the rounds.
    uint32_t Reserve(uint32_t spent) const {
        const uint32_t left = UnitLeft(spent);
        if (!by_rounds())
            return left >= most_ ? most_ : 0;
        if (left <= fixed_)
            return 0;
        return left < most_ ? left : most_;
    }

    // By rounds, in a filter's own steps of 2^-bits rounds (RenyiFilter): how far a unit may go that has reserved so much
    // (at most `limit`), and what it has lost in the end after `used` of them. Used(Allowed(r)) <= r for any r > 0.
    uint32_t Allowed(uint32_t reserved, uint32_t limit, int bits) const;
    uint32_t Used(uint32_t used, int bits) const;

  private:
    // Of a round's price, so fine.
    static constexpr int kPriceBits = 24;

    uint32_t most_ = 0;
    uint32_t fixed_ = 0;        // by rounds: all but the rounds
    uint64_t round_price_ = 0;  // in 2^-24 of 2^-31 of B; 0: not by rounds
};

}  // namespace dpboost
