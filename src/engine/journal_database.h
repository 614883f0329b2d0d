// SQLite behind values and Results, for the journal only: a connection, its statements and a
// transaction that rolls back unless it was committed. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace cuzk::engine::internal {

// One prepared statement. Values are bound in order of appearance; a failure to bind is kept and
// returned by the next step. Spans and texts are borrowed until the statement dies or is reset.
// Made by Database::prepare, and dead before its database. Columns are numbered from 0.
class Statement {
 public:
  Statement& bind(std::int64_t value);
  Statement& bind(std::string_view text);
  Statement& bind(base::ByteSpan blob);
  Statement& bind(const std::optional<std::int64_t>& value);  // empty: NULL

  // Whether there is one more row.
  base::Result<bool> step();
  // For statements that answer nothing.
  base::Status run();
  // Ready to be bound and stepped again.
  void reset();

  // Columns of the row that step() reached, borrowed until the next step.
  std::int64_t integer(int column) const;
  std::string_view text(int column) const;
  base::ByteSpan blob(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string name_;  // of the database, for errors
  int bound_count_ = 0;
  int bind_error_ = 0;
};

// One connection. A statement holds the handle inside and survives a move of this object; a
// transaction points at the object and does not.
class Database {
 public:
  // Opens, and creates where nothing is. `vfs` names SQLite's file layer; null is its own. Errors
  // carry the file's name: kMalformed when the bytes are damaged or no database, kUnavailable when
  // another process holds it, kResourceExhausted when the disk, the size limit or memory is full,
  // else kIo. All functions below fail with the same kinds.
  static base::Result<Database> open(const std::filesystem::path& path, const char* vfs);

  // One statement. Texts are ours and constant but for column lists; values are bound, never
  // pasted.
  base::Result<Statement> prepare(std::string_view sql);
  // Any number of statements whose answers do not matter.
  base::Status execute(const std::string& sql);
  // The first column of the first row, 0 where that is NULL; no row is an error.
  base::Result<std::int64_t> integer(std::string_view sql);
  // Rows changed by the last statement that ran.
  std::int64_t changed_count() const;
  std::int64_t last_row_id() const;
  // Whether a transaction is open: not any more when SQLite rolled it back after a failure.
  bool in_transaction() const;

 private:
  friend class Transaction;
  // Rolls back what a Transaction left open because it could not: nobody would commit it, so what
  // is read from it or added to it would be told as durable and be lost. Error kIo where it still
  // cannot be rolled back; it is tried again with each statement.
  base::Status drop_leftover();
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::string name_;
  bool is_owned_ = false;    // a Transaction stands for what is open
  bool is_spoiled_ = false;  // a part of it failed and could not be rolled back alone
};

// Between begin and commit nothing is visible or durable. Dropped without commit: rolled back. One
// inside another is a part of it that can be rolled back alone, and is durable with it.
class Transaction {
 public:
  static base::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept
      : database_(std::exchange(other.database_, nullptr)),
        is_inner_(other.is_inner_),
        owns_(std::exchange(other.owns_, false)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // Durable when it returns ok, unless it is inside another. Error kIo where a part failed and its
  // rolling back failed too.
  base::Status commit();

 private:
  Transaction(Database* database, bool is_inner)
      : database_(database),
        is_inner_(is_inner),
        owns_(!std::exchange(database->is_owned_, true)) {}
  Database* database_;
  bool is_inner_;
  bool owns_;  // the outermost one
};

}  // namespace cuzk::engine::internal
