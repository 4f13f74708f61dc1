// Who takes part in a federation: names and public keys that each party's administrator has pinned, and how many of them
// one must not trust. A roster is public; two servers train together only if theirs are the same to the last byte.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mechanism/parties/hash.h"
#include "mechanism/parties/noise_share.h"

namespace dpboost {

// The public half of a server's key, "dpbk1:" and 64 hexadecimal digits as text.
struct PartyKey {
    Hash bytes{};

    // Throws kInvalidParameter for other texts.
    static PartyKey Parse(std::string_view text);
    std::string Text() const;
};

struct Party {
    std::string name;
    PartyKey key;
};

class Roster {
  public:
    // Sorts the parties by name. Throws kInvalidParameter for a party without a name, for one name or one key twice, and
    // for figures that NoiseParties::Check refuses.
    Roster(std::string federation, std::vector<Party> parties, uint32_t colluding, uint32_t per_unit);

    const std::string& federation() const { return federation_; }
    const std::vector<Party>& parties() const { return parties_; }
    const NoiseParties& numbers() const { return numbers_; }
    // The position of a party; throws kInvalidParameter if it is none.
    std::size_t Find(std::string_view name) const;
    // All of the above, in one hash.
    const Hash& digest() const { return digest_; }

  private:
    std::string federation_;
    std::vector<Party> parties_;
    NoiseParties numbers_;
    Hash digest_;
};

}  // namespace dpboost
