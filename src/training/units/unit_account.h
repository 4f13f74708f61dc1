// The persons' side of one release under a limit that is accounted by unit. The steps of a release stay apart as in
// training.h: rows give keys; the catalog's buckets give what each person has spent; Reserve decides who takes part,
// charges them the most that they could lose, and leaves the others out before anything is drawn; Settle gives back what
// they did not lose. What Reserve returns is committed with the charge and what Settle returns with the result, so that
// a release that breaks off in between has charged too much, never too little.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "dataset/dataset.h"
#include "learner/rows/unit_rounds.h"
#include "privacy/filter/unit_filter.h"
#include "training/units/unit_book.h"

namespace dpboost {

class UnitAccount {
  public:
    // What it holds for each row at most, while the learner holds nothing; and later, with a Renyi filter's sums.
    static constexpr size_t kBytesPerRow = sizeof(UnitKey) + UnitBook::kBytesPerUnit;
    static constexpr size_t kBytesPerRowLater = 24;

    explicit UnitAccount(const UnitLimit& limit) : limit_(limit) {}

    const UnitLimit& limit() const { return limit_; }

    // Gets the keys of the units, by their numbers in the dataset.
    std::vector<UnitKey>* keys() { return &keys_; }

    // Opens the book of the stored state; the buckets are the caller's to load. Throws kOutOfMemory if it would take more
    // than `memory` bytes.
    UnitBook& Open(std::string_view salt, const UnitBuckets& stored, size_t memory, Interrupt& interrupt);
    UnitBook& book() { return *book_; }

    // Once, when all is loaded.
    const std::string& Reserve(const UnitCharge& charge, Dataset* rows, Interrupt& interrupt);
    bool reserved() const { return charge_.has_value(); }
    // Once reserved: of what Settle will return, at the most.
    size_t SettleSize() const { return rounds_ ? book_->SpentSize() : 0; }

    // For a method that is charged by rounds; else null.
    UnitRounds* rounds() { return rounds_ ? &*rounds_ : nullptr; }

    // After the last draw. Empty if nothing is given back.
    const std::string& Settle(Interrupt& interrupt);

  private:
    UnitLimit limit_;
    std::vector<UnitKey> keys_;
    std::optional<UnitBook> book_;
    std::optional<UnitCharge> charge_;
    std::optional<UnitRounds> rounds_;
    std::vector<bool> takes_part_;  // by the book's numbers
    std::string bytes_;
};

}  // namespace dpboost
