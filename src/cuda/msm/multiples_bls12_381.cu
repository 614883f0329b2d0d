// Multiples of points of both groups of Bls12_381.
#include "cuda/msm/multiples_impl.cuh"

CUZK_CUDA_MULTIPLES(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MULTIPLES(cuzk::curve::Bls12_381::G2)
