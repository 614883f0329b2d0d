// Multiples of points of both groups of Bn254.
#include "cuda/msm/multiples_impl.cuh"

CUZK_CUDA_MULTIPLES(cuzk::curve::Bn254::G1)
CUZK_CUDA_MULTIPLES(cuzk::curve::Bn254::G2)
