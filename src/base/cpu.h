// Which instructions this machine offers, as a few named levels, chosen once and high up.
//
// Levels and not single features, so that there are three ways through the arithmetic and not
// dozens: each can be forced, and is tested on every machine that has it. Code for 512-bit vectors
// is compiled in files of its own; all code above the portable level is entered after asking here.
#pragma once

#include <atomic>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace cuzk::base {

// Each level includes those before it.
enum class CpuLevel {
  kPortable,  // any processor
  kAdx,       // x86-64 with BMI2 and ADX: two carry chains in a multiplication
  kIfma,      // and AVX-512 F, VL, DQ, IFMA, with the registers saved by the operating system
};

// "portable", "adx" or "ifma".
std::string_view to_string(CpuLevel level) noexcept;
std::optional<CpuLevel> cpu_level_from_string(std::string_view name) noexcept;

// The highest level that processor and operating system allow.
CpuLevel machine_cpu_level() noexcept;

// The level in use: the machine's, or a lower one named by the environment variable CUZK_CPU_LEVEL
// or by force_cpu_level. A name that is unknown or above the machine's level is ignored.
CpuLevel cpu_level() noexcept;

// Uses `level` from now on, lowered to the machine's. For tests, before work starts.
void force_cpu_level(CpuLevel level) noexcept;

// An error when CUZK_CPU_LEVEL is no level's name or above the machine's. Programs report it at
// start.
Status cpu_level_request();

namespace internal {
// False until the static initialisers of cpu.cpp have run, which is safe to act on.
extern std::atomic<bool> adx_in_use;
}  // namespace internal

// Whether cpu_level() >= kAdx: one plain load, for the inner loops of field arithmetic.
inline bool has_adx() noexcept { return internal::adx_in_use.load(std::memory_order_relaxed); }

}  // namespace cuzk::base
