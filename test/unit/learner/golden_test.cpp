// The models of fixed seeds, for every method, both tasks, with rows and with units as persons: a hash per case. A
// change that is meant to change no training leaves them as they are, on any machine and with any instructions; a
// change that is meant to prints the new table (run with DPBOOST_GOLDEN=print).
#include <gtest/gtest.h>
#include <sodium.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "unit/learner/golden_cases.h"
#include "unit/learner/golden_hashes.h"

namespace dpboost {
namespace {

class Digest {
  public:
    Digest() { crypto_generichash_init(&state_, nullptr, 0, 8); }
    template <typename T>
    void Add(T value) {
        unsigned char bytes[8];
        for (int i = 0; i < 8; i++)
            bytes[i] = static_cast<unsigned char>(static_cast<uint64_t>(value) >> (8 * i));
        crypto_generichash_update(&state_, bytes, sizeof bytes);
    }
    std::string Text() {
        unsigned char hash[8];
        crypto_generichash_final(&state_, hash, sizeof hash);
        char text[17];
        for (int i = 0; i < 8; i++)
            snprintf(text + 2 * i, 3, "%02x", hash[i]);
        return text;
    }

  private:
    crypto_generichash_state state_;
};

// What the model says, not how its bytes are laid out: the format may change without a training changing.
std::string DigestOf(const Model& model) {
    Digest digest;
    digest.Add(static_cast<int>(model.link()));
    for (size_t output = 0; output < model.outputs(); output++)
        digest.Add(model.base(output));
    for (size_t f = 0; f < model.features().size(); f++) {
        digest.Add(model.table(f).size());
        for (const int32_t value : model.table(f))
            digest.Add(value);
    }
    for (const Tree& tree : model.trees()) {
        digest.Add(tree.depth);
        for (const Split& split : tree.splits) {
            digest.Add(split.feature);
            digest.Add(split.threshold);
            digest.Add(static_cast<int>(split.kind) + (split.missing_left ? 8 : 0));
        }
        for (const int32_t leaf : tree.leaves)
            digest.Add(leaf);
        for (const uint64_t word : tree.subset_words)
            digest.Add(word);
    }
    return digest.Text();
}

std::string Train(const GoldenCase& golden, Simd simd, int threads) {
    return DigestOf(TrainGolden(golden, simd, threads));
}

TEST(Golden, ModelsAreThoseOfTheirSeeds) {
    const char* mode = std::getenv("DPBOOST_GOLDEN");
    const bool print = mode != nullptr && std::strcmp(mode, "print") == 0;
    std::map<std::string, std::string> expected;
    for (const GoldenHash& hash : kGoldenHashes)
        EXPECT_TRUE(expected.emplace(hash.name, hash.hash).second) << hash.name << " is listed twice";
    for (const GoldenCase& golden : GoldenCases()) {
        const std::string name = golden.Name();
        const std::string hash = Train(golden, BestSimd(), 1);
        if (print)
            printf("    {\"%s\", \"%s\"},\n", name.c_str(), hash.c_str());
        else
            EXPECT_EQ(hash, expected[name]) << name;
        EXPECT_EQ(hash, Train(golden, Simd::kPortable, 2)) << name << ", portable code and two threads";
    }
    EXPECT_EQ(print ? std::size(kGoldenHashes) : GoldenCases().size(), expected.size());
}

// A table in which two different trainings look alike would notice little.
TEST(Golden, NoTwoCasesAreAlike) {
    std::set<std::string> hashes;
    for (const GoldenHash& hash : kGoldenHashes)
        EXPECT_TRUE(hashes.insert(hash.hash).second) << hash.name;
}

}  // namespace
}  // namespace dpboost
