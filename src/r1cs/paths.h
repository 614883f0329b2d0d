// Where in a circuit's description a row or a variable was made: nested scopes, kept only on
// demand.
//
// A path costs nothing per row: each entry or exit of a scope leaves one record of the counts so
// far, and a row's scope is found by search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::r1cs {

// The counts of a circuit at one moment of its recording.
struct CircuitPosition {
  std::uint64_t rows = 0, inputs = 0, aux = 0;
};

// Written while a circuit is recorded, in order of its rows, then only read. Scopes nest: close()
// with none open is a defect of the caller.
class Paths {
 public:
  // Opens a scope "name" or "name[index]" at `position`; close() ends the innermost one.
  void open(std::string_view name, std::optional<std::size_t> index, CircuitPosition position);
  void close(CircuitPosition position);

  // What was made from `start` to `end` stands `times` more times behind it (no event lies behind
  // `end`). There the scopes opened at `start` itself have an index that is `index_step` higher a
  // copy.
  void repeat(const CircuitPosition& start, const CircuitPosition& end, std::size_t times,
              std::size_t index_step);

  // The scope in which a row or variable was made, e.g. "challenge[3]/label[2]/sha256"; empty for
  // the outermost.
  std::string of_row(std::uint64_t row) const;
  std::string of_input(std::uint64_t input) const;
  std::string of_aux(std::uint64_t aux) const;

 private:
  static constexpr std::uint32_t kOutside = 0xffffffff;
  // A scope. Parents come before their children, so walking up always ends.
  struct Node {
    std::uint32_t parent;
    std::string name;
    std::optional<std::size_t> index;
  };
  // From `position` on, until the next event, everything belongs to `node`.
  struct Event {
    CircuitPosition position;
    std::uint32_t node;
  };
  // A block, made from `start` to `end`, that stands `times` more times behind itself.
  struct Repeat {
    CircuitPosition start, end;
    std::uint64_t times;
    std::size_t index_step;
    std::uint32_t outer;  // the scope around the block
  };
  // `added` goes to the indexes of the scopes directly inside `outer`.
  std::string text(std::uint32_t node, std::uint32_t outer, std::size_t added) const;
  std::string find(std::uint64_t CircuitPosition::*count, std::uint64_t value) const;

  std::vector<Node> nodes_;
  std::vector<Event> events_;
  std::vector<Repeat> repeats_;
  std::uint32_t current_ = kOutside;
};

}  // namespace cuzk::r1cs
