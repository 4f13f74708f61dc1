#include "mechanism/parties/handshake.h"

#include <sodium.h>

#include <utility>

#include "base/bytes.h"
#include "base/error.h"

namespace dpboost {

static_assert(crypto_sign_SEEDBYTES == std::tuple_size<Hash>::value, "size of a seed");
static_assert(crypto_sign_PUBLICKEYBYTES == std::tuple_size<Hash>::value, "size of a key");
static_assert(crypto_scalarmult_BYTES == std::tuple_size<Hash>::value, "size of a point");
static_assert(crypto_sign_BYTES == 64 && crypto_sign_SECRETKEYBYTES == 64, "size of a signature");

namespace {

constexpr uint32_t kProtocol = 1;
constexpr std::size_t kHashSize = std::tuple_size<Hash>::value;

struct Opening {
    std::string name;
    Hash ephemeral;
    Hash nonce;
};

Hash ToHash(std::string_view bytes) {
    Hash hash;
    std::copy(bytes.begin(), bytes.end(), hash.begin());
    return hash;
}

std::string SignedBytes(const Hash& agreement, const Opening& opening) {
    ByteWriter writer;
    writer.Text("dpboost open");
    writer.U32(kProtocol);
    writer.Raw(View(agreement));
    writer.Text(opening.name);
    writer.Raw(View(opening.ephemeral));
    writer.Raw(View(opening.nonce));
    return writer.Take();
}

[[noreturn]] void Refuse(const std::string& party, const char* what, const char* hint) {
    throw Error(ErrorCode::kInvalidParameter, "cannot train together with party \"" + party + "\"", what,
                hint);
}

// Checks one opening against the roster and what was agreed on.
Opening ReadOpening(const Roster& roster, const Hash& agreement, std::string_view bytes) {
    constexpr const char* kShape = "an opening of a federated training has a wrong shape";
    const auto require = [&](bool condition) {
        if (!condition)
            throw Error(ErrorCode::kInvalidParameter, kShape);
    };
    require(bytes.size() >= 4);
    ByteReader reader(bytes);
    const uint32_t length = reader.U32();
    require(reader.left() == std::size_t{length} + 3 * kHashSize + crypto_sign_BYTES);
    Opening opening;
    opening.name = std::string(reader.Raw(length));
    opening.ephemeral = ToHash(reader.Raw(kHashSize));
    opening.nonce = ToHash(reader.Raw(kHashSize));
    const Hash theirs = ToHash(reader.Raw(kHashSize));
    const std::string_view signature = reader.Raw(crypto_sign_BYTES);
    const Party& party = roster.parties()[roster.Find(opening.name)];
    const std::string message = SignedBytes(theirs, opening);
    if (crypto_sign_verify_detached(reinterpret_cast<const unsigned char*>(signature.data()),
                                    reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                    party.key.bytes.data()) != 0)
        Refuse(party.name, "Its signature is not that of the key in the roster.",
               "Compare the keys in dpboost_federations with what dpboost_party_key() says there.");
    if (!SameHash(theirs, agreement))
        Refuse(party.name, "It has another roster, call, plan or version of dpboost, or computes otherwise.",
               "Compare dpboost_federations, the extension's build and the kind of machine at all parties.");
    return opening;
}

// All openings in the order of the roster: exactly one of each party.
std::vector<Opening> ReadOpenings(const Roster& roster, const Hash& agreement,
                                  const std::vector<std::string>& openings) {
    std::vector<Opening> found(roster.parties().size());
    for (const std::string& bytes : openings) {
        Opening opening = ReadOpening(roster, agreement, bytes);
        Opening& place = found[roster.Find(opening.name)];
        if (!place.name.empty())
            Refuse(opening.name, "It has opened twice.", "");
        place = std::move(opening);
    }
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].name.empty())
            Refuse(roster.parties()[i].name, "It has not opened.", "");
    return found;
}

Hash SessionOf(const Hash& agreement, const std::vector<Opening>& openings) {
    ByteWriter writer;
    writer.Raw(View(agreement));
    for (const Opening& opening : openings) {
        writer.Text(opening.name);
        writer.Raw(View(opening.ephemeral));
        writer.Raw(View(opening.nonce));
    }
    return HashOf("session", writer.bytes());
}

}  // namespace

SigningKey::SigningKey(Secret&& seed) {
    CheckInternal(sodium_init() >= 0, "could not initialize libsodium");
    const Secret own = std::move(seed);
    CheckInternal(crypto_sign_seed_keypair(public_key_.bytes.data(), secret_.data(), own.bytes().data()) == 0,
                  "could not make a key");
}

SigningKey::~SigningKey() {
    sodium_memzero(secret_.data(), secret_.size());
}

std::array<unsigned char, 64> SigningKey::Sign(std::string_view bytes) const {
    std::array<unsigned char, 64> signature;
    CheckInternal(
        crypto_sign_detached(signature.data(), nullptr, reinterpret_cast<const unsigned char*>(bytes.data()),
                             bytes.size(), secret_.data()) == 0,
        "could not sign");
    return signature;
}

Hash Agreement(std::string_view version, const Roster& roster, std::string_view call, std::string_view plan) {
    ByteWriter writer;
    writer.U32(kProtocol);
    writer.Text(version);
    writer.Raw(View(roster.digest()));
    writer.Raw(View(HashOf("call", call)));
    writer.Raw(View(HashOf("plan", plan)));
    return HashOf("agreement", writer.bytes());
}

Handshake::Handshake(const Roster& roster, std::string_view name, const SigningKey& key,
                     const Hash& agreement, Secret&& ephemeral, const Hash& nonce)
    : roster_(roster), self_(roster.Find(name)), agreement_(agreement), ephemeral_(std::move(ephemeral)) {
    if (roster.parties()[self_].key.bytes != key.public_key().bytes)
        throw Error(ErrorCode::kInvalidParameter,
                    "the key of party \"" + std::string(name) + "\" in federation \"" + roster.federation() +
                        "\" is not this server's",
                    "This server's key is " + key.public_key().Text() + ".",
                    "After a restore from a dump a server has a new key, which all parties must pin again.");
    Opening opening;
    opening.name = std::string(name);
    opening.nonce = nonce;
    CheckInternal(crypto_scalarmult_base(opening.ephemeral.data(), ephemeral_.bytes().data()) == 0,
                  "could not make a key");
    const auto signature = key.Sign(SignedBytes(agreement, opening));
    ByteWriter writer;
    writer.Text(opening.name);
    writer.Raw(View(opening.ephemeral));
    writer.Raw(View(opening.nonce));
    writer.Raw(View(agreement));
    writer.Raw({reinterpret_cast<const char*>(signature.data()), signature.size()});
    opening_ = writer.Take();
}

Session Handshake::Join(const std::vector<std::string>& openings) {
    if (std::exchange(joined_, true))
        throw Error(ErrorCode::kInvalidParameter, "a federated training was joined already");
    const std::vector<Opening> all = ReadOpenings(roster_, agreement_, openings);
    const Opening mine = ReadOpening(roster_, agreement_, opening_);
    if (all[self_].ephemeral != mine.ephemeral || all[self_].nonce != mine.nonce)
        Refuse(mine.name, "The opening shown for it is not the one that it made.", "");
    Session session;
    session.session = SessionOf(agreement_, all);
    session.structure = HashOf("structure", View(session.session));
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == self_)
            continue;
        Secret common;
        if (crypto_scalarmult(common.bytes().data(), ephemeral_.bytes().data(), all[i].ephemeral.data()) != 0)
            Refuse(all[i].name, "Its ephemeral key is none.", "");
        ByteWriter writer;
        writer.Raw(View(session.session));
        writer.Text(all[std::min(i, self_)].name);
        writer.Text(all[std::max(i, self_)].name);
        session.keys.push_back({Secret(KeyedHash(common.bytes(), "pair", writer.bytes())), self_ < i});
    }
    ephemeral_ = Secret();
    return session;
}

Session FollowSession(const Roster& roster, const Hash& agreement, const std::vector<std::string>& openings) {
    Session session;
    session.session = SessionOf(agreement, ReadOpenings(roster, agreement, openings));
    session.structure = HashOf("structure", View(session.session));
    return session;
}

}  // namespace dpboost
