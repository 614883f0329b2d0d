// Marks functions that must compile for the host and for a CUDA device alike.
//
// Field and curve arithmetic is written once under this mark, so that a machine without a GPU tests
// the very formulas that the device runs.
#pragma once

#if defined(__CUDACC__)
#define CUZK_HD __host__ __device__
#else
#define CUZK_HD
#endif

#if defined(__CUDACC__)
#define CUZK_INLINE __forceinline__
#else
#define CUZK_INLINE inline __attribute__((always_inline))
#endif
