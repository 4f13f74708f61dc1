// What trees do to many rows at once: one number per row, side by side, in the vector form that the machine has. Both
// forms give the same bits, because no sum over rows is involved and nothing is contracted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/simd.h"
#include "model/model.h"

namespace dpboost {

constexpr size_t kRowsAtOnce = 64;

#if defined(__x86_64__)
template <typename Body>
__attribute__((target("avx2"))) void RunAvx2(const Body& body) {
    body();
}
#endif

// Runs loops over rows. The body must be marked DPBOOST_LANES, so that it is compiled anew for each form.
#define DPBOOST_LANES __attribute__((always_inline))
template <typename Body>
inline void ForRows(Simd simd, const Body& body) {
#if defined(__x86_64__)
    if (simd != Simd::kPortable)
        return RunAvx2(body);
#else
    (void)simd;
#endif
    body();
}

// Codes by feature, [feature * kRowsAtOnce + row], none above the missing one. rows: one row behind the other.
std::vector<uint16_t> ColumnsOf(const Model& model, const uint16_t* rows);

// 1 where a row goes left at a node, else 0. columns: as above.
void DecideRows(const Model& model, const Tree& tree, size_t node, const uint16_t* columns, Simd simd,
                float* left);

}  // namespace dpboost
