// Changes that failed and cannot be rolled back: SQLite needs memory for that statement too. Here
// an authorizer refuses it.
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "engine/journal.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine {
namespace {

using base::ErrorKind;
using namespace testing_support;
using Kind = JournalChange::Kind;

// While it lives, connections that are opened ask `refuses` about each statement that they prepare:
// SQLite's code of the action (SQLITE_TRANSACTION, ...) and its first name.
class Authorizer {
 public:
  Authorizer() { CUZK_ASSERT(sqlite3_auto_extension(entry()) == SQLITE_OK); }
  Authorizer(const Authorizer&) = delete;
  Authorizer& operator=(const Authorizer&) = delete;
  ~Authorizer() {
    sqlite3_cancel_auto_extension(entry());
    refuses = nullptr;
  }
  static inline std::function<bool(int, std::string_view)> refuses;

 private:
  static void (*entry())() { return reinterpret_cast<void (*)()>(install); }
  static int install(sqlite3* connection, char**, const sqlite3_api_routines*) {
    return sqlite3_set_authorizer(connection, decide, nullptr);
  }
  static int decide(void*, int action, const char* first, const char*, const char*, const char*) {
    return refuses && refuses(action, first == nullptr ? "" : first) ? SQLITE_DENY : SQLITE_OK;
  }
};

bool is_rollback(int action, std::string_view name) {
  return action == SQLITE_TRANSACTION && name == "ROLLBACK";
}

// What came after would be a part of what is never committed: told as durable, and lost.
TEST(JournalRollback, NothingIsTakenOnTopOfAChangeThatIsNotRolledBack) {
  const TemporaryFolder folder;
  const base::Bytes input = test_bytes(10, 1);
  {
    const Authorizer authorizer;
    const auto journal = open_or_die(options_in(folder.path()));
    ASSERT_TRUE(journal->accept(submission_of("a", input)).ok());
    Authorizer::refuses = is_rollback;
    EXPECT_EQ(journal->start("nobody").error().kind, ErrorKind::kNotFound);
    const auto refused = journal->start("a");
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::kIo);
    EXPECT_EQ(journal->accept(submission_of("b", input)).error().kind, ErrorKind::kIo);
    EXPECT_EQ(journal->prune({}).error().kind, ErrorKind::kIo);
    Authorizer::refuses = nullptr;
    ASSERT_TRUE(journal->start("a").ok());
    ASSERT_TRUE(journal->complete("a", 1, test_bytes(20, 2)).ok());
  }
  const auto journal = open_or_die(options_in(folder.path()));
  EXPECT_EQ(journal->find("a")->state, JobState::kCompleted);
  EXPECT_EQ(journal->find("b").error().kind, ErrorKind::kNotFound);
}

// A group whose commit fails is told to nobody, also not by reading it back.
TEST(JournalRollback, AGroupThatIsNeitherCommittedNorRolledBackIsNotRead) {
  const TemporaryFolder folder;
  const Authorizer authorizer;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(10, 1);
  for (const char* id : {"a", "b"}) ASSERT_TRUE(journal->accept(submission_of(id, input)).ok());
  const std::vector<JournalChange> changes = {{.kind = Kind::kStart, .request_id = "a"},
                                              {.kind = Kind::kStart, .request_id = "b"}};
  Authorizer::refuses = [](int action, std::string_view name) {
    return action == SQLITE_TRANSACTION && name != "BEGIN";
  };
  for (const base::Status& outcome : journal->apply(changes)) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().kind, ErrorKind::kIo);
  }
  EXPECT_EQ(journal->find("a").error().kind, ErrorKind::kIo);
  Authorizer::refuses = nullptr;
  EXPECT_EQ(journal->find("a")->state, JobState::kQueued);
  for (const base::Status& outcome : journal->apply(changes)) EXPECT_TRUE(outcome.ok());
  EXPECT_EQ(journal->find("b")->state, JobState::kRunning);
}

// A change of a group that fails half way and cannot be rolled back alone takes the group with it;
// then each is made for itself.
TEST(JournalRollback, AHalfOfAChangeIsNotCommittedWithItsGroup) {
  const TemporaryFolder folder;
  const Authorizer authorizer;
  const auto journal = open_or_die(options_in(folder.path()));
  const base::Bytes input = test_bytes(10, 1);
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(journal->accept(submission_of(id, input)).ok());
    ASSERT_TRUE(journal->start(id).ok());
  }
  // With a crash before, a partition's proof changes the job too, after it is written.
  ASSERT_TRUE(journal->requeue("a", 1, Requeue::kCrashed).ok());
  ASSERT_TRUE(journal->start("a").ok());
  const std::vector<JournalChange> changes = {
      {.kind = Kind::kPartition, .request_id = "b", .bytes = input},
      {.kind = Kind::kPartition, .request_id = "a", .bytes = input}};
  Authorizer::refuses = [](int action, std::string_view name) {
    return (action == SQLITE_UPDATE && name == "job") ||
           (action == SQLITE_SAVEPOINT && name == "ROLLBACK");
  };
  const auto outcomes = journal->apply(changes);
  EXPECT_TRUE(outcomes[0].ok());
  EXPECT_FALSE(outcomes[1].ok());
  Authorizer::refuses = nullptr;
  EXPECT_EQ(journal->partitions("b")->size(), 1u);
  EXPECT_TRUE(journal->partitions("a")->empty());
}

}  // namespace
}  // namespace cuzk::engine
