// The IFMA point kernels of BN254; empty in builds for other processors.
//
// Everything that this file instantiates is built with AVX-512 and lies in namespace ifma; nothing
// of it may run before base::cpu_level() said so, constructors of statics included.
#include "msm/kernels/ifma_entry.h"

#if defined(__AVX512IFMA__)

#include "field/bn254.h"
#include "msm/kernels/add_pairs_ifma.h"

namespace cuzk::msm::ifma {

using FpVec = Vec<field::bn254::FpParams>;
using Fp2Vec = Vec2<field::bn254::FpParams>;

Entry bn254_g1() { return entry<FpVec, invert_bn254>(); }
Entry bn254_g2() { return entry<Fp2Vec, invert_bn254>(); }

}  // namespace cuzk::msm::ifma

#else

namespace cuzk::msm::ifma {

Entry bn254_g1() { return {}; }
Entry bn254_g2() { return {}; }

}  // namespace cuzk::msm::ifma

#endif
