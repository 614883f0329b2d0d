// The loop of `cuzk top`: the terminal in its alternate screen, left as it was found.
//
// What is drawn is in top_screen.cpp, which knows no terminal. Keys are waited for in short pieces,
// so q, Ctrl-C and the next look are each noticed within a moment.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <thread>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "apps/cuzk/job_client.h"
#include "apps/cuzk/top_screen.h"

namespace cuzk::apps {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kColumnsDefault = 100, kRowsDefault = 40;
constexpr milliseconds kKeyWait{50};
constexpr std::chrono::minutes kRateSpan{1};
static_assert(kKeyWait <= milliseconds(100));  // the least interval that the parser takes

// The terminal while the view is on: keys come singly and unseen, the cursor is hidden. Where
// standard input is no terminal there are no keys, and only the screen is changed. The destructor
// undoes both on every way out; a signal that ends the process at once does not come this way.
class Terminal {
 public:
  // ISIG stays on, so that Ctrl-C is still a signal.
  Terminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      has_keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    std::fputs("\x1b[?1049h\x1b[?25l", stdout);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    std::fflush(stdout);
    if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }

  // Waits a moment; whether q was pressed.
  bool wants_to_leave() const {
    if (!has_keys_) {
      std::this_thread::sleep_for(kKeyWait);
      return false;
    }
    pollfd one = {STDIN_FILENO, POLLIN, 0};
    char key = 0;
    return ::poll(&one, 1, static_cast<int>(kKeyWait.count())) > 0 &&
           ::read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q');
  }
  // One frame in one write, each line cleared behind its text, so that nothing flickers.
  static void draw(const std::vector<std::string>& lines) {
    std::string frame = "\x1b[H";
    for (const std::string& line : lines) frame += line + "\x1b[K\r\n";
    frame += "\x1b[J";
    std::fwrite(frame.data(), 1, frame.size(), stdout);
    std::fflush(stdout);
  }

 private:
  // As the terminal was; meaningful only with has_keys_.
  termios before_ = {};
  bool has_keys_ = false;
};

// Columns and rows, one row less than there are: a line end in the last one would scroll. Asked for
// each frame, as windows change.
std::pair<std::size_t, std::size_t> terminal_size() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row < 2) {
    return {kColumnsDefault, kRowsDefault};
  }
  return {size.ws_col, size.ws_row - 1};
}

// Looks at the daemon, and keeps what the rate needs.
class Watcher {
 public:
  explicit Watcher(service::Client& client) : client_(client) {}

  // Two calls. The rate is that of proofs in the last minute, or since the first look.
  base::Result<TopView> look() {
    TopView view;
    CUZK_TRY(view.status, client_.status());
    service::Client::ListQuery query;
    // One page, the oldest jobs: more than a screen has room for.
    query.states = {"running", "queued"};
    CUZK_TRY(const auto page, client_.list(query));
    for (const auto& job : page.at("jobs")) view.jobs.push_back(job);
    std::stable_sort(view.jobs.begin(), view.jobs.end(), [](const auto& a, const auto& b) {
      return a.value("state", "") == "running" && b.value("state", "") != "running";
    });
    const auto now = Clock::now();
    const auto completed = view.status.value("total_proofs_completed", std::uint64_t{0});
    if (!seen_.empty() && completed < seen_.back().second) seen_.clear();  // another process
    seen_.emplace_back(now, completed);
    while (now - seen_.front().first > kRateSpan) seen_.pop_front();
    CUZK_ASSERT(!seen_.empty());  // this look at least, which is no time ago
    const double minutes =
        std::chrono::duration<double, std::ratio<60>>(now - seen_.front().first).count();
    CUZK_ASSERT(completed >= seen_.front().second);
    if (minutes > 0) {
      view.completed_per_minute = static_cast<double>(completed - seen_.front().second) / minutes;
    }
    return view;
  }

 private:
  service::Client& client_;
  // When, and how many proofs were completed by then: ascending in both, the oldest in front.
  std::deque<std::pair<Clock::time_point, std::uint64_t>> seen_;
};

}  // namespace

// The first look is taken before the screen is changed: a daemon that is not there is an error on
// the terminal as it was. Later errors end the view, and are told after it was left.
base::Result<Answer> run_top(const TopFlags& flags, Session& session) {
  // As the parser's range, which a NaN passes: with one the view would never rest.
  if (!(flags.interval_s > 0)) {
    return base::Error{base::ErrorKind::kInvalidArgument,
                       fmt::format("--interval: found {}, expected seconds", flags.interval_s)};
  }
  CUZK_TRY(const auto client, make_client(flags.client));
  Watcher watcher(*client);
  session.end_progress();
  CUZK_TRY(TopView view, watcher.look());
  view.address = shown_address(flags.client);
  if (flags.once || session.options().json || ::isatty(STDOUT_FILENO) == 0) {
    std::string text;
    for (const std::string& line : top_screen(view, kColumnsDefault, kRowsDefault, false)) {
      text += (text.empty() ? "" : "\n") + line;
    }
    Answer answer(text);
    answer.add("status", view.status, "").add("jobs", view.jobs, "");
    return answer;
  }
  const Terminal terminal;
  auto next = Clock::now();
  while (!session.stop_token().stop_requested()) {
    const auto [columns, rows] = terminal_size();
    Terminal::draw(top_screen(view, columns, rows, true));
    // From the last moment on and not from now, so that looks keep their pace.
    next += std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(flags.interval_s));
    while (Clock::now() < next && !session.stop_token().stop_requested()) {
      if (terminal.wants_to_leave()) return Answer("left");
    }
    CUZK_TRY(view, watcher.look());
    view.address = shown_address(flags.client);
  }
  return Answer("left");
}

}  // namespace cuzk::apps
