// What a file is and what it says of itself, for every kind of file that cuzk reads.
//
// Reads with the same readers as proving does, so what is said here of a file is what would happen
// to it there.
#pragma once

#include <filesystem>

#include "apps/cuzk/session.h"

namespace cuzk::apps {

struct InspectRequest {
  std::filesystem::path file;
  bool check_points = false;  // every point of a key: curve and subgroup
};

// Recognises the file by its content. An unknown one is an error of kind kUnsupported; a damaged
// one is the error of its reader. For proving keys the answer has the memory that a proof needs.
base::Result<Answer> inspect_file(const InspectRequest& request, Session& session);

}  // namespace cuzk::apps
