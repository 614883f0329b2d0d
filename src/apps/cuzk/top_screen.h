// What `cuzk top` draws, as text: pure, so that tests see every line.
//
// Takes the daemon's own JSON: fields that are missing read as nothing, as those of an older
// daemon.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cuzk::apps {

// One look at the daemon, as job_top.cpp takes it.
struct TopView {
  nlohmann::ordered_json status;             // GetStatusResponse
  std::vector<nlohmann::ordered_json> jobs;  // not over, in order of arrival
  // Of the last minute; 0 with the first look.
  double completed_per_minute = 0;
  std::string address;
};

// Lines of at most `columns` characters (of up to 40 always), at most `rows` of them. With
// `colour`, ANSI sequences, which take no columns. What comes from outside cannot move the cursor.
std::vector<std::string> top_screen(const TopView& view, std::size_t columns, std::size_t rows,
                                    bool colour);

}  // namespace cuzk::apps
