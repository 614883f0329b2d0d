// The shape pass: records variables and rows of a circuit, without values.
//
// A circuit is described once, as a template over a constraint system `Cs`, and run twice: over a
// ShapeBuilder it records rows, over a WitnessBuilder (witness_builder.h) it appends values. Both
// offer the same face, so the order of allocation cannot differ between them:
//
//   Cs::Field, Cs::Number, Cs::Bit, Cs::BitString    the field and what gadgets pass around
//   Cs::kRecordsRows                                  whether to form rows (else: compute values)
//   cs.new_number(value), cs.new_input(value), cs.new_bit(value)   allocate one variable
//   cs.value(number)                                  its value; zero where there are no values
//   cs.scope(name, index)                             names what is made while the result lives
//
// Row order is call order, numbering is allocation order, input 0 is ONE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "r1cs/coefficient_table.h"
#include "r1cs/linear.h"
#include "r1cs/paths.h"
#include "r1cs/shape.h"
#include "r1cs/shape_bits.h"

namespace cuzk::r1cs {

// Records one circuit and is used up by finish(). Holds the rows in the form in which the Shape
// keeps them, so recording needs no second copy. One thread at a time.
template <class F>
class ShapeBuilder {
 public:
  using Field = F;
  using Term = LinearTerm<F>;
  using Terms = std::span<const Term>;
  struct Number {
    Variable variable;
  };
  using Bit = ShapeBit;
  using BitString = ShapeBits;
  static constexpr bool kRecordsRows = true;

  enum class PathRecording { kOff, kOn };

  explicit ShapeBuilder(PathRecording paths = PathRecording::kOff)
      : records_paths_(paths == PathRecording::kOn) {}

  // Values are ignored; they are parameters so that one description serves both passes.
  Number new_number(const F& = {}) { return {new_aux()}; }
  Number new_input(const F& = {}) {
    CUZK_CHECK(input_count_ < Variable::kAuxFlag);
    return {Variable::input(input_count_++)};
  }
  Bit new_bit(bool = false) { return Bit::of(new_aux()); }
  F value(const Number&) const { return F::zero(); }

  // Appends the row <a, z> * <b, z> = <c, z>. Terms of one variable merge; zeros are dropped.
  void enforce(Terms a, Terms b, Terms c) {
    record(a_, a);
    record(b_, b);
    record(c_, c);
  }
  void enforce(std::initializer_list<Term> a, std::initializer_list<Term> b,
               std::initializer_list<Term> c) {
    enforce(view(a), view(b), view(c));
  }
  void enforce(const Linear<F>& a, const Linear<F>& b, const Linear<F>& c) {
    enforce(a.terms(), b.terms(), c.terms());
  }

  // Ends a scope when it dies. Not copyable; must not outlive the builder.
  class Scope {
   public:
    explicit Scope(ShapeBuilder* owner) : owner_(owner) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (owner_ != nullptr) owner_->paths_.close(owner_->position());
    }

   private:
    ShapeBuilder* owner_;
  };
  [[nodiscard]] Scope scope(std::string_view name, std::optional<std::size_t> index = {}) {
    if (!records_paths_) return Scope(nullptr);
    paths_.open(name, index, position());
    return Scope(this);
  }

  std::uint32_t input_count() const noexcept { return input_count_; }  // with ONE
  std::uint32_t aux_count() const noexcept { return aux_count_; }
  std::size_t constraint_count() const noexcept { return a_.row_count(); }
  CircuitPosition position() const { return {constraint_count(), input_count_, aux_count_}; }

  // Repeats what was recorded since `start`, `times` more: the same rows, with each variable made
  // since then replaced by a new one, and the same references to what was there before. Equal to
  // running a description that depends on nothing else again, at the cost of copying terms. Scopes
  // of the repetitions are not kept.
  void repeat_since(const CircuitPosition& start, std::size_t times) {
    const CircuitPosition end = position();
    CUZK_CHECK(start.rows <= end.rows && start.aux <= end.aux && start.inputs <= end.inputs);
    const std::uint64_t aux_step = end.aux - start.aux, input_step = end.inputs - start.inputs;
    CUZK_CHECK(end.aux + times * aux_step < Variable::kAuxFlag);
    CUZK_CHECK(end.inputs + times * input_step < Variable::kAuxFlag);
    for (SparseMatrix* matrix : {&a_, &b_, &c_}) {
      const std::size_t first = matrix->row_begin[start.rows], last = matrix->terms.size();
      matrix->terms.reserve(last + times * (last - first));
      for (std::size_t k = 1; k <= times; ++k) {
        for (std::size_t i = first; i < last; ++i) {
          cuzk::r1cs::Term term = matrix->terms[i];
          const Variable variable = Variable::from_key(term.column);
          const std::uint64_t shared = variable.is_aux() ? start.aux : start.inputs;
          const std::uint64_t step = variable.is_aux() ? aux_step : input_step;
          if (variable.index() >= shared) term.column += static_cast<std::uint32_t>(k * step);
          matrix->terms.push_back(term);
        }
        for (std::size_t r = start.rows; r < end.rows; ++r) {
          matrix->row_begin.push_back(matrix->row_begin[r + 1] + k * (last - first));
        }
      }
    }
    aux_count_ += static_cast<std::uint32_t>(times * aux_step);
    input_count_ += static_cast<std::uint32_t>(times * input_step);
  }

  // The recorded circuit. The builder is used up.
  Shape<F> finish() && {
    Shape<F> shape;
    shape.input_count = input_count_;
    shape.aux_count = aux_count_;
    CUZK_CHECK(shape.variable_count() <= 0xffffffff);
    for (SparseMatrix* matrix : {&a_, &b_, &c_}) {
      for (cuzk::r1cs::Term& term : matrix->terms) {
        const Variable variable = Variable::from_key(term.column);
        term.column = variable.is_aux() ? input_count_ + variable.index() : variable.index();
      }
    }
    shape.a = std::move(a_);
    shape.b = std::move(b_);
    shape.c = std::move(c_);
    shape.coefficients = std::move(coefficients_).take();
    return shape;
  }
  // The scopes of the recorded rows; empty unless they were asked for.
  Paths take_paths() { return std::move(paths_); }

 private:
  static Terms view(std::initializer_list<Term> list) { return Terms(list.begin(), list.size()); }

  Variable new_aux() {
    CUZK_CHECK(aux_count_ < Variable::kAuxFlag);
    return Variable::aux(aux_count_++);
  }

  // Appends one row to `matrix`; columns hold variable keys until finish().
  void record(SparseMatrix& matrix, Terms terms) {
    if (terms.size() > 1 && !strictly_ascending(terms)) terms = merged(terms);
    for (const Term& term : terms) {
      if (term.coefficient.is_zero()) continue;
      matrix.terms.push_back({term.variable.key(), coefficients_.index_of(term.coefficient)});
    }
    matrix.row_begin.push_back(matrix.terms.size());
  }
  static bool strictly_ascending(Terms terms) {
    for (std::size_t i = 1; i < terms.size(); ++i) {
      if (terms[i - 1].variable.key() >= terms[i].variable.key()) return false;
    }
    return true;
  }
  // Sorted by variable, equal variables summed. Lives until the next call.
  Terms merged(Terms terms) {
    scratch_.assign(terms.begin(), terms.end());
    std::sort(scratch_.begin(), scratch_.end(),
              [](const Term& x, const Term& y) { return x.variable.key() < y.variable.key(); });
    std::size_t last = 0;
    for (std::size_t i = 1; i < scratch_.size(); ++i) {
      if (scratch_[i].variable == scratch_[last].variable) {
        scratch_[last].coefficient += scratch_[i].coefficient;
      } else {
        scratch_[++last] = scratch_[i];
      }
    }
    return Terms(scratch_).first(last + 1);
  }

  SparseMatrix a_, b_, c_;
  CoefficientTable<F> coefficients_;
  std::uint32_t input_count_ = 1, aux_count_ = 0;
  std::vector<Term> scratch_;
  bool records_paths_;
  Paths paths_;
};

}  // namespace cuzk::r1cs
