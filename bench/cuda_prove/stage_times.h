// A progress sink that keeps the time of each stage.
//
// With BackendOptions::exact_stages these are the device's times; without, those of queueing, and
// the last stage has nearly all of it.
#pragma once

#include <algorithm>
#include <map>

#include "base/ledger.h"
#include "base/progress.h"
#include "bench/cuda_prove/prove_suite.h"

namespace cuzk::bench::cuda_prove {

// Times between the beginnings of stages. For one thread.
class StageTimes final : public base::ProgressSink {
 public:
  void begin_stage(std::string_view name, std::uint64_t) override {
    end();
    stage_ = name;
    clock_ = Clock();
  }
  void advance(std::uint64_t) override {}
  void end() {
    if (!stage_.empty()) times_[stage_].push_back(clock_.ms());
    stage_.clear();
  }
  // Medians.
  void print() {
    end();
    double sum = 0;
    for (auto& [name, values] : times_) {
      std::sort(values.begin(), values.end());
      std::printf("  %-22s %8.2f ms\n", name.c_str(), values[values.size() / 2]);
      sum += values[values.size() / 2];
    }
    std::printf("  %-22s %8.2f ms\n", "sum of stages", sum);
  }

 private:
  std::string stage_;
  Clock clock_;
  std::map<std::string, std::vector<double>> times_;
};

// The accounts of the ledger and who holds what.
void print_ledger(const char* when);
// What is held on devices now for a purpose; tables of multiples.
std::uint64_t device_bytes(base::MemoryCategory category);
inline std::uint64_t table_bytes() { return device_bytes(base::MemoryCategory::kMsmScratch); }

}  // namespace cuzk::bench::cuda_prove
