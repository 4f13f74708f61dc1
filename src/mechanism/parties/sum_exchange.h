// How servers that train together add up their sums. A party gives its masked sums and waits for the total; a
// coordinator has none to give. Implemented over libpq by postgres/federation and in memory by tests.
#pragma once

#include <cstdint>
#include <vector>

#include "mechanism/parties/hash.h"

namespace dpboost {

class SumExchange {
  public:
    virtual ~SumExchange() = default;

    // Gives the sums, and has the total of all parties, modulo 2^64, in their place. The witness says which event it is;
    // servers with different ones do not add up. Throws kCanceled if there will be no total.
    virtual void Exchange(const Hash& witness, std::vector<uint64_t>* sums) = 0;
};

}  // namespace dpboost
