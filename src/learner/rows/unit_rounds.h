// What each unit of a training may lose in its rounds, and what it has lost: the door between a Renyi filter, which
// counts within one training, and a unit's accumulator, which lasts (privacy/filter/unit_filter.h). Secret like both of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/error.h"
#include "privacy/filter/renyi_filter.h"
#include "privacy/filter/unit_filter.h"

namespace dpboost {

class UnitRounds {
  public:
    // `reserved`: what each unit of the rows, by number, has been charged for this training.
    UnitRounds(const UnitCharge& charge, std::vector<uint32_t> reserved)
        : charge_(charge), reserved_(std::move(reserved)) {}

    size_t units() const { return reserved_.size(); }

    // Where the filter's sums begin: as if all had been spent but what the unit may still lose. So it never goes further.
    std::vector<uint32_t> Starts(const RenyiFilter& filter) const {
        std::vector<uint32_t> starts(reserved_.size());
        Start start{*this, filter};
        for (size_t unit = 0; unit < starts.size(); unit++)
            starts[unit] = start.Of(reserved_[unit]);
        return starts;
    }

    // Where they have ended, after the last round.
    void Settle(const RenyiFilter& filter, const std::vector<uint32_t>& ends) {
        CheckInternal(!settled_ && ends.size() == reserved_.size(),
                      "rounds are settled once, for every unit");
        Start starts{*this, filter};
        for (size_t unit = 0; unit < ends.size(); unit++) {
            const uint32_t start = starts.Of(reserved_[unit]);
            CheckInternal(ends[unit] >= start && ends[unit] <= filter.limit(), "a sum of losses only grows");
            const uint32_t used = charge_.Used(ends[unit] - start, filter.bits());
            CheckInternal(used <= reserved_[unit], "nobody loses more than was reserved");
            reserved_[unit] -= used;
        }
        settled_ = true;
    }

    bool settled() const { return settled_; }
    // Once settled: what a unit did not lose of what it had reserved.
    uint32_t Unused(size_t unit) const { return settled_ ? reserved_[unit] : 0; }

  private:
    // Most have reserved the same.
    struct Start {
        const UnitRounds& rounds;
        const RenyiFilter& filter;
        uint32_t reserved = 0;
        uint32_t start = filter.limit();

        uint32_t Of(uint32_t now_reserved) {
            if (now_reserved != reserved) {
                reserved = now_reserved;
                start = filter.limit() - rounds.charge_.Allowed(reserved, filter.limit(), filter.bits());
            }
            return start;
        }
    };

    UnitCharge charge_;
    std::vector<uint32_t> reserved_;  // once settled: what is left of it
    bool settled_ = false;
};

}  // namespace dpboost
