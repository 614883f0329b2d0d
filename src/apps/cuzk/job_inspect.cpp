// Recognition.
//
// By content where that can be, since files are renamed: marks are in the first bytes, JSON has its
// first sign. bellperson's keys and Filecoin's proofs have no mark: the name is taken at its word,
// and where it says nothing the readers are tried one after the other.
#include "apps/cuzk/job_inspect.h"

#include <string_view>

#include <fmt/format.h>

#include "apps/cuzk/job_inspect_internal.h"
#include "groth16/proof_bytes.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;

std::string_view text_of(const base::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool looks_like_json(std::string_view text) {
  text = without_byte_order_mark(text);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// The files without a mark. Their names usually tell; where not, their structure does.
base::Result<Answer> inspect_unmarked(const MappedPtr& file, const InspectRequest& request,
                                      Session& session) {
  const std::string extension = request.file.extension().string();
  if (extension == ".params") return inspect_params(file, request, session);
  if (extension == ".vk") return inspect_bellperson_vk(*file);
  const std::uint64_t size = file->size_bytes();
  if (size > 0 && size % groth16::kProofBytes == 0) {
    auto proofs = inspect_proof_bytes(*file);
    if (proofs.ok() || size <= 16 * groth16::kProofBytes) return proofs;
  }
  // A key of another curve begins like one of the right curve: that much is known of the file.
  auto key = inspect_bellperson_vk(*file);
  if (key.ok() || key.error().kind == ErrorKind::kMismatch) return key;
  if (auto params = inspect_params(file, request, session); params.ok()) return params;
  return Error{ErrorKind::kUnsupported,
               fmt::format("{}: not a file that cuzk knows (zkey, wtns, r1cs, snarkjs JSON, "
                           "bellperson .params and .vk, Filecoin C1 and proofs)",
                           file->name())};
}

}  // namespace

base::Result<Answer> inspect_file(const InspectRequest& request, Session& session) {
  CUZK_TRY(const MappedPtr file, session.open_input(request.file));
  const std::string_view text = text_of(*file);
  if (text.empty()) {
    return Error{ErrorKind::kMalformed, file->name() + ": the file is empty"};
  }
  if (text.starts_with("zkey")) return inspect_zkey(file, request, session);
  if (text.starts_with("wtns")) return inspect_wtns(*file);
  if (text.starts_with("r1cs")) return inspect_r1cs(*file);
  if (text.starts_with("ptau")) {
    return Error{
        ErrorKind::kUnsupported,
        fmt::format("{}: powers of tau of snarkjs, the first phase of a set-up; cuzk reads "
                    "the proving keys (.zkey) that are made of them",
                    file->name())};
  }
  if (looks_like_json(text.substr(0, 4096))) return inspect_json(*file);
  return inspect_unmarked(file, request, session);
}

}  // namespace cuzk::apps
