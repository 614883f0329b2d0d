// The operations of msm.h for G1 of Bls12-381.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bls12_381::G1);

}  // namespace cuzk::msm
