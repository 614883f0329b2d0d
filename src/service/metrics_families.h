// What the engine's report says as families of metrics. They are made anew for each scrape: a
// series whose subject is gone (a key, a device) goes with it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

#include "engine/engine.h"

namespace cuzk::service {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Families in the making.
class Families {
 public:
  explicit Families(std::map<std::string, std::pair<double, double>>& totals) : totals_(totals) {}

  void gauge(const std::string& name, const std::string& help, double value, Labels labels = {});
  // A count that somebody else keeps and that may begin again at zero; here it goes on. Called once
  // a series and scrape, since it takes the difference to the scrape before.
  void counter(const std::string& name, const std::string& help, double value, Labels labels = {});
  std::vector<prometheus::MetricFamily> take();

 private:
  prometheus::ClientMetric& add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, Labels labels);

  std::map<std::string, std::pair<double, double>>& totals_;  // by series: the sum, the last value
  std::vector<prometheus::MetricFamily> families_;
};

// `now_s` is the time since 1970, of which the uptime is made.
void add_report(const engine::EngineReport& report,
                const std::function<std::string(std::string_view)>& public_kind, double now_s,
                Families& families);

// "device queued" as "device_queued": words of to_string as values of labels.
std::string label_word(std::string_view words);

}  // namespace cuzk::service
