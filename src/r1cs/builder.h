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
  // A field element of the circuit; its value is the witness pass's affair.
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
    CUZK_ASSERT(input_count_ < Variable::kAuxFlag);
    return {Variable::input(input_count_++)};
  }
  Bit new_bit(bool = false) { return Bit::of(new_aux()); }
  F value(const Number&) const { return F::zero(); }

  // Appends the row <a, z> * <b, z> = <c, z>. Terms of one variable merge; zeros are dropped.
  void enforce(Terms a, Terms b, Terms c) {
    record(a_, a);
    record(b_, b);
    record(c_, c);
    ++row_count_;
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
  std::size_t constraint_count() const noexcept { return row_count_; }
  CircuitPosition position() const { return {constraint_count(), input_count_, aux_count_}; }

  // Variables that were there before a block and of which each copy of it uses the next part: aux
  // [begin, end) for the block itself, `step` further for each copy.
  struct Window {
    std::uint32_t begin = 0, end = 0, step = 0;
  };

  // Repeats what was recorded since `start`, `times` more: the same rows, with each variable made
  // since then replaced by a new one, those in the window by the ones `step` further, and the same
  // references to what else was there before. Equal to running a description that depends on
  // nothing else again. The rows are stored once; no earlier repetition may lie since `start`.
  // Names: the scopes opened at `start` get the index of the block plus `index_step` a copy.
  void repeat_since(const CircuitPosition& start, std::size_t times, const Window& window = {},
                    std::size_t index_step = 1) {
    const CircuitPosition end = position();
    CUZK_ASSERT(start.rows <= end.rows && start.aux <= end.aux && start.inputs <= end.inputs);
    CUZK_ASSERT(a_.is_flat() || a_.repeats.back().end_row() <= start.rows);
    CUZK_ASSERT(window.end <= start.aux || window.end == window.begin);
    const std::uint64_t aux_step = end.aux - start.aux, input_step = end.inputs - start.inputs;
    CUZK_ASSERT(end.aux + times * aux_step < Variable::kAuxFlag);
    CUZK_ASSERT(end.inputs + times * input_step < Variable::kAuxFlag);
    if (times == 0) return;
    if (end.rows > start.rows) {
      // Columns hold variable keys until finish().
      const ColumnSteps steps{Variable::kAuxFlag,
                              static_cast<std::uint32_t>(start.inputs),
                              Variable::kAuxFlag + static_cast<std::uint32_t>(start.aux),
                              static_cast<std::uint32_t>(input_step),
                              static_cast<std::uint32_t>(aux_step),
                              Variable::kAuxFlag + window.begin,
                              Variable::kAuxFlag + window.end,
                              window.step};
      const std::uint64_t stored = a_.stored_row_count() - (end.rows - start.rows);
      for (SparseMatrix* matrix : {&a_, &b_, &c_}) {
        matrix->repeats.push_back({start.rows, stored, end.rows - start.rows, times, steps});
      }
    }
    row_count_ += times * (end.rows - start.rows);
    aux_count_ += static_cast<std::uint32_t>(times * aux_step);
    input_count_ += static_cast<std::uint32_t>(times * input_step);
    if (records_paths_) paths_.repeat(start, end, times, index_step);
  }

  // The recorded circuit. The builder is used up.
  Shape<F> finish() && {
    Shape<F> shape;
    shape.input_count = input_count_;
    shape.aux_count = aux_count_;
    CUZK_ASSERT(shape.variable_count() <= 0xffffffff);
    CUZK_ASSERT(a_.row_count() == row_count_ && b_.row_count() == row_count_ &&
                c_.row_count() == row_count_);
    // Only now is it known how many inputs there are, behind which the aux columns stand.
    for (SparseMatrix* matrix : {&a_, &b_, &c_}) {
      for (cuzk::r1cs::Term& term : matrix->terms) {
        const Variable variable = Variable::from_key(term.column);
        term.column = variable.is_aux() ? input_count_ + variable.index() : variable.index();
      }
      // Growing doubled the room; a shape lives for days.
      matrix->terms.shrink_to_fit();
      matrix->row_begin.shrink_to_fit();
      for (RowRepeat& repeat : matrix->repeats) {
        ColumnSteps& steps = repeat.steps;
        for (std::uint32_t* aux :
             {&steps.aux_begin, &steps.aux_from, &steps.window_begin, &steps.window_end}) {
          *aux = *aux - Variable::kAuxFlag + input_count_;
        }
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
    CUZK_ASSERT(aux_count_ < Variable::kAuxFlag);
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
  // Sorted by variable, equal variables summed. Lives until the next call. Gadgets mostly give
  // terms in order, so that this is the exception.
  Terms merged(Terms terms) {
    CUZK_ASSERT(!terms.empty());
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

  // Rows so far, in all three matrices alike; row_count_ counts repeated ones each time.
  SparseMatrix a_, b_, c_;
  CoefficientTable<F> coefficients_;
  std::uint32_t input_count_ = 1, aux_count_ = 0;
  std::uint64_t row_count_ = 0;
  std::vector<Term> scratch_;
  bool records_paths_;
  Paths paths_;
};

}  // namespace cuzk::r1cs
