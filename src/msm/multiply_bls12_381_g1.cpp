// The operations of msm.h for G1 of BLS12-381.
//
// A file for each group, so that four compilers can work at once and a change of one kernel does
// not build the other three again.
#include "msm/instantiate.h"

namespace cuzk::msm {

CUZK_MSM_INSTANTIATE(curve::Bls12_381::G1);

}  // namespace cuzk::msm
