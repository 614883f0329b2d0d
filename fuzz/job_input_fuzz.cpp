// The container of a job's input, as a client sends it: what is accepted comes back through the
// writer with the same fields and parts.
#include <algorithm>

#include "apps/jobs/job_input.h"
#include "fuzz/target.h"

using cuzk::apps::JobInput;

namespace {

bool same_parts(const JobInput& a, const JobInput& b) {
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const auto& x, const auto& y) { return std::ranges::equal(x, y); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = cuzk::apps::read_job_input({data, size});
  if (!input.ok()) {
    CUZK_FUZZ_REQUIRE(input.error().message.find("job input") != std::string::npos);
    CUZK_FUZZ_REQUIRE(input.error().message.size() < 1'000);
    return 0;
  }
  for (const auto& [name, value] : input->fields) {
    // One of the two readers takes it, the other says why not.
    CUZK_FUZZ_REQUIRE(input->number(name).ok() != input->text(name).ok());
    (void)input->node(name);
  }
  const cuzk::base::Bytes written = cuzk::apps::encode_job_input(input->fields, input->parts);
  const auto again = cuzk::apps::read_job_input(written);
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(again->fields == input->fields && same_parts(*again, *input));
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  const base::Bytes first(300, 7), second = {1};
  const base::ByteSpan parts[] = {first, second, {}};
  const std::string zeros(64, '0');
  return {apps::encode_job_input({}, {}),
          apps::encode_job_input({{"registered_proof", std::uint64_t{5}}, {"randomness", zeros}},
                                 parts)};
}
