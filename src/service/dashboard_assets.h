// The files of the dashboard, in the program itself: the page needs no other host and no folder.
// They live as long as the program, and no file of the machine can be reached through them.
#pragma once

#include <string_view>

namespace cuzk::service {

struct DashboardAsset {
  std::string_view path;  // "/", "/dashboard.js"
  std::string_view content_type;
  std::string_view content;
};

// Null for a path that is none of them.
const DashboardAsset* find_dashboard_asset(std::string_view path);

}  // namespace cuzk::service
