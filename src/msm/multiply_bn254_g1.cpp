// The operations of msm.h for G1 of Bn254.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bn254::G1);

}  // namespace cuzk::msm
