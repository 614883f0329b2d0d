// Status over HTTP: the fields that the Rust daemon's monitor reads, and what the dashboard needs.
// Each is made from one report, so the figures of an answer belong together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "service/dashboard_feed.h"

namespace cuzk::service {

struct StatusFacts {
  std::string version;
  std::int64_t now_ms = 0;  // since the epoch
  std::function<std::string(std::string_view)> public_kind;
  std::string door_fault = {};  // DoorFaults::first
};

// GET /status. Member names and meanings of the Rust daemon; what is ours beside them is in
// docs/operate.md.
nlohmann::ordered_json status_json(const engine::EngineReport& report, const DashboardFeed& feed,
                                   const StatusFacts& facts);

// GET /api/v1/dashboard: the present state, apart from DashboardFeed::changes.
nlohmann::ordered_json overview_json(const engine::EngineReport& report, const StatusFacts& facts);

}  // namespace cuzk::service
