// Checks on output paths, made before work that takes minutes.
//
// They make the common mistakes cheap (a folder that is not there, an input named as an output) and
// are no promise: what changes meanwhile is found when the file is written (base/file.h).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cuzk::apps {

enum class Overwrite {
  kReplace,  // proofs and their public inputs: made anew at will
  kRefuse,   // keys and sectors: what was made from secrets now gone is not replaced unasked
};

struct OutputPath {
  const char* flag;  // for messages: "--proof"
  std::filesystem::path path;
};

// Errors: a folder that does not exist or cannot be written, an output that is a folder or that
// cannot be looked at, two outputs that are one file, an output that is also an input, and
// (kRefuse) one that exists.
base::Status check_outputs(const std::vector<OutputPath>& outputs,
                           const std::vector<std::filesystem::path>& inputs, Overwrite overwrite);

// Text with the path where it goes.
struct OutputFile {
  std::filesystem::path path;
  std::string text;
};

// Writes files that belong together: all are on the disk under temporary names before the first
// takes its own, so a full disk or a missing permission leaves all old ones. (What can still part
// them is a fault between two renames.)
base::Status write_together(const std::vector<OutputFile>& files);

// Creates `folder` with its parents where it is missing. Error kIo.
base::Status make_folder(const std::filesystem::path& folder);
// Whether make_folder would have to fail because something that is no folder stands in its way.
base::Status check_folder(const std::filesystem::path& folder);

}  // namespace cuzk::apps
