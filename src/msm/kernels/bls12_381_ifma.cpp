// The IFMA point kernels of BLS12-381; empty in builds for other processors.
//
// A coordinate has eight limbs here and rows are wider than the points (ifma_rows.h): whole limbs
// are loaded and stored without shifts.
#include "msm/kernels/ifma_entry.h"

#if defined(__AVX512IFMA__)

#include "field/bls12_381.h"
#include "msm/kernels/add_pairs_ifma.h"

namespace cuzk::msm::ifma {

using FpVec = Vec<field::bls12_381::FpParams>;
using Fp2Vec = Vec2<field::bls12_381::FpParams>;

Entry bls12_381_g1() { return entry<FpVec, invert_bls12_381>(); }
Entry bls12_381_g2() { return entry<Fp2Vec, invert_bls12_381>(); }

}  // namespace cuzk::msm::ifma

#else

namespace cuzk::msm::ifma {

Entry bls12_381_g1() { return {}; }
Entry bls12_381_g2() { return {}; }

}  // namespace cuzk::msm::ifma

#endif
