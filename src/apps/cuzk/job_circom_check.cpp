// Whether a witness satisfies a circuit.
//
// With the .r1cs file each row is evaluated, at the cost of one pass over the terms, and the first
// broken one is told with its values. With a key alone a proof has to be made and verified.
#include <cstdint>
#include <memory>
#include <utility>

#include "apps/cuzk/job_circom.h"
#include "apps/cuzk/witness_input.h"
#include "base/file.h"
#include "formats/snarkjs/r1cs_file.h"
#include "formats/snarkjs/zkey.h"
#include "formats/with_curve.h"
#include "groth16/prove.h"
#include "r1cs/checker.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using base::MappedFile;

// A key holds no C matrix, so the witness is judged by a proof that is made and thrown away. A good
// proof shows that the witness satisfies the circuit; a bad one may be the key's fault as well, so
// it decides nothing.
template <class C>
base::Result<Answer> check_by_key(const CircomCheckRequest& request,
                                  const std::shared_ptr<const MappedFile>& zkey, Session& session) {
  session.stage("reading the key");
  CUZK_TRY(const auto loaded, formats::read_zkey<C>(zkey));
  const formats::WtnsExpectation expected{request.zkey.string(), loaded.header.wire_count,
                                          loaded.header.public_count};
  CUZK_TRY(const auto assignment, open_witness<C>(request.witness, expected, session));
  session.stage("proving");
  const groth16::ProveInputs<C> inputs{loaded.key, loaded.shape, assignment, session.control()};
  const auto backend = groth16::make_cpu_backend<C>();
  const auto proof = groth16::prove(*backend, inputs);
  if (!proof.ok()) {
    if (proof.error().kind != ErrorKind::kVerificationFailed) return proof.error();
    return Error{ErrorKind::kVerificationFailed,
                 "the witness is not shown to satisfy the circuit of the key; check --r1cs tells "
                 "whether it does: " +
                     proof.error().message};
  }
  Answer answer("The witness satisfies the circuit of the key.");
  answer.add("satisfied", true, "").add("curve", C::kName, "curve");
  return answer;
}

template <class C>
base::Result<Answer> check_by_r1cs(const CircomCheckRequest& request, const MappedFile& file,
                                   Session& session) {
  session.stage("reading the circuit");
  CUZK_TRY(const auto shape, formats::read_r1cs<C>(file.bytes(), file.name()));
  // Of the circuit as it was read: a header that is read again may have been written to meanwhile.
  const formats::WtnsExpectation expected{request.r1cs.string(),
                                          static_cast<std::uint32_t>(shape->variable_count()),
                                          shape->input_count - 1};
  CUZK_TRY(const auto assignment, open_witness<C>(request.witness, expected, session));
  session.stage("checking the constraints");
  CUZK_ASSERT(assignment->inputs.size() == shape->input_count);
  const auto broken = r1cs::first_broken_constraint(*shape, *assignment);
  CUZK_ASSERT(!broken || broken->row < shape->constraint_count());
  Answer answer(
      broken ? "The witness does NOT satisfy the circuit." : "The witness satisfies the circuit.",
      broken ? kExitNo : kExitYes);
  answer.add("satisfied", !broken.has_value(), "")
      .add("curve", C::kName, "curve")
      .add("constraint_count", shape->constraint_count(), "constraints");
  if (broken) {
    answer.add("constraint_index", broken->row, "")
        .add("explanation", r1cs::describe(*broken, *shape, *assignment), "found");
  }
  return answer;
}

}  // namespace

base::Result<Answer> check_circom(const CircomCheckRequest& request, Session& session) {
  if (request.zkey.empty() == request.r1cs.empty()) {
    return Error{ErrorKind::kInvalidArgument, "check needs exactly one of --zkey and --r1cs"};
  }
  if (!request.zkey.empty()) {
    CUZK_TRY(const auto file, session.open_input(request.zkey));
    CUZK_TRY(const auto header, formats::read_zkey_header(file->bytes(), file->name()));
    return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
      return check_by_key<C>(request, file, session);
    });
  }
  CUZK_TRY(const auto file, session.open_input(request.r1cs));
  CUZK_TRY(const auto header, formats::read_r1cs_header(file->bytes(), file->name()));
  return formats::with_curve(header.curve, [&]<class C>(std::type_identity<C>) {
    return check_by_r1cs<C>(request, *file, session);
  });
}

}  // namespace cuzk::apps
