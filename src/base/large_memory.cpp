#include "base/large_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace dpboost {
namespace {

constexpr size_t kCacheLine = 64;
// Of pieces, at once, and none together before there is half of it: the first byte of a huge page makes all of it resident, which
// limits of memory do not count.
constexpr size_t kMostMapped = 8 * kHugePage;

#ifdef __SANITIZE_ADDRESS__
constexpr bool kMaps = false;  // so that every byte beyond a piece is noticed
#else
constexpr bool kMaps = true;
#endif

size_t RoundUp(size_t bytes, size_t to) {
    return (bytes + to - 1) / to * to;
}

// 4 kB, or up to 64 kB on some processors.
size_t WholePages(size_t bytes) {
    return RoundUp(bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
}

bool IsMapped(size_t bytes) {
    return kMaps && bytes >= kHugePage;
}

// Begins with a huge page; what is left beside it goes back. The last page may be a common one, so no more is taken than asked for.
void* Map(size_t bytes) {
    const size_t wanted = RoundUp(bytes, kHugePage);
    void* const mapped =
        mmap(nullptr, wanted + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        throw std::bad_alloc();
    auto* const from = static_cast<uint8_t*>(mapped);
    auto* const memory = reinterpret_cast<uint8_t*>(RoundUp(reinterpret_cast<uintptr_t>(mapped), kHugePage));
    if (memory > from)
        munmap(from, static_cast<size_t>(memory - from));
    const size_t kept = WholePages(bytes);
    munmap(memory + kept, static_cast<size_t>(from + wanted + kHugePage - (memory + kept)));
#ifdef MADV_HUGEPAGE
    madvise(memory, kept, MADV_HUGEPAGE);  // where the system has none, common ones do
#endif
    return memory;
}

}  // namespace

void* TakeLarge(size_t bytes) {
    if (IsMapped(bytes))
        return Map(bytes);
    const size_t size = RoundUp(std::max(bytes, kCacheLine), kCacheLine);
    void* const memory = std::aligned_alloc(kCacheLine, size);
    if (memory == nullptr)
        throw std::bad_alloc();
    std::memset(memory, 0, size);
    return memory;
}

void FreeLarge(void* memory, size_t bytes) noexcept {
    if (memory != nullptr && IsMapped(bytes))
        munmap(memory, WholePages(bytes));
    else
        std::free(memory);
}

LargePiece LargePieces::Take(size_t bytes) {
    bytes = RoundUp(bytes, kCacheLine);
    if (taken_ == in_mapping_) {
        const size_t most = std::max<size_t>(kMostMapped / bytes, 1);
        const size_t count = kMaps && all_ * bytes >= kMostMapped / 2 ? std::min(all_, most) : 1;
        const size_t size = count * bytes;
        mapping_.reset(static_cast<uint8_t*>(TakeLarge(size)),
                       [size](uint8_t* memory) { FreeLarge(memory, size); });
        in_mapping_ = count;
        taken_ = 0;
    }
    all_++;
    return {mapping_.get() + taken_++ * bytes, FreePiece{mapping_}};
}

}  // namespace dpboost
