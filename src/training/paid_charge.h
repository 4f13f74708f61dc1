// The receipt of a committed charge. A training takes one for the very plan that it drew up, and takes it away; only
// the ledger's side makes one. So nothing is drawn before it is paid for, nothing else than what was paid for, and
// nothing twice.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace dpboost {

class PaidCharge {
  public:
    PaidCharge(PaidCharge&& other) noexcept : plan_bytes_(std::exchange(other.plan_bytes_, {})) {}
    PaidCharge(const PaidCharge&) = delete;
    PaidCharge& operator=(const PaidCharge&) = delete;

    bool IsFor(std::string_view plan_bytes) const {
        return !plan_bytes_.empty() && plan_bytes_ == plan_bytes;
    }

  private:
    friend class Cashier;  // postgres/ledger/ledger.h; tests have one of their own
    explicit PaidCharge(std::string plan_bytes) : plan_bytes_(std::move(plan_bytes)) {}

    std::string plan_bytes_;
};

}  // namespace dpboost
