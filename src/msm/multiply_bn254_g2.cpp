// The operations of msm.h for G2 of BN254.
//
// Coordinates lie in Fp2: an addition is two to three times the work of one in G1.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bn254::G2);

}  // namespace cuzk::msm
