// Multiples of points of both groups of Bls12_381.
//
// A file a curve, so that nvcc compiles the heavy instantiations side by side.
#include "cuda/msm/multiples_impl.cuh"

CUZK_CUDA_MULTIPLES(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MULTIPLES(cuzk::curve::Bls12_381::G2)
