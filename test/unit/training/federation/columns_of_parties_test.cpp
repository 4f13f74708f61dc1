#include "training/federation/columns_of_parties.h"

#include <gtest/gtest.h>

#include "support/thrown.h"
#include "unit/training/column.h"

namespace dpboost {
namespace {

PartyColumns Hospital(double upper, std::vector<std::string> levels, ValueKind age = ValueKind::kInt4) {
    return {Column("stay", ValueKind::kFloat8, Domain::Range("stay", 0, upper)),
            {Column("age", age, Domain::Range("age", 0, upper + 50)),
             Column("ward", ValueKind::kText, Domain::Levels("ward", std::move(levels))),
             Column("smokes", ValueKind::kBoolean)}};
}

FederatedCall Call() {
    FederatedCall call;
    call.model = "los";
    call.options = R"({"method": "auto"})";
    call.epsilon = 0.5;
    call.columns = Hospital(60, {"icu", "b"});
    return call;
}

TEST(FederatedCall, BytesComeBackWhole) {
    for (const bool with_delta : {false, true}) {
        FederatedCall call = Call();
        if (with_delta)
            call.delta = 1e-7;
        const std::string bytes = call.Serialize();
        const FederatedCall again = FederatedCall::Parse(bytes);
        EXPECT_EQ(again.Serialize(), bytes);
        EXPECT_EQ(again.model, "los");
        EXPECT_EQ(again.epsilon, 0.5);
        EXPECT_EQ(again.delta.has_value(), with_delta);
        EXPECT_EQ(again.columns.features[1].domain.levels, (std::vector<std::string>{"icu", "b"}));
        for (size_t size = 0; size < bytes.size(); ++size)
            EXPECT_EQ(CodeOf([&] { FederatedCall::Parse(bytes.substr(0, size)); }),
                      ErrorCode::kInvalidParameter)
                << size;
        EXPECT_EQ(CodeOf([&] { FederatedCall::Parse(bytes + "x"); }), ErrorCode::kInvalidParameter);
    }
    for (const bool with_positive : {false, true}) {
        FederatedCall call = Call();
        call.kind = with_positive ? FederatedKind::kUpdate : FederatedKind::kEvaluation;
        call.shared.emplace();
        call.shared->content = "model";
        call.shared->version = 7;
        call.shared->method = "auto";
        call.shared->options = "{}";
        if (with_positive)
            call.shared->positive = "yes";
        const std::string bytes = call.Serialize();
        const FederatedCall again = FederatedCall::Parse(bytes);
        EXPECT_EQ(again.Serialize(), bytes);
        EXPECT_EQ(again.kind, call.kind);
        EXPECT_EQ(again.shared->version, 7u);
        EXPECT_EQ(again.shared->positive, call.shared->positive);
        for (size_t size = 0; size < bytes.size(); ++size)
            EXPECT_EQ(CodeOf([&] { FederatedCall::Parse(bytes.substr(0, size)); }),
                      ErrorCode::kInvalidParameter)
                << size;
    }
    const PartyColumns columns = Hospital(60, {"icu"});
    EXPECT_EQ(PartyColumns::Parse(columns.Serialize()).Serialize(), columns.Serialize());
    EXPECT_EQ(CodeOf([&] { PartyColumns::Parse(Call().Serialize()); }), ErrorCode::kInvalidParameter);
}

// Any byte that is changed is refused, or gives another call, which the signatures then see.
TEST(FederatedCall, ChangedBytesAreNotTheSameCall) {
    const std::string bytes = Call().Serialize();
    for (size_t at = 0; at < bytes.size(); ++at) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 0x41);
        try {
            EXPECT_EQ(FederatedCall::Parse(changed).Serialize(), changed);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::kInvalidParameter);
        }
    }
}

TEST(MergeColumns, HullsAndUnions) {
    const PartyColumns merged = MergeColumns(
        {"charite", "ukb", "lmu"},
        {Hospital(60, {"icu", "a"}), Hospital(90, {"b", "a"}), Hospital(30, {"a"}, ValueKind::kFloat8)});
    EXPECT_EQ(merged.target.domain.upper, 90);
    EXPECT_EQ(merged.features[0].domain.upper, 140);
    EXPECT_EQ(merged.features[0].kind, ValueKind::kFloat8);
    EXPECT_EQ(merged.features[1].domain.levels, (std::vector<std::string>{"a", "b", "icu"}));
    const PartyColumns same = MergeColumns({"a", "b"}, {Hospital(60, {"z", "a"}), Hospital(60, {"z", "a"})});
    EXPECT_EQ(same.features[1].domain.levels, (std::vector<std::string>{"z", "a"}));
    EXPECT_EQ(same.features[0].kind, ValueKind::kInt4);
}

TEST(MergeColumns, WhatOnePartyDoesNotSayIsNotPublic) {
    PartyColumns silent = Hospital(60, {"a"});
    silent.features[0].domain = {};
    EXPECT_EQ(MergeColumns({"a", "b"}, {Hospital(60, {"a"}), silent}).features[0].domain.kind,
              DomainKind::kNone);
    EXPECT_EQ(MergeColumns({"a", "b"}, {silent, Hospital(60, {"a"})}).features[0].domain.kind,
              DomainKind::kNone);
}

TEST(MergeColumns, ColumnsMustBeTheSame) {
    PartyColumns less = Hospital(60, {"a"}), text = Hospital(60, {"a"}, ValueKind::kText);
    less.features.pop_back();
    EXPECT_EQ(
        Thrown([&] {
            MergeColumns({"a", "b"}, {Hospital(60, {"a"}), less});
        }),
        "column \"smokes\" is a feature at party \"a\", but not at \"b\" |  | Name the features that all "
        "parties have.");
    EXPECT_EQ(
        Thrown([&] {
            MergeColumns({"a", "b"}, {less, Hospital(60, {"a"})});
        }),
        "column \"smokes\" is a feature at party \"b\", but not at \"a\" |  | Name the features that all "
        "parties have.");
    EXPECT_EQ(Thrown([&] {
                  MergeColumns({"a", "b"}, {Hospital(60, {"a"}), text});
              }),
              "column \"age\" has different types at different parties | What it holds at \"a\" and at \"b\" "
              "cannot be read alike. | ");
}

}  // namespace
}  // namespace dpboost
