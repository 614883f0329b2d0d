// SQLite's C interface, with its result codes turned into kinds of errors.
//
// The extended codes are asked for, the primary one (the low byte) decides the kind; a full disk
// shows only in errno. https://www.sqlite.org/rescode.html has the codes.
#include "engine/journal_database.h"

#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace cuzk::engine::internal {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;
using base::Status;

// The folder's lock keeps others out, so a wait is for something like a backup that reads the file.
constexpr int kBusyTimeoutMs = 5000;

// Of the result codes that a journal can meet; what is left is our own misuse of the library.
ErrorKind kind_of(int code, int system_error) {
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM: return ErrorKind::kResourceExhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorKind::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    // With a schema that is ours, an unknown column or a broken rule is a damaged schema.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_SCHEMA: return ErrorKind::kMalformed;
    case SQLITE_TOOBIG: return ErrorKind::kInvalidArgument;
    case SQLITE_IOERR:
      return system_error == ENOSPC || system_error == EDQUOT ? ErrorKind::kResourceExhausted
                                                              : ErrorKind::kIo;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH: return ErrorKind::kIo;
    default: return ErrorKind::kInternal;
  }
}

Error failure(sqlite3* connection, const std::string& name, int code) {
  // Read at once: any further call on the connection overwrites both.
  const int system_error = connection == nullptr ? 0 : sqlite3_system_errno(connection);
  const char* detail = connection == nullptr || sqlite3_errcode(connection) == SQLITE_OK
                           ? sqlite3_errstr(code)
                           : sqlite3_errmsg(connection);
  return Error{kind_of(code, system_error), fmt::format("{}: {}", name, detail)};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), ++bound_count_, value);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  const int code = sqlite3_bind_text64(statement_.get(), ++bound_count_,
                                       text.data() == nullptr ? "" : text.data(), text.size(),
                                       SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Statement& Statement::bind(base::ByteSpan blob) {
  // A null pointer would bind NULL, which an empty blob is not.
  const void* data = blob.empty() ? static_cast<const void*>("") : blob.data();
  const int code =
      sqlite3_bind_blob64(statement_.get(), ++bound_count_, data, blob.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Statement& Statement::bind(const std::optional<std::int64_t>& value) {
  if (value) return bind(*value);
  const int code = sqlite3_bind_null(statement_.get(), ++bound_count_);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Result<bool> Statement::step() {
  CUZK_ASSERT(statement_ != nullptr);
  sqlite3* connection = sqlite3_db_handle(statement_.get());
  if (bind_error_ != SQLITE_OK) return failure(nullptr, name_, bind_error_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure(connection, name_, code);
}

Status Statement::run() {
  CUZK_TRY(const bool has_row, step());
  CUZK_ASSERT(!has_row);
  return base::ok_status();
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_count_ = 0;
  bind_error_ = SQLITE_OK;
}

std::int64_t Statement::integer(int column) const {
  CUZK_DEBUG_ASSERT(column >= 0 && column < sqlite3_column_count(statement_.get()));
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  CUZK_DEBUG_ASSERT(column >= 0 && column < sqlite3_column_count(statement_.get()));
  // In this order: the size is of the form that the call before made.
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(data, static_cast<size_t>(size));
}

base::ByteSpan Statement::blob(int column) const {
  CUZK_DEBUG_ASSERT(column >= 0 && column < sqlite3_column_count(statement_.get()));
  const auto* data =
      static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? base::ByteSpan() : base::ByteSpan(data, static_cast<size_t>(size));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* connection) const noexcept {
  sqlite3_close_v2(connection);
}

Result<Database> Database::open(const std::filesystem::path& path, const char* vfs) {
  Database database;
  database.name_ = path.string();
  sqlite3* connection = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &connection, flags, vfs);
  // Also where opening failed: then the handle carries the reason and has to be closed.
  database.connection_.reset(connection);
  if (code != SQLITE_OK) return failure(connection, database.name_, code);
  sqlite3_busy_timeout(connection, kBusyTimeoutMs);
  return database;
}

Status Database::drop_leftover() {
  if (is_owned_ || !in_transaction()) return base::ok_status();
  const int code = sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!in_transaction()) return base::ok_status();
  return Error{ErrorKind::kIo, fmt::format("{}: a change that failed cannot be rolled back, so "
                                           "nothing can be read or changed: {}",
                                           name_, sqlite3_errstr(code))};
}

Result<Statement> Database::prepare(std::string_view sql) {
  CUZK_TRY_STATUS(drop_leftover());
  Statement statement;
  statement.name_ = name_;
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &prepared, nullptr);
  statement.statement_.reset(prepared);
  if (code != SQLITE_OK) return failure(connection_.get(), name_, code);
  CUZK_ASSERT(statement.statement_ != nullptr);  // null is a text without a statement
  return statement;
}

Status Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(connection_.get(), name_, code);
  return base::ok_status();
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  CUZK_TRY(auto statement, prepare(sql));
  CUZK_TRY(const bool has_row, statement.step());
  if (!has_row) {
    return Error{ErrorKind::kMalformed, fmt::format("{}: no answer to '{}'", name_, sql)};
  }
  return statement.integer(0);
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

std::int64_t Database::changed_count() const { return sqlite3_changes64(connection_.get()); }

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  CUZK_TRY_STATUS(database.drop_leftover());
  const bool is_inner = sqlite3_get_autocommit(database.connection_.get()) == 0;
  // IMMEDIATE takes the write lock now: to find it taken at the first write would be too late.
  CUZK_TRY_STATUS(database.execute(is_inner ? "SAVEPOINT inner" : "BEGIN IMMEDIATE"));
  return Transaction(&database, is_inner);
}

// Rolling back may fail too, where SQLite finds no memory for the statement. What is inside another
// then spoils it, so that it is not committed with a half of a change; the outermost one leaves it
// to drop_leftover().
Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // After a full disk or a failed write SQLite may have rolled back by itself.
  if (database_->in_transaction()) {
    const char* const undo = is_inner_ ? "ROLLBACK TO inner; RELEASE inner" : "ROLLBACK";
    const int code = sqlite3_exec(database_->connection_.get(), undo, nullptr, nullptr, nullptr);
    if (is_inner_ && code != SQLITE_OK) database_->is_spoiled_ = true;
  }
  if (owns_) database_->is_owned_ = database_->is_spoiled_ = false;
}

Status Transaction::commit() {
  CUZK_ASSERT(database_ != nullptr);
  if (!is_inner_ && database_->is_spoiled_) {
    return Error{ErrorKind::kIo, fmt::format("{}: a part of these changes failed and cannot be "
                                             "rolled back alone",
                                             database_->name_)};
  }
  CUZK_TRY_STATUS(database_->execute(is_inner_ ? "RELEASE inner" : "COMMIT"));
  // Where it failed the destructor rolls back.
  if (owns_) database_->is_owned_ = false;
  database_ = nullptr;
  return base::ok_status();
}

}  // namespace cuzk::engine::internal
