// Pairs of a name and a value between commas; the flags of `cuzk submit` under other names.
//
// A share becomes the flags that `submit` would have been given, and prepare_job() makes a job of
// them, so both commands check alike. A path with a comma cannot be given.
#include "apps/cuzk/load_mix.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::uint64_t kWeightMax = 1'000'000;

base::Result<std::uint64_t> whole(const std::string& key, const std::string& value) {
  if (value.empty() || value.size() > 18 ||
      value.find_first_not_of("0123456789") != std::string::npos) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("--job: {}: '{}' is no whole number", key, value)};
  }
  return std::stoull(value);
}

base::Status take(const std::string& key, const std::string& value, SubmitFlags& flags,
                  double& weight) {
  if (key == "circuit") {
    flags.circuit = value;
  } else if (key == "witness") {
    flags.witness = value;
  } else if (key == "c1") {
    flags.c1 = value;
  } else if (key == "priority") {
    flags.priority = value;
  } else if (key == "miner-id") {
    CUZK_TRY(flags.miner_id, whole(key, value));
  } else if (key == "weight") {
    CUZK_TRY(const std::uint64_t number, whole(key, value));
    if (number < 1 || number > kWeightMax) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--job: weight: {} is outside 1 to {}", number, kWeightMax)};
    }
    weight = static_cast<double>(number);
  } else {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("--job: there is no '{}'; circuit, witness, c1, miner-id, priority and "
                    "weight are known",
                    key)};
  }
  return base::ok_status();
}

}  // namespace

base::Result<LoadShare> parse_load_share(const std::string& text) {
  SubmitFlags flags;
  LoadShare share;
  std::set<std::string> keys;
  // One round more than there are commas, so an empty text or end is a part too, and refused.
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--job: '{}' is no KEY=VALUE", part.substr(0, 64))};
    }
    const std::string key = part.substr(0, equals);
    // Two shares in one text, or a slip: which of the two was meant is not ours to guess.
    if (!keys.insert(key).second) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--job: {} is given twice; each --job is one kind of job", key)};
    }
    CUZK_TRY_STATUS(take(key, part.substr(equals + 1), flags, share.weight));
    at = end + 1;
  }
  CUZK_ASSERT(share.weight >= 1);  // else the distribution of a run would not be one
  CUZK_TRY(share.job, prepare_job(flags));
  return share;
}

}  // namespace cuzk::apps
