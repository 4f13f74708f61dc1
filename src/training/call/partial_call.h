// A part of a training's rows on its way between servers: which call it belongs to, by what its columns are encoded, and
// the rows behind that. Engines that spread an aggregate over machines carry it as text, so it also has a form of
// printable characters, five for four bytes. Bytes come from anywhere and are believed nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/checksum.h"

namespace dpboost {

struct PartialCall {
    std::string_view model;
    std::string_view options;  // JSON
    bool has_units = false;
    std::string_view fingerprint;  // of kChecksumBytes: TrainingCore::Fingerprint
    std::string_view rows;         // TrainingCore::WritePartial
};

// All before the rows. `rows` is taken for its size only.
std::string WritePartialHead(const PartialCall& call, size_t rows_size);

// Views into the bytes. Throws kCorrupted for any that WritePartialHead and rows cannot have been; what the rows are is for
// TrainingCore to check.
PartialCall ReadPartialCall(std::string_view bytes);

// Bytes as printable characters, without quotes and backslashes.
size_t PrintableSize(size_t bytes);
void WritePrintable(std::string_view bytes, char* out);
// The size of what a text was made of, and its bytes. Throw kCorrupted for a text that WritePrintable cannot have
// written.
size_t PrintedSize(std::string_view text);
void ReadPrintable(std::string_view text, char* out);

}  // namespace dpboost
