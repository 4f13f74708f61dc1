// Lets a caller be heard in long computations that know nothing of it, such as the accountant's: whoever calls them opens
// a scope, and they poll what is open in their thread. Without one, polling does nothing.
#pragma once

#include "base/interrupt.h"

namespace dpboost {

class InterruptScope {
  public:
    explicit InterruptScope(Interrupt& interrupt) : before_(current_) { current_ = &interrupt; }
    ~InterruptScope() { current_ = before_; }
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;

    static void Poll() {
        if (current_ != nullptr)
            current_->Poll();
    }

  private:
    inline static thread_local Interrupt* current_ = nullptr;
    Interrupt* const before_;
};

}  // namespace dpboost
