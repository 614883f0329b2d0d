// The frame that all commands share: help, version, errors, JSON, threads, output paths.
//
// What a command does with good input is for the other tests of this folder; here it is mostly
// mistakes, each of which has to end in one sentence and exit code 2.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/byte_size.h"
#include "tests/end_to_end/command.h"
#include "tests/support/data.h"

namespace cuzk::testing {
namespace {

using ::testing::HasSubstr;

const std::vector<std::vector<std::string>> kCommands = {{"prove"},
                                                         {"verify"},
                                                         {"setup"},
                                                         {"check"},
                                                         {"inspect"},
                                                         {"filecoin", "seal"},
                                                         {"filecoin", "params"},
                                                         {"filecoin", "c1"},
                                                         {"filecoin", "prove"},
                                                         {"filecoin", "verify"},
                                                         {"bench", "incident"}};

std::vector<std::string> with(std::vector<std::string> command,
                              const std::vector<std::string>& more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

TEST(CommandLine, EveryCommandHasHelpWithAnExample) {
  for (const auto& command : kCommands) {
    const CommandResult result = run_cuzk(with(command, {"--help"}));
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("Example:\n  cuzk " + command.front()));
    EXPECT_THAT(result.out, HasSubstr("--json"));
    EXPECT_THAT(result.out, HasSubstr("--threads"));
    EXPECT_THAT(result.out, HasSubstr("--memory"));
    EXPECT_EQ(result.err, "");
  }
  const CommandResult top = run_cuzk({"--help"});
  EXPECT_EQ(top.exit_code, 0);
  for (const auto& command : kCommands) EXPECT_THAT(top.out, HasSubstr(command.front()));
}

// A sparse file, of which nothing but its size and first byte may be looked at.
// The thread sanitizer leaves a process no room to map a TiB; what it maps is still far more than
// anybody could read in the time of a test.
TEST(CommandLine, InspectDoesNotReadHugeFilesThatBeginLikeJson) {
#ifdef __SANITIZE_THREAD__
  constexpr std::uintmax_t kBytes = std::uintmax_t{16} << 30;
#else
  constexpr std::uintmax_t kBytes = std::uintmax_t{1} << 40;
#endif
  const TemporaryFolder scratch;
  write_text(scratch.file("huge.json"), "{");
  std::filesystem::resize_file(scratch.file("huge.json"), kBytes);
  const CommandResult result = run_cuzk({"inspect", scratch.file("huge.json")});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(base::format_byte_size(kBytes)));
}

TEST(CommandLine, VersionTellsBuildFacts) {
  const CommandResult text = run_cuzk({"--version"});
  EXPECT_EQ(text.exit_code, 0);
  for (const char* fact : {"cuzk ", "commit: ", "compiler: ", "build type: ", "CPU level: "}) {
    EXPECT_THAT(text.out, HasSubstr(fact));
  }
  const auto json = run_cuzk({"--version", "--json"}).json();
  for (const char* key : {"version", "commit", "compiler", "build_type", "cpu_level"}) {
    EXPECT_FALSE(json.value(key, "").empty()) << key;
  }
}

TEST(CommandLine, NumbersAreDecimalAndFit) {
  const TemporaryFolder scratch;
  for (const char* number : {"-1", "010", "0x10", "18446744073709551616", "1e3", "+1", " 1", ""}) {
    const CommandResult result = run_cuzk({"filecoin", "seal", "--sector-size", "2KiB", "--dir",
                                           scratch.file("s"), std::string("--miner-id=") + number});
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr("--miner-id")) << number;
    EXPECT_FALSE(std::filesystem::exists(scratch / "s")) << number;
  }
  expect_one_sentence(run_cuzk({"bench", "ntt", "--size-log2", "010"}));
  expect_one_sentence(run_cuzk({"verify", "--threads", "-1"}));
  const CommandResult not_a_number = run_cuzk({"top", "--interval", "nan"});
  expect_one_sentence(not_a_number);
  EXPECT_THAT(not_a_number.err, HasSubstr("expected a number, found 'nan'"));
}

TEST(CommandLine, UnknownWordsAreNamed) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bogus"}, {"filecoin", "bogus"}, {"bench", "bogus", "--json"}, {"--json", "bogus"}}) {
    const CommandResult result = run_cuzk(words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.out + result.err, HasSubstr("bogus' is no command"));
  }
  EXPECT_EQ(run_cuzk({"--help", "bogus"}).exit_code, 0);
  const CommandResult level = run_cuzk({"verify", "--check-key", "bogus"});
  expect_one_sentence(level);
  EXPECT_THAT(run_cuzk({"prove", "--check-key", "1"}).err,
              HasSubstr("expected none, canonical, curve or subgroup, found '1'"));
}

TEST(CommandLine, UsageErrorsAreOneSentenceAndExitCodeTwo) {
  expect_one_sentence(run_cuzk({}));
  expect_one_sentence(run_cuzk({"frobnicate"}));
  expect_one_sentence(run_cuzk({"prove", "--zkey", "a"}));
  expect_one_sentence(run_cuzk({"inspect", "a", "--threads", "0"}));
  expect_one_sentence(run_cuzk({"inspect", "a", "--threads", "many"}));
  expect_one_sentence(run_cuzk({"check", "--zkey", "a", "--r1cs", "b", "--witness", "c"}));
  expect_one_sentence(run_cuzk({"check", "--witness", "c"}));
  expect_one_sentence(run_cuzk({"filecoin"}));
  for (std::vector<std::string> command : kCommands) {
    // The incident is the one command that needs no argument.
    if (command != std::vector<std::string>{"bench", "incident"}) {
      expect_one_sentence(run_cuzk(command));
    }
    command.push_back("--no-such-flag");
    expect_one_sentence(run_cuzk(command));
  }
}

TEST(CommandLine, MissingFilesAreNamed) {
  const TemporaryFolder scratch;
  const std::string gone = scratch.file("gone.zkey");
  const CommandResult result = run_cuzk({"inspect", gone, "--json"});
  expect_one_sentence(result);
  EXPECT_THAT(result.err, HasSubstr(gone));
  EXPECT_EQ(result.json()["error"]["kind"], "not_found");
  EXPECT_THAT(result.json()["error"]["message"].get<std::string>(), HasSubstr(gone));
}

TEST(CommandLine, UsageErrorsAreJsonWhenAskedFor) {
  EXPECT_EQ(run_cuzk({"prove", "--json"}).json()["error"]["kind"], "invalid_argument");
}

TEST(CommandLine, EmptyPathsAreRefusedBeforeAnyWork) {
  for (const char* flag : {"--zkey", "--witness", "--proof", "--public"}) {
    std::vector<std::string> arguments = {"prove"};
    for (const char* each : {"--zkey", "--witness", "--proof", "--public"}) {
      arguments.insert(arguments.end(), {each, each == std::string(flag) ? "" : "x"});
    }
    const CommandResult result = run_cuzk(arguments);
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr(flag));
    EXPECT_THAT(result.err, HasSubstr("empty"));
  }
}

// Other programs take it for standard input or output; here it would be a file of that name.
TEST(CommandLine, ADashIsNotTakenForAFile) {
  const CommandResult in = run_cuzk({"inspect", "-"});
  expect_one_sentence(in);
  EXPECT_THAT(in.err, HasSubstr("/dev/stdin"));
  const CommandResult out =
      run_cuzk({"prove", "--zkey", "x", "--witness", "x", "--public", "x", "--proof", "-"});
  expect_one_sentence(out);
  EXPECT_THAT(out.err, HasSubstr("--proof: '-' is no file"));
  EXPECT_THAT(out.err, HasSubstr("/dev/stdout"));
}

TEST(CommandLine, AnAnswerThatCannotBeWrittenIsAnError) {
  CUZK_DATA_OR_SKIP(zkey, "circom/mul1000-bn128/circuit_final.zkey");
  const std::string command = std::string(CUZK_COMMAND) + " ";
  for (const std::string& call : {"inspect " + zkey.string(), "inspect --json " + zkey.string(),
                                  std::string("--help"), std::string("--version")}) {
    const CommandResult result = run_program("sh", {"-c", command + call + " >/dev/full"});
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr("standard output"));
  }
}

TEST(CommandLine, NamesOfFilesCannotCommandTheTerminal) {
  const CommandResult result = run_cuzk({"inspect", "\x1b[31mred\nerror: x"});
  expect_one_sentence(result);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_THAT(result.err, HasSubstr("\\x1b[31mred"));
}

TEST(CommandLine, AMemoryBudgetIsReadStrictlyAndKept) {
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const TemporaryFolder scratch;
  const auto prove = [&](const char* memory) {
    return run_cuzk({"prove", "--zkey", folder / "circuit_final.zkey", "--witness",
                     folder / "witness.wtns", "--proof", scratch.file("p"), "--public",
                     scratch.file("v"), "--memory", memory, "--json"});
  };
  for (const char* wrong : {"48", "many", "-1GiB", "1gigs", "0MiB", "", "9999PiB"}) {
    const CommandResult result = prove(wrong);
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr("--memory")) << wrong;
  }
  const CommandResult small = prove("64KiB");
  expect_one_sentence(small);
  EXPECT_EQ(small.json()["error"]["kind"], "resource_exhausted");
  EXPECT_FALSE(fs::exists(scratch / "p"));
  for (const char* enough : {"256MiB", "0.5gib", "auto", "none"}) {
    EXPECT_EQ(prove(enough).exit_code, 0) << enough;
  }
}

TEST(CommandLine, RefusesAnUnknownCpuLevel) {
  const CommandResult result =
      run_program("env", {"CUZK_CPU_LEVEL=quantum", CUZK_COMMAND, "inspect", "x"});
  expect_one_sentence(result);
  EXPECT_THAT(result.err, HasSubstr("CUZK_CPU_LEVEL"));
}

TEST(CommandLine, NothingIsWrittenWhenAnOutputPathIsWrong) {
  const TemporaryFolder scratch;
  CUZK_DATA_OR_SKIP(folder, "circom/mul1000-bn128");
  const std::string zkey = (folder / "circuit_final.zkey").string();
  const std::string witness = (folder / "witness.wtns").string();
  const CommandResult no_folder =
      run_cuzk({"prove", "--zkey", zkey, "--witness", witness, "--proof",
                scratch.file("none/proof.json"), "--public", scratch.file("public.json")});
  expect_one_sentence(no_folder);
  EXPECT_THAT(no_folder.err, HasSubstr("there is no folder"));
  const CommandResult same = run_cuzk({"prove", "--zkey", zkey, "--witness", witness, "--proof",
                                       scratch.file("x"), "--public", scratch.file("x")});
  expect_one_sentence(same);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(FilecoinParams, HelpNamesTheSizesThatItTakes) {
  const CommandResult help = run_cuzk({"filecoin", "params", "--help"});
  for (const char* size : {"1KiB", "2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "8MiB", "16MiB",
                           "512MiB", "1GiB", "32GiB", "64GiB"}) {
    EXPECT_THAT(help.out, HasSubstr(size));
    const TemporaryFolder scratch;
    // Past the size and before any work: the kind is wrong.
    const CommandResult result = run_cuzk({"filecoin", "params", "--sector-size", size, "--kind",
                                           "no-kind", "--params-dir", scratch.file("p")});
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr("no-kind"));
  }
}

TEST(Inspect, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder scratch;
  for (const std::string text :
       {"", "hello", "{}", "{\"a\": 1}", "[", "zkey", "wtns\x02", "r1cs"}) {
    write_text(scratch / "file", text);
    const CommandResult result = run_cuzk({"inspect", scratch.file("file")});
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr(scratch.file("file")));
  }
  expect_one_sentence(run_cuzk({"inspect", scratch.path().string()}));
}

TEST(Inspect, NamesWhatBelongsToOtherProtocols) {
  const TemporaryFolder scratch;
  const std::vector<std::pair<std::string, std::string>> files = {
      {R"({"protocol": "plonk", "curve": "bn128", "nPublic": 1, "power": 3, "k1": "2", "Qm": []})",
       "a verification key of the PLONK protocol"},
      {R"({"A": ["1", "2", "1"], "eval_a": "1", "protocol": "plonk", "curve": "bn128"})",
       "a proof of the PLONK protocol"},
      {R"({"protocol": "fflonk", "curve": "bn128", "nPublic": 1, "C0": ["1", "2", "1"]})",
       "a verification key of the FFLONK protocol"},
      {R"({"polynomials": {}, "evaluations": {}, "protocol": "fflonk", "curve": "bn128"})",
       "a proof of the FFLONK protocol"},
      {std::string("ptau\1\0\0\0\x0b\0\0\0", 12), "powers of tau"}};
  for (const auto& [text, sentence] : files) {
    write_text(scratch / "file", text);
    const CommandResult result = run_cuzk({"inspect", scratch.file("file")});
    expect_one_sentence(result);
    EXPECT_THAT(result.err, HasSubstr(sentence));
    EXPECT_THAT(result.err, HasSubstr(scratch.file("file")));
  }
}

TEST(Inspect, KnowsEveryKindOfFile) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"circom/mul1000-bn128/circuit_final.zkey", "zkey"},
      {"circom/mul1000-bls12381/circuit_final.zkey", "zkey"},
      {"circom/mul1000-bn128/witness.wtns", "wtns"},
      {"circom/mul1000-bls12381/circuit.r1cs", "r1cs"},
      {"circom/mul1000-bn128/verification_key.json", "verification_key.json"},
      {"circom/mul1000-bls12381/proof.json", "proof.json"},
      {"circom/mul1000-bn128/public.json", "public.json"},
      {"upstream/mimc/mimc.params", "params"},
      {"upstream/mimc/mimc.vk", "vk"},
      {"upstream/mimc/mimc.proof", "proof"},
      {"upstream/instance1/window-3sectors.proof", "proof"},
      {"upstream/instance1/porep-s0.c1.json", "c1"},
  };
  for (const auto& [file, type] : kinds) {
    const auto path = find_data(file);
    if (!path) continue;  // the next test counts what travels with the repository
    const CommandResult result = run_cuzk({"inspect", path->string(), "--json"});
    EXPECT_EQ(result.exit_code, 0) << file << result.err;
    EXPECT_EQ(result.json()["type"], type) << file;
    const CommandResult text = run_cuzk({"inspect", path->string()});
    EXPECT_GE(std::count(text.out.begin(), text.out.end(), '\n'), 2) << text.out;
  }
  EXPECT_TRUE(find_data("circom/mul1000-bn128/circuit_final.zkey").has_value());
  EXPECT_TRUE(find_data("upstream/mimc/mimc.params").has_value());
}

// As editors on Windows save it.
TEST(Inspect, AByteOrderMarkBeforeJsonChangesNothing) {
  const TemporaryFolder scratch;
  for (const char* file :
       {"circom/mul1000-bn128/verification_key.json", "circom/mul1000-bls12381/proof.json",
        "circom/mul1000-bn128/public.json"}) {
    const auto path = find_data(file);
    if (!path) continue;
    std::ifstream original(*path, std::ios::binary);
    std::stringstream text;
    text << "\xef\xbb\xbf" << original.rdbuf();
    write_text(scratch / "marked.json", text.str());
    const CommandResult marked = run_cuzk({"inspect", scratch.file("marked.json"), "--json"});
    EXPECT_EQ(marked.exit_code, 0) << file << marked.err;
    const CommandResult plain = run_cuzk({"inspect", path->string(), "--json"});
    EXPECT_EQ(marked.json()["type"], plain.json()["type"]) << file;
  }
  write_text(scratch / "marked.json", "\xef\xbb\xbf");
  expect_one_sentence(run_cuzk({"inspect", scratch.file("marked.json")}));
}

TEST(Inspect, TellsTheMemoryThatAProofNeeds) {
  CUZK_DATA_OR_SKIP(zkey, "circom/mul1000-bn128/circuit_final.zkey");
  const auto facts = run_cuzk({"inspect", zkey.string(), "--check-points", "--json"}).json();
  EXPECT_EQ(facts["curve"], "BN254");
  EXPECT_EQ(facts["wire_count"], 1003);
  EXPECT_EQ(facts["domain_log2"], 10);
  EXPECT_EQ(facts["points_checked"], true);
  // At least a, b and h over the domain and every wire's value; and a budget that suffices, where
  // the evaluations alone do not fit into less.
  const auto bytes = facts["memory_to_prove_bytes"].get<std::uint64_t>();
  EXPECT_GE(bytes, (3u * 1024u + 1003u) * 32u);
  EXPECT_LE(bytes, 16u << 20);
  const TemporaryFolder scratch;
  const auto prove_within = [&](std::uint64_t budget) {
    return run_cuzk({"prove", "--zkey", zkey.string(), "--witness",
                     (zkey.parent_path() / "witness.wtns").string(), "--proof", scratch.file("p"),
                     "--public", scratch.file("v"), "--memory", std::to_string(budget) + "B"});
  };
  EXPECT_EQ(prove_within(bytes).exit_code, 0);
  const CommandResult refused = prove_within(2 * 1024 * 32);
  expect_one_sentence(refused);
  EXPECT_THAT(refused.err, HasSubstr("of the budget of 65536 are free"));
}

}  // namespace
}  // namespace cuzk::testing
