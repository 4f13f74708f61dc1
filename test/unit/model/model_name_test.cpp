#include "model/model_name.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dpboost {
namespace {

// As one string, to be compared at a glance.
std::string Parsed(std::string_view text) {
    const ModelName name = ParseModelName(text);
    std::string result;
    if (name.has_owner)
        result += (name.owner_is_gone ? "gone <" : "<") + name.owner + "> ";
    return result + "<" + name.name + "> " + std::to_string(name.version);
}

void ExpectRefused(std::string_view text) {
    try {
        ParseModelName(text);
        ADD_FAILURE() << text << " was read as " << Parsed(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidName) << text;
    }
}

void ExpectNotNew(std::string_view text) {
    const ModelName name = ParseModelName(text);
    try {
        CheckNewModelName(name, text);
        ADD_FAILURE() << text;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kInvalidName) << text;
    }
}

struct Read {
    const char* text;
    const char* parsed;
};

void ExpectRead(std::initializer_list<Read> names) {
    for (const Read& name : names)
        EXPECT_EQ(Parsed(name.text), name.parsed);
}

TEST(ModelName, NameAloneIsTakenAsItIs) {
    ExpectRead({{"risk", "<risk> 0"},
                {"Stroke Risk!", "<Stroke Risk!> 0"},
                {"!risk", "<!risk> 0"},
                {"sch\xc3\xb6n'; DROP", "<sch\xc3\xb6n'; DROP> 0"},
                {" ", "< > 0"}});
}

TEST(ModelName, OwnerStandsBeforeTheFirstDotAndFoldsLikeAnIdentifier) {
    ExpectRead({{"ana.risk", "<ana> <risk> 0"},
                {"Ana.Risk", "<ana> <Risk> 0"},
                {"_a1$.two words", "<_a1$> <two words> 0"},
                {"\xc3\x84na.x", "<\xc3\x84na> <x> 0"}});
}

TEST(ModelName, QuotedOwnerMayHoldAnything) {
    ExpectRead({{"\"Ana B\".risk", "<Ana B> <risk> 0"},
                {"\"a.b@3\".risk@2", "<a.b@3> <risk> 2"},
                {"\"say \"\"hi\"\"\".x", "<say \"hi\"> <x> 0"},
                {"\"!x\".y", "<!x> <y> 0"}});
}

TEST(ModelName, DroppedOwnerHasAMark) {
    ExpectRead({{"!ana.risk", "gone <ana> <risk> 0"}, {"!\"Ana B\".risk@4", "gone <Ana B> <risk> 4"}});
}

TEST(ModelName, VersionFollowsAnAt) {
    ExpectRead({{"risk@1", "<risk> 1"},
                {"ana.risk@2147483647", "<ana> <risk> 2147483647"},
                {"risk@007", "<risk> 7"}});
}

TEST(ModelName, RefusesWhatIsNeither) {
    for (const char* text : {"",
                             "@1",
                             "ana.",
                             "ana.@1",
                             ".risk",
                             "\"\".risk",
                             "!.risk",
                             "a b.risk",
                             "1a.risk",
                             "$a.risk",
                             "a-b.risk",
                             "a.b.c",
                             "\"a\".b.c",
                             "\"a.b\"",
                             "\"a\"",
                             "\"a",
                             "\"a\"b.c",
                             "a.\"b\"",
                             "say \"hi\"",
                             "risk@",
                             "risk@x",
                             "risk@0",
                             "risk@-1",
                             "risk@+1",
                             "risk@ 1",
                             "risk@1x",
                             "risk@1@2",
                             "risk@2147483648",
                             "risk@99999999999999999999999",
                             "risk@1.5",
                             "!!a.b"})
        ExpectRefused(text);
}

TEST(ModelName, ANewModelHasNoVersionNoDroppedOwnerAndALimitedLength) {
    const std::string longest(kMaxModelName, 'x');
    EXPECT_NO_THROW(CheckNewModelName(ParseModelName("ana." + longest), longest));
    EXPECT_NO_THROW(CheckNewModelName(ParseModelName("risk"), "risk"));
    ExpectNotNew(longest + "x");
    ExpectNotNew("risk@1");
    ExpectNotNew("!ana.risk");
}

}  // namespace
}  // namespace dpboost
