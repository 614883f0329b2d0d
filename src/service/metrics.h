// Metrics of the daemon in the text format of Prometheus.
//
// Two sources: events of the engine, which are counted and timed as they come, and its report,
// which is read when somebody scrapes. Counters never go down: what the report tells of a proving
// process that was restarted is added to what it told before. Names, types and units are in
// docs/operate.md.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"

namespace cuzk::service {

struct BuildFacts {
  std::string version, commit, compiler;
};

// Thread-safe.
class Metrics {
 public:
  struct Names {
    // The label `proof_kind` of a kind of the engine.
    std::function<std::string(std::string_view engine_kind)> public_kind;
    // Why a job failed; nothing where it did not.
    std::function<std::optional<base::ErrorKind>(std::string_view request_id)> failure;
  };

  Metrics(BuildFacts facts, Names names);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  // For Engine::observe.
  void observe(const engine::EngineEvent& event);
  // An answer of the HTTP door or of gRPC; `code` as the protocol has it ("200", "NOT_FOUND").
  void count_answer(std::string_view protocol, std::string_view code);

  // All families, with what `report` says now. `door_fault`: DoorFaults::first.
  std::string text(const engine::EngineReport& report, const std::string& door_fault = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cuzk::service
