// Run-time choice between AVX2 and portable code. Every kernel exists in both forms with bit-identical
// results; the choice is a value handed to the kernels, so that tests compare the two in one process.
#pragma once

namespace dpboost {

enum class Simd { kPortable, kAvx2 };

// The best instruction set of this machine; the package itself is built for the base architecture.
inline Simd BestSimd() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") ? Simd::kAvx2 : Simd::kPortable;
#else
    return Simd::kPortable;
#endif
}

}  // namespace dpboost
