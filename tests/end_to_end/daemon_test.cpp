// The daemon as its own process, driven by a client of other people's making: over TCP, a unix
// socket and TLS; with our proto file, or with the one that CUZK_FOREIGN_PROTO names.
#include "tests/end_to_end/daemon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/data.h"
#include "tests/support/gzip.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// What every daemon here has in common; more tables may follow.
std::string base_toml(const TemporaryFolder& scratch, const std::string& listen) {
  return "[daemon]\nlisten = [" + listen + "]\nstatus_listen = \"127.0.0.1:0\"\n" +
         "shutdown_grace = \"20s\"\n[journal]\nfolder = \"" + scratch.file("journal") +
         "\"\n[gpus]\ncpu = \"only\"\n";
}

// A window proof of the upstream sectors in the fields of the public client.
Json window_request(const Json& upstream) {
  Json proofs = Json::array();
  for (const char* name : {"window-2sectors.vanilla0.bin", "window-2sectors.vanilla1.bin"}) {
    proofs.push_back(find_data("upstream/instance1/" + std::string(name))->string());
  }
  return {{"fields",
           {{"request_id", "wdpost-1000-0"},
            {"proof_kind", "WINDOW_POST_PARTITION"},
            {"sector_size", 2048},
            {"registered_proof", 10},
            {"priority", "HIGH"},
            {"miner_id", 1000},
            {"partition_index", 0}}},
          {"bytes", {{"vanilla_proofs", proofs}, {"randomness", upstream["randomness_file"]}}}};
}

void write_hex(const fs::path& path, const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  write_text(path, bytes);
}

// "params" of a kind at 2 KiB, in the folder.
void make_params(const TemporaryFolder& scratch, const std::string& kind) {
  const CommandResult made = run_cuzk({"filecoin", "params", "--sector-size", "2KiB", "--kind",
                                       kind, "--params-dir", scratch.file("params"), "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
}

std::string params_file(const TemporaryFolder& scratch, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(scratch / "params")) {
    if (entry.path().string().ends_with(ending)) return entry.path().string();
  }
  return "";
}

// Scripts pass variables on that nobody has set.
TEST(Daemon, AnEmptyVariableNamesNoProtoFile) {
  EXPECT_EQ(curio_proto("given.proto"), "given.proto");
  EXPECT_TRUE(fs::exists(curio_proto("")));
  EXPECT_EQ(curio_proto(""), curio_proto(nullptr));
}

TEST(Daemon, ServesTheIndependentClientOverTcpUnixAndTls) {
  CUZK_GRPCJS_OR_SKIP(modules);
  CUZK_DATA_OR_SKIP(instance, "upstream/instance1/instance.json");
  CUZK_DATA_OR_SKIP(vanilla, "upstream/instance1/window-2sectors.vanilla0.bin");
  const TemporaryFolder scratch;
  Json upstream = Json::parse(read_text(instance));
  write_hex(scratch / "randomness", upstream["post_randomness"]);
  upstream["randomness_file"] = scratch.file("randomness");
  make_params(scratch, "window-post");
  const std::string socket = scratch.file("grpc.sock");
  DaemonProcess daemon(scratch.path(),
                       base_toml(scratch, "\"127.0.0.1:0\", \"unix://" + socket + "\"") +
                           "[srs]\nparam_cache = \"" + scratch.file("params") + "\"\n");
  const std::string port = daemon.port_after("listening on 127.0.0.1:");
  Json spec = {{"modules", modules},
               {"proto", curio_proto()},
               {"target", "127.0.0.1:" + port},
               {"scenario", "everything"},
               {"request", window_request(upstream)},
               {"key", "wpost-2k"},
               {"proof_out", scratch.file("proof")}};
  const Json seen = run_client(scratch.path(), spec);
  EXPECT_EQ(seen["proof_bytes"], 192);
  std::vector<std::string> verify = {"filecoin",      "verify",
                                     "--kind",        "window-post",
                                     "--sector-size", "2KiB",
                                     "--vk",          params_file(scratch, ".vk"),
                                     "--proof",       scratch.file("proof"),
                                     "--randomness",  upstream["post_randomness"]};
  for (const int sector : {0, 1}) {
    const Json& facts = upstream["sectors"][sector];
    verify.insert(verify.end(), {"--replica", facts["sector_id"].dump() + ":" +
                                                  facts["comm_r"].get<std::string>()});
  }
  EXPECT_EQ(run_cuzk(verify).exit_code, 0);

  spec["scenario"] = "look";
  spec["job_id"] = "wdpost-1000-0";
  spec["target"] = "unix:" + socket;
  run_client(scratch.path(), spec);
  EXPECT_EQ(daemon.stop(), 0) << daemon.log();

  // The same journal behind TLS with client certificates.
  make_certificate(scratch.path(), "server");
  make_certificate(scratch.path(), "client");
  DaemonProcess locked(
      scratch.path(), base_toml(scratch, "\"127.0.0.1:0\"") + "[tls]\ncertificate = \"" +
                          scratch.file("server.crt") + "\"\nkey = \"" + scratch.file("server.key") +
                          "\"\nclient_ca = \"" + scratch.file("client.crt") + "\"\n");
  spec["target"] = "127.0.0.1:" + locked.port_after("listening on 127.0.0.1:");
  spec["tls_ca"] = scratch.file("server.crt");
  Json stranger = spec;
  stranger["scenario"] = "refused";
  stranger["code"] = "UNAVAILABLE";
  run_client(scratch.path(), stranger);
  spec["tls_cert"] = scratch.file("client.crt");
  spec["tls_key"] = scratch.file("client.key");
  run_client(scratch.path(), spec);
  EXPECT_EQ(locked.stop(), 0) << locked.log();
}

}  // namespace
}  // namespace cuzk::testing
