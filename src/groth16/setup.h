// Development set-up: a key whose secrets were known to this process. NEVER for production.
//
// Production keys come out of a ceremony (Bowe, Gabizon, Miers 2017) in which nobody learns the
// secrets. This one is for tests, benchmarks and networks of one's own; its keys have the form of
// theirs, so all that reads, proves and verifies is the same.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "base/wipe.h"
#include "groth16/control.h"
#include "groth16/keys.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// The secrets. Whoever knows them forges proofs. Wiped when they die.
template <class C>
struct ToxicWaste {
  typename C::Fr alpha, beta, gamma, delta, tau;
  ~ToxicWaste() { base::wipe(this, sizeof *this); }
};

// Secrets from the operating system's randomness: none zero, tau in no domain of a power of two.
template <class C>
base::Result<ToxicWaste<C>> random_toxic_waste();

// Multiples of the groups' generators in bulk: out[i] = scalars[i] * generator, sizes equal. A
// set-up calls it from one thread.
template <class C>
class GeneratorMultiplier {
 public:
  virtual ~GeneratorMultiplier() = default;
  virtual base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                                std::span<typename C::G1Affine> out) = 0;
  virtual base::Status multiply(std::span<const typename C::FrCanonical> scalars,
                                std::span<typename C::G2Affine> out) = 0;
};

// A proving key in memory for `shape` (which must carry C), in either convention:
// kCoefficients with dense queries as bellman writes them, or kOddCosetLagrange with full queries
// as snarkjs does. A variable that no constraint mentions is an error for kCoefficients (bellman
// cannot represent it). The returned key owns its points. Refuses a zero secret, a tau inside the
// domain and a circuit that is too large for the field; memory that is refused is
// kResourceExhausted. Cost: about input + 2 aux + domain fixed-base products in G1 and one in G2
// for every variable that occurs in B, made by `multiplier` (a device, say) or by this machine's
// processors when there is none; the key is the same.
template <class C>
base::Result<std::shared_ptr<const ProvingKey<C>>> setup(
    const r1cs::Shape<typename C::Fr>& shape, const ToxicWaste<C>& waste, QapConvention convention,
    const Control& control = {}, GeneratorMultiplier<C>* multiplier = nullptr);

extern template base::Result<ToxicWaste<curve::Bls12_381>> random_toxic_waste();
extern template base::Result<ToxicWaste<curve::Bn254>> random_toxic_waste();
extern template base::Result<std::shared_ptr<const ProvingKey<curve::Bls12_381>>> setup(
    const r1cs::Shape<curve::Bls12_381::Fr>&, const ToxicWaste<curve::Bls12_381>&, QapConvention,
    const Control&, GeneratorMultiplier<curve::Bls12_381>*);
extern template base::Result<std::shared_ptr<const ProvingKey<curve::Bn254>>> setup(
    const r1cs::Shape<curve::Bn254::Fr>&, const ToxicWaste<curve::Bn254>&, QapConvention,
    const Control&, GeneratorMultiplier<curve::Bn254>*);

}  // namespace cuzk::groth16
