// Curio's way to a proof: its proto file, a client that shares no code with the daemon, and a PoRep
// of 2 KiB in its JSON. All eight calls over TCP, a unix socket and TLS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/daemon.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using Json = nlohmann::json;

// A daemon's configuration; more tables may follow.
std::string curio_toml(const TemporaryFolder& scratch, const std::string& listen) {
  return "[daemon]\nlisten = [" + listen + "]\nstatus_listen = \"127.0.0.1:0\"\n" +
         "shutdown_grace = \"20s\"\n[journal]\nfolder = \"" + scratch.file("journal") +
         "\"\n[gpus]\ncpu = \"only\"\n[srs]\nparam_cache = \"" + scratch.file("params") + "\"\n";
}

// A sealed sector of 2 KiB with its C1 output, and parameters.
class CurioFilecoinFlow : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto modules = find_grpcjs();
    if (!modules || run_program("node", {"--version"}).exit_code != 0) {
      GTEST_SKIP() << "needs node and @grpc/grpc-js (tools/setup_grpcjs.sh)";
    }
    modules_ = *modules;
    const auto made = run_cuzk({"filecoin", "params", "--sector-size", "2KiB", "--kind", "porep",
                                "--params-dir", scratch_.file("params"), "--json"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    key_ = made.json()["vk"];
    const std::string sector = scratch_.file("sector");
    sealed_ =
        run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--dir", sector, "--json"}).json();
    const auto opened = run_cuzk(
        {"filecoin", "c1", "--dir", sector, "--out", scratch_.file("wrapped.json"), "--json"});
    ASSERT_EQ(opened.exit_code, 0) << opened.err;
    seed_ = opened.json()["seed"];
    unwrap();
  }

  // The inner object alone; the client wraps it as Curio does.
  void unwrap() {
    const std::string text = read_text(scratch_ / "wrapped.json");
    const Json outer = Json::parse(text);
    if (!outer.contains("Phase1Out")) {
      write_text(scratch_ / "c1.json", text);
      return;
    }
    write_text(scratch_ / "encoded", outer["Phase1Out"].get<std::string>());
    const auto decoded = run_program("base64", {"-d", scratch_.file("encoded")});
    ASSERT_EQ(decoded.exit_code, 0) << decoded.err;
    write_text(scratch_ / "c1.json", decoded.out);
  }

  // What Curio sends for the sector, under an id of the transport's own.
  Json spec_of(const std::string& transport, const std::string& target) const {
    const Json fields = {{"request_id", "porep-1000-1-" + transport},
                         {"proof_kind", "POREP_SEAL_COMMIT"},
                         {"sector_size", 2048},
                         {"registered_proof", sealed_["registered_proof_number"]},
                         {"priority", "NORMAL"},
                         {"sector_number", sealed_["sector"]},
                         {"miner_id", sealed_["miner_id"]}};
    return {{"modules", modules_},
            {"proto", curio_proto()},
            {"target", target},
            {"scenario", "everything"},
            {"request",
             {{"fields", fields}, {"bytes", Json::object()}, {"c1", scratch_.file("c1.json")}}},
            {"key", "porep-2k"},
            {"proof_out", scratch_.file("proof-" + transport)}};
  }

  // The client's run, and the chain's view of the proof that it was given.
  void expect_proof(const Json& spec) {
    const Json seen = run_client(scratch_.path(), spec);
    ASSERT_EQ(seen["proof_bytes"], 192);
    const auto verified = run_cuzk({"filecoin",
                                    "verify",
                                    "--kind",
                                    "porep",
                                    "--sector-size",
                                    "2KiB",
                                    "--registered-proof",
                                    sealed_["registered_proof_number"].dump(),
                                    "--vk",
                                    key_,
                                    "--proof",
                                    spec["proof_out"],
                                    "--comm-r",
                                    sealed_["comm_r"],
                                    "--comm-d",
                                    sealed_["comm_d"],
                                    "--miner-id",
                                    sealed_["miner_id"].dump(),
                                    "--sector",
                                    sealed_["sector"].dump(),
                                    "--ticket",
                                    sealed_["ticket"],
                                    "--seed",
                                    seed_});
    EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  }

  TemporaryFolder scratch_;
  std::string modules_, key_, seed_;
  Json sealed_;
};

TEST_F(CurioFilecoinFlow, AllCallsOverTcpAUnixSocketAndTls) {
  const std::string socket = scratch_.file("grpc.sock");
  DaemonProcess open(scratch_.path(),
                     curio_toml(scratch_, "\"127.0.0.1:0\", \"unix://" + socket + "\""));
  expect_proof(spec_of("tcp", "127.0.0.1:" + open.port_after("listening on 127.0.0.1:")));
  expect_proof(spec_of("unix", "unix:" + socket));
  EXPECT_EQ(open.stop(), 0) << open.log();

  make_certificate(scratch_.path(), "server");
  make_certificate(scratch_.path(), "client");
  DaemonProcess locked(scratch_.path(), curio_toml(scratch_, "\"127.0.0.1:0\"") +
                                            "[tls]\ncertificate = \"" +
                                            scratch_.file("server.crt") + "\"\nkey = \"" +
                                            scratch_.file("server.key") + "\"\nclient_ca = \"" +
                                            scratch_.file("client.crt") + "\"\n");
  Json spec = spec_of("tls", "127.0.0.1:" + locked.port_after("listening on 127.0.0.1:"));
  spec["tls_ca"] = scratch_.file("server.crt");
  spec["tls_cert"] = scratch_.file("client.crt");
  spec["tls_key"] = scratch_.file("client.key");
  expect_proof(spec);
  EXPECT_EQ(locked.stop(), 0) << locked.log();
}

}  // namespace
}  // namespace cuzk::testing
