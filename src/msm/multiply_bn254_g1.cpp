// The operations of msm.h for G1 of BN254.
//
// The narrowest rows of the four groups, 64 bytes in every form: an addition touches three lines.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bn254::G1);

}  // namespace cuzk::msm
