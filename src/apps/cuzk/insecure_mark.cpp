// The file beside a development key.
#include "apps/cuzk/insecure_mark.h"

#include <string>

#include "base/file.h"

namespace cuzk::apps {
namespace {

std::filesystem::path mark_path(const std::filesystem::path& key) {
  return key.string() + ".INSECURE";
}

}  // namespace

base::Status write_insecure_mark(const std::filesystem::path& key) {
  const std::string text = key.filename().string() + ": " + kInsecureSentence + ".\n";
  return base::write_file(mark_path(key), std::string_view(text));
}

bool has_insecure_mark(const std::filesystem::path& key) {
  std::error_code failed;
  return std::filesystem::exists(mark_path(key), failed);
}

}  // namespace cuzk::apps
