// Fixed-base products of both groups of Bls12_381.
//
// A file a curve, so that nvcc compiles the heavy instantiations side by side.
#include "cuda/setup/fixed_base_impl.cuh"

CUZK_CUDA_MULTIPLY_BY_TABLE(cuzk::curve::Bls12_381::G1)
CUZK_CUDA_MULTIPLY_BY_TABLE(cuzk::curve::Bls12_381::G2)
