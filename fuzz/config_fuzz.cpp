// The daemon's TOML: whatever is accepted is shown as text that reads back to the same text.
//
// Texts are compared, as a configuration has no equality of its own. A refusal names the file and
// stays readable however long the input was.
#include "fuzz/target.h"
#include "service/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = cuzk::service::parse_config(text, "fuzz.toml");
  if (!loaded.ok()) {
    CUZK_FUZZ_REQUIRE(loaded.error().message.starts_with("fuzz.toml"));
    CUZK_FUZZ_REQUIRE(loaded.error().message.size() < 20'000);
    return 0;
  }
  const std::string once = cuzk::service::to_toml(loaded->config);
  const auto again = cuzk::service::parse_config(once, "again.toml");
  CUZK_FUZZ_REQUIRE(again.ok());
  CUZK_FUZZ_REQUIRE(cuzk::service::to_toml(again->config) == once);
  return 0;
}

std::vector<cuzk::base::Bytes> cuzk::fuzz::seeds() {
  const std::string all = cuzk::service::to_toml({});
  const std::string some =
      "[daemon]\nlisten = [\"127.0.0.1:1\", \"unix:///a\"]\nsocket_mode = \"0600\"\n"
      "[memory]\ntotal_budget = \"1.5GiB\"\nsafety_margin = \"5GiB\"\npinned_budget = \"1GiB\"\n"
      "[gpus]\ndevices = [0, 1]\n[journal]\nretention_age = \"1h 30m\"\n"
      "[[circuits]]\nname = \"a\"\nzkey = \"b\\u0041\"\n";
  const std::string strange = "a.b.c = [{x = 1e9}, 0x_f]\n'' = 1979-05-27T07:32:00Z\n";
  return {{all.begin(), all.end()}, {some.begin(), some.end()}, {strange.begin(), strange.end()}};
}
