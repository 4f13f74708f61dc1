// Memory for what grows with the rows. From a huge page's size on it is mapped for itself and may lie on huge pages: without
// them the system makes and frees ten million rows page by page, which is a quarter of the time of reading them, and what a
// cancelled training's session waits for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace dpboost {

constexpr size_t kHugePage = 2 << 20;

// Zeroed, and aligned to a line of the cache; throws std::bad_alloc. It is freed with the number of bytes that was asked for.
void* TakeLarge(size_t bytes);
void FreeLarge(void* memory, size_t bytes) noexcept;

// Pieces of one size, zeroed, out of larger mappings, each of which lives as long as one of its pieces. Few pieces take no
// more than their own memory; the mappings grow with them.
class LargePieces {
  public:
    std::shared_ptr<uint8_t> Take(size_t bytes);
    // Forgets the mapping that pieces are taken from.
    void Reset() noexcept { *this = LargePieces(); }

  private:
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
