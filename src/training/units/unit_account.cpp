#include "training/units/unit_account.h"

#include <utility>

#include "base/error.h"

namespace dpboost {
namespace {

constexpr size_t kAhead = 16;  // units, of 10 million

}  // namespace

UnitBook& UnitAccount::Open(std::string_view salt, const UnitBuckets& stored, size_t memory,
                            Interrupt& interrupt) {
    const uint64_t room = (uint64_t{stored.old_buckets} + stored.new_buckets) * kBucketUnits;
    if (room > memory / UnitBook::kBytesPerStored)  // nor does an error tell how many there are
        throw Error(ErrorCode::kOutOfMemory, "the accounts of all persons need more than dpboost.max_memory",
                    {}, "Ask a superuser to raise \"dpboost.max_memory\".");
    book_.emplace(salt, stored, limit_);
    book_->SetUnits(std::move(keys_), interrupt);
    keys_ = {};
    return *book_;
}

// Who takes part follows from what each unit itself has spent, and the sums that are written from the rows of each alone.
const std::string& UnitAccount::Reserve(const UnitCharge& charge, Dataset* rows, Interrupt& interrupt) {
    CheckInternal(book_.has_value() && !charge_ && book_->units() == rows->units(),
                  "units are charged once, when their accounts are there");
    charge_ = charge;
    std::vector<bool>& keep = takes_part_;
    keep.resize(book_->units());
    std::vector<uint32_t> reserved;
    reserved.reserve(charge.by_rounds() ? keep.size() : 0);
    bool all = true;
    if (charge.by_rounds())
        book_->BeginReserved(charge.most());
    for (size_t unit = 0; unit < keep.size(); unit++) {
        if (unit % kBlockRows == 0)
            interrupt.Poll();
        book_->Prefetch(unit + kAhead);
        const uint32_t spent = book_->spent(unit);
        const uint32_t amount = charge.Reserve(spent);
        keep[unit] = amount > 0;
        all = all && keep[unit];
        if (!keep[unit])
            continue;
        if (!charge.by_rounds()) {
            book_->SetOneOfAll(unit, spent + amount);
            continue;
        }
        book_->Reserve(unit);
        reserved.push_back(amount);
    }
    if (!all)
        rows->KeepUnits(keep, interrupt);
    if (charge.by_rounds())
        rounds_.emplace(charge, std::move(reserved));
    else
        book_->TouchAll();
    bytes_ = book_->WriteOut(interrupt);
    return bytes_;
}

const std::string& UnitAccount::Settle(Interrupt& interrupt) {
    bytes_.clear();
    if (!rounds_ || !rounds_->settled())
        return bytes_;
    size_t row = 0;  // of those that take part
    for (size_t unit = 0; unit < takes_part_.size(); unit++) {
        if (unit % kBlockRows == 0)
            interrupt.Poll();
        book_->Prefetch(unit + kAhead);
        if (!takes_part_[unit])
            continue;
        const uint32_t spent = book_->spent(unit);
        book_->SetOneOfAll(unit, spent + charge_->Reserve(spent) - rounds_->Unused(row));
        row++;
    }
    book_->EndReserved();
    book_->TouchAll();
    bytes_ = book_->WriteOut(interrupt);
    return bytes_;
}

}  // namespace dpboost
