// Receipts for tests, which have no ledger.
#pragma once

#include <string>

#include "training/paid_charge.h"

namespace dpboost {

class Cashier {
  public:
    static PaidCharge Receipt(std::string plan_bytes) { return PaidCharge(std::move(plan_bytes)); }
};

}  // namespace dpboost
