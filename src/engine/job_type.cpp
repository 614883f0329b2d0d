// The table of kinds, and the words of tiers.
//
// Names come from clients, so what is not found is answered with a cut of the name and with those
// that there are. Which kinds exist is the application's business (src/apps/jobs).
#include "engine/job_type.h"

#include <utility>

#include <fmt/format.h>

namespace cuzk::engine {

using base::Error;
using base::ErrorKind;

std::string_view to_string(KeyTier tier) noexcept {
  switch (tier) {
    case KeyTier::kHot: return "hot";
    case KeyTier::kWarm: return "warm";
    case KeyTier::kCold: return "cold";
  }
  return "cold";
}

// A copy: it outlives the work that it was taken of.
JobPlan plan_of(const JobWork& work) { return {work.partitions(), work.key(), work.held_bytes()}; }

base::Status JobTypes::add(JobType type) {
  if (type.name.empty() || !type.read) {
    return Error{ErrorKind::kInvalidArgument, "a kind of job needs a name and a reader"};
  }
  const std::string name = type.name;
  if (!types_.try_emplace(name, std::move(type)).second) {
    return Error{ErrorKind::kAlreadyExists, fmt::format("the kind '{}' is there already", name)};
  }
  return base::ok_status();
}

base::Result<const JobType*> JobTypes::find(std::string_view name) const {
  const auto found = types_.find(name);
  if (found != types_.end()) return &found->second;
  std::string names;
  for (const auto& [known, type] : types_) names += (names.empty() ? "" : ", ") + known;
  return Error{ErrorKind::kUnsupported,
               fmt::format("kind: found '{}', expected {}", name.substr(0, 64),
                           names.empty() ? "none, for there is none" : "one of " + names)};
}

std::vector<const JobType*> JobTypes::all() const {
  std::vector<const JobType*> result;
  for (const auto& [name, type] : types_) result.push_back(&type);
  return result;
}

base::Result<KeySource> JobTypes::find_key(std::string_view name) const {
  Error last{ErrorKind::kNotFound, fmt::format("no key is named '{}'", name.substr(0, 256))};
  for (const FindKey& find_key : key_finders_) {
    auto found = find_key(name);
    if (found.ok()) return found;
    last = std::move(found).error();
    // "Not mine" asks the next one; anything else is an answer.
    if (last.kind != ErrorKind::kNotFound) break;
  }
  return last;
}

}  // namespace cuzk::engine
