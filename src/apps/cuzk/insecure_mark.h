// Development keys are marked: in the answer and by a file beside them.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace cuzk::apps {

inline constexpr char kInsecureSentence[] =
    "the secrets of this key were known to the machine that made it: whoever ran the set-up could "
    "forge proofs, so never use it where a proof protects something";

// Writes "<key>.INSECURE" with the sentence.
base::Status write_insecure_mark(const std::filesystem::path& key);

// Whether `key` has such a file beside it.
bool has_insecure_mark(const std::filesystem::path& key);

}  // namespace cuzk::apps
