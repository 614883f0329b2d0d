// The picture holds what was given, thinned without losing peaks.
#include "engine/svg_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

using ::testing::HasSubstr;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(SvgPlot, StepsAreRound) {
  EXPECT_DOUBLE_EQ(tick_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(tick_step(11, 10), 2);
  EXPECT_DOUBLE_EQ(tick_step(755, 8), 100);
  EXPECT_DOUBLE_EQ(tick_step(0.3, 8), 0.05);
  EXPECT_DOUBLE_EQ(tick_step(0, 8), 1);
}

TEST(SvgPlot, DrawsEachSeriesAndLevelWithItsName) {
  Plot plot{"memory <over> time",
            "seconds",
            "GiB",
            {{"a & b", {{0, 1}, {1, 5}}}, {"c", {{0, 2}}}},
            {{7, "host"}}};
  const std::string svg = render_svg(plot);
  EXPECT_EQ(count_of(svg, "<polyline"), 2u);
  EXPECT_EQ(count_of(svg, "stroke-dasharray"), 1u);
  for (const char* part :
       {"memory &lt;over&gt; time", "a &amp; b", ">host<", ">seconds<", ">GiB<"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  EXPECT_EQ(svg.compare(0, 4, "<svg"), 0);
  EXPECT_EQ(count_of(svg, "<svg"), count_of(svg, "</svg>"));
}

TEST(SvgPlot, ThinsLongSeriesAndKeepsThePeak) {
  PlotSeries series{"s", {}};
  for (int i = 0; i < 100'000; ++i) series.points.emplace_back(i, i == 61'803 ? 10 : 1);
  const std::string svg = render_svg({"", "", "", {series}, {}});
  EXPECT_LT(svg.size(), 40'000u);
  EXPECT_THAT(svg, HasSubstr(",50.0 "));  // the top of the plotting area
}

TEST(SvgPlot, DashesWhatSharesAColour) {
  Plot plot;
  for (int i = 0; i < 9; ++i) plot.series.push_back({"s", {{0, 1}, {1, 1}}});
  EXPECT_EQ(count_of(render_svg(plot), "stroke-dasharray"), 2u);  // the ninth, and in the legend
}

TEST(SvgPlot, OfNothingIsStillAPicture) { EXPECT_THAT(render_svg({}), HasSubstr("</svg>")); }

}  // namespace
}  // namespace cuzk::engine
