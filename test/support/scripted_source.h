// A random source that serves given 64-bit words and then zeros, for tests that walk a sampler along a known
// path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/random_source.h"

namespace dpboost {

class ScriptedSource final : public RandomSource {
  public:
    explicit ScriptedSource(std::vector<uint64_t> words) : words_(std::move(words)) {}

    void Fill(void* out, std::size_t size) override {
        std::memset(out, 0, size);
        const std::size_t left = (words_.size() - next_) * sizeof(uint64_t);
        const std::size_t bytes = size < left ? size : left;
        if (bytes > 0)
            std::memcpy(out, words_.data() + next_, bytes);
        next_ += bytes / sizeof(uint64_t);
    }

  private:
    std::vector<uint64_t> words_;
    std::size_t next_ = 0;
};

}  // namespace dpboost
