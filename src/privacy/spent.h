// What releases add up to, kept so that a limit need not read them again: their Renyi curve, mu^2 of their
// Gaussian noise, and which other events they had. Every sum is rounded up, so that none is ever below the
// truth; the bytes are versioned and checksummed like those of a Cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "privacy/accountant/rdp.h"
#include "privacy/cost.h"

namespace dpboost {

// What counts against one limit, at its order. Plain data.
struct BudgetSpent {
    int64_t releases;
    double rho;           // at the limit's order
    double mu_squared;    // infinite once a release had other noise than full-batch Gaussian
    bool gaussian_first;  // whether the first release had full-batch Gaussian noise only
    bool
        by_unit;  // nothing adds up here: every unit has its own filter (unit_filter.h), and a release fits alone

    static BudgetSpent ByUnit();
    void Add(const Cost& cost, uint32_t order);
    bool operator==(const BudgetSpent& other) const;
    bool operator!=(const BudgetSpent& other) const { return !(*this == other); }
};

struct Spent {
    // Composing privacy loss distributions takes milliseconds for each different event.
    static constexpr std::size_t kMaxOthers = 16;
    static constexpr std::size_t kMaxBytes = 1024;  // of Serialize

    uint64_t releases = 0;
    RdpCurve curve;
    double mu_squared = 0;        // of the full-batch Gaussian events
    bool gaussian_first = false;  // whether the first release had no others
    bool others_known = true;     // false: there were more than kMaxOthers, and `others` is empty
    std::vector<Event> others;    // all but the full-batch Gaussian ones, equal ones counted together

    void Add(const Cost& cost);
    void Add(const Spent& later);  // whose first release came after ours
    bool IsGaussian() const { return others_known && others.empty(); }
    BudgetSpent At(uint32_t order) const;

    // Whether a count of the same releases in another order gave this: rounding may differ, nothing else.
    bool Agrees(const Spent& recounted) const;

    std::string Serialize() const;
    // Throws kCorrupted for anything that Serialize could not have written.
    static Spent Parse(std::string_view bytes);
};

// mu^2 of a release, rounded up; infinite unless all of its noise is full-batch Gaussian.
double GaussianMuSquared(const std::vector<Event>& events);

// The epsilon at delta of all releases together: in closed form if all are Gaussian, by privacy loss
// distributions where they apply and the events are known, else by the best order of the summed curves. Proven
// for trainings that were fixed in advance; not for an analyst who chose by looking at earlier results, since
// bounds that are composed after the fact need not hold for mechanisms chosen on the way.
double ComposedEpsilon(const Spent& spent, double delta);
// The same without privacy loss distributions: a few microseconds, at least as large.
double QuickEpsilon(const Spent& spent, double delta);

}  // namespace dpboost
