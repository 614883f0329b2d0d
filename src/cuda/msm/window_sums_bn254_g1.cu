// Bucket sums of Bn254 G1.
#include "cuda/msm/window_sums_impl.cuh"

CUZK_CUDA_WINDOW_SUMS(cuzk::curve::Bn254::G1)
