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
  std::string text(name);
  if (index) text += "[" + std::to_string(*index) + "]";
  nodes_.push_back({current_, std::move(text)});
  current_ = static_cast<std::uint32_t>(nodes_.size() - 1);
  events_.push_back({position, current_});
}

void Paths::close(CircuitPosition position) {
  CUZK_CHECK(current_ != kOutside);
  current_ = nodes_[current_].parent;
  events_.push_back({position, current_});
}

std::string Paths::text(std::uint32_t node) const {
  std::string out;
  for (; node != kOutside; node = nodes_[node].parent) {
    out = out.empty() ? nodes_[node].name : nodes_[node].name + "/" + out;
  }
  return out;
}

std::string Paths::find(std::uint64_t CircuitPosition::*count, std::uint64_t value) const {
  // The last event at or before the row: of several at one position, the innermost made it.
  const auto after = std::upper_bound(
      events_.begin(), events_.end(), value,
      [count](std::uint64_t v, const Event& event) { return v < event.position.*count; });
  return after == events_.begin() ? std::string() : text((after - 1)->node);
}

std::string Paths::of_row(std::uint64_t row) const { return find(&CircuitPosition::rows, row); }
std::string Paths::of_input(std::uint64_t i) const { return find(&CircuitPosition::inputs, i); }
std::string Paths::of_aux(std::uint64_t i) const { return find(&CircuitPosition::aux, i); }

}  // namespace cuzk::r1cs
