// A sealed sector on disk: upstream's cache files, the replica, and a manifest of ours.
//
// sc-02-data-layer-{l}.dat, sc-02-data-tree-{d,c,r-last}[-i].dat and p_aux are what upstream's
// sealer leaves for a sector of the same data (its t_aux, which holds paths of its own machine, is
// not written); replica.dat is the sealed sector; sector.json holds the ids and commitments.
// Reading recomputes trees and commitments from labels and data and refuses what disagrees.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "filecoin/vanilla/seal.h"

namespace cuzk::filecoin {

// Creates the folder if needed. Error kAlreadyExists when it holds a sector. A write that fails
// leaves no manifest, so the folder can be written to again.
base::Status write_sector(const std::filesystem::path& folder, const SealedSector& sector);

// Errors: kNotFound without a manifest, kMalformed, kMismatch when files contradict each other;
// each names the file.
base::Result<SealedSector> read_sector(const std::filesystem::path& folder);

// The manifest's name in a folder. It is written last: a folder that has it holds a whole sector.
inline constexpr std::string_view kSectorManifest = "sector.json";

// The files in `folder` that are a sector's by their names; none when there is no such folder.
std::vector<std::filesystem::path> sector_files(const std::filesystem::path& folder);

// The registered proof of a sector sealed under one; nothing for other configurations.
std::optional<RegisteredSeal> registered_seal_of(const PorepConfig& config);

}  // namespace cuzk::filecoin
