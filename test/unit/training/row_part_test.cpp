// Rows that other processes read for a training give the same model as if it had read them itself, in whatever order they
// arrive; and no damaged description of how to read them is believed.
#include "training/call/row_part.h"

#include <gtest/gtest.h>

#include "support/training_call.h"
#include "support/xorshift.h"

namespace dpboost {
namespace {

struct Case {
    const char* what;
    std::string options;
    ValueKind target;
    bool units;
};

std::vector<Case> Cases() {
    const std::string bounds = "\"epsilon\": 5, \"bounds\": {\"x\": [0, 1], \"w\": [0, 4]}";
    return {
        {"a number", "{" + bounds + ", \"target_range\": [0, 1]}", ValueKind::kFloat8, false},
        {"two classes, of persons", "{" + bounds + ", \"positive\": \"1\"}", ValueKind::kFloat8, true},
        {"weights", "{" + bounds + ", \"weight\": \"w\", \"class_weights\": {\"1\": 3}, \"positive\": \"1\"}",
         ValueKind::kFloat8, true},
        {"several classes", "{" + bounds + ", \"classes\": [\"0\", \"1\", \"2\"]}", ValueKind::kInt4, false},
        {"private bounds",
         "{\"epsilon\": 5, \"bounds\": {\"w\": \"private\", \"x\": [0, 1]}, \"target_range\": [0, 1]}",
         ValueKind::kFloat8, false}};
}

std::unique_ptr<TrainingCore> Begin(const Case& test) {
    TrainingCall call(test.options);
    call.schema().target.kind = test.target;
    call.schema().has_units = test.units;
    Domain levels;
    levels.kind = DomainKind::kLevels;
    levels.levels = {"a", "b", "c"};
    call.Feature("x", ValueKind::kFloat8)
        .Feature("level", ValueKind::kText, levels)
        .Feature("w", ValueKind::kFloat8)
        .Feature("text", ValueKind::kText);
    std::unique_ptr<TrainingCore> core = call.Begin();
    core->Calibrate({});
    return core;
}

// The same rows for everybody, whoever takes them.
constexpr int kRows = 11000;
template <class Core>
void AppendNumbered(Core& core, int row) {
    Xorshift random{88172645463325252U + static_cast<uint64_t>(row)};
    const double x = random.Below(1000) / 1000.0;
    AppendRow(core, random.Below(3),
              {x, static_cast<double>(random.Below(4)), random.Below(400) / 100.0,
               static_cast<double>(random.Below(512))},
              static_cast<int64_t>(random.Below(5000)));
}

std::string ModelOf(TrainingCore& core) {
    ZeroNoise noise;
    TrainWithoutNoise(core, noise);
    return core.model_bytes();
}

// As AppendRow wants it: sends what is complete.
struct Sender {
    RowPart part;
    std::vector<std::string>* sent;
    RowBuffer* buffer() { return part.buffer(); }
    const TargetRule& target() const { return part.target(); }
    void AppendRows(bool last = false) {
        const std::string_view rows = part.AppendRows(last);
        if (!rows.empty())
            sent->emplace_back(rows);
    }
};

TEST(RowPart, GivesTheModelOfTheRowsInAnyOrder) {
    for (const Case& test : Cases()) {
        const std::unique_ptr<TrainingCore> alone = Begin(test);
        for (int row = 0; row < kRows; row++)
            AppendNumbered(*alone, row);
        const std::unique_ptr<TrainingCore> session = Begin(test);
        std::vector<std::string> sent;
        const std::string recipe = session->Recipe();
        Sender workers[2] = {{RowPart(recipe), &sent}, {RowPart(recipe), &sent}};
        for (int row = kRows - 1; row >= 0; row--) {  // most of them by the first worker
            if (row % 7 == 0)
                AppendNumbered(*session, row);
            else
                AppendNumbered(workers[row % 7 == 1], row);
        }
        for (Sender& worker : workers)
            worker.AppendRows(true);
        ASSERT_GE(sent.size(), 3u);
        NoInterrupt interrupt;
        for (size_t i = sent.size(); i-- > 0;)
            session->AppendPart(sent[i], interrupt);
        EXPECT_EQ(ModelOf(*session), ModelOf(*alone)) << test.what;
    }
}

TEST(RowPart, SendsNothingOfNothing) {
    RowPart part(Begin(Cases()[0])->Recipe());
    EXPECT_TRUE(part.AppendRows(false).empty());
    EXPECT_TRUE(part.AppendRows(true).empty());
}

TEST(RowPart, BelievesNoDamagedRecipe) {
    const std::string recipe = Begin(Cases()[2])->Recipe();
    for (size_t size = 0; size < recipe.size(); size++)
        EXPECT_THROW(RowPart(recipe.substr(0, size)), Error) << size;
    EXPECT_THROW(RowPart(recipe + "x"), Error);
    size_t refused = 0;
    for (size_t i = 0; i < recipe.size(); i++) {
        std::string damaged = recipe;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
        try {
            RowPart part(damaged);
        } catch (const Error&) {
            refused++;
        }
    }
    EXPECT_GT(refused, recipe.size() / 2);  // encodings have a checksum
}

}  // namespace
}  // namespace dpboost
