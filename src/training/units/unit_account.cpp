#include "training/units/unit_account.h"

#include <utility>

#include "base/error.h"

namespace dpboost {

UnitBook& UnitAccount::Open(std::string_view salt, const UnitBuckets& stored, size_t memory,
                            Interrupt& interrupt) {
    if (stored.units > memory / UnitBook::kBytesPerStored)
        throw Error(ErrorCode::kOutOfMemory, "the accounts of all persons need more than dpboost.max_memory",
                    {}, "Raise dpboost.max_memory.");
    book_.emplace(salt, stored);
    book_->SetUnits(keys_, interrupt);
    std::vector<UnitKey>().swap(keys_);
    return *book_;
}

// Who takes part follows from what each unit itself has spent, and the sums that are written from the rows of each alone.
const std::string& UnitAccount::Reserve(const UnitCharge& charge, Dataset* rows, Interrupt& interrupt) {
    CheckInternal(book_.has_value() && !charge_ && book_->units() == rows->units(),
                  "units are charged once, when their accounts are there");
    charge_ = charge;
    std::vector<bool> keep(book_->units());
    std::vector<uint32_t> reserved;
    bool all = true;
    if (charge.by_rounds())
        book_->BeginReserved(charge.most());
    for (size_t unit = 0; unit < keep.size(); unit++) {
        if (unit % kBlockRows == 0)
            interrupt.Poll();
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
        kept_.push_back(static_cast<uint32_t>(unit));
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
    for (size_t i = 0; i < kept_.size(); i++) {
        if (i % kBlockRows == 0)
            interrupt.Poll();
        const size_t unit = kept_[i];
        const uint32_t spent = book_->spent(unit);
        book_->SetOneOfAll(unit, spent + charge_->Reserve(spent) - rounds_->Unused(i));
    }
    book_->EndReserved();
    book_->TouchAll();
    bytes_ = book_->WriteOut(interrupt);
    return bytes_;
}

}  // namespace dpboost
