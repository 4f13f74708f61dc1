// An interrupt that comes after so many polls.
#pragma once

#include "base/error.h"
#include "base/interrupt.h"

namespace dpboost {

class CancelAfter final : public Interrupt {
  public:
    explicit CancelAfter(int polls) : polls_(polls) {}
    void Poll() override {
        if (polls_-- == 0)
            throw Error(ErrorCode::kCanceled, "canceled");
    }

  private:
    int polls_;
};

}  // namespace dpboost
