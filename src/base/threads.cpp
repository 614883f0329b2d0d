// The only user of oneTBB.
#include "base/threads.h"

#include <memory>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include "base/check.h"

namespace cuzk::base {
namespace {

using tbb::global_control;

std::unique_ptr<global_control>& thread_cap() {
  static std::unique_ptr<global_control> cap;
  return cap;
}

}  // namespace

std::size_t thread_count() noexcept {
  const std::size_t cap = global_control::active_value(global_control::max_allowed_parallelism);
  const auto machine = static_cast<std::size_t>(tbb::info::default_concurrency());
  return thread_cap() ? cap : machine;
}

void set_thread_count(std::size_t count) {
  thread_cap().reset();
  if (count == 0) return;
  thread_cap() = std::make_unique<global_control>(global_control::max_allowed_parallelism, count);
}

void parallel_for(std::size_t begin, std::size_t end, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t)>& body) {
  CUZK_CHECK(grain > 0);
  if (begin >= end) return;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, grain),
                    [&](const auto& range) { body(range.begin(), range.end()); });
}

void parallel_invoke(const std::function<void()>& first, const std::function<void()>& second) {
  tbb::parallel_invoke(first, second);
}

}  // namespace cuzk::base
