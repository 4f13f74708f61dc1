// The groups of dpboost_train_groups: a number for each public level, none for anything else.
#include "training/call/groups.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/thrown.h"

namespace dpboost {
namespace {

PublicColumn Column(ValueKind kind, std::vector<std::string> levels) {
    PublicColumn column;
    column.name = "region";
    column.kind = kind;
    if (!levels.empty())
        column.domain = Domain::Levels("", std::move(levels));
    return column;
}

uint16_t GroupOf(const Groups& groups, const std::string& text) {
    return groups.encoder().Text(text.data(), text.size());
}

TEST(Groups, EveryPublicLevelIsOne) {
    const Groups groups(Column(ValueKind::kText, {"east", "west", "north"}), 3);
    ASSERT_EQ(groups.count(), 3u);
    for (size_t group = 0; group < 3; group++)
        EXPECT_EQ(GroupOf(groups, groups.level(group)), group);
    EXPECT_GE(GroupOf(groups, "south"), 3) << "of none";
    EXPECT_GE(GroupOf(groups, "East"), 3);
    EXPECT_GE(groups.encoder().Missing(), 3);
    PublicColumn boolean = Column(ValueKind::kBoolean, {});
    boolean.domain.kind = DomainKind::kBoolean;
    const Groups two(boolean, 3);
    EXPECT_EQ(two.count(), 2u);
    EXPECT_EQ(two.level(GroupOf(two, "true")), "true");
    const Groups codes(Column(ValueKind::kInt4, {"7", "08"}), 3);
    EXPECT_EQ(codes.level(1), "8") << "as values are written";
}

std::string Refusal(const PublicColumn& column) {
    return Thrown([&] { Groups(column, 3); });
}

TEST(Groups, OthersAreRefused) {
    EXPECT_NE(Refusal(Column(ValueKind::kText, {})).find("are not public"), std::string::npos);
    PublicColumn range = Column(ValueKind::kInt4, {});
    range.domain = Domain::Range("", 0, 2);
    EXPECT_NE(Refusal(range).find("are not public"), std::string::npos);
    EXPECT_NE(Refusal(Column(ValueKind::kText, {"a", "b", "c", "d"})).find("too many"), std::string::npos);
    for (const char* level : {"a.b", "a@1", "\"a\""})
        EXPECT_NE(Refusal(Column(ValueKind::kText, {level, "b"})).find("cannot be part"), std::string::npos);
}

}  // namespace
}  // namespace dpboost
