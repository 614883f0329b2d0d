// The live view: its lines, their width, and what hostile names cannot do to it.
//
// No terminal is needed, as the screen is text.
#include "apps/cuzk/top_screen.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace cuzk::apps {
namespace {

using nlohmann::ordered_json;

TopView view() {
  TopView made;
  made.address = "127.0.0.1:9820";
  made.completed_per_minute = 2.5;
  made.status = ordered_json::parse(R"({"version":"cuzk 1","uptime_seconds":90,"ready":true,
    "total_proofs_completed":12,"total_proofs_failed":1,"total_proofs_cancelled":0,
    "memory":{"budget_bytes":1073741824,"used_bytes":536870912,"rss_bytes":600000000},
    "devices":[{"ordinal":0,"name":"cpu","usable":true,"worker_count":2,
                "current_job_ids":["a"]},
               {"ordinal":1,"name":"card","usable":false,"worker_count":2,"current_job_ids":[],
                "wrong_proof_count":3}],
    "queues":[{"proof_kind":"porep-c2","pending":3,"in_progress":1}]})");
  made.jobs.push_back(ordered_json::parse(
      R"({"job_id":"porep-1000-1","kind":"porep","state":"running","priority":"normal",
          "partitions":{"total":10,"done":4,"device":2,"witness":1}})"));
  return made;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const auto& line : lines) all += line + "\n";
  return all;
}

TEST(TopScreen, ShowsStateMemoryDevicesQueuesAndJobs) {
  const std::string text = joined(top_screen(view(), 120, 40, false));
  for (const char* part : {"127.0.0.1:9820", "up 1m30s", "ready", "12 proved (2.5 a minute)",
                           "512.00 MiB of 1.00 GiB", "1/2 cpu", "out of use", "3 wrong proofs",
                           "porep-c2: 3 queued, 1 running", "porep-1000-1", "4/10", "2 device"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no colours where none were asked for";
}

TEST(TopScreen, KeepsToTheTerminal) {
  TopView many = view();
  for (int i = 0; i < 100; ++i) many.jobs.push_back(many.jobs[0]);
  for (const std::size_t columns : {40, 60, 120}) {
    const auto lines = top_screen(many, columns, 12, false);
    EXPECT_EQ(lines.size(), 12U);
    for (const auto& line : lines) EXPECT_LE(line.size(), columns) << line;
  }
}

TEST(TopScreen, NamesFromOutsideCannotMoveTheCursor) {
  TopView hostile = view();
  hostile.jobs[0]["job_id"] = "\x1b[2J\x1b[H\r\nall is well";
  hostile.jobs[0]["kind"] = "\x07";
  hostile.status["devices"][0]["name"] = "\x1b]0;title\x07";
  hostile.status["version"] =
      "\x9b"
      "31m";
  for (const bool colour : {false, true}) {
    const std::string text = joined(top_screen(hostile, 120, 40, colour));
    EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
    EXPECT_EQ(text.find("\x1b]"), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
  }
}

TEST(TopScreen, ADaemonThatLeavesFieldsOutIsShown) {
  TopView old;
  old.status = ordered_json::object();
  EXPECT_GE(top_screen(old, 80, 20, true).size(), 4U);
}

}  // namespace
}  // namespace cuzk::apps
