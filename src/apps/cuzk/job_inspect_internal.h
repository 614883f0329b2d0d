// The parts of inspect, by family of files. For job_inspect*.cpp only.
//
// Files are mapped once, by inspect_file(); keys are handed on as shared pointers because a key
// that was read refers to its file.
#pragma once

#include <memory>
#include <string_view>

#include "apps/cuzk/job_inspect.h"
#include "base/file.h"

namespace cuzk::apps {

using MappedPtr = std::shared_ptr<const base::MappedFile>;

// snarkjs's binary containers, recognised by their first four letters.
base::Result<Answer> inspect_zkey(const MappedPtr& file, const InspectRequest& request,
                                  Session& session);
// Of these two the header alone is read.
base::Result<Answer> inspect_wtns(const base::MappedFile& file);
base::Result<Answer> inspect_r1cs(const base::MappedFile& file);

// A UTF-8 mark in front of a text says nothing and is skipped, as the JSON readers do.
std::string_view without_byte_order_mark(std::string_view text);

// JSON: keys, proofs, public values, C1 files, .meta files. Told apart by their members.
base::Result<Answer> inspect_json(const base::MappedFile& file);

// bellperson's .params and .vk, which have no mark of their own, and Filecoin proofs of 192 bytes a
// partition: tried in turn. The error is that of the likeliest kind.
base::Result<Answer> inspect_params(const MappedPtr& file, const InspectRequest& request,
                                    Session& session);
base::Result<Answer> inspect_bellperson_vk(const base::MappedFile& file);
base::Result<Answer> inspect_proof_bytes(const base::MappedFile& file);

}  // namespace cuzk::apps
