// Base64: the vectors of RFC 4648 and what strict decoding refuses.
//
// Refused are the texts that lenient decoders take: missing padding, stray bits, the URL alphabet.
#include "filecoin/base64.h"

#include "filecoin/test_support.h"

namespace cuzk::filecoin {
namespace {

TEST(Base64, EncodesAndDecodesTheRfcVectors) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(base64_encode(testing::as_bytes(plain)), encoded);
    const auto decoded = base64_decode(encoded, "field").value();
    EXPECT_EQ(std::string(decoded.begin(), decoded.end()), plain);
  }
}

TEST(Base64, RoundTripsEveryByte) {
  base::Bytes bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  EXPECT_EQ(base64_decode(base64_encode(bytes), "field").value(), bytes);
}

TEST(Base64, RefusesWhatIsNotStandard) {
  for (const char* wrong : {"Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm-v", "Zm_v",
                            "Zm9v\n", " Zm9", "Zm\xff\x39"}) {
    const auto result = base64_decode(wrong, "Phase1Out");
    ASSERT_FALSE(result.ok()) << wrong;
    EXPECT_EQ(result.error().message.find("Phase1Out"), 0u);
  }
}

}  // namespace
}  // namespace cuzk::filecoin
