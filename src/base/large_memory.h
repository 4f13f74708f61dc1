// Memory for what grows with the rows. From a huge page's size on it is mapped for itself and may lie on huge pages: without
// them the system makes and frees ten million rows page by page, which is a quarter of the time of reading them, and what a
// cancelled training's session waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace dpboost {

constexpr size_t kHugePage = 2 << 20;

// Zeroed, and aligned to a line of the cache; throws std::bad_alloc. It is freed with the number of bytes that was asked for.
void* TakeLarge(size_t bytes);
void FreeLarge(void* memory, size_t bytes) noexcept;

// Frees a piece of a mapping, and the last piece the mapping.
struct FreePiece {
    void operator()(uint8_t*) noexcept { mapping.reset(); }
    std::shared_ptr<uint8_t> mapping;
};
using LargePiece = std::unique_ptr<uint8_t[], FreePiece>;

// Pieces of one size, zeroed, out of mappings that they share. Few pieces take no more than their own memory; with more of them
// at most a quarter is there before it is wanted.
class LargePieces {
  public:
    LargePieces() = default;
    LargePieces(LargePieces&& other) noexcept { Swap(other); }
    LargePieces& operator=(LargePieces&& other) noexcept {
        LargePieces taken(std::move(other));
        Swap(taken);
        return *this;
    }
    LargePiece Take(size_t bytes);
    // Forgets the mapping that pieces are taken from.
    void Reset() noexcept { *this = LargePieces(); }

  private:
    void Swap(LargePieces& other) noexcept {
        mapping_.swap(other.mapping_);
        std::swap(taken_, other.taken_);
        std::swap(in_mapping_, other.in_mapping_);
        std::swap(all_, other.all_);
    }

    std::shared_ptr<uint8_t> mapping_;
    size_t taken_ = 0;
    size_t in_mapping_ = 0;
    size_t all_ = 0;
};

template <class T>
struct LargeAllocator {
    using value_type = T;
    LargeAllocator() = default;
    template <class U>
    LargeAllocator(const LargeAllocator<U>&) noexcept {}
    T* allocate(size_t count) {
        if (count > std::numeric_limits<size_t>::max() / sizeof(T) / 2)
            throw std::bad_alloc();
        return static_cast<T*>(TakeLarge(count * sizeof(T)));
    }
    void deallocate(T* memory, size_t count) noexcept { FreeLarge(memory, count * sizeof(T)); }
    friend bool operator==(const LargeAllocator&, const LargeAllocator&) noexcept { return true; }
    friend bool operator!=(const LargeAllocator&, const LargeAllocator&) noexcept { return false; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace dpboost
