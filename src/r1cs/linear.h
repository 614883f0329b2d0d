// Variables and linear combinations while a circuit is being recorded.
//
// Short-lived and plain: gadgets build them, a builder merges and stores them in a Shape, whose
// columns put aux after inputs. Nothing here knows values of variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/check.h"

namespace cuzk::r1cs {

// A variable of a circuit under construction. Inputs and aux are numbered apart, each from 0 in
// order of allocation; input 0 is ONE. The key orders inputs before aux.
class Variable {
 public:
  Variable() = default;  // ONE
  // Indexes are below kAuxFlag.
  static Variable input(std::uint32_t index) {
    CUZK_DEBUG_ASSERT(index < kAuxFlag);
    return Variable(index);
  }
  static Variable aux(std::uint32_t index) {
    CUZK_DEBUG_ASSERT(index < kAuxFlag);
    return Variable(kAuxFlag | index);
  }
  static Variable from_key(std::uint32_t key) { return Variable(key); }

  bool is_aux() const noexcept { return (key_ & kAuxFlag) != 0; }
  std::uint32_t index() const noexcept { return key_ & ~kAuxFlag; }
  std::uint32_t key() const noexcept { return key_; }
  bool operator==(const Variable&) const = default;

  static constexpr std::uint32_t kAuxFlag = 0x80000000;

 private:
  explicit Variable(std::uint32_t key) : key_(key) {}
  std::uint32_t key_ = 0;
};

// The constant: input 0, which every assignment sets to 1.
inline const Variable kOne{};

// coefficient * variable; the coefficient may be zero.
template <class F>
struct LinearTerm {
  Variable variable;
  F coefficient;
};

// sum coefficient * variable, kept in the order of addition. The same variable may be added several
// times: whoever records the row merges the terms and drops zeros, so only the sum matters.
template <class F>
class Linear {
 public:
  Linear() = default;
  Linear(std::initializer_list<LinearTerm<F>> terms) : terms_(terms) {}

  Linear& add(Variable variable, const F& coefficient) {
    terms_.push_back({variable, coefficient});
    return *this;
  }
  Linear& add(Variable variable) { return add(variable, F::one()); }
  Linear& add_constant(const F& value) { return add(kOne, value); }

  std::span<const LinearTerm<F>> terms() const noexcept { return terms_; }
  std::vector<LinearTerm<F>>& terms() noexcept { return terms_; }

 private:
  std::vector<LinearTerm<F>> terms_;
};

}  // namespace cuzk::r1cs
