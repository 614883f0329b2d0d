// Development keys are marked: in the answer and by a file beside them.
//
// A key that somebody can forge proofs with looks like any other. The mark is what keeps it from
// being taken for a real one later, so whatever uses a key repeats the sentence when it finds one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace cuzk::apps {

inline constexpr char kInsecureSentence[] =
    "the secrets of this key were known to the machine that made it: whoever ran the set-up could "
    "forge proofs, so never use it where a proof protects something";

// Writes "<key>.INSECURE" with the sentence and the digest of the verifying key, as the files of
// its format have it. Written before the key itself.
base::Status write_insecure_mark(const std::filesystem::path& key, base::ByteSpan verifying_key);

// What to say of `key` when it has such a file beside it and the file is about this verifying key:
// a mark outlives the key when somebody puts another in its place. A mark that is damaged, so that
// it does not tell which key it is about, counts, and the sentence names it.
std::optional<std::string> insecure_mark_warning(const std::filesystem::path& key,
                                                 base::ByteSpan verifying_key);

}  // namespace cuzk::apps
