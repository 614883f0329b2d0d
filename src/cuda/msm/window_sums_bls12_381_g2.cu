// Bucket sums of Bls12_381 G2.
#include "cuda/msm/window_sums_impl.cuh"

CUZK_CUDA_WINDOW_SUMS(cuzk::curve::Bls12_381::G2)
