// Which instructions this machine offers, as a few named levels, chosen once and high up.
#pragma once

#include <optional>
#include <string_view>

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

// The level in use: the machine's, or a lower one named by the environment variable CUZK_CPU_LEVEL or
// by force_cpu_level. A name that is unknown or above the machine's level is ignored.
CpuLevel cpu_level() noexcept;

// Uses `level` from now on, lowered to the machine's. For tests, before work starts.
void force_cpu_level(CpuLevel level) noexcept;

}  // namespace cuzk::base
