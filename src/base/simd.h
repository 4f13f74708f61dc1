// Run-time choice between vector and portable code. Every kernel exists in several forms with bit-identical
// results; the choice is a value handed to the kernels, so that tests compare the forms in one process. The
// package itself is built for the base architecture.
#pragma once

namespace dpboost {

// In ascending order: a machine that has one has all before it.
enum class Simd { kPortable, kAvx2, kAvx512, kAvx512Vnni, kAvx512Vbmi };

inline Simd BestSimd() {
#if defined(__x86_64__)
    if (!__builtin_cpu_supports("avx2"))
        return Simd::kPortable;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw"))
        return Simd::kAvx2;
    if (!__builtin_cpu_supports("avx512vnni"))
        return Simd::kAvx512;
    return __builtin_cpu_supports("avx512vbmi") ? Simd::kAvx512Vbmi : Simd::kAvx512Vnni;
#else
    return Simd::kPortable;
#endif
}

}  // namespace dpboost
