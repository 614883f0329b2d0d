// The witness that a flag names, from a file or a stream.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/cuzk/session.h"
#include "base/file.h"
#include "formats/snarkjs/wtns.h"

namespace cuzk::apps {

// Its bytes are let go once its values are read. Errors: those of Session::open_input and of
// formats::read_wtns.
template <class C>
base::Result<std::shared_ptr<const r1cs::Assignment<typename C::Fr>>> open_witness(
    const std::filesystem::path& path, const formats::WtnsExpectation& expected,
    const Session& session) {
  CUZK_TRY(const auto file, session.open_input(path));
  file->advise(base::FileAccess::kSequential);
  return formats::read_wtns<C>(file->bytes(), file->name(), expected);
}

}  // namespace cuzk::apps
