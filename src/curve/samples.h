// Reproducible points for tests: in the subgroup, anywhere on the curve, and those that break
// formulas.
//
// Not for product code.
#pragma once

#include <vector>

#include "curve/groups.h"
#include "field/samples.h"
#include "field/square_root.h"

namespace cuzk::curve {

// A random multiple of the generator.
template <class G>
Affine<G> sample_member(field::SampleGenerator& generator) {
  const auto g = Jacobian<G>::from_affine(G::generator());
  return g.scaled(generator.next_limbs<2>()).to_affine();
}

// A random point of the curve: in the subgroup only by chance of one in the cofactor.
template <class G>
Affine<G> sample_curve_point(field::SampleGenerator& generator) {
  for (;;) {
    const auto x = generator.next<typename G::Field>();
    const auto y = square_root(x.squared() * x + G::b());
    if (y) return {x, *y};
  }
}

// Infinity, the generator, its opposite, small multiples, and `count` random members.
template <class G>
std::vector<Affine<G>> sample_members(std::size_t count) {
  const auto g = Jacobian<G>::from_affine(G::generator());
  std::vector<Affine<G>> out = {Affine<G>::infinity(), g.to_affine(), -g.to_affine(),
                                g.doubled().to_affine(), (g.doubled() + g).to_affine()};
  field::SampleGenerator generator(0xc0de);
  for (std::size_t i = 0; i < count; ++i) out.push_back(sample_member<G>(generator));
  return out;
}

}  // namespace cuzk::curve
