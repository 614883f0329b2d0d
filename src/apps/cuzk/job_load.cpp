// Load on a daemon. With a rate the schedule is fixed beforehand and latency counts from the
// planned moment, so that a daemon that stalls is not spared the jobs that it kept from being sent.
#include <atomic>
#include <mutex>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "apps/cuzk/job_client.h"
#include "apps/cuzk/load_summary.h"
#include "service/config_duration.h"

namespace cuzk::apps {
namespace {

using base::Error;
using base::ErrorKind;
using Clock = std::chrono::steady_clock;

constexpr double kMsPerSecond = 1000;
constexpr std::uint64_t kWeightMax = 1'000'000;

struct Share {
  PreparedJob job;
  double weight = 1;
};

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count() * kMsPerSecond;
}

base::Result<std::uint64_t> whole(const std::string& key, const std::string& value) {
  if (value.empty() || value.size() > 18 ||
      value.find_first_not_of("0123456789") != std::string::npos) {
    return Error{ErrorKind::kInvalidArgument,
                 fmt::format("--job: {}: '{}' is no whole number", key, value)};
  }
  return std::stoull(value);
}

base::Status take(const std::string& key, const std::string& value, SubmitFlags& flags,
                  double& weight) {
  if (key == "circuit") {
    flags.circuit = value;
  } else if (key == "witness") {
    flags.witness = value;
  } else if (key == "c1") {
    flags.c1 = value;
  } else if (key == "priority") {
    flags.priority = value;
  } else if (key == "miner-id") {
    CUZK_TRY(flags.miner_id, whole(key, value));
  } else if (key == "weight") {
    CUZK_TRY(const std::uint64_t number, whole(key, value));
    if (number < 1 || number > kWeightMax) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--job: weight: {} is outside 1 to {}", number, kWeightMax)};
    }
    weight = static_cast<double>(number);
  } else {
    return Error{
        ErrorKind::kInvalidArgument,
        fmt::format("--job: there is no '{}'; circuit, witness, c1, miner-id, priority and "
                    "weight are known",
                    key)};
  }
  return base::ok_status();
}

base::Result<Share> parse_share(const std::string& text) {
  SubmitFlags flags;
  Share share;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      return Error{ErrorKind::kInvalidArgument,
                   fmt::format("--job: '{}' is no KEY=VALUE", part.substr(0, 64))};
    }
    CUZK_TRY_STATUS(take(part.substr(0, equals), part.substr(equals + 1), flags, share.weight));
    at = end + 1;
  }
  CUZK_TRY(share.job, prepare_job(flags));
  return share;
}

// What all senders share.
class Run {
 public:
  Run(const LoadFlags& flags, std::vector<Share> mix, std::optional<Clock::duration> duration,
      service::Client& client, Session& session)
      : flags_(flags),
        mix_(std::move(mix)),
        duration_(duration),
        client_(client),
        session_(session) {
    std::vector<double> weights;
    for (const Share& share : mix_) weights.push_back(share.weight);
    pick_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
  }

  std::vector<LoadSample> run() {
    session_.progress().begin_stage("load", duration_ ? 0 : flags_.count);
    std::vector<std::jthread> senders;
    for (std::uint32_t i = 0; i < flags_.concurrency; ++i) senders.emplace_back([this] { send(); });
    senders.clear();  // joins
    return std::move(samples_);
  }

 private:
  // The number of the next job and when it is due; nothing when all are given out.
  struct Turn {
    std::uint64_t number;
    std::size_t share;
    Clock::time_point due;
  };
  std::optional<Turn> next() {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    Clock::time_point due = now;
    if (flags_.rate > 0) {
      due = begin_ + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(static_cast<double>(given_) / flags_.rate));
    }
    const bool over = duration_ ? due - begin_ >= *duration_ : given_ >= flags_.count;
    if (over || session_.stop_token().stop_requested()) return std::nullopt;
    return Turn{given_++, pick_(random_), due};
  }

  void send() {
    while (const auto turn = next()) {
      std::this_thread::sleep_until(turn->due);
      LoadSample sample = one(*turn);
      session_.progress().advance(1);
      const std::lock_guard lock(mutex_);
      samples_.push_back(std::move(sample));
    }
  }

  LoadSample one(const Turn& turn) {
    PreparedJob job = mix_[turn.share].job;
    const std::string id = fmt::format("load-{}-{:x}-{}", ::getpid(), nonce_, turn.number);
    (job.circuit ? job.circuit->request_id : job.proof->request_id) = id;
    LoadSample sample;
    const auto begin = Clock::now();
    const auto sent = send_job(client_, job);
    if (!sent.ok()) {
      sample.problem = std::string(base::to_string(sent.error().kind));
      return sample;
    }
    sample.submit_ms = ms_between(begin, Clock::now());
    const auto awaited = client_.await(id, std::nullopt, session_.stop_token());
    sample.latency_ms = ms_between(turn.due, Clock::now());
    if (!awaited.ok()) {
      sample.problem = std::string(base::to_string(awaited.error().kind));
      return sample;
    }
    const std::string state = awaited->job.value("state", std::string());
    sample.completed = state == "completed";
    if (!sample.completed) sample.problem = state;
    return sample;
  }

  const LoadFlags& flags_;
  const std::vector<Share> mix_;
  const std::optional<Clock::duration> duration_;
  service::Client& client_;
  Session& session_;
  const Clock::time_point begin_ = Clock::now();
  const std::uint32_t nonce_ = std::random_device()();
  std::mutex mutex_;
  std::uint64_t given_ = 0;
  std::mt19937_64 random_{1};
  std::discrete_distribution<std::size_t> pick_;
  std::vector<LoadSample> samples_;
};

}  // namespace

base::Result<Answer> bench_load(const LoadFlags& flags, Session& session) {
  std::vector<Share> mix;
  for (const std::string& text : flags.mix) {
    CUZK_TRY(Share share, parse_share(text));
    mix.push_back(std::move(share));
  }
  std::optional<Clock::duration> duration;
  if (!flags.duration.empty()) {
    const auto parsed = service::parse_duration(flags.duration);
    if (!parsed.ok()) return Error(parsed.error()).within("--duration");
    duration = *parsed;
  }
  CUZK_TRY(const auto client, make_client(flags.client));
  CUZK_TRY(const auto status, client->status());  // a daemon that is not there is one error
  Run run(flags, std::move(mix), duration, *client, session);
  const auto samples = run.run();
  return load_answer(samples, session.elapsed_s());
}

}  // namespace cuzk::apps
