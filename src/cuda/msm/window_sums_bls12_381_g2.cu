// Bucket sums and sums by bitmap of Bls12_381 G2.
//
// A file a group: these take nvcc the longest, and so they compile side by side.
#include "cuda/msm/bitmap_impl.cuh"
#include "cuda/msm/window_sums_impl.cuh"

CUZK_CUDA_WINDOW_SUMS(cuzk::curve::Bls12_381::G2)
CUZK_CUDA_BITMAP(cuzk::curve::Bls12_381::G2)
