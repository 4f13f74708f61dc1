// Memory that will be wanted soon, fetched a little at a time between pieces of work: columns of a block are too short for
// the processor to see by itself what comes next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dpboost {

class LookAhead {
  public:
    void Clear() {
        ranges_.clear();
        lines_ = 0;
        range_ = 0;
    }
    void Want(const void* from, size_t bytes) {
        const char* const first = static_cast<const char*>(from);
        ranges_.push_back({first, first + bytes});
        lines_ += bytes / kLine;
    }
    // The fetches are spread over so many calls of Fetch.
    void Spread(size_t calls) { share_ = lines_ / std::max<size_t>(calls, 1) + 1; }
    void Fetch() {
        for (size_t left = share_; left > 0 && range_ < ranges_.size();) {
            Range& range = ranges_[range_];
            for (; left > 0 && range.next < range.end; left--, range.next += kLine)
                __builtin_prefetch(range.next, 0, 2);
            if (range.next >= range.end)
                range_++;
        }
    }

  private:
    static constexpr size_t kLine = 64;
    struct Range {
        const char* next;
        const char* end;
    };
    std::vector<Range> ranges_;
    size_t lines_ = 0;
    size_t range_ = 0;
    size_t share_ = 0;
};

}  // namespace dpboost
