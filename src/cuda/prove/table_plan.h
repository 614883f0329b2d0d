// Which queries of a resident key get tables of multiples, how many, and when.
//
// Tables make sums shorter and nothing else, so they take what is left over: what keys and the
// planned proofs do not want, and no more than a share of the card. Host arithmetic over sizes
// alone, and a counter of proofs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "cuda/prove/proof_plan.h"

namespace cuzk::cuda::prove {

// Of what a device's budget is, tables of all its keys together take at most one part in so many.
inline constexpr std::uint64_t kTableShare = 4;

// What tables must bring.
struct TableRules {
  // Of a sum. Less is what windows of other widths bring one time and cost another.
  double gain_min = 0.05;
  // Additions of G1 saved in each proof, for each MiB of all tables and of the last one. H brings
  // 2,000 to 7,000; a query of few scalars, whose tables hold all its points, 100 to 500.
  double saved_per_mib_min = 1000;

  // Scalars of a sum. Shorter ones wait for the depth of their reductions, which tables change
  // little, and were not measured alone.
  std::uint64_t scalars_min = std::uint64_t{1} << 16;

  // Whatever saves anything: for tests and measurements.
  static TableRules any() { return {0, 0, 1}; }
};

struct TablePlan {
  std::array<int, kQueryCount> counts = {1, 1, 1, 1, 1};  // tables of each query; 1: none
  std::uint64_t bytes = 0;     // of all; each query's first table is a copy of its points
  double saved = 0, made = 0;  // additions of G1: in each proof, and once

  bool is_empty() const { return bytes == 0; }
  // After so many proofs without them tables are made: then they earn what they cost as fast as it
  // was lost, so whoever stops at the wrong moment loses at most as much again.
  std::uint64_t proofs_to_earn() const;
};

// Bytes of one query's tables. Aligned as an arena aligns them.
std::uint64_t table_bytes_of(const QuerySizes& query, int table_count);

// What is left for new tables on a device. `keys_bytes` stay and `tables_bytes` are tables already;
// `lanes` proofs of workspace_bytes come first.
std::uint64_t table_room(std::uint64_t budget_bytes, std::uint64_t keys_bytes,
                         std::uint64_t tables_bytes, std::uint64_t workspace_bytes, unsigned lanes);

// Tables for the queries that `plan` keeps on the device and sums in one piece, within room_bytes;
// H first.
TablePlan plan_tables(const ProofSizes& sizes, const ProofPlan& plan, std::uint64_t room_bytes,
                      const TableRules& rules, const ScratchModel& model);

// When the tables of a key are made. Proofs are counted; once those without tables have lost what
// making costs, they are made. Where there was no room, or making failed, somebody looks again
// later; where they were taken away, it takes twice as many proofs each time. Thread-safe: one
// caller at a time plans and makes.
class TableSchedule {
 public:
  static constexpr std::uint64_t kLookAgain = 64;  // proofs

  // Before each proof. `is_there` says whether there are tables now; plan() returns what could be
  // made, make(plan) makes it and says whether it did. At once: with the first proof.
  template <class IsThere, class Plan, class Make>
  void count_proof(bool at_once, const IsThere& is_there, const Plan& plan, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (is_there()) return;
    if (was_made_) {
      was_made_ = false;
      proofs_ = next_look_ = 0;
      patience_ = std::min<std::uint64_t>(2 * patience_, kPatienceMost);
    }
    if (proofs_++ < next_look_ && !at_once) return;
    const TablePlan found = plan();
    if (found.is_empty()) {
      next_look_ = proofs_ + kLookAgain;
      return;
    }
    const std::uint64_t wanted = found.proofs_to_earn() * patience_;
    if (proofs_ <= wanted && !at_once) {
      next_look_ = wanted;
      return;
    }
    was_made_ = make(found);
    next_look_ = proofs_ + kLookAgain;
  }

 private:
  static constexpr std::uint64_t kPatienceMost = 64;
  std::mutex mutex_;
  std::uint64_t proofs_ = 0, next_look_ = 0, patience_ = 1;
  bool was_made_ = false;
};

}  // namespace cuzk::cuda::prove
