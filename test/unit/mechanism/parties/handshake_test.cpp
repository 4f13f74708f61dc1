// What a coordinator who carries all messages can and cannot do to the beginning of a training.
#include "mechanism/parties/handshake.h"

#include <gtest/gtest.h>

#include <set>

#include "support/parties.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

std::string Hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        char two[3];
        snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
        text += two;
    }
    return text;
}

struct Opened {
    explicit Opened(const TestFederation& federation, unsigned char nonce = 3) {
        for (size_t i = 0; i < federation.keys.size(); ++i) {
            handshakes.push_back(federation.Open(i, nonce));
            openings.push_back(handshakes[i]->opening());
        }
    }
    std::vector<std::unique_ptr<Handshake>> handshakes;
    std::vector<std::string> openings;
};

TEST(Handshake, EveryPairHasOneKeyAndOppositeSigns) {
    const TestFederation federation(4, 1);
    const std::vector<Session> sessions = federation.Join();
    std::vector<std::vector<const PairKey*>> keys(4, std::vector<const PairKey*>(4));
    for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(sessions[i].session, sessions[0].session);
        EXPECT_EQ(sessions[i].structure, sessions[0].structure);
        EXPECT_EQ(sessions[i].keys.size(), 3u);
        for (size_t j = 0, next = 0; j < 4; ++j)
            if (j != i)
                keys[i][j] = &sessions[i].keys[next++];
    }
    std::set<Hash> different;
    for (size_t i = 0; i < 4; ++i)
        for (size_t j = i + 1; j < 4; ++j) {
            EXPECT_EQ(keys[i][j]->key.bytes(), keys[j][i]->key.bytes());
            EXPECT_TRUE(keys[i][j]->adds);
            EXPECT_FALSE(keys[j][i]->adds);
            different.insert(keys[i][j]->key.bytes());
        }
    EXPECT_EQ(different.size(), 6u);
    EXPECT_NE(federation.Join(4)[0].session, sessions[0].session);
    const Opened opened(federation);
    const Session followed = FollowSession(*federation.roster, federation.agreement, opened.openings);
    EXPECT_EQ(followed.session, sessions[0].session);
    EXPECT_TRUE(followed.keys.empty());
}

// The bytes that are signed, and all that follows from them, stay as they are: servers of two builds must agree.
TEST(Handshake, BytesStayAsTheyAre) {
    const TestFederation federation(2);
    EXPECT_EQ(Hex(View(federation.roster->digest())),
              "442198a81340486062f30d45f86f7676f7e0d796320d89ee2d8fbff9b734af2d");
    EXPECT_EQ(Hex(View(federation.agreement)),
              "57978570b4e3fef7c87eeff51eb6e7186eb494c4841e46eb78aa76d39a488e5c");
    EXPECT_EQ(Hex(View(HashOf("test", Opened(federation).openings[0]))),
              "db942a54524815a19b8af52adf437f9588be4fdc2df0e4adda78d586ce47d196");
    EXPECT_EQ(Hex(View(federation.Join()[0].session)),
              "c1ef8ad8e59a5aca352137575d2598f3d4627a7527f50fddfa3b8f8ffdd24387");
    EXPECT_EQ(Hex(View(federation.Join()[0].keys[0].key.bytes())),
              "bc6d7a6a8463880987c7633ca0daebee65cd734cca67be670c2d9bd1dbbee24e");
}

TEST(Handshake, TheSetMustBeTheRosters) {
    const TestFederation federation(3, 1);
    const auto join = [&](const std::vector<std::string>& openings) {
        return Thrown([&] { federation.Open(0)->Join(openings); });
    };
    const Opened opened(federation);
    const std::vector<std::string>& all = opened.openings;
    EXPECT_EQ(join({all[2], all[0], all[1]}), "no error");
    EXPECT_EQ(join({all[0], all[1]}), "cannot train together with party \"p02\" | It has not opened. | ");
    EXPECT_EQ(join({all[0], all[1], all[2], all[1]}),
              "cannot train together with party \"p01\" | It has opened twice. | ");
    const TestFederation larger(4, 1);
    EXPECT_EQ(join({all[0], all[1], all[2], Opened(larger).openings[3]}),
              "\"p03\" is no party of federation \"test\" |  | ");
    EXPECT_EQ(join({all[0], all[1], all[2].substr(1)}),
              "an opening of a federated training has a wrong shape |  | ");
    EXPECT_EQ(join({all[0], all[1], ""}), "an opening of a federated training has a wrong shape |  | ");
}

TEST(Handshake, KeysAreThePinnedOnes) {
    const TestFederation federation(3, 1);
    const Opened opened(federation);
    // A coordinator with a key of his own in the middle.
    const SigningKey forged(Secret(FixedHash(77)));
    std::vector<Party> parties = federation.roster->parties();
    parties[1].key = forged.public_key();
    const Roster roster("test", parties, 1, 1);
    Handshake forger(roster, "p01", forged, federation.agreement, Secret(FixedHash(5)), FixedHash(6));
    EXPECT_EQ(CodeOf([&] {
                  federation.Open(0)->Join({opened.openings[0], forger.opening(), opened.openings[2]});
              }),
              ErrorCode::kInvalidParameter);
    EXPECT_NE(Thrown([&] {
                  federation.Open(0)->Join({opened.openings[0], forger.opening(), opened.openings[2]});
              }).find("signature is not that of the key"),
              std::string::npos);
    // Any byte of an opening that is changed on the way.
    for (size_t at = 0; at < opened.openings[1].size(); at += 7) {
        std::string changed = opened.openings[1];
        changed[at] = static_cast<char>(changed[at] ^ 1);
        EXPECT_NE(Thrown([&] {
                      federation.Open(0)->Join({opened.openings[0], changed, opened.openings[2]});
                  }),
                  "no error")
            << at;
    }
    // A server with another key than the roster says, as after a restore.
    EXPECT_NE(Thrown([&] {
                  Handshake(*federation.roster, "p01", forged, federation.agreement, Secret(FixedHash(5)),
                            FixedHash(6));
              }).find("is not this server's"),
              std::string::npos);
}

TEST(Handshake, AllThatMattersIsAgreedOn) {
    const TestFederation federation(2);
    const auto differs = [&](const Roster& roster, const char* version, const char* call, const char* plan) {
        const Hash other = Agreement(version, roster, call, plan);
        Handshake there(roster, "p01", *federation.keys[1], other, Secret(FixedHash(5)), FixedHash(6));
        return Thrown([&] {
                   federation.Open(0)->Join({federation.Open(0)->opening(), there.opening()});
               }).find("another roster, call, plan or version") != std::string::npos;
    };
    const Roster& roster = *federation.roster;
    EXPECT_FALSE(differs(roster, "1.0", "call", "plan"));
    EXPECT_TRUE(differs(roster, "1.1", "call", "plan"));
    EXPECT_TRUE(differs(roster, "1.0", "calL", "plan"));
    EXPECT_TRUE(differs(roster, "1.0", "call", "plam"));
    EXPECT_TRUE(differs(Roster("tesT", roster.parties(), 0, 1), "1.0", "call", "plan"));
    EXPECT_TRUE(differs(Roster("test", roster.parties(), 1, 1), "1.0", "call", "plan"));
    EXPECT_TRUE(differs(Roster("test", roster.parties(), 0, 2), "1.0", "call", "plan"));
    std::vector<Party> parties = roster.parties();
    parties[0].key = SigningKey(Secret(FixedHash(77))).public_key();
    EXPECT_TRUE(differs(Roster("test", parties, 0, 1), "1.0", "call", "plan"));
}

// An old opening is validly signed, but its ephemeral key is dead: the session becomes another one, and the party that it
// belongs to refuses to join with an opening that it did not make.
TEST(Handshake, OldOpeningsMakeAnotherSession) {
    const TestFederation federation(3, 1);
    const Opened before(federation, 1), now(federation, 2);
    const std::vector<std::string> mixed = {now.openings[0], before.openings[1], now.openings[2]};
    const Session first = now.handshakes[0]->Join(mixed);
    EXPECT_NE(Thrown([&] { now.handshakes[1]->Join(mixed); }).find("not the one that it made"),
              std::string::npos);
    const Session second = federation.Open(1, 2)->Join(now.openings);
    EXPECT_NE(first.session, second.session);
    EXPECT_NE(first.keys[0].key.bytes(), second.keys[0].key.bytes());
}

TEST(Handshake, ServesOneSession) {
    const TestFederation federation(2);
    const Opened opened(federation);
    opened.handshakes[0]->Join(opened.openings);
    EXPECT_EQ(Thrown([&] { opened.handshakes[0]->Join(opened.openings); }),
              "a federated training was joined already |  | ");
}

TEST(Roster, RefusesWhatCannotBe) {
    const TestFederation federation(3);
    const std::vector<Party>& parties = federation.roster->parties();
    const auto make = [](std::vector<Party> list, uint32_t t = 0, uint32_t m = 1) {
        return Thrown([&] { Roster("f", list, t, m); });
    };
    EXPECT_EQ(make(parties), "no error");
    EXPECT_EQ(make({parties[0], {parties[0].name, parties[1].key}}),
              "party \"p00\" is given more than once |  | ");
    EXPECT_EQ(make({parties[0], {"other", parties[0].key}}),
              "parties \"other\" and \"p00\" have the same key |  | ");
    EXPECT_EQ(make({parties[0], {"", parties[1].key}}), "a party of the federation has no name |  | ");
    EXPECT_EQ(make({}), "a federation has between 1 and 200 parties |  | ");
    EXPECT_EQ(make(parties, 3), "the number of colluding parties must be below that of all |  | ");
    EXPECT_EQ(make(parties, 0, 4),
              "a person has rows at one party at least, and at all of them at most |  | ");
    const std::string text = parties[1].key.Text();
    EXPECT_EQ(PartyKey::Parse(text).bytes, parties[1].key.bytes);
    for (const std::string& wrong : {std::string(), text.substr(1), text + "0", "dpbk2" + text.substr(5),
                                     text.substr(0, text.size() - 1) + "g"})
        EXPECT_EQ(CodeOf([&] { PartyKey::Parse(wrong); }), ErrorCode::kInvalidParameter) << wrong;
}

}  // namespace
}  // namespace dpboost
