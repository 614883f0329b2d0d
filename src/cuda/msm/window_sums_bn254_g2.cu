// Bucket sums of Bn254 G2.
#include "cuda/msm/window_sums_impl.cuh"

CUZK_CUDA_WINDOW_SUMS(cuzk::curve::Bn254::G2)
