// cmake/embed_dashboard.cmake makes the arrays from src/service/dashboard/. The page names the
// other three by these paths, and its policy (http_door.cpp) lets it load nothing else.
#include "service/dashboard_assets.h"

#include <algorithm>
#include <array>

#include "service/dashboard_files.h"

namespace cuzk::service {
namespace {

template <std::size_t N>
std::string_view text(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

const std::array<DashboardAsset, 4> kAssets = {{
    {"/", "text/html; charset=utf-8", text(kIndexHtml)},
    {"/dashboard.css", "text/css; charset=utf-8", text(kDashboardCss)},
    {"/dashboard.js", "text/javascript; charset=utf-8", text(kDashboardJs)},
    {"/charts.js", "text/javascript; charset=utf-8", text(kChartsJs)},
}};

}  // namespace

const DashboardAsset* find_dashboard_asset(std::string_view path) {
  const auto found = std::find_if(kAssets.begin(), kAssets.end(),
                                  [&](const DashboardAsset& asset) { return asset.path == path; });
  return found == kAssets.end() ? nullptr : &*found;
}

}  // namespace cuzk::service
