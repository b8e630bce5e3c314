#include "store/sqlite.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <xxhash.h>

#include <cstring>
#include <utility>

namespace conebench::sqlite {

namespace {

/// Long enough for another process's commit on a slow disk, short enough that a person does not think it hangs.
constexpr int busy_timeout_ms = 20000;

std::string advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL: return "; free space and run the command again";
    case SQLITE_IOERR: return "; check the disk (full, quota, network) and run the command again";
    case SQLITE_READONLY:
    case SQLITE_PERM: return "; make the file and its folder writable";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another process holds it: wait for that one, or use another file";
    case SQLITE_CANTOPEN: return "; make the file readable and its folder writable, or give another file";
    case SQLITE_CORRUPT:
      return "; the file is damaged: restore a copy, or save what is whole with `conebench merge FILE --salvage`";
    default: return {};
  }
}

/// A file name as SQLite's URI syntax wants it.
std::string uri(const std::filesystem::path& file, const char* query) {
  std::string out = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    if (c == '%' || c == '?' || c == '#') {
      out += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + query;
}

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  keep(sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &handle_,
                          nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

Statement::Statement(Statement&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), failure_(other.failure_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(failure_, other.failure_);
  return *this;
}

void Statement::keep(int code) {
  if (failure_ == SQLITE_OK) failure_ = code;
}

Statement& Statement::bind(int position, std::int64_t value) {
  keep(sqlite3_bind_int64(handle_, position, value));
  return *this;
}

Statement& Statement::bind(int position, double value) {
  keep(std::isfinite(value) ? sqlite3_bind_double(handle_, position, value) : sqlite3_bind_null(handle_, position));
  return *this;
}

Statement& Statement::bind(int position, std::string_view value) {
  keep(sqlite3_bind_text64(handle_, position, value.data() != nullptr ? value.data() : "", value.size(),
                           SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int position, std::span<const unsigned char> blob) {
  keep(blob.empty() ? sqlite3_bind_zeroblob(handle_, position, 0)
                    : sqlite3_bind_blob64(handle_, position, blob.data(), blob.size(), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(int position, sqlite3_value* value) {
  keep(sqlite3_bind_value(handle_, position, value));
  return *this;
}

Statement& Statement::bind_null(int position) {
  keep(sqlite3_bind_null(handle_, position));
  return *this;
}

int Statement::step() {
  if (failure_ != SQLITE_OK) return failure_;
  const int code = sqlite3_step(handle_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) keep(code);
  return code;
}

int Statement::run() {
  int code = step();
  while (code == SQLITE_ROW) code = step();
  reset();
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

void Statement::reset() {
  if (handle_ == nullptr) return;
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
  failure_ = SQLITE_OK;
}

int Statement::columns() const { return sqlite3_column_count(handle_); }
bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }
double Statement::real(int column) const {
  return is_null(column) ? std::nan("") : sqlite3_column_double(handle_, column);
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::span<const unsigned char> Statement::blob(int column) const {
  const auto* data = static_cast<const unsigned char*>(sqlite3_column_blob(handle_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_, column))};
}

std::uint64_t Statement::fingerprint(int column, std::uint64_t seed) const {
  const auto hash = [&](const void* data, std::size_t size, std::uint64_t kind) {
    return XXH3_64bits_withSeed(data, size, seed + kind);
  };
  const int type = sqlite3_column_type(handle_, column);
  const auto kind = static_cast<std::uint64_t>(type);
  if (type == SQLITE_INTEGER) {
    const std::int64_t value = integer(column);
    return hash(&value, sizeof value, kind);
  }
  if (type == SQLITE_FLOAT) {
    const double value = sqlite3_column_double(handle_, column);
    return hash(&value, sizeof value, kind);
  }
  const auto bytes = blob(column);  // of a text, too; none of NULL
  return hash(bytes.data(), bytes.size(), kind);
}

sqlite3_value* Statement::value(int column) const { return sqlite3_column_value(handle_, column); }

std::optional<std::filesystem::path> log_beside(const std::filesystem::path& file) {
  for (const char* ending : {"-wal", "-journal"}) {
    std::filesystem::path log = file.string() + ending;
    std::error_code none;
    if (const auto size = std::filesystem::file_size(log, none); !none && size > 0) return log;
  }
  return std::nullopt;
}

void Connection::Closer::operator()(sqlite3* handle) const {
  // The last connection of a file copies its log into it; one that only reads leaves both as they are. An empty log is
  // its own, and goes.
  if (keeps_log && log_beside(sqlite3_db_filename(handle, "main"))) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  sqlite3_close_v2(handle);
}

int Connection::open_copy(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  auto folder = std::make_unique<TemporaryFolder>();
  if (folder->path().empty()) return SQLITE_CANTOPEN;
  const fs::path copy = folder->path() / "copy.sqlite";
  const auto log = log_beside(file);
  std::error_code failed;
  fs::copy_file(file, copy, failed);
  if (!failed && log) fs::copy_file(*log, copy.string() + log->string().substr(file.string().size()), failed);
  if (failed) return failed == std::errc::no_space_on_device ? SQLITE_FULL : SQLITE_CANTOPEN;
  fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, failed);
  // A journal is rolled back within the copy.
  const int code = open(copy, Access::read_write_create);
  copy_ = std::move(folder);
  file_ = file;
  return code;
}

void Connection::distrust_schema() {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
}

int Connection::open(const std::filesystem::path& file, Access access) {
  file_ = file;
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;  // a connection is used by one thread at a time
  std::string name;
  switch (access) {
    case Access::read_only:
      // Without a log read-write to the system: only then does SQLite clear its own log files away when it closes.
      flags |= log_beside(file) ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
      name = uri(file, "");
      break;
    case Access::immutable:
      flags |= SQLITE_OPEN_READONLY;
      name = uri(file, "?immutable=1");
      break;
    case Access::read_write_create:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      name = uri(file, "");
      break;
    case Access::memory:
      flags |= SQLITE_OPEN_READWRITE;
      name = ":memory:";
      break;
  }
  sqlite3* handle = nullptr;
  copy_.reset();
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) return code;
  sqlite3_extended_result_codes(handle, 1);
  handle_.get_deleter().keeps_log = access == Access::read_only;
  if (access == Access::read_only) run("PRAGMA query_only = ON");
  return sqlite3_busy_timeout(handle, busy_timeout_ms);
}

int Connection::run(std::string_view sql) {
  return sqlite3_exec(handle_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr);
}

std::optional<std::int64_t> Connection::ask(std::string_view sql, int* failure) const {
  Statement query = prepare(sql);
  const int code = query.step();
  if (failure != nullptr) *failure = code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
  if (code != SQLITE_ROW) return std::nullopt;
  return query.integer(0);
}

std::vector<std::string> Connection::columns_of(const std::string& table) const {
  std::vector<std::string> names;
  Statement query = prepare("SELECT name FROM pragma_table_info(?)");
  query.bind(1, std::string_view(table));
  while (query.step() == SQLITE_ROW) names.push_back(query.text(0));
  return names;
}

bool Connection::read_only() const { return sqlite3_db_readonly(handle_.get(), "main") == 1; }

std::int64_t Connection::last_row_id() const { return sqlite3_last_insert_rowid(handle_.get()); }

int Connection::copy_from(Connection& source) {
  sqlite3_backup* backup = sqlite3_backup_init(handle_.get(), "main", source.handle_.get(), "main");
  if (backup == nullptr) return sqlite3_extended_errcode(handle_.get());
  sqlite3_backup_step(backup, -1);
  return sqlite3_backup_finish(backup);
}

Error Connection::read_error(int code) const {
  Error error = this->error("cannot be read", code);
  if (error.code == ErrorCode::internal) error.message += advice(SQLITE_CORRUPT);
  error.code = ErrorCode::bad_input;
  return error;
}

Error Connection::error(std::string_view doing, int code) const {
  const ErrorCode kind = (code & 0xff) == SQLITE_MISUSE || (code & 0xff) == SQLITE_ERROR ||
                                 (code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_RANGE
                             ? ErrorCode::internal
                             : ErrorCode::bad_input;
  const bool detailed = handle_ && sqlite3_extended_errcode(handle_.get()) == code;
  std::string reason = detailed ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const int system = handle_ && (code & 0xff) == SQLITE_CANTOPEN ? sqlite3_system_errno(handle_.get()) : 0;
  if (system != 0) reason = std::strerror(system);
  // SQLite quotes what it read, whatever that is.
  for (char& letter : reason) {
    if (letter < ' ' || letter > '~') letter = ' ';
  }
  if (constexpr std::size_t longest = 120; reason.size() > longest) reason = reason.substr(0, longest) + "...";
  return {kind, fmt::format("{}: {}: {} (SQLite {}){}", file_.string(), doing, reason, code, advice(code))};
}

}  // namespace conebench::sqlite
