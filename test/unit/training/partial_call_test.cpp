// What servers tell each other about a part of a training's rows: it arrives as it was written, and no bytes and no text,
// cut, changed or invented, are read beyond their end or taken for something that was not written.
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/xorshift.h"
#include "training/call/partial_call.h"

namespace dpboost {
namespace {

const std::string kFingerprint = "0123456789abcdef";

std::string Bytes(const std::string& model, const std::string& options, bool units, const std::string& rows) {
    PartialCall call;
    call.model = model;
    call.options = options;
    call.has_units = units;
    call.fingerprint = kFingerprint;
    return WritePartialHead(call, rows.size()) + rows;
}

std::string Printed(const std::string& bytes) {
    std::string text(PrintableSize(bytes.size()), '\0');
    WritePrintable(bytes, text.data());
    return text;
}

std::string Read(const std::string& text) {
    std::string bytes(PrintedSize(text), '\0');
    ReadPrintable(text, bytes.data());
    return bytes;
}

TEST(PartialCall, ArrivesAsItWasWritten) {
    for (const bool units : {false, true})
        for (const size_t rows : {0, 1, 2, 3, 4, 5, 1000}) {
            const std::string content(rows, '\xfe');
            const std::string bytes = Read(Printed(Bytes("näme", "{\"epsilon\": 1}", units, content)));
            const PartialCall call = ReadPartialCall(bytes);
            EXPECT_EQ(call.model, "näme");
            EXPECT_EQ(call.options, "{\"epsilon\": 1}");
            EXPECT_EQ(call.has_units, units);
            EXPECT_EQ(call.fingerprint, kFingerprint);
            EXPECT_EQ(call.rows, content);
        }
}

TEST(PartialCall, TextsArePlainAndFiveForFour) {
    std::string bytes;
    for (int i = 0; i < 4000; i++)
        bytes.push_back(static_cast<char>(i * 2654435761U >> 13));
    const std::string text = Printed(bytes);
    EXPECT_EQ(text.size(), 5000U);
    EXPECT_EQ(text.find_first_of("\\'\"\t\n ,`~|;_"), std::string::npos);
    for (const char c : text)
        EXPECT_TRUE(c > ' ' && c < '\x7f');
}

TEST(PartialCall, EveryShorterOrLongerOneIsRefused) {
    const std::string good = Bytes("m", "{}", true, "rows");
    for (size_t size = 0; size < good.size(); size++)
        EXPECT_THROW(ReadPartialCall(std::string_view(good).substr(0, size)), Error) << size;
    EXPECT_THROW(ReadPartialCall(good + "x"), Error);
    EXPECT_THROW(ReadPartialCall(Bytes(std::string("a\0b", 3), "{}", true, "rows")), Error);
}

TEST(PartialCall, AnotherVersionIsNamed) {
    std::string bytes = Bytes("m", "{}", false, "rows");
    bytes[13] = '2';
    try {
        ReadPartialCall(bytes);
        FAIL() << "was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    }
}

// Whatever is changed: refused as damaged, or read as something whose parts fill the bytes exactly.
TEST(PartialCall, ForgedBytesStayWithinTheirEnd) {
    const std::string good =
        Bytes("model", "{\"epsilon\": 1, \"bounds\": [[0, 1]]}", true, std::string(64, 'r'));
    Xorshift random;
    int refused = 0;
    for (int trial = 0; trial < 200000; trial++) {
        std::string bytes = good;
        const uint32_t changes = 1 + random.Below(3);
        for (uint32_t i = 0; i < changes; i++)
            bytes[random.Below(static_cast<uint32_t>(bytes.size()))] = static_cast<char>(random.Below(256));
        if (random.Below(8) == 0)
            bytes.resize(random.Below(static_cast<uint32_t>(bytes.size())));
        try {
            const PartialCall call = ReadPartialCall(bytes);
            EXPECT_EQ(call.rows.data() + call.rows.size(), bytes.data() + bytes.size());
            EXPECT_GE(call.model.data(), bytes.data());
            EXPECT_EQ(call.fingerprint.size(), kChecksumBytes);
        } catch (const Error& error) {
            refused++;
            EXPECT_TRUE(error.code() == ErrorCode::kCorrupted || error.code() == ErrorCode::kUnsupported);
        }
    }
    EXPECT_GT(refused, 50000);
}

TEST(PartialCall, ForgedTextsAreRefusedOrBytes) {
    Xorshift random;
    int refused = 0;
    for (int trial = 0; trial < 100000; trial++) {
        std::string text(random.Below(24), '\0');
        for (char& c : text)
            c = static_cast<char>(trial % 2 == 0 ? 33 + random.Below(90) : random.Below(256));
        try {
            const std::string bytes = Read(text);
            EXPECT_LE(bytes.size(), text.size());
        } catch (const Error& error) {
            refused++;
            EXPECT_EQ(error.code(), ErrorCode::kCorrupted);
        }
    }
    EXPECT_GT(refused, 30000);
    EXPECT_THROW(Read("#####"), Error);  // above what four bytes hold
}

}  // namespace
}  // namespace dpboost
