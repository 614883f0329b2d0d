// The operations of msm.h for G2 of Bls12-381.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bls12_381::G2);

}  // namespace cuzk::msm
