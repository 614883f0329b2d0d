// The operations of msm.h for G2 of Bn254.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bn254::G2);

}  // namespace cuzk::msm
