// A cancel is heard while a model of many trees is read or compiled: of the largest that can be imported, each takes some tenths
// of a second.
#pragma once

#include <cstddef>

#include "base/interrupt.h"

namespace dpboost {

class Polling {
  public:
    explicit Polling(Interrupt* interrupt) : interrupt_(interrupt) {}  // null: nobody cancels

    // Before each tree, of at most 4,096 leaves.
    void BeforeTree() {
        if (interrupt_ != nullptr && ++trees_ % 16 == 0)
            interrupt_->Poll();
    }

  private:
    Interrupt* interrupt_;
    size_t trees_ = 0;
};

}  // namespace dpboost
