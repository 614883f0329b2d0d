// What both sides of TLS refuse before their library sees it, in the same sentences.
#include "service/pem_file.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace cuzk::service {
namespace {

constexpr char kCertificate[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
constexpr char kKey[] = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";

TEST(PemFile, GivesTheTextOfAFileOfItsKind) {
  const cuzk::testing::TemporaryFolder folder;
  std::ofstream(folder / "a.crt") << kCertificate;
  std::ofstream(folder / "a.key") << kKey;
  EXPECT_EQ(read_pem(folder / "a.crt", PemKind::kCertificate).value(), kCertificate);
  EXPECT_EQ(read_pem(folder / "a.key", PemKind::kPrivateKey).value(), kKey);
  EXPECT_EQ(read_pem({}, PemKind::kCertificate).value(), "") << "none is named";
}

TEST(PemFile, TheOtherFileOfAPairIsNamedWithWhatItLacks) {
  const cuzk::testing::TemporaryFolder folder;
  std::ofstream(folder / "a.crt") << kCertificate;
  std::ofstream(folder / "a.key") << kKey;
  const auto key_as_certificate = read_pem(folder / "a.key", PemKind::kCertificate);
  ASSERT_FALSE(key_as_certificate.ok());
  EXPECT_EQ(key_as_certificate.error().kind, base::ErrorKind::kMalformed);
  EXPECT_EQ(key_as_certificate.error().message,
            (folder / "a.key").string() +
                ": is no PEM file, for it has no line with \"BEGIN CERTIFICATE\"");
  const auto certificate_as_key = read_pem(folder / "a.crt", PemKind::kPrivateKey);
  ASSERT_FALSE(certificate_as_key.ok());
  EXPECT_NE(certificate_as_key.error().message.find("\"PRIVATE KEY\""), std::string::npos);
  EXPECT_EQ(read_pem(folder / "none", PemKind::kPrivateKey).error().kind,
            base::ErrorKind::kNotFound);
}

TEST(PemFile, AFileBeyondAMebibyteIsNotRead) {
  const cuzk::testing::TemporaryFolder folder;
  std::ofstream(folder / "large") << kCertificate << std::string(1 << 20, 'A');
  const auto large = read_pem(folder / "large", PemKind::kCertificate);
  ASSERT_FALSE(large.ok());
  EXPECT_NE(large.error().message.find("large"), std::string::npos) << large.error().message;
}

}  // namespace
}  // namespace cuzk::service
