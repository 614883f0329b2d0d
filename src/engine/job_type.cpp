// The table of kinds.
#include "engine/job_type.h"

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
  return "unknown";
}

base::Status JobTypes::add(JobType type) {
  if (type.name.empty() || type.read == nullptr) {
    return Error{ErrorKind::kInvalidArgument, "a job type needs a name and a reader"};
  }
  if (types_.find(type.name) != types_.end()) {
    return Error{ErrorKind::kAlreadyExists,
                 fmt::format("there is a job type '{}' already", type.name)};
  }
  std::string name = type.name;
  types_.emplace(std::move(name), std::move(type));
  return base::ok_status();
}

base::Result<const JobType*> JobTypes::find(std::string_view name) const {
  const auto found = types_.find(name);
  if (found != types_.end()) return &found->second;
  std::string names;
  for (const auto& [known, type] : types_) names += (names.empty() ? "" : ", ") + known;
  return Error{ErrorKind::kUnsupported,
               fmt::format("unknown job kind '{}', expected one of: {}", name,
                           names.empty() ? "(none)" : names)};
}

std::vector<const JobType*> JobTypes::all() const {
  std::vector<const JobType*> out;
  for (const auto& [name, type] : types_) out.push_back(&type);
  return out;
}

}  // namespace cuzk::engine
