// Bars and columns of the live view.
//
// Lines count the columns that they have left while they are put together, so none can wrap and
// push the others down. Text from outside is made printable before it is measured; characters are
// bytes here, which is exact for all that the daemon's own words hold.
#include "apps/cuzk/top_screen.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "apps/cuzk/answer.h"
#include "service/config_duration.h"

namespace cuzk::apps {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kBarColumns = 24;
// Lines of narrower terminals are as long as this all the same, and wrap.
constexpr std::size_t kColumnsMin = 40;
static_assert(8 + 1 + kBarColumns + 2 <= kColumnsMin);  // a name and its bar

// A line in the making: knows how many columns it takes.
class Line {
 public:
  Line(std::size_t columns, bool colour) : left_(columns), colour_(colour) {}
  // `text` may hold anything; what does not fit is cut. `style`: parameters of an SGR sequence.
  Line& add(const std::string& text, const char* style = nullptr) {
    std::string shown = printable(text);
    if (shown.size() > left_) shown.resize(left_);
    CUZK_ASSERT(shown.size() <= left_);
    left_ -= shown.size();
    // Colours are added after the text was cut: their sequences take no columns.
    const bool styled = colour_ && style != nullptr && !shown.empty();
    text_ += styled ? fmt::format("\x1b[{}m{}\x1b[0m", style, shown) : shown;
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t left_;
  bool colour_;
};

std::string word(const ordered_json& object, const char* name) {
  return object.value(name, std::string());
}
std::uint64_t number(const ordered_json& object, const char* name) {
  return object.value(name, std::uint64_t{0});
}
ordered_json list(const ordered_json& object, const char* name) {
  return object.value(name, ordered_json::array());
}

// `share` from 0 to 1 as a part of kBarColumns, rounded to whole columns.
void add_bar(Line& line, double share, const char* style) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBarColumns + 0.5);
  CUZK_ASSERT(full <= kBarColumns);
  line.add("[").add(std::string(full, '|'), style);
  line.add(std::string(kBarColumns - full, ' ')).add("] ");
}

// The parts of the view from top to bottom. Jobs come last, because they may be any number: what
// does not fit is cut at the end.
class Screen {
 public:
  Screen(const TopView& view, std::size_t columns, std::size_t rows, bool colour)
      : view_(view), columns_(std::max(columns, kColumnsMin)), rows_(rows), colour_(colour) {}

  std::vector<std::string> draw() {
    head();
    memory();
    devices();
    queues();
    jobs();
    if (lines_.size() > rows_) lines_.resize(rows_);
    CUZK_ASSERT(lines_.size() <= rows_);
    return std::move(lines_);
  }

 private:
  Line line() const { return Line(columns_, colour_); }
  void put(Line line) { lines_.push_back(line.take()); }

  // Who it is, whether it proves, and how much it has proved.
  void head() {
    const auto& status = view_.status;
    Line first = line();
    const auto uptime = std::chrono::seconds(number(status, "uptime_seconds"));
    first.add("cuzk top", "1").add("  " + view_.address + "  ");
    first.add(word(status, "version") + "  up " + service::format_duration(uptime) + "  ");
    const bool ready = status.value("ready", true);
    first.add(ready ? "ready" : word(status, "not_ready_reason"), ready ? "32" : "31;1");
    put(std::move(first));
    put(line().add(fmt::format("{} proved ({:.1f} a minute), {} failed, {} cancelled",
                               number(status, "total_proofs_completed"), view_.completed_per_minute,
                               number(status, "total_proofs_failed"),
                               number(status, "total_proofs_cancelled"))));
  }

  // Against the budget, which is what jobs wait for; yellow where little of it is left.
  void memory() {
    const auto memory = view_.status.value("memory", ordered_json::object());
    const std::uint64_t budget = number(memory, "budget_bytes"),
                        used = number(memory, "used_bytes");
    Line made = line();
    made.add("memory  ");
    const double share = budget == 0 ? 0 : static_cast<double>(used) / static_cast<double>(budget);
    add_bar(made, share, share > 0.92 ? "33" : "36");
    made.add(fmt::format("{} of {}, resident {}", human_bytes(used),
                         budget == 0 ? "no budget" : human_bytes(budget),
                         human_bytes(number(memory, "rss_bytes"))));
    put(std::move(made));
  }

  // A bar is the share of workers that are busy, not of the card's own load.
  void devices() {
    for (const auto& device : list(view_.status, "devices")) {
      const std::size_t busy = list(device, "current_job_ids").size();
      const std::uint64_t workers = number(device, "worker_count");
      Line made = line();
      made.add(fmt::format("dev {:<3} ", number(device, "ordinal")));
      add_bar(made, workers == 0 ? 0 : static_cast<double>(busy) / static_cast<double>(workers),
              "35");
      const bool usable = device.value("usable", true);
      made.add(fmt::format("{}/{} ", busy, workers)).add(word(device, "name"));
      if (!usable) made.add("  out of use", "31;1");
      if (const auto wrong = number(device, "wrong_proof_count"); wrong > 0) {
        made.add(fmt::format("  {} wrong proofs", wrong), "31");
      }
      put(std::move(made));
    }
  }

  // Kinds with nothing to do are left out: mostly one or two are in use.
  void queues() {
    Line made = line();
    made.add("queues  ");
    for (const auto& queue : list(view_.status, "queues")) {
      const std::uint64_t pending = number(queue, "pending"), busy = number(queue, "in_progress");
      if (pending + busy == 0) continue;
      made.add(
          fmt::format("{}: {} queued, {} running   ", word(queue, "proof_kind"), pending, busy));
    }
    put(std::move(made));
  }

  // As many as there is room for, in the order in which they were given.
  void jobs() {
    put(line());
    put(line().add(fmt::format("{:<30} {:<13} {:<9} {:<8} {:>8}  {}", "JOB", "KIND", "PRIORITY",
                               "STATE", "PARTS", "STAGES"),
                   "7"));
    for (const auto& job : view_.jobs) {
      if (lines_.size() >= rows_) return;
      const auto parts = job.value("partitions", ordered_json::object());
      const std::string state = word(job, "state");
      Line made = line();
      made.add(fmt::format("{:<30.30} {:<13.13} {:<9} ", printable(word(job, "job_id")),
                           printable(word(job, "kind")), word(job, "priority")));
      made.add(fmt::format("{:<8} ", state), state == "running" ? "32" : "2");
      made.add(fmt::format("{:>8}  ",
                           fmt::format("{}/{}", number(parts, "done"), number(parts, "total"))));
      for (const char* stage : {"witness", "device_queued", "device", "finish_queued", "finish"}) {
        if (number(parts, stage) == 0) continue;
        made.add(fmt::format("{} {}  ", number(parts, stage), stage));
      }
      put(std::move(made));
    }
    if (view_.jobs.empty()) put(line().add("no job runs or waits", "2"));
  }

  const TopView& view_;
  const std::size_t columns_, rows_;
  const bool colour_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> top_screen(const TopView& view, std::size_t columns, std::size_t rows,
                                    bool colour) {
  return Screen(view, columns, rows, colour).draw();
}

}  // namespace cuzk::apps
