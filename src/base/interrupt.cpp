// Signal handlers that call only what POSIX allows in one: alarm, unlink, write and _exit.
//
// A handler may not lock or allocate, so what it has to know lies in atomics and in slots of fixed
// size that exist before the first signal. It may run on any thread, also one that is in the middle
// of a PartialFileGuard.
#include "base/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstring>

#include <unistd.h>

#include "base/check.h"

namespace cuzk::base {
namespace {

constexpr unsigned kGraceSeconds = 2;
constexpr std::size_t kPathBytesMax = 4096;

// free -> filling -> ready -> free. One guard at a time owns a slot: it takes it by the exchange
// from free to filling and alone moves it on. The handler reads a slot only while it is ready, and
// changes none. It may meet a path whose guard has just died: then the file has been renamed or
// removed already, and the unlink finds nothing.
enum class SlotState { kFree, kFilling, kReady };
struct Slot {
  std::atomic<SlotState> state{SlotState::kFree};
  char path[kPathBytesMax];
};

std::array<Slot, 16> g_slots;
std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<SlotState>::is_always_lock_free);

// _exit and not exit: destructors of statics must not run beside the threads that use them.
[[noreturn]] void end_now() {
  for (Slot& slot : g_slots) {
    if (slot.state.load(std::memory_order_acquire) == SlotState::kReady) ::unlink(slot.path);
  }
  static constexpr char kMessage[] = "\ncuzk: interrupted; partial output was removed\n";
  const ssize_t written = ::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  static_cast<void>(written);
  ::_exit(kInterruptedExitCode);
}

// SIGINT, SIGTERM. The alarm ends work that does not look at the flag in time.
void on_stop_signal(int) {
  if (g_interrupted.exchange(true)) end_now();
  ::alarm(kGraceSeconds);
}

void on_grace_over(int) { end_now(); }

void install(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // work asks interrupted(); its reads and writes go on
  sigemptyset(&action.sa_mask);
  const int outcome = ::sigaction(signal_number, &action, nullptr);
  CUZK_ASSERT(outcome == 0);  // fails for numbers that are no signals, and ours are
}

}  // namespace

void install_interrupt_handlers() {
  install(SIGINT, on_stop_signal);
  install(SIGTERM, on_stop_signal);
  install(SIGALRM, on_grace_over);
}

bool interrupted() noexcept { return g_interrupted.load(std::memory_order_relaxed); }

PartialFileGuard::PartialFileGuard(std::string_view path) noexcept {
  if (path.size() >= kPathBytesMax) return;
  for (std::size_t i = 0; i < g_slots.size(); ++i) {
    SlotState expected = SlotState::kFree;
    if (!g_slots[i].state.compare_exchange_strong(expected, SlotState::kFilling)) continue;
    // The path is whole before the slot is ready: release here, acquire in the handler.
    std::memcpy(g_slots[i].path, path.data(), path.size());
    g_slots[i].path[path.size()] = '\0';
    g_slots[i].state.store(SlotState::kReady, std::memory_order_release);
    slot_ = static_cast<int>(i);
    return;
  }
}

PartialFileGuard::~PartialFileGuard() {
  if (slot_ < 0) return;
  Slot& slot = g_slots[static_cast<std::size_t>(slot_)];
  CUZK_ASSERT(slot.state.load(std::memory_order_relaxed) == SlotState::kReady);
  slot.state.store(SlotState::kFree, std::memory_order_release);
}

}  // namespace cuzk::base
