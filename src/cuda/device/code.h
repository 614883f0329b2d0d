// What device code needs of the compiler: unrolling, and whether this pass makes device code.
//
// The same headers go through nvcc's device pass, its host pass and plain host compilers, which
// differ in what they accept. CUZK_DEVICE_CODE is 1 in the first only, CUZK_OUT_OF_LINE says
// noinline in the first two.
#pragma once

// Host passes get no pragma: host compilers do not know it.
#if defined(__CUDA_ARCH__)
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#else
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#endif

// Host compilers may inline what they like: the bodies are the same, and so are the results.
#if defined(__CUDACC__)
#define CUZK_OUT_OF_LINE __noinline__
#else
#define CUZK_OUT_OF_LINE
#endif

#if defined(__CUDA_ARCH__)
#define CUZK_DEVICE_CODE 1
#else
#define CUZK_DEVICE_CODE 0
#endif
