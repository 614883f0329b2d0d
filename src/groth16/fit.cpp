// Counts compared one by one; the first that differs is the error.
//
// Key, circuit and witness come from three files of different makers, and the sums below this room
// index a mapped key without looking at its length again. So every length they rely on is compared
// here, before the large buffers are taken. A few comparisons a proof: the density, which costs a
// pass over the matrices, is the caller's. What counts cannot tell (a key of another circuit with
// the same counts) shows when the finished proof is verified.
#include "groth16/fit.h"

#include <limits>
#include <string>

#include "base/check.h"
#include "poly/domain.h"

namespace cuzk::groth16 {
namespace {

// "<who> has <found> <what>, <why> <expected>": every refusal for a count reads alike.
base::Error mismatch(const std::string& who, const std::string& what, std::size_t found,
                     const std::string& why, std::size_t expected) {
  return {base::ErrorKind::kMismatch, who + " has " + std::to_string(found) + " " + what + ", " +
                                          why + " " + std::to_string(expected)};
}

// The four queries that hold a point a variable. Dense queries (bellman's) leave out variables
// whose density bit is clear, but never an input in A: the appended rows use each of them there.
template <class C>
base::Status check_queries(const ProvingKey<C>& key, const r1cs::Shape<typename C::Fr>& shape,
                           const r1cs::Density& density) {
  CUZK_ASSERT(density.a_aux.size() == shape.aux_count && density.b_aux.size() == shape.aux_count);
  CUZK_ASSERT(density.b_input.size() == shape.input_count);
  const std::size_t all = shape.variable_count();
  std::size_t a_count = all, b_count = all;
  std::string why = "the circuit's variables are";
  if (key.has_dense_queries) {
    a_count = shape.input_count + density.a_aux.count();
    b_count = density.b_input.count() + density.b_aux.count();
    why = "the circuit's density needs";
  }
  if (key.l.size() != shape.aux_count) {
    return mismatch(key.name, "points in its L query", key.l.size(),
                    "the circuit's private variables are", shape.aux_count);
  }
  if (key.a.size() != a_count) {
    return mismatch(key.name, "points in its A query", key.a.size(), why, a_count);
  }
  if (key.b_g1.size() != b_count) {
    return mismatch(key.name, "points in its B query of G1", key.b_g1.size(), why, b_count);
  }
  if (key.b_g2.size() != b_count) {
    return mismatch(key.name, "points in its B query of G2", key.b_g2.size(), why, b_count);
  }
  return base::ok_status();
}

}  // namespace

template <class C>
base::Status check_key_fits(const ProvingKey<C>& key, const r1cs::Shape<typename C::Fr>& shape,
                            const r1cs::Density& density) {
  // The shift of the domain's size below.
  static_assert(C::Fr::kTwoAdicity < std::numeric_limits<std::size_t>::digits);
  if (shape.input_count == 0) {
    return base::Error{base::ErrorKind::kMalformed,
                       "the circuit has no input, not even the constant one"};
  }
  // Places of points and columns of matrices are 32-bit numbers everywhere below.
  if (shape.variable_count() > std::numeric_limits<std::uint32_t>::max()) {
    return base::Error{base::ErrorKind::kUnsupported, "the circuit has " +
                                                          std::to_string(shape.variable_count()) +
                                                          " variables, the limit is 4294967295"};
  }
  if (key.vk.ic.size() != shape.input_count) {
    return mismatch(key.name, "points for public inputs (with the constant one)", key.vk.ic.size(),
                    "the circuit's inputs are", shape.input_count);
  }
  // The odd coset is made of the roots of unity of twice the order, so one more power is needed.
  const bool is_odd_coset = key.convention == QapConvention::kOddCosetLagrange;
  if (key.domain_log2 > C::Fr::kTwoAdicity - (is_odd_coset ? 1 : 0)) {
    return base::Error{base::ErrorKind::kMalformed, key.name + " claims a domain of 2^" +
                                                        std::to_string(key.domain_log2) +
                                                        " rows, more than " + C::kName + " has"};
  }
  const std::size_t domain_size = std::size_t{1} << key.domain_log2;
  if (domain_size < shape.qap_row_count()) {
    return mismatch(key.name, "rows in its domain", domain_size, "the circuit needs at least",
                    shape.qap_row_count());
  }
  // h has degree m - 2 at most: m - 1 coefficients. As values on a coset all m are there.
  const std::size_t h_count = domain_size - (is_odd_coset ? 0 : 1);
  if (key.h.size() != h_count) {
    return mismatch(key.name, "points in its H query", key.h.size(),
                    "its domain of " + std::to_string(domain_size) + " rows needs", h_count);
  }
  CUZK_TRY_STATUS(check_queries(key, shape, density));
  // r delta and s delta are all that hides the sums of the witness in A and B.
  if (key.vk.delta_g1.is_infinity() || key.vk.delta_g2.is_infinity()) {
    return base::Error{base::ErrorKind::kMalformed,
                       key.name + " has the point at infinity for delta in " +
                           (key.vk.delta_g1.is_infinity() ? "G1" : "G2") +
                           ", so its proofs would hide nothing"};
  }
  return base::ok_status();
}

template <class F>
base::Status check_assignment_fits(const r1cs::Assignment<F>& assignment,
                                   const r1cs::Shape<F>& shape) {
  const std::string who = "the witness";
  if (assignment.inputs.size() != shape.input_count) {
    return mismatch(who, "inputs (with the constant one)", assignment.inputs.size(),
                    "the circuit has", shape.input_count);
  }
  if (assignment.aux.size() != shape.aux_count) {
    return mismatch(who, "private values", assignment.aux.size(), "the circuit has",
                    shape.aux_count);
  }
  if (!assignment.inputs.empty() && !assignment.inputs[0].is_one()) {
    return base::Error{base::ErrorKind::kMismatch,
                       "the witness does not begin with the constant one"};
  }
  return base::ok_status();
}

template base::Status check_key_fits(const ProvingKey<curve::Bls12_381>&,
                                     const r1cs::Shape<curve::Bls12_381::Fr>&,
                                     const r1cs::Density&);
template base::Status check_key_fits(const ProvingKey<curve::Bn254>&,
                                     const r1cs::Shape<curve::Bn254::Fr>&, const r1cs::Density&);
template base::Status check_assignment_fits(const r1cs::Assignment<field::bls12_381::Fr>&,
                                            const r1cs::Shape<field::bls12_381::Fr>&);
template base::Status check_assignment_fits(const r1cs::Assignment<field::bn254::Fr>&,
                                            const r1cs::Shape<field::bn254::Fr>&);

}  // namespace cuzk::groth16
