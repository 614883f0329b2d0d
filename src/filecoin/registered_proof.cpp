// Registered proof tables: five sizes times a list of versions each, so that number = 5 * version +
// size in every table. Names are put together from the same parts; a test compares all of them.
#include "filecoin/registered_proof.h"

#include <array>

#include "base/check.h"

namespace cuzk::filecoin {
namespace {

constexpr unsigned kSizeCount = 5;
static_assert(kSizeCount == kRegisteredUpdateCount);  // update proofs have one version
constexpr std::array<std::string_view, kSizeCount> kSizes = {"2KiB", "8MiB", "512MiB", "32GiB",
                                                             "64GiB"};

// The size that a number stands for, in every table.
const SectorShape* shape_of_number(std::uint64_t number) {
  return sector_shape_by_name(kSizes[number % kSizeCount]).value();
}

// Five seal proofs that differ in size alone.
struct SealFamily {
  std::string_view suffix;
  ApiVersion api_version;
  PorepKind kind;
};

constexpr SealFamily kSealFamilies[] = {
    {"V1", ApiVersion::kV1_0_0, PorepKind::kInteractive},
    {"V1_1", ApiVersion::kV1_1_0, PorepKind::kInteractive},
    {"V1_1_Feat_SyntheticPoRep", ApiVersion::kV1_2_0, PorepKind::kSynthetic},
    {"V1_2_Feat_NonInteractivePoRep", ApiVersion::kV1_2_0, PorepKind::kNonInteractive},
};
static_assert(std::size(kSealFamilies) * kSizeCount == kRegisteredSealCount);

// Five PoSt proofs that differ in size alone.
struct PostFamily {
  std::string_view prefix, suffix;
  ApiVersion api_version;
  PostKind kind;
};

constexpr PostFamily kPostFamilies[] = {
    {"StackedDrgWinning", "V1", ApiVersion::kV1_0_0, PostKind::kWinning},
    {"StackedDrgWindow", "V1", ApiVersion::kV1_0_0, PostKind::kWindow},
    {"StackedDrgWindow", "V1_2", ApiVersion::kV1_2_0, PostKind::kWindow},
};
static_assert(std::size(kPostFamilies) * kSizeCount == kRegisteredPostCount);

// Says which numbers there are.
base::Error unknown_number(std::string_view table, std::uint64_t number, unsigned count) {
  return {base::ErrorKind::kInvalidArgument, "registered " + std::string(table) + " proof " +
                                                 std::to_string(number) + " does not exist; " +
                                                 "numbers are 0 to " + std::to_string(count - 1)};
}

}  // namespace

std::string_view to_string(ApiVersion version) noexcept {
  switch (version) {
    case ApiVersion::kV1_0_0: return "V1_0_0";
    case ApiVersion::kV1_1_0: return "V1_1_0";
    case ApiVersion::kV1_2_0: return "V1_2_0";
  }
  return "V1_0_0";
}

base::Result<ApiVersion> api_version_by_name(std::string_view text) {
  for (const ApiVersion v : {ApiVersion::kV1_0_0, ApiVersion::kV1_1_0, ApiVersion::kV1_2_0}) {
    // The short form leaves out the last "_0".
    if (text == to_string(v) || text == to_string(v).substr(0, 4)) return v;
  }
  return base::Error{base::ErrorKind::kInvalidArgument,
                     "\"" + std::string(text) +
                         "\" is not an API version; expected V1_0_0, "
                         "V1_1_0 or V1_2_0"};
}

std::string RegisteredSeal::name() const {
  CUZK_ASSERT(number < kRegisteredSealCount && shape != nullptr);
  return "StackedDrg" + std::string(shape->name) +
         std::string(kSealFamilies[number / kSizeCount].suffix);
}

std::string RegisteredSeal::vanilla_name() const {
  return "StackedDrg" + std::string(shape->name) + "V1";
}

base::Result<RegisteredSeal> registered_seal(std::uint64_t number) {
  if (number >= kRegisteredSealCount) {
    return unknown_number("seal", number, kRegisteredSealCount);
  }
  const SealFamily& family = kSealFamilies[number / kSizeCount];
  return RegisteredSeal{static_cast<unsigned>(number), shape_of_number(number), family.api_version,
                        family.kind};
}

base::Result<RegisteredSeal> registered_seal_by_name(std::string_view name) {
  for (unsigned number = 0; number < kRegisteredSealCount; ++number) {
    RegisteredSeal proof = registered_seal(number).value();
    if (proof.name() == name) return proof;
  }
  return base::Error{base::ErrorKind::kInvalidArgument,
                     "\"" + std::string(name.substr(0, 80)) + "\" is not a registered seal proof"};
}

std::string_view to_string(PostKind kind) noexcept {
  return kind == PostKind::kWinning ? "winning" : "window";
}

std::string RegisteredPost::name() const {
  CUZK_ASSERT(number < kRegisteredPostCount && shape != nullptr);
  const PostFamily& family = kPostFamilies[number / kSizeCount];
  return std::string(family.prefix) + std::string(shape->name) + std::string(family.suffix);
}

base::Result<RegisteredPost> registered_post(std::uint64_t number) {
  if (number >= kRegisteredPostCount) {
    return unknown_number("PoSt", number, kRegisteredPostCount);
  }
  const PostFamily& family = kPostFamilies[number / kSizeCount];
  return RegisteredPost{static_cast<unsigned>(number), shape_of_number(number), family.api_version,
                        family.kind};
}

std::string RegisteredUpdate::name() const {
  return "StackedDrg" + std::string(shape->name) + "V1";
}

base::Result<RegisteredUpdate> registered_update(std::uint64_t number) {
  if (number >= kRegisteredUpdateCount) {
    return unknown_number("update", number, kRegisteredUpdateCount);
  }
  return RegisteredUpdate{static_cast<unsigned>(number), shape_of_number(number)};
}

}  // namespace cuzk::filecoin
