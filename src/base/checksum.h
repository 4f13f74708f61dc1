// Finds accidents in stored bytes; no protection against forgery.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dpboost {

constexpr std::size_t kChecksumBytes = 16;

// BLAKE2b-128 of the bytes.
std::string Checksum(std::string_view bytes);

}  // namespace dpboost
