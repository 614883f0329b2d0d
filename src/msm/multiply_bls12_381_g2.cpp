// The operations of msm.h for G2 of BLS12-381.
//
// The widest rows of the four groups, 256 bytes with IFMA: here buckets fill the caches first.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bls12_381::G2);

}  // namespace cuzk::msm
