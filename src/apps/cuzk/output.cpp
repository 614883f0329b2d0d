// Output paths are compared after links are followed.
//
// Two names of one file are one file: ../x and x, a link and its target. Names of files that do not
// exist yet are compared as far as their folders go.
#include "apps/cuzk/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/file.h"

namespace cuzk::apps {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

// The folder that a file of this name would be in.
fs::path folder_of(const fs::path& file) {
  const fs::path parent = file.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

// Where the system does not tell, names are compared as they were written.
bool same_file(const fs::path& first, const fs::path& second) {
  // Absolute first: a relative name of which nothing exists yet stays as it was written.
  std::error_code failed;
  const fs::path a = fs::weakly_canonical(fs::absolute(first), failed);
  if (failed) return first == second;
  const fs::path b = fs::weakly_canonical(fs::absolute(second), failed);
  return failed ? first == second : a == b;
}

// One output by itself; the order of the checks is that of what a user would want to know first.
base::Status check_output(const OutputPath& output, Overwrite overwrite) {
  CUZK_ASSERT(output.flag != nullptr);
  if (output.path.empty()) {
    return Error{ErrorKind::kInvalidArgument, fmt::format("{}: the path is empty", output.flag)};
  }
  std::error_code failed;
  const fs::file_status status = fs::status(output.path, failed);
  // An error of looking is not "not there": behind a folder without permission may lie a key.
  if (status.type() == fs::file_type::none) {  // not even whether it is there
    return Error{ErrorKind::kIo,
                 fmt::format("{} {}: {}", output.flag, output.path.string(), failed.message())};
  }
  if (fs::is_directory(status)) {
    return Error{ErrorKind::kInvalidArgument, fmt::format("{} {}: is a folder, expected a file",
                                                          output.flag, output.path.string())};
  }
  if (overwrite == Overwrite::kRefuse && fs::exists(status)) {
    return Error{ErrorKind::kAlreadyExists,
                 fmt::format("{} {}: exists already; --force replaces it", output.flag,
                             output.path.string())};
  }
  const fs::path folder = folder_of(output.path);
  if (!fs::is_directory(folder, failed)) {
    return Error{ErrorKind::kNotFound, fmt::format("{} {}: there is no folder {}", output.flag,
                                                   output.path.string(), folder.string())};
  }
  // A stream such as /dev/stdout is written as it is; a file is made beside its name and renamed.
  const bool is_stream = fs::exists(status) && !fs::is_regular_file(status);
  if (!is_stream && ::access(folder.c_str(), W_OK) != 0) {
    return Error{ErrorKind::kIo, fmt::format("{} {}: the folder {} cannot be written", output.flag,
                                             output.path.string(), folder.string())};
  }
  return base::ok_status();
}

}  // namespace

base::Status check_outputs(const std::vector<OutputPath>& outputs,
                           const std::vector<fs::path>& inputs, Overwrite overwrite) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    CUZK_TRY_STATUS(check_output(outputs[i], overwrite));
    std::error_code failed;
    if (fs::exists(outputs[i].path, failed) && !fs::is_regular_file(outputs[i].path, failed)) {
      continue;
    }
    // Streams were left out above: two outputs may go to one pipe, and an input may be one too.
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_file(outputs[i].path, outputs[j].path)) continue;
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("{} and {} name the same file {}", outputs[j].flag, outputs[i].flag,
                               outputs[i].path.string())};
    }
    for (const fs::path& input : inputs) {
      if (!same_file(outputs[i].path, input)) continue;
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("{} would overwrite the input {}", outputs[i].flag, input.string())};
    }
  }
  return base::ok_status();
}

base::Status write_together(const std::vector<OutputFile>& files) {
  CUZK_ASSERT(!files.empty());
  std::vector<base::AtomicFile> open;
  open.reserve(files.size());
  for (const OutputFile& file : files) {
    CUZK_TRY(auto created, base::AtomicFile::create(file.path));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.text.data());
    CUZK_TRY_STATUS(created.write({bytes, file.text.size()}));
    open.push_back(std::move(created));
  }
  CUZK_ASSERT(open.size() == files.size());
  // All on the disk before the first takes its name; see the contract for what is left to chance.
  for (base::AtomicFile& file : open) CUZK_TRY_STATUS(file.sync());
  for (base::AtomicFile& file : open) CUZK_TRY_STATUS(file.commit());
  return base::ok_status();
}

base::Status make_folder(const fs::path& folder) {
  CUZK_TRY_STATUS(check_folder(folder));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || !fs::is_directory(folder, failed)) {
    return Error{ErrorKind::kIo, fmt::format("{}: cannot be made a folder{}{}", folder.string(),
                                             failed ? ": " : "", failed ? failed.message() : "")};
  }
  return base::ok_status();
}

base::Status check_folder(const fs::path& folder) {
  std::error_code failed;
  fs::path at = folder;
  fs::file_status status = fs::status(at, failed);
  // Up to the first thing that exists: it has to be a folder, for the others to be made in it.
  while (status.type() == fs::file_type::not_found && at != folder_of(at)) {
    at = folder_of(at);
    status = fs::status(at, failed);
  }
  if (fs::is_directory(status)) return base::ok_status();
  return Error{ErrorKind::kIo,
               fmt::format("{}: cannot be made a folder: {}", folder.string(),
                           fs::exists(status) ? fmt::format("{} is a file", at.string())
                                              : failed.message())};
}

}  // namespace cuzk::apps
