// Reads CPUID and XGETBV; other processors are portable.
//
// CPUID alone is not enough for 512-bit registers: where the operating system has not enabled them
// their instructions fault, and only XGETBV tells. Source: Intel's manual for software developers,
// volume 1, section 15.2.
#include "base/cpu.h"

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace cuzk::base {
namespace {

static_assert(CpuLevel::kPortable < CpuLevel::kAdx && CpuLevel::kAdx < CpuLevel::kIfma,
              "levels are compared by their order");

#if defined(__x86_64__)

// XCR0: the operating system saves SSE, AVX, opmask and both halves of the 512-bit registers.
constexpr unsigned kZmmState = 0xe6;

bool saves_zmm() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kOsxsave = 1u << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsxsave) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kZmmState) == kZmmState;
}

CpuLevel detect() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return CpuLevel::kPortable;
  // Leaf 7, EBX: bits of the features that a level demands.
  constexpr unsigned kBmi2 = 1u << 8, kAdx = 1u << 19;
  constexpr unsigned kAvx512 = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 31;  // F, DQ, IFMA, VL
  if ((b & (kBmi2 | kAdx)) != (kBmi2 | kAdx)) return CpuLevel::kPortable;
  return (b & kAvx512) == kAvx512 && saves_zmm() ? CpuLevel::kIfma : CpuLevel::kAdx;
}

#else

CpuLevel detect() { return CpuLevel::kPortable; }

#endif

CpuLevel lowered(CpuLevel level) {
  return level < machine_cpu_level() ? level : machine_cpu_level();
}

// A wrong name is passed over here, where nobody can be told, and reported by cpu_level_request.
CpuLevel initial() {
  const char* name = std::getenv("CUZK_CPU_LEVEL");
  const auto wanted = name == nullptr ? std::nullopt : cpu_level_from_string(name);
  return lowered(wanted.value_or(machine_cpu_level()));
}

std::atomic<CpuLevel>& active() {
  static std::atomic<CpuLevel> level{initial()};
  return level;
}

// Field products ask once each, so their answer is a plain flag beside the level: reading the
// function's static would test its guard every time. Whoever changes the level publishes.
void publish() { internal::adx_in_use.store(cpu_level() >= CpuLevel::kAdx); }

[[maybe_unused]] const bool kPublished = (publish(), true);

}  // namespace

namespace internal {
constinit std::atomic<bool> adx_in_use{false};
}  // namespace internal

std::string_view to_string(CpuLevel level) noexcept {
  switch (level) {
    case CpuLevel::kPortable: return "portable";
    case CpuLevel::kAdx: return "adx";
    case CpuLevel::kIfma: return "ifma";
  }
  return "portable";
}

std::optional<CpuLevel> cpu_level_from_string(std::string_view name) noexcept {
  for (const auto level : {CpuLevel::kPortable, CpuLevel::kAdx, CpuLevel::kIfma}) {
    if (name == to_string(level)) return level;
  }
  return std::nullopt;
}

CpuLevel machine_cpu_level() noexcept {
  static const CpuLevel level = detect();
  return level;
}

CpuLevel cpu_level() noexcept { return active().load(std::memory_order_relaxed); }

void force_cpu_level(CpuLevel level) noexcept {
  active().store(lowered(level), std::memory_order_relaxed);
  publish();
}

Status cpu_level_request() {
  const char* name = std::getenv("CUZK_CPU_LEVEL");
  if (name == nullptr) return ok_status();
  const auto wanted = cpu_level_from_string(name);
  if (!wanted) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("CUZK_CPU_LEVEL is \"{}\", expected portable, adx or ifma", name)};
  }
  if (*wanted <= machine_cpu_level()) return ok_status();
  return Error{ErrorKind::kUnsupported,
               fmt::format("CUZK_CPU_LEVEL asks for {}, this machine has {}", name,
                           to_string(machine_cpu_level()))};
}

}  // namespace cuzk::base
