#include "mechanism/chacha_source.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dpboost {
namespace {

TEST(ChaChaSource, IsChaCha20) {
    // Vectors 1 and 4 of draft-agl-tls-chacha20poly1305, section 7: key zero, nonce zero, and nonce 01 00 ...
    // 00.
    const unsigned char expected[2][16] = {
        {0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28},
        {0xef, 0x3f, 0xdf, 0xd6, 0xc6, 0x15, 0x78, 0xfb, 0xf5, 0xcf, 0x35, 0xbd, 0x3d, 0xd3, 0x3b, 0x80}};
    ChaChaSource source(ChaChaSource::Seed{});
    for (const auto& vector : expected) {
        unsigned char block[64];
        source.Fill(block, sizeof(block));
        EXPECT_EQ(std::string(block, block + 16), std::string(vector, vector + 16));
    }
}

TEST(ChaChaSource, NeverRepeatsABlock) {
    ChaChaSource source(ChaChaSource::Seed{9});
    std::set<std::string> blocks;
    for (const std::size_t size : {64, 128, 8192, 1, 63, 65, 64, 4096}) {
        std::string bytes(size, 0);
        source.Fill(&bytes[0], size);
        for (std::size_t at = 0; at + 16 <= size; at += 16) {
            EXPECT_TRUE(blocks.insert(bytes.substr(at, 16)).second);
        }
    }
}

TEST(ChaChaSource, TakesTheSeedAway) {
    ChaChaSource::Seed seed;
    seed.fill(7);
    ChaChaSource source(std::move(seed));
    EXPECT_EQ(seed, ChaChaSource::Seed{});
    ChaChaSource other(ChaChaSource::Seed{});
    unsigned char a[32];
    unsigned char b[32];
    source.Fill(a, sizeof(a));
    other.Fill(b, sizeof(b));
    EXPECT_NE(std::string(a, a + 32), std::string(b, b + 32)) << "the source kept its key";
}

TEST(ChaChaSource, FillsNothing) {
    ChaChaSource source(ChaChaSource::Seed{});
    unsigned char byte = 42;
    source.Fill(&byte, 0);
    EXPECT_EQ(byte, 42);
}

}  // namespace
}  // namespace dpboost
