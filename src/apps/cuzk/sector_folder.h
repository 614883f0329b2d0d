// A sealed sample sector on disk: enough to open challenges later.
//
// The folder holds sector.json (who sealed what, and the commitments), data.bin (the padded data),
// replica.bin (the sealed sector) and layer-K.bin (labels); all but the first are nodes of 32
// bytes. Trees are not stored: they follow from these and are made anew.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "filecoin/registered_proof.h"
#include "filecoin/vanilla/seal.h"

namespace cuzk::apps {

struct SectorOnDisk {
  filecoin::RegisteredSeal registered_proof{};
  filecoin::SealedSector sector;
};

// Writes all files; sector.json last, so that a folder with one is complete.
base::Status write_sector(const std::filesystem::path& folder, const SectorOnDisk& sector);

// Reads and rebuilds. What was rebuilt must agree with the commitments of sector.json and with
// replica.bin (kMismatch otherwise).
base::Result<SectorOnDisk> read_sector(const std::filesystem::path& folder);

// Whether `folder` holds a sector.
bool has_sector(const std::filesystem::path& folder);

}  // namespace cuzk::apps
