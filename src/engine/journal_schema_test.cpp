// Versions of the tables, and files that are not ours to change.
#include "engine/journal_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/journal.h"
#include "engine/journal_test_support.h"

namespace cuzk::engine::internal {
namespace {

using base::Bytes;
using base::ErrorKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace testing_support;

Database open_database(const std::filesystem::path& folder) {
  return Database::open(folder / "journal.db", nullptr).value();
}

constexpr Migration kLater[] = {
    {2, "a column", "ALTER TABLE job ADD COLUMN note TEXT"},
    {3, "a table", "CREATE TABLE extra(id INTEGER PRIMARY KEY)"},
};

std::vector<Migration> with_later() {
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  steps.insert(steps.end(), std::begin(kLater), std::end(kLater));
  return steps;
}

TEST(JournalSchema, MigratesStepByStepAndNotesEach) {
  const TemporaryFolder folder;
  const Bytes input = test_bytes(10, 1);
  {
    const auto journal = open_or_die(options_in(folder.path()));
    ASSERT_TRUE(journal->accept(submission_of("kept", input)).ok());
  }
  auto database = open_database(folder.path());
  ASSERT_TRUE(migrate(database, with_later(), 42).ok());
  EXPECT_EQ(database.integer("PRAGMA user_version").value(), 3);
  EXPECT_EQ(database.integer("SELECT count(*) FROM migration").value(), 3);
  EXPECT_EQ(database.integer("SELECT applied_ms FROM migration WHERE version = 2").value(), 42);
  EXPECT_EQ(database.integer("SELECT count(*) FROM job WHERE note IS NULL").value(), 1);
  ASSERT_TRUE(migrate(database, with_later(), 43).ok()) << "nothing is left to do";
  EXPECT_EQ(database.integer("SELECT max(applied_ms) FROM migration WHERE version > 1").value(),
            42);
}

TEST(JournalSchema, AStepThatFailsLeavesTheVersionBefore) {
  auto database = Database::open(":memory:", nullptr).value();
  std::vector<Migration> steps(migrations().begin(), migrations().end());
  steps.push_back({2, "broken", "CREATE TABLE half(id INTEGER); CREATE TABLE job(id INTEGER)"});
  EXPECT_FALSE(migrate(database, steps, 1).ok());
  EXPECT_EQ(database.integer("PRAGMA user_version").value(), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").value(), 0);
}

TEST(JournalSchema, ANewerJournalIsRefusedAndNotTouched) {
  const TemporaryFolder folder;
  { const auto journal = open_or_die(options_in(folder.path())); }
  {
    auto database = open_database(folder.path());
    ASSERT_TRUE(migrate(database, with_later(), 1).ok());
  }
  const Bytes before = read_whole(folder.path() / "journal.db");
  const auto opened = Journal::open(options_in(folder.path()));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(opened.error().message, AllOf(HasSubstr("version 3"), HasSubstr("version 1")));
  EXPECT_EQ(read_whole(folder.path() / "journal.db"), before);
}

TEST(JournalSchema, ADatabaseOfAnotherProgramIsRefusedAndNotTouched) {
  const TemporaryFolder folder;
  {
    auto database = open_database(folder.path());
    ASSERT_TRUE(database.execute("PRAGMA application_id = 77; CREATE TABLE job(id INTEGER)").ok());
  }
  const auto opened = Journal::open(options_in(folder.path()));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().kind, ErrorKind::kMismatch);
  EXPECT_THAT(opened.error().message, HasSubstr("another program"));
  auto database = open_database(folder.path());
  EXPECT_EQ(database.integer("PRAGMA application_id").value(), 77);
  EXPECT_EQ(database.integer("SELECT count(*) FROM sqlite_schema").value(), 1);
}

TEST(JournalSchema, AFileThatIsNoDatabaseIsRefusedAndNotTouched) {
  for (const std::size_t size : {1u, 15u, 16u, 100u, 10000u}) {
    const TemporaryFolder folder;
    const Bytes text = test_bytes(size, size);
    write_whole(folder.path() / "journal.db", text);
    const auto opened = Journal::open(options_in(folder.path()));
    ASSERT_FALSE(opened.ok()) << size;
    EXPECT_EQ(opened.error().kind, ErrorKind::kMalformed);
    EXPECT_THAT(opened.error().message, HasSubstr("no journal"));
    EXPECT_EQ(read_whole(folder.path() / "journal.db"), text);
  }
}

TEST(JournalSchema, PathsThatCannotBeAJournalAreRefusedInOneSentence) {
  const TemporaryFolder folder;
  write_whole(folder.path() / "file", test_bytes(10, 1));
  EXPECT_EQ(Journal::open(options_in(folder.path() / "file")).error().kind, ErrorKind::kIo);
  EXPECT_EQ(Journal::open(options_in(folder.path() / "file" / "below")).error().kind,
            ErrorKind::kIo);
  std::filesystem::create_directory(folder.path() / "journal.db");
  EXPECT_EQ(Journal::open(options_in(folder.path())).error().kind, ErrorKind::kIo);
  EXPECT_TRUE(Journal::open(options_in(folder.path() / "new" / "folder")).ok());
}

TEST(JournalSchema, TheConnectionIsSetUpForDurability) {
  const TemporaryFolder folder;
  { const auto journal = open_or_die(options_in(folder.path())); }
  auto database = open_database(folder.path());
  ASSERT_TRUE(configure(database, 0).ok());
  EXPECT_EQ(database.integer("PRAGMA synchronous").value(), 2) << "FULL";
  EXPECT_EQ(database.integer("PRAGMA auto_vacuum").value(), 2) << "INCREMENTAL";
  EXPECT_EQ(database.integer("PRAGMA busy_timeout").value(), 5000);
  auto mode = database.prepare("PRAGMA journal_mode").value();
  ASSERT_TRUE(mode.step().value());
  EXPECT_EQ(mode.text(0), "wal");
}

}  // namespace
}  // namespace cuzk::engine::internal
