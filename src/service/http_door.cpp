// Ties listener, server and routes to the engine. Routes about jobs and keys are http_jobs.h; those
// here are about the daemon's state. Whatever needs a report asks the desk for one, so that pollers
// share it.
#include "service/http_door.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/check.h"
#include "base/log.h"
#include "service/dashboard_assets.h"
#include "service/dashboard_feed.h"
#include "service/http_jobs.h"
#include "service/http_server.h"
#include "service/http_status.h"
#include "service/status_desk.h"

namespace cuzk::service {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSampleInterval{1000};
// A health probe that gets no report in this time says so.
constexpr milliseconds kReportPatience{5000};
// The page loads its own files and asks its own daemon, and nothing else; nobody may frame it.
constexpr char kPagePolicy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' "
    "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Threads: the listener's, one a connection, in which all routes run; the engine's, which tells of
// events; the sampler's, once a second. Members are in the order in which they are needed: what is
// declared later uses what is earlier, and ends before it.
class HttpDoor : public Door {
 public:
  HttpDoor(const Config& config, const Backend& backend, std::function<void(int)> count)
      : config_(config),
        backend_(backend),
        count_(std::move(count)),
        await_max_(config.daemon.await_max),
        waits_([this](std::string_view id,
                      auto done) { return backend_.engine->on_final(id, std::move(done)); },
               waits_max(config), backend.awaited),
        desk_([this] { return make_status_report(backend_, config_.daemon.max_message_bytes); }) {
    CUZK_ASSERT(backend_.engine != nullptr && config_.daemon.status_listen.has_value());
  }

  ~HttpDoor() override { stop(milliseconds(0)); }

  base::Status start() override {
    // Tokens before sockets: there is no moment in which anybody may ask.
    CUZK_TRY_STATUS(set_guard(config_));
    server_ = std::make_unique<HttpServer>(setup());
    listener_ = std::make_unique<HttpListener>(
        limits(), [this](HttpConnection& connection) { server_->serve(connection); });
    CUZK_TRY_STATUS(listener_->start(*config_.daemon.status_listen, config_.daemon.socket_mode));
    // After the listener, which may fail: then nothing is left to be undone.
    subscription_ =
        backend_.engine->observe([this](const engine::EngineEvent& event) { observe(event); });
    sampler_ = std::thread([this] { sample_loop(); });
    return base::ok_status();
  }

  std::vector<std::string> addresses() const override {
    return {"http " + listener_->address().to_string()};
  }

  // Only what is asked for at each request can change: the rules, and the bounds of waits.
  void reload(const Config& config) override {
    if (const auto status = set_guard(config); !status.ok()) {
      base::log(base::LogLevel::kError,
                "reload: the tokens stay as they were: " + status.error().message);
    }
    await_max_ = config.daemon.await_max;
    waits_.set_limit(waits_max(config));
  }

  // Nothing to do: readiness asks the engine, which drains already.
  void drain() override {}

  // Again, or without a start: only what there is is ended.
  void stop(milliseconds grace) override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    stop_asked_.notify_all();
    if (sampler_.joinable()) sampler_.join();
    // Waits are answered first, so that their connections have something to say and can go.
    waits_.close();
    if (server_) server_->drain();
    if (listener_) listener_->stop(grace);
    subscription_.reset();
    // After the listener, whose handlers ask it until they end.
    desk_.stop();
  }

 private:
  struct Guard {
    AuthRequired required = AuthRequired::kRemote;
    std::vector<std::string> tokens;
  };

  // Each wait keeps its connection; half of them stay for the others. Without that a hundred waits
  // would keep a probe out.
  static std::size_t waits_max(const Config& config) {
    return std::min<std::size_t>(config.daemon.awaits_max, config.http.connections_max / 2);
  }

  // Those of the configuration; lengths of lines and heads are the listener's own.
  HttpLimits limits() const {
    const auto& http = config_.http;
    HttpLimits limits;
    limits.connections_max = http.connections_max;
    limits.read_timeout = http.read_timeout;
    limits.request_timeout = http.request_timeout;
    limits.keep_alive = http.keep_alive;
    return limits;
  }

  // Replaces the rules as a whole; requests that are being judged keep those that they have.
  base::Status set_guard(const Config& config) {
    // A file that cannot be read leaves the rules as they were.
    auto guard = std::make_shared<Guard>();
    guard->required = config.auth.required;
    if (!config.auth.token_file.empty()) {
      CUZK_TRY(guard->tokens, read_tokens(config.auth.token_file));
    }
    std::atomic_store(&guard_, std::shared_ptr<const Guard>(std::move(guard)));
    return base::ok_status();
  }

  // Without a file of tokens nobody elsewhere gets in: HTTP has no certificates of clients, which
  // could stand in for one as they do with gRPC.
  std::optional<std::string> refusal(bool local, std::string_view authorization) const {
    const auto guard = std::atomic_load(&guard_);
    if (guard->required == AuthRequired::kNever) return std::nullopt;
    if (guard->required == AuthRequired::kRemote && local) return std::nullopt;
    constexpr std::string_view kScheme = "Bearer ";
    if (authorization.empty()) return "a token is needed: send Authorization: Bearer TOKEN";
    if (authorization.starts_with(kScheme) &&
        token_matches(guard->tokens, authorization.substr(kScheme.size()))) {
      return std::nullopt;
    }
    return "the token is none of those in auth.token_file";
  }

  // Error kUnavailable when the engine gave no report in time, or the door stops; else why it could
  // not be made. Blocks the connection's thread; the answer is made in the desk's.
  StatusDesk::Made report() {
    // Held by the answer too, which may come after this has given up.
    struct Shared {
      std::mutex mutex;
      std::condition_variable changed;
      std::optional<StatusDesk::Made> report;
    };
    const auto shared = std::make_shared<Shared>();
    const bool asked = desk_.ask([shared](const StatusDesk::Made& made) {
      const std::lock_guard lock(shared->mutex);
      shared->report.emplace(made);
      shared->changed.notify_all();
    });
    const base::Error none{base::ErrorKind::kUnavailable, "the engine does not answer"};
    if (!asked) return none;
    std::unique_lock lock(shared->mutex);
    shared->changed.wait_for(lock, kReportPatience, [&] { return shared->report.has_value(); });
    return shared->report ? *shared->report : none;
  }

  // A route whose answer is made from a report.
  template <class Make>
  std::function<HttpReply(const HttpRequest&)> reported(Make make) {
    return [this, make](const HttpRequest& request) {
      const auto made = report();
      if (!made.ok()) return error_reply(made.error());
      const StatusReport& status = *made.value();
      const StatusFacts facts{backend_.version, status.context.now_ms, backend_.public_kind_name,
                              status.context.door_fault};
      return base::Result<HttpReply>(make(request, status.engine, facts)).value();
    };
  }

  // Routes are tried in this order; those of jobs have the most specific paths first.
  HttpServerSetup setup() {
    HttpServerSetup setup;
    setup.body_bytes_max = config_.http.body_bytes_max;
    setup.refusal = [this](bool local, std::string_view authorization) {
      return refusal(local, authorization);
    };
    setup.count = count_;
    // Whoever listens where others come is known by names that we cannot guess.
    const Address& address = *config_.daemon.status_listen;
    if (!address.is_local() && address.kind == Address::Kind::kTcp) setup.any_host = true;
    setup.allowed_hosts = config_.http.allowed_hosts;
    setup.routes = job_routes(backend_, waits_, keys_, [this] { return await_max_.load(); });
    for (auto& route : state_routes()) setup.routes.push_back(std::move(route));
    if (config_.http.dashboard) add_dashboard(setup.routes);
    return setup;
  }

  // Probes are public: a supervisor has no token, and learns little more than yes or no.
  std::vector<HttpRoute> state_routes() {
    std::vector<HttpRoute> routes;
    routes.push_back({"GET", "/status",
                      reported([this](const HttpRequest&, const auto& engine, const auto& facts) {
                        HttpReply reply = json_reply(status_json(engine, feed_, facts));
                        // Monitors of the Rust daemon run in pages of another address.
                        reply.headers.emplace_back("Access-Control-Allow-Origin", "*");
                        return reply;
                      })});
    routes.push_back({"GET", "/metrics", [this](const HttpRequest&) {
                        HttpReply reply;
                        reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
                        reply.body = backend_.metrics_text();
                        return reply;
                      }});
    routes.push_back({"GET", "/readyz",
                      reported([](const HttpRequest&, const auto& engine, const auto& facts) {
                        const Readiness state = readiness(engine, facts.door_fault);
                        return plain(state.ready, state.ready ? "ready" : state.reason);
                      }),
                      true});
    routes.push_back(
        {"GET", "/healthz",
         reported([](const HttpRequest&, engine::EngineReport engine, const auto& facts) {
           engine.draining = false;  // who drains is healthy
           const Readiness state = readiness(engine, facts.door_fault);
           return plain(state.ready, state.ready ? "ok" : state.reason);
         }),
         true});
    return routes;
  }

  // For probes, which look at the status, and for people, who look at the line.
  static HttpReply plain(bool good, const std::string& text) {
    HttpReply reply;
    reply.status = good ? 200 : 503;
    reply.content_type = "text/plain; charset=utf-8";
    reply.body = text + "\n";
    return reply;
  }

  // The page and what it asks for: the state now, and what changed since its last question.
  void add_dashboard(std::vector<HttpRoute>& routes) {
    routes.push_back(
        {"GET", "/api/v1/dashboard",
         reported([this](const HttpRequest& request, const auto& engine, const auto& facts) {
           // Without them the page is told everything.
           const auto revision = query_number(request, "revision");
           const auto sample = query_number(request, "sample_ms");
           if (!revision.ok()) return error_reply(revision.error());
           if (!sample.ok()) return error_reply(sample.error());
           auto body = overview_json(engine, facts);
           body["changes"] =
               feed_.changes(revision->value_or(0), static_cast<std::int64_t>(sample->value_or(0)));
           return json_reply(body);
         }),
         false, std::vector<std::string>{"revision", "sample_ms"}});
    // The page holds no data; what it asks for needs the token.
    for (const char* path : {"/", "/dashboard.css", "/dashboard.js", "/charts.js"}) {
      const DashboardAsset* asset = find_dashboard_asset(path);
      CUZK_ASSERT(asset != nullptr);
      // In a pattern a dot fits any character.
      const std::string pattern = std::regex_replace(path, std::regex("[.]"), "\\.");
      routes.push_back({"GET", pattern,
                        [asset](const HttpRequest&) {
                          HttpReply reply;
                          reply.content_type = asset->content_type;
                          reply.body = asset->content;
                          reply.headers.emplace_back("Content-Security-Policy", kPagePolicy);
                          return reply;
                        },
                        true});
    }
  }

  // After a gap in the events: keeps in the feed what the journal knows as not over.
  void forget_what_is_over() {
    engine::JobQuery query;
    query.states = {engine::JobState::kQueued, engine::JobState::kRunning};
    query.count_max = SIZE_MAX;
    // All at once: a page would leave out what is to be kept.
    const auto jobs = backend_.engine->list(query);
    if (!jobs.ok()) return;
    std::set<std::string> live;
    for (const engine::JobView& job : *jobs) live.insert(job.record.request_id);
    feed_.keep_only(live);
  }

  // In a thread of the engine's that is this observer's own, so asking the engine back is fine.
  void observe(const engine::EngineEvent& event) {
    if (event.left_out_count > 0) forget_what_is_over();
    feed_.observe(event);
    if (event.kind == engine::EngineEvent::Kind::kEnded &&
        event.state == engine::JobState::kFailed) {
      // Events carry no sentences; the record has it by the time of the end.
      const auto job = backend_.engine->find(event.request_id);
      if (job.ok() && job->record.failure) {
        feed_.note_error(event.request_id, job->record.failure->message);
      }
    }
  }

  // The report is asked for without the lock, which stop() takes to end this.
  void sample_loop() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      lock.unlock();
      if (const auto made = report(); made.ok()) {
        const StatusReport& status = *made.value();
        feed_.sample(status.engine, status.context.now_ms);
      }
      lock.lock();
      stop_asked_.wait_for(lock, kSampleInterval, [this] { return stopping_; });
    }
  }

  const Config config_;
  const Backend backend_;
  const std::function<void(int)> count_;
  std::atomic<milliseconds> await_max_;
  std::shared_ptr<const Guard> guard_ = std::make_shared<const Guard>();
  DashboardFeed feed_;
  JobWaits waits_;
  WorkLane keys_{"http-keys", 2, 64};  // stops last: it may wait for a key that loads
  StatusDesk desk_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpListener> listener_;
  std::shared_ptr<engine::Subscription> subscription_;
  std::mutex mutex_;
  std::condition_variable stop_asked_;
  bool stopping_ = false;
  std::thread sampler_;
};

}  // namespace

std::unique_ptr<Door> make_http_door(const Config& config, const Backend& backend,
                                     std::function<void(int)> count) {
  return std::make_unique<HttpDoor>(config, backend, std::move(count));
}

}  // namespace cuzk::service
