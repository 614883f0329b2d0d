// Scopes as a tree, and the search from a row or variable to its scope.
//
// Each opening and closing stores the counts at that moment, which only grow; a search is a binary
// one over these events. Memory grows with the scopes, not with the rows.
#include "r1cs/paths.h"

#include <algorithm>

#include "base/check.h"

namespace cuzk::r1cs {

void Paths::open(std::string_view name, std::optional<std::size_t> index,
                 CircuitPosition position) {
  CUZK_ASSERT(nodes_.size() < kOutside);
  nodes_.push_back({current_, std::string(name), index});
  current_ = static_cast<std::uint32_t>(nodes_.size() - 1);
  events_.push_back({position, current_});
}

void Paths::close(CircuitPosition position) {
  CUZK_ASSERT(current_ != kOutside);
  current_ = nodes_[current_].parent;
  events_.push_back({position, current_});
}

void Paths::repeat(const CircuitPosition& start, const CircuitPosition& end, std::size_t times,
                   std::size_t index_step) {
  CUZK_ASSERT(start.rows <= end.rows && start.inputs <= end.inputs && start.aux <= end.aux);
  repeats_.push_back({start, end, times, index_step, current_});
  const CircuitPosition behind{end.rows + times * (end.rows - start.rows),
                               end.inputs + times * (end.inputs - start.inputs),
                               end.aux + times * (end.aux - start.aux)};
  // What is made after the copies belongs to the scope around the block again.
  events_.push_back({behind, current_});
}

std::string Paths::text(std::uint32_t node, std::uint32_t outer, std::size_t added) const {
  std::string out;
  for (; node != kOutside; node = nodes_[node].parent) {
    std::string name = nodes_[node].name;
    if (nodes_[node].index) {
      const std::size_t more = nodes_[node].parent == outer ? added : 0;
      name += "[" + std::to_string(*nodes_[node].index + more) + "]";
    }
    out = out.empty() ? name : name + "/" + out;
  }
  return out;
}

std::string Paths::find(std::uint64_t CircuitPosition::*count, std::uint64_t value) const {
  // A place in a copy is taken back to the block itself, and its index is raised in words only.
  std::uint32_t outer = kOutside;
  std::size_t added = 0;
  for (const Repeat& repeat : repeats_) {
    const std::uint64_t first = repeat.start.*count, size = repeat.end.*count - first;
    if (size == 0 || value < first + size || value >= first + size * (repeat.times + 1)) continue;
    outer = repeat.outer;
    added = repeat.index_step * ((value - first) / size);
    value = first + (value - first) % size;
    break;
  }
  // The last event at or before the row: of several at one position, the innermost made it.
  const auto after = std::upper_bound(
      events_.begin(), events_.end(), value,
      [count](std::uint64_t v, const Event& event) { return v < event.position.*count; });
  return after == events_.begin() ? std::string() : text((after - 1)->node, outer, added);
}

std::string Paths::of_row(std::uint64_t row) const { return find(&CircuitPosition::rows, row); }
std::string Paths::of_input(std::uint64_t i) const { return find(&CircuitPosition::inputs, i); }
std::string Paths::of_aux(std::uint64_t i) const { return find(&CircuitPosition::aux, i); }

}  // namespace cuzk::r1cs
