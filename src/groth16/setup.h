// Development set-up: a key whose secrets were known to this process. NEVER for production.
#pragma once

#include <memory>

#include "base/result.h"
#include "groth16/keys.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// The secrets. Whoever knows them forges proofs.
template <class C>
struct ToxicWaste {
  typename C::Fr alpha, beta, gamma, delta, tau;
};

// Secrets from the operating system's randomness, none zero.
template <class C>
base::Result<ToxicWaste<C>> random_toxic_waste();

// A proving key in memory for `shape` (which must carry C), in either convention:
// kCoefficients with dense queries as bellman writes them, or kOddCosetLagrange with full queries as
// snarkjs does. A variable that no constraint mentions is an error for kCoefficients (bellman cannot
// represent it). The returned key owns its points.
template <class C>
base::Result<std::shared_ptr<const ProvingKey<C>>> setup(
    const r1cs::Shape<typename C::Fr>& shape, const ToxicWaste<C>& waste,
    QapConvention convention);

}  // namespace cuzk::groth16
