// Bucket sums and sums by bitmap of Bls12_381 G1.
#include "cuda/msm/bitmap_impl.cuh"
#include "cuda/msm/window_sums_impl.cuh"

CUZK_CUDA_WINDOW_SUMS(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_BITMAP(cuzk::curve::Bls12_381::G1)
