// What a proving process and the one that made it say to each other: messages over a local socket
// that keeps their borders. What is larger than a message goes as a file in memory beside it, so
// the bytes of a large input exist once when they have arrived.
//
// A process that is about to crash may write anything; each length is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/mutex.h"
#include "base/result.h"
#include "engine/executor.h"

namespace cuzk::engine::internal {

// The two directions have numbers apart, so that a message sent back makes no sense. Both ends are
// one program, so numbers may change.
enum class MessageKind : std::uint8_t {
  // To the proving process.
  kSetup = 1,
  kRun,
  kCancel,
  kPreload,
  kEvict,
  kReport,
  kPing,
  kInput,    // answers kNeedInput: the bytes
  kNoInput,  // the same: why there are none
  kStop,
  kLogLevel,  // `call` has the level's number; also before kSetup
  // From it.
  kReady = 32,  // with its report
  kAnswer,      // to kSetup when it fails, kRun, kPreload, kEvict, kReport, kPing
  kStarted,
  kMoved,
  kProved,
  kEnded,
  kNeedInput,
  kStopped,
};

static_assert(static_cast<int>(MessageKind::kLogLevel) < static_cast<int>(MessageKind::kReady));

// One message as it arrived. The payload's form belongs to the kind and is not checked yet.
struct Message {
  MessageKind kind = MessageKind::kPing;
  std::uint64_t call = 0;  // joins an answer to its question
  base::Bytes payload;
};

// One end of the socket. Sending is thread-safe; one thread receives.
class Channel {
 public:
  // Small enough that a socket takes several; what is larger travels as a file. The second bound
  // keeps a broken header from asking for any memory.
  static constexpr std::size_t kInlineBytesMax = std::size_t{32} << 10;
  static constexpr std::uint64_t kPayloadBytesMax = std::uint64_t{2} << 30;
  static_assert(kInlineBytesMax < kPayloadBytesMax);

  // This process's end, and the descriptor (closed on exec) of the other.
  static base::Result<std::pair<std::unique_ptr<Channel>, int>> make_pair();
  // Owns the descriptor.
  explicit Channel(int descriptor) : descriptor_(descriptor) { CUZK_ASSERT(descriptor >= 0); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel();

  // Waits for room. Errors: kUnavailable when the other end is gone, kResourceExhausted (no memory
  // for a large payload), kInvalidArgument (larger than kPayloadBytesMax).
  base::Status send(MessageKind kind, std::uint64_t call, base::ByteSpan payload)
      CUZK_EXCLUDES(mutex_);
  // The same for small messages that may be left out: false when it would have to wait.
  bool try_send(MessageKind kind, std::uint64_t call) CUZK_EXCLUDES(mutex_);
  // Waits. Nothing when the other end is gone. Error kMalformed, after which nothing more can be
  // received.
  base::Result<std::optional<Message>> receive();
  int descriptor() const noexcept { return descriptor_; }

 private:
  // One message, with the payload inside or in `file`. MSG_DONTWAIT in `flags`: kUnavailable for
  // full.
  base::Status send_locked(MessageKind kind, std::uint64_t call, base::ByteSpan payload,
                           std::optional<int> file, int flags) CUZK_REQUIRES(mutex_);
  base::Mutex mutex_;
  const int descriptor_;
};

// Writes values one after the other: integers little-endian, texts and lists with their length.
class Encoder {
 public:
  static constexpr bool kReads = false;
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, base::Bytes>) {
      (*this)(static_cast<std::uint64_t>(value.size()));
      out_.insert(out_.end(), value.begin(), value.end());
    } else if constexpr (std::is_same_v<T, double>) {
      (*this)(__builtin_bit_cast(std::uint64_t, value));
    } else {
      static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
      std::uint8_t bytes[8];
      base::store_u64_le(bytes, static_cast<std::uint64_t>(value));
      out_.insert(out_.end(), bytes, bytes + 8);
    }
  }
  // A list; `each` writes one element.
  template <class T, class Each>
  void list(const std::vector<T>& values, Each each) {
    (*this)(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) each(const_cast<T&>(value));
  }
  base::Bytes take() { return std::move(out_); }

 private:
  base::Bytes out_;
};

// Reads what Encoder wrote. After the first thing that is not there all values are left as they
// were; status() tells.
class Decoder {
 public:
  static constexpr bool kReads = true;
  explicit Decoder(base::ByteSpan bytes) : reader_(bytes, "message of the proving process") {}
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, base::Bytes>) {
      std::uint64_t size = 0;
      (*this)(size);
      if (!status_.ok()) return;
      auto bytes = reader_.take(size, "a text");
      if (bytes.ok()) {
        value.assign(bytes->begin(), bytes->end());
      } else {
        status_ = std::move(bytes).error();
      }
    } else {
      if (!status_.ok()) return;
      auto number = reader_.u64_le("a number");
      if (!number.ok()) {
        status_ = std::move(number).error();
      } else if constexpr (std::is_same_v<T, double>) {
        value = __builtin_bit_cast(double, *number);
      } else {
        value = static_cast<T>(*number);
      }
    }
  }
  template <class T, class Each>
  void list(std::vector<T>& values, Each each) {
    std::uint64_t count = 0;
    (*this)(count);
    if (!status_.ok()) return;
    if (count > reader_.remaining() / 8) {  // each element has at least one number
      status_ = reader_.malformed("a list that is longer than its message");
      return;
    }
    values.resize(static_cast<std::size_t>(count));
    for (T& value : values) each(value);
  }
  // An error also where bytes are left over.
  base::Status finish() {
    if (status_.ok() && reader_.remaining() > 0) status_ = reader_.malformed("bytes are left over");
    return std::move(status_);
  }

 private:
  base::ByteReader reader_;
  base::Status status_ = base::ok_status();
};

// What travels. `archive` is an Encoder or a Decoder; each function goes over a value's fields in
// the order in which they are sent.
template <class Archive>
void transfer(Archive& archive, base::Error& error) {
  archive(error.kind);
  archive(error.message);
}

// How something ended; most messages use few of the fields.
struct WireOutcome {
  std::uint8_t is_ok = 1;
  base::Error error;
  base::Bytes bytes;         // result, or what an answer carries
  std::uint64_t number = 0;  // of preload, evict
  JobId id = 0;
  JobTimes times = {};
};
template <class Archive>
void transfer(Archive& archive, JobTimes& times) {
  archive(times.queue_wait_ms);
  archive(times.key_load_ms);
  archive(times.witness_ms);
  archive(times.device_ms);
  archive(times.finish_ms);
  archive(times.total_ms);
}
template <class Archive>
void transfer(Archive& archive, WireOutcome& outcome) {
  archive(outcome.is_ok);
  transfer(archive, outcome.error);
  archive(outcome.bytes);
  archive(outcome.number);
  archive(outcome.id);
  transfer(archive, outcome.times);
}

// A partition's move or proof, and every message that is about a job alone.
struct WirePartition {
  JobId id = 0;
  std::uint64_t partition = 0;
  PartitionState state = PartitionState::kQueued;
  std::uint32_t attempt = 1, device = 0;
  base::Bytes proof;
};
template <class Archive>
void transfer(Archive& archive, WirePartition& partition) {
  archive(partition.id);
  archive(partition.partition);
  archive(partition.state);
  archive(partition.attempt);
  archive(partition.device);
  archive(partition.proof);
}

// A job on its way. The input does not travel with it: kNeedInput asks for it when the job enters.
// Of the key only name and size go, for its functions belong to one process.
struct WireRun {
  JobId id = 0;
  std::string name, kind;
  Priority priority = Priority::kNormal;
  std::uint8_t has_deadline = 0;
  std::int64_t deadline_ms = 0;
  std::uint8_t has_plan = 0;
  JobPlan plan;  // its key by name and size
  std::vector<base::Bytes> finished;
};
template <class Archive>
void transfer(Archive& archive, WireRun& run) {
  archive(run.id);
  archive(run.name);
  archive(run.kind);
  archive(run.priority);
  archive(run.has_deadline);
  archive(run.deadline_ms);
  archive(run.has_plan);
  archive(run.plan.held_bytes);
  archive(run.plan.key.name);
  archive(run.plan.key.bytes);
  archive.list(run.plan.partitions, [&](PartitionPlan& plan) {
    archive(plan.index);
    archive(plan.witness_bytes);
    archive(plan.device_bytes);
    archive(plan.pending_bytes);
  });
  archive.list(run.finished, [&](base::Bytes& proof) { archive(proof); });
}

// ExecutorReport as bytes (worker_report.cpp).
base::Bytes encode_report(const ExecutorReport& report);
base::Result<ExecutorReport> decode_report(base::ByteSpan bytes);

template <class T>
base::Bytes encode(const T& value) {
  Encoder encoder;
  transfer(encoder, const_cast<T&>(value));
  return encoder.take();
}
template <class T>
base::Result<T> decode(base::ByteSpan bytes) {
  T value;
  Decoder decoder(bytes);
  transfer(decoder, value);
  CUZK_TRY_STATUS(decoder.finish());
  return value;
}

}  // namespace cuzk::engine::internal
