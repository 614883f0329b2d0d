// What `cuzk top` draws, as text: pure, so that tests see every line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace cuzk::apps {

struct TopView {
  nlohmann::ordered_json status;             // GetStatusResponse
  std::vector<nlohmann::ordered_json> jobs;  // not over, in order of arrival
  double completed_per_minute = 0;
  std::string address;
};

// Lines of at most `columns` characters, at most `rows` of them. With `colour`, ANSI sequences,
// which take no columns. What comes from outside cannot move the cursor.
std::vector<std::string> top_screen(const TopView& view, std::size_t columns, std::size_t rows,
                                    bool colour);

}  // namespace cuzk::apps
