// The permutation in its optimised form and, beside it, as it is defined.
//
// Source: Grassi et al., ePrint 2019/458, with its appendix on efficient implementation: the MDS
// matrix of the partial rounds is factored into sparse ones, so a partial round of width t costs 2
// t - 1 products instead of t^2. poseidon_plain is the twin that tests compare with. Only one
// element of the result is wanted, so the last matrix is one column.
#include "hash/poseidon.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <mutex>

#include "base/check.h"
#include "hash/poseidon_constants.h"

namespace cuzk::hash {

namespace {

using Fr = PoseidonField;

// Full rounds on each side of the partial ones.
constexpr std::size_t kHalf = kPoseidonFullRounds / 2;
constexpr std::size_t kWidthMax = 37;  // of arity 36
static_assert(kPoseidonFullRounds % 2 == 0, "as many full rounds before the partial ones as after");
using State = std::array<Fr, kWidthMax>;

// A supported arity and its number of partial rounds.
struct Instance {
  std::size_t arity, partial_rounds;
};
// Partial rounds for 128 bits of security with the standard margin, one place of truth.
constexpr Instance kInstances[] = {{2, 55},  {4, 56},  {8, 57}, {11, 57},
                                   {16, 59}, {24, 59}, {36, 60}};

// The S-box: x^5 permutes the field, since 5 does not divide r - 1.
Fr fifth_power(const Fr& x) {
  const Fr square = x.squared();
  return square.squared() * x;
}

// state = state * m, the state as a row.
void multiply(State& state, const std::vector<Fr>& m, std::size_t t) {
  State out{};
  for (std::size_t i = 0; i < t; ++i) {
    for (std::size_t j = 0; j < t; ++j) out[j] += state[i] * m[i * t + j];
  }
  state = out;
}

// The same for a matrix that is the identity but for its first row and column.
void multiply(State& state, const PoseidonSparseMatrix& m, std::size_t t) {
  const Fr first = state[0];
  Fr sum = m.column[0] * first;
  for (std::size_t j = 1; j < t; ++j) {
    sum += m.column[j] * state[j];
    state[j] += m.row[j - 1] * first;
  }
  state[0] = sum;
}

// The tag first, then the inputs.
State initial_state(std::span<const Fr> inputs, const Fr& tag) {
  State state{};
  state[0] = tag;
  std::copy(inputs.begin(), inputs.end(), state.begin() + 1);
  return state;
}

}  // namespace

bool poseidon_arity_supported(std::size_t arity) noexcept {
  for (const Instance& instance : kInstances) {
    if (instance.arity == arity) return true;
  }
  return false;
}

// One flag for each arity, so that who wants a small one does not wait for a large one.
const PoseidonConstants& poseidon_constants(std::size_t arity) {
  static std::once_flag once[std::size(kInstances)];
  static std::unique_ptr<const PoseidonConstants> made[std::size(kInstances)];
  for (std::size_t i = 0; i < std::size(kInstances); ++i) {
    if (kInstances[i].arity != arity) continue;
    std::call_once(once[i], [i] {
      made[i] = std::make_unique<const PoseidonConstants>(
          internal::derive_poseidon_constants(kInstances[i].arity, kInstances[i].partial_rounds));
    });
    return *made[i];
  }
  CUZK_ASSERT(poseidon_arity_supported(arity));
  __builtin_unreachable();
}

PoseidonField poseidon_merkle_tag(std::size_t arity) {
  CUZK_ASSERT(arity < 64);
  return Fr::from_u64((std::uint64_t{1} << arity) - 1);
}

PoseidonField poseidon_custom_tag(std::uint64_t identifier) {
  return Fr::from_u64(identifier) * Fr::from_u64(std::uint64_t{1} << 40);
}

// Keys are added after the S-boxes here (poseidon_constants.cpp moved them), all but the first t.
// The order of the rounds: four full ones, the last with pre_sparse in place of the matrix; the
// partial ones, each on element 0 and a sparse matrix; three full ones; and a last without a key.
PoseidonField poseidon(std::span<const PoseidonField> inputs, const PoseidonField& tag) {
  const PoseidonConstants& constants = poseidon_constants(inputs.size());
  const std::size_t t = constants.width;
  CUZK_ASSERT(t <= kWidthMax);
  const Fr* key = constants.compressed_constants.data();
  State state = initial_state(inputs, tag);
  for (std::size_t i = 0; i < t; ++i) state[i] += *key++;
  for (std::size_t round = 0; round < kHalf; ++round) {
    for (std::size_t i = 0; i < t; ++i) state[i] = fifth_power(state[i]) + *key++;
    multiply(state, round + 1 == kHalf ? constants.pre_sparse : constants.mds, t);
  }
  for (const PoseidonSparseMatrix& sparse : constants.sparse) {
    state[0] = fifth_power(state[0]) + *key++;
    multiply(state, sparse, t);
  }
  for (std::size_t round = 0; round + 1 < kHalf; ++round) {
    for (std::size_t i = 0; i < t; ++i) state[i] = fifth_power(state[i]) + *key++;
    multiply(state, constants.mds, t);
  }
  CUZK_DEBUG_ASSERT(key ==
                    constants.compressed_constants.data() + constants.compressed_constants.size());
  Fr out = Fr::zero();
  for (std::size_t i = 0; i < t; ++i) out += fifth_power(state[i]) * constants.mds[i * t + 1];
  return out;
}

PoseidonField poseidon(std::span<const PoseidonField> inputs) {
  return poseidon(inputs, poseidon_merkle_tag(inputs.size()));
}

PoseidonField poseidon_plain(std::span<const PoseidonField> inputs, const PoseidonField& tag) {
  const PoseidonConstants& constants = poseidon_constants(inputs.size());
  const std::size_t t = constants.width, rounds = kPoseidonFullRounds + constants.partial_rounds;
  State state = initial_state(inputs, tag);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < t; ++i) state[i] += constants.round_constants[round * t + i];
    const bool full = round < kHalf || round >= kHalf + constants.partial_rounds;
    for (std::size_t i = 0; i < (full ? t : 1); ++i) state[i] = fifth_power(state[i]);
    multiply(state, constants.mds, t);
  }
  return state[1];
}

}  // namespace cuzk::hash
