// Lines over time as a self-contained SVG picture. No script, no font file, readable on white.
//
// Enough for memory over time, in reports and beside traces, and no more: a library for it would be
// larger than what uses it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cuzk::engine {

struct PlotSeries {
  std::string name;
  std::vector<std::pair<double, double>> points;  // ascending in x
};

struct PlotLevel {  // a horizontal line
  double value = 0;
  std::string name;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<PlotSeries> series;  // eight colours, then the same dashed
  std::vector<PlotLevel> levels;
};

// The distance between ticks: 1, 2 or 5 times a power of ten, at most `tick_count_max` in `range`.
double tick_step(double range, int tick_count_max);

// An SVG document. Long series are thinned to the highest point of each column of the picture, so
// that no peak is lost.
std::string render_svg(const Plot& plot);

}  // namespace cuzk::engine
