// Constants of phi and psi, found from the moduli and kept for the life of the process.
//
// No constant is written down: phi takes a cube root of one from Fp's generator, psi takes the
// Frobenius powers of the tower. Which of the two cube roots belongs to -z^2 is settled once, on
// the generator. First use may come from any thread.
#include "curve/endomorphism.h"

#include "base/check.h"

namespace cuzk::curve {
namespace {

// What psi multiplies the conjugated x and y with. The map (x, y) -> (x w^2, y w^3) of a divisive
// twist gives w^(2(p-1)) and w^(3(p-1)); a multiplicative twist gives their inverses.
template <class C>
struct TwistFactors {
  typename C::Fp2 x, y;

  static const TwistFactors& get() {
    static const TwistFactors factors = [] {
      const auto& powers = field::Dodecic<typename C::Tower>::frobenius_powers();
      if (C::kHasMultiplicativeTwist) return TwistFactors{powers[2].inverse(), powers[3].inverse()};
      return TwistFactors{powers[2], powers[3]};
    }();
    return factors;
  }
};

}  // namespace

template <class C>
const typename C::Fp& cube_root_of_one() {
  using Fp = typename C::Fp;
  constexpr auto order = Fp::Constants::modulus_minus(1), third = quotient(order, 3);
  static_assert(third[0] * 3 == order[0], "p = 1 mod 3, so the division leaves no rest");
  static const Fp root = Fp::generator().pow(third);
  CUZK_DEBUG_ASSERT(!root.is_one() && (root.squared() * root).is_one());
  return root;
}

const Bls12_381::Fp& phi_factor() {
  using G1 = Bls12_381::G1;
  static const Bls12_381::Fp factor = [] {
    const field::Limbs<1> z = {{Bls12_381::kParameter}};
    const auto g = Jacobian<G1>::from_affine(G1::generator());
    const Affine<G1> expected = (-g.scaled(z).scaled(z)).to_affine();
    const Bls12_381::Fp& root = cube_root_of_one<Bls12_381>();
    const bool fits = phi(G1::generator(), root) == expected;
    const Bls12_381::Fp chosen = fits ? root : root.squared();
    CUZK_ASSERT(phi(G1::generator(), chosen) == expected);  // the eigenvalues are -z^2 and z^2 - 1
    return chosen;
  }();
  return factor;
}

template <class C>
typename C::G2Affine psi(const typename C::G2Affine& p) {
  const auto& factors = TwistFactors<C>::get();
  return {p.x.conjugate() * factors.x, p.y.conjugate() * factors.y};
}

template const Bls12_381::Fp& cube_root_of_one<Bls12_381>();
template const Bn254::Fp& cube_root_of_one<Bn254>();
template Bls12_381::G2Affine psi<Bls12_381>(const Bls12_381::G2Affine&);
template Bn254::G2Affine psi<Bn254>(const Bn254::G2Affine&);

}  // namespace cuzk::curve
