// Whether a key, a circuit and a witness belong together: counts compared before anything is
// computed. The errors name what a user can act on: the key, the query, both numbers.
#pragma once

#include "base/result.h"
#include "groth16/keys.h"
#include "r1cs/shape.h"

namespace cuzk::groth16 {

// Checks a key against a shape: inputs, aux, domain, every query against the density, delta not
// infinity. An error of kind kMismatch names the key, the query and both numbers; a key that no
// shape can fit is kMalformed.
template <class C>
base::Status check_key_fits(const ProvingKey<C>& key, const r1cs::Shape<typename C::Fr>& shape,
                            const r1cs::Density& density);

// Checks an assignment's counts against a shape and that input 0 is one.
template <class F>
base::Status check_assignment_fits(const r1cs::Assignment<F>& assignment,
                                   const r1cs::Shape<F>& shape);

extern template base::Status check_key_fits(const ProvingKey<curve::Bls12_381>&,
                                            const r1cs::Shape<curve::Bls12_381::Fr>&,
                                            const r1cs::Density&);
extern template base::Status check_key_fits(const ProvingKey<curve::Bn254>&,
                                            const r1cs::Shape<curve::Bn254::Fr>&,
                                            const r1cs::Density&);
extern template base::Status check_assignment_fits(const r1cs::Assignment<field::bls12_381::Fr>&,
                                                   const r1cs::Shape<field::bls12_381::Fr>&);
extern template base::Status check_assignment_fits(const r1cs::Assignment<field::bn254::Fr>&,
                                                   const r1cs::Shape<field::bn254::Fr>&);

}  // namespace cuzk::groth16
