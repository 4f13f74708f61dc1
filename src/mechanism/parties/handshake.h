// How parties begin a training together. Each opens with a fresh key and a nonce, signed by the key that the others have
// pinned, together with all that they must agree on; each joins when it holds exactly one such opening of every party of
// its own roster. From then on every pair of parties shares a secret of this session that the coordinator, who carries all
// messages, does not know.
//
// What a coordinator cannot do: add or leave out a party (the set must be the roster's), put a key of his own in between
// (signatures), give parties different calls, plans, rosters or versions (they are in what is signed), or play an opening
// again (its key is dead, and the session, which all pair keys are made from, is a hash of all openings).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mechanism/parties/roster.h"
#include "mechanism/parties/transcript.h"

namespace dpboost {

// The secret half of a server's key (Ed25519), from its 32-byte seed.
class SigningKey {
  public:
    explicit SigningKey(Secret&& seed);
    ~SigningKey();
    SigningKey(const SigningKey&) = delete;
    SigningKey& operator=(const SigningKey&) = delete;

    const PartyKey& public_key() const { return public_key_; }
    std::array<unsigned char, 64> Sign(std::string_view bytes) const;

  private:
    std::array<unsigned char, 64> secret_;
    PartyKey public_key_;
};

// What all parties must agree on before they begin, in one hash: versions, roster, call and plan, to the last byte.
Hash Agreement(std::string_view version, const Roster& roster, std::string_view call, std::string_view plan);

// A session that all parties have joined. `session` and `structure` are known to all servers, the keys to two each.
struct Session {
    Hash session;
    Hash structure;             // the seed of what all servers draw alike
    std::vector<PairKey> keys;  // of this party, with all others
};

// One party's side.
class Handshake {
  public:
    // The secret and the nonce must be fresh random bytes. The roster must outlive this. Throws kInvalidParameter if `name`
    // is not in the roster, or with another key.
    Handshake(const Roster& roster, std::string_view name, const SigningKey& key, const Hash& agreement,
              Secret&& ephemeral, const Hash& nonce);

    // To be shown to all.
    const std::string& opening() const { return opening_; }

    // Takes the openings of all parties, this one's included, in any order. Throws kInvalidParameter, with the party's
    // name, for one that is missing, unknown, there twice, signed by another key, or for something else; and for a second
    // call: the ephemeral key serves one session.
    Session Join(const std::vector<std::string>& openings);

  private:
    const Roster& roster_;
    std::size_t self_;
    Hash agreement_;
    Secret ephemeral_;
    bool joined_ = false;
    std::string opening_;
};

// The public part of a session, for a coordinator: the same checks, no keys.
Session FollowSession(const Roster& roster, const Hash& agreement, const std::vector<std::string>& openings);

}  // namespace dpboost
