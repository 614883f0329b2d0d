// Groth16 keys and proofs as values (Groth, "On the Size of Pairing-based Non-interactive
// Arguments", EUROCRYPT 2016, section 3.2).
//
// One form for every source: whether a key came from bellperson, from snarkjs or from our own
// set-up shows in three places only (convention, dense queries, layout of the points), and no
// prover asks for more. Verifying keys and proofs are small and copied; proving keys are large,
// borrow their points, and are shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "curve/groups.h"
#include "msm/point_source.h"

namespace cuzk::groth16 {

// Decides what a proof means, so readers check each point: on the curve and in the subgroup.
template <class C>
struct VerifyingKey {
  typename C::G1Affine alpha_g1, beta_g1;
  typename C::G2Affine beta_g2, gamma_g2;
  typename C::G1Affine delta_g1;
  typename C::G2Affine delta_g2;
  std::vector<typename C::G1Affine> ic;  // ic[0] belongs to ONE

  std::size_t public_input_count() const noexcept { return ic.empty() ? 0 : ic.size() - 1; }
  bool operator==(const VerifyingKey&) const = default;
};

// Three points. Nothing is implied about them: verify (verify.h) checks curve and subgroup itself.
template <class C>
struct Proof {
  typename C::G1Affine a;
  typename C::G2Affine b;
  typename C::G1Affine c;
  bool operator==(const Proof&) const = default;
};

// How a key's H query was made, which fixes the scalars it wants.
enum class QapConvention {
  // h_i = tau^i (tau^m - 1) / delta, i < m - 1: the scalars are the coefficients of
  // h = (a b - c) / (X^m - 1).
  kCoefficients,
  // snarkjs: the Lagrange basis of the coset g * domain with g^m = -1, times the vanishing
  // polynomial's share: h_i = (tau^m - 1) L_i(tau / g) / (-2 delta), i < m, so that the scalars are
  // the values of a b - c on the coset. The domain's generator comes from the smallest quadratic
  // non-residue (qap.h), which on BLS12-381 is another order of the points than bellman's.
  kOddCosetLagrange,
};

// What a prover reads. Points are borrowed from `owner` (a mapped file or arrays in memory), which
// every user keeps alive by holding the key through a shared_ptr.
template <class C>
struct ProvingKey {
  std::string name;  // file name or description, for messages
  VerifyingKey<C> vk;
  QapConvention convention = QapConvention::kCoefficients;
  std::size_t domain_log2 = 0;
  // Whether a, b_g1 and b_g2 omit the variables whose density bit is clear (bellman) or hold one
  // point, perhaps infinity, for every variable (snarkjs). Order: inputs, then aux.
  bool has_dense_queries = false;
  msm::PointSource<typename C::G1> h, l, a, b_g1;
  msm::PointSource<typename C::G2> b_g2;
  std::shared_ptr<const void> owner;
};

}  // namespace cuzk::groth16
