// The executor's report on its way from the proving process.
//
// Both processes are the same program, so fields need no names and no versions: one function goes
// over them for writing and for reading, and nothing can be written that is not read. What arrives
// may still be nonsense, so whatever is used as an index is checked.
#include "engine/worker_wire.h"

namespace cuzk::engine::internal {
namespace {

template <class Archive>
void transfer(Archive& archive, base::MemoryUse& use) {
  archive(use.used_bytes);
  archive(use.peak_bytes);
}

// Categories, states and kinds of errors go as their numbers: both ends have the same enumerations.

// Accounts have no number of their own to send; their names are stable and are one each.
template <class Archive>
void transfer(Archive& archive, base::Account& account) {
  std::string name = account.name();
  archive(name);
  if constexpr (Archive::kReads) {
    account = base::Account::host();
    if (name == base::Account::pinned().name()) account = base::Account::pinned();
    for (std::uint16_t i = 0; i < 64; ++i) {
      if (name == base::Account::device(i).name()) account = base::Account::device(i);
    }
  }
}

template <class Archive>
void transfer(Archive& archive, SchedulerCounts& counts) {
  archive(counts.queued_jobs);
  archive(counts.in_flight_jobs);
  for (std::uint64_t& count : counts.partitions) archive(count);
  archive(counts.slots_held);
  archive(counts.held_bytes);
  archive(counts.waiting_for_memory);
  archive(counts.completed_jobs);
  archive(counts.failed_jobs);
  archive(counts.cancelled_jobs);
  archive(counts.retried_partitions);
  archive(counts.inline_grants);
  archive(counts.aged_grants);
  archive(counts.key_switches);
  archive(counts.evicted_keys);
}

template <class Archive>
void transfer(Archive& archive, base::LedgerSnapshot& ledger) {
  archive(ledger.budget_bytes);
  transfer(archive, ledger.total);
  for (base::MemoryUse& use : ledger.by_category) transfer(archive, use);
  archive.list(ledger.owners, [&](base::LedgerSnapshot::Owner& owner) {
    archive(owner.category);
    archive(owner.name);
    archive(owner.used_bytes);
    transfer(archive, owner.account);
  });
  archive.list(ledger.accounts, [&](base::LedgerSnapshot::AccountUse& use) {
    transfer(archive, use.account);
    archive(use.budget_bytes);
    transfer(archive, use.use);
  });
  archive(ledger.waiting_count);
  archive(ledger.waiting_bytes);
}

template <class Archive>
void transfer(Archive& archive, DeviceReport& device) {
  archive(device.name);
  archive(device.identifier);
  archive(device.usable);
  archive(device.fallback_only);
  archive(device.free_bytes);
  archive(device.total_bytes);
  archive(device.worker_count);
  archive.list(device.running, [&](JobId& id) { archive(id); });
  archive(device.started_count);
  archive(device.failure_count);
  archive(device.wrong_proof_count);
  archive(device.busy_s);
  archive(device.streamed_bytes);
  archive(device.shared_bytes);
}

template <class Archive>
void transfer(Archive& archive, ExecutorReport& report) {
  transfer(archive, report.counts);
  transfer(archive, report.ledger);
  archive(report.budget_bytes);
  archive(report.rss_bytes);
  archive.list(report.devices, [&](DeviceReport& device) { transfer(archive, device); });
  archive.list(report.keys, [&](KeyReport& key) {
    archive(key.name);
    archive(key.tier);
    archive(key.bytes);
    archive(key.reference_count);
  });
  archive(report.witness_workers);
  archive(report.finish_workers);
  archive(report.jobs_in_flight_max);
  archive(report.process_restarts);
  archive(report.witnesses_alive);
  archive(report.pending_alive);
}

}  // namespace

// The archive that writes changes nothing, though its functions are made for both.
base::Bytes encode_report(const ExecutorReport& report) {
  Encoder encoder;
  transfer(encoder, const_cast<ExecutorReport&>(report));
  return encoder.take();
}

base::Result<ExecutorReport> decode_report(base::ByteSpan bytes) {
  ExecutorReport report;
  Decoder decoder(bytes);
  transfer(decoder, report);
  CUZK_TRY_STATUS(decoder.finish());
  for (const base::LedgerSnapshot::Owner& owner : report.ledger.owners) {
    if (static_cast<std::size_t>(owner.category) >= base::kMemoryCategoryCount) {
      return base::Error{base::ErrorKind::kMalformed, "a report with an unknown memory category"};
    }
  }
  return report;
}

}  // namespace cuzk::engine::internal
