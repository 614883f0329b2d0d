// Fixed times, but for queues. Only what passes by itself has one: a queue, memory, a restart.
#include "service/retry_hint.h"

#include "engine/engine.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoRetry{0};
constexpr milliseconds kRetryWhenFull{1000};
constexpr milliseconds kRetryWhenGone{5000};  // a restart takes about that
// Told apart by their values below.
static_assert(kRetryWhenFull != kRetryWhenGone && kRetryWhenFull != kNoRetry);

}  // namespace

milliseconds retry_after(const base::Error& error) {
  if (engine::says_never_fits(error)) return kNoRetry;
  if (error.kind == base::ErrorKind::kResourceExhausted) return kRetryWhenFull;
  if (error.kind == base::ErrorKind::kUnavailable) return kRetryWhenGone;
  return kNoRetry;
}

milliseconds retry_after(const base::Error& error, engine::Engine& engine) {
  const milliseconds usual = retry_after(error);
  return usual == kRetryWhenFull ? milliseconds(engine.retry_after_ms()) : usual;
}

}  // namespace cuzk::service
