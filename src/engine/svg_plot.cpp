// Layout: a title, the plotting area with grid and ticks, a legend on the right.
//
// Both axes begin at 0, as bytes and seconds do, and end at a tick. Sizes are in the picture's own
// units, so the text scales with it. Cost: linear in the points.
#include "engine/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace cuzk::engine {
namespace {

constexpr double kWidth = 1100, kHeight = 560;
constexpr double kLeft = 80, kRight = 330, kTop = 50, kBottom = 60;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
static_assert(kPlotWidth > 0 && kPlotHeight > 0);
constexpr int kTicksMax = 8;
// Told apart by colour-blind readers too (after Okabe and Ito).
constexpr std::array<const char*, 8> kColours = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000", "#999933"};

// Names come from users' jobs; in an SVG they must be text and nothing else.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

// From values to the picture, whose y grows downwards. Neither maximum is ever 0.
struct Scale {
  double x_max = 1, y_max = 1;
  double x(double value) const { return kLeft + value / x_max * kPlotWidth; }
  double y(double value) const { return kTop + (1 - value / y_max) * kPlotHeight; }
};

// The axes that hold all points and levels; y ends at a tick above the highest.
Scale scale_of(const Plot& plot) {
  double x_max = 0, y_max = 0;
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      x_max = std::max(x_max, x);
      y_max = std::max(y_max, y);
    }
  }
  for (const PlotLevel& level : plot.levels) y_max = std::max(y_max, level.value);
  Scale scale;
  if (x_max > 0) scale.x_max = x_max;
  if (y_max > 0) {
    const double step = tick_step(y_max, kTicksMax);
    scale.y_max = std::ceil(y_max / step) * step;
  }
  return scale;
}

// Lines and numbers of the ticks, the two axes and their labels.
std::string grid(const Plot& plot, const Scale& scale) {
  std::string out;
  const auto line = [&out](double x1, double y1, double x2, double y2, const char* colour) {
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1,
        x2, y2, colour);
  };
  const double y_step = tick_step(scale.y_max, kTicksMax);
  // A little beyond the maximum, for a sum of steps may miss it by rounding.
  for (double v = 0; v <= scale.y_max * (1 + 1e-9); v += y_step) {
    line(kLeft, scale.y(v), kLeft + kPlotWidth, scale.y(v), "#dddddd");
    out += text_at(kLeft - 8, scale.y(v) + 4, "end", fmt::format("{:g}", v));
  }
  const double x_step = tick_step(scale.x_max, kTicksMax);
  for (double v = 0; v <= scale.x_max * (1 + 1e-9); v += x_step) {
    line(scale.x(v), kTop, scale.x(v), kTop + kPlotHeight, "#eeeeee");
    out += text_at(scale.x(v), kTop + kPlotHeight + 20, "middle", fmt::format("{:g}", v));
  }
  line(kLeft, kTop, kLeft, kTop + kPlotHeight, "#333333");
  line(kLeft, kTop + kPlotHeight, kLeft + kPlotWidth, kTop + kPlotHeight, "#333333");
  out += text_at(kLeft + kPlotWidth / 2, kHeight - 14, "middle", plot.x_label);
  out += text_at(kLeft - 8, kTop - 10, "end", plot.y_label);
  return out;
}

// The colours again, dashed, from the ninth series on.
std::string stroke_of(std::size_t index) {
  const char* colour = kColours[index % kColours.size()];
  const char* dashes = index < kColours.size() ? "" : " stroke-dasharray=\"6 3\"";
  return fmt::format("stroke=\"{}\" stroke-width=\"1.6\"{}", colour, dashes);
}

// One series as a line, of one point for each column of the picture: the highest there. A run of
// hours has thousands of points in a column, and what must not be lost is a peak.
std::string curve(const PlotSeries& series, const Scale& scale, const std::string& stroke) {
  std::string points;
  std::size_t i = 0;
  while (i < series.points.size()) {
    const double column = std::floor(scale.x(series.points[i].first));
    std::size_t highest = i;
    for (; i < series.points.size() && std::floor(scale.x(series.points[i].first)) == column; ++i) {
      if (series.points[i].second > series.points[highest].second) highest = i;
    }
    points += fmt::format("{:.1f},{:.1f} ", scale.x(series.points[highest].first),
                          scale.y(series.points[highest].second));
  }
  if (!points.empty()) points.pop_back();
  return fmt::format("<polyline fill=\"none\" {} points=\"{}\"/>\n", stroke, points);
}

}  // namespace

// Of the steps 1, 2 and 5 at the power of ten below range / tick_count_max the first that is coarse
// enough; ten of them always are.
double tick_step(double range, int tick_count_max) {
  CUZK_ASSERT(tick_count_max > 0);
  // Also for what is no number.
  if (!(range > 0)) return 1;
  double step = std::pow(10, std::floor(std::log10(range / tick_count_max)));
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    if (range / (step * factor) <= tick_count_max) return step * factor;
  }
  return step * 10;
}

std::string render_svg(const Plot& plot) {
  const Scale scale = scale_of(plot);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  out += fmt::format("<text x=\"{}\" y=\"24\" font-size=\"16\">{}</text>\n", kLeft,
                     escaped(plot.title));
  out += grid(plot, scale);
  double legend_y = kTop + 10;
  const double legend_x = kLeft + kPlotWidth + 20;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const std::string stroke = stroke_of(i);
    out += curve(plot.series[i], scale, stroke);
    out += fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" {3}/>\n", legend_x,
                       legend_y - 4, legend_x + 14, stroke);
    out += text_at(legend_x + 20, legend_y, "start", plot.series[i].name);
    legend_y += 20;
  }
  for (const PlotLevel& level : plot.levels) {
    out += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"#333333\" "
        "stroke-dasharray=\"5 4\"/>\n",
        kLeft, scale.y(level.value), kLeft + kPlotWidth);
    out += text_at(kLeft + kPlotWidth + 4, scale.y(level.value) + 4, "start", level.name);
  }
  return out + "</svg>\n";
}

}  // namespace cuzk::engine
