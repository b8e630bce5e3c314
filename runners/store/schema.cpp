#include "runners/store/schema.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "runners/store/row_seals.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;
using sqlite::Connection;
using sqlite::Statement;

struct Header {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t tables = 0;
  /// An SQLite file to which nobody has written anything yet, as an interrupted creation leaves it.
  bool blank() const { return application == 0 && version == 0 && tables == 0; }
};

Error not_a_store(const fs::path& file, const std::string& why) {
  return {
      ErrorCode::bad_input,
      fmt::format("{}: not a Conebench store ({}); give a file that `conebench run --db` wrote", file.string(), why)};
}

/// What the file system alone tells against opening.
std::optional<Error> refusal(const fs::path& file, bool writable) {
  std::error_code failure;
  const auto status = fs::status(file, failure);
  if (fs::is_directory(status)) return not_a_store(file, "it is a folder");
  if (!fs::exists(status)) {
    if (!writable) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: cannot be read: no such file; check the path", file.string())};
    }
    const fs::path parent = fs::absolute(file).parent_path();
    if (!fs::is_directory(parent, failure)) {
      return Error{ErrorCode::bad_input, fmt::format("{}: cannot be created: there is no folder {}; make it first",
                                                     file.string(), parent.string())};
    }
    if (faccessat(AT_FDCWD, parent.c_str(), W_OK, AT_EACCESS) != 0) {
      return Error{
          ErrorCode::bad_input,
          fmt::format("{}: cannot be created: the folder {} is read-only; make it writable or give another file",
                      file.string(), parent.string())};
    }
    return std::nullopt;
  }
  if (!fs::is_regular_file(status)) return not_a_store(file, "it is no regular file");
  if (!writable && fs::file_size(file, failure) == 0 && !failure) return not_a_store(file, "it is empty");
  return std::nullopt;
}

Result<Header> read_header(const Connection& connection) {
  Header header;
  int code = SQLITE_OK;
  const auto take = [&](const char* sql, std::int64_t& into) {
    if (code != SQLITE_OK) return;
    if (const auto answer = connection.ask(sql, &code)) into = *answer;
  };
  take("SELECT count(*) FROM sqlite_schema", header.tables);
  take("PRAGMA application_id", header.application);
  take("PRAGMA user_version", header.version);
  if ((code & 0xff) == SQLITE_NOTADB) return not_a_store(connection.file(), "it is no SQLite file");
  // A damaged head may name a format that SQLite does not know.
  if ((code & 0xff) == SQLITE_ERROR) return connection.read_error(code);
  if (code != SQLITE_OK) return connection.error("cannot be opened", code);
  return header;
}

std::optional<Error> foreign(const fs::path& file, const Header& header, std::size_t newest) {
  if (header.application != store_application_id) {
    return not_a_store(file, "an SQLite file of another program");
  }
  if (header.version > static_cast<std::int64_t>(newest)) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: written by a newer Conebench (schema {}, this one knows up to {}); update Conebench",
                             file.string(), header.version, newest)};
  }
  return std::nullopt;
}

/// The pages of the file and the indices that are searched, where no checksums of rows are looked at: what a migration
/// starts from, and what a writer relies on.
std::optional<Error> check_structure(const Connection& connection) {
  Statement check = connection.prepare("PRAGMA integrity_check(1)");
  const int code = check.step();
  if (code == SQLITE_ROW && check.text(0) == "ok") return std::nullopt;
  if (code != SQLITE_ROW && (code & 0xff) != SQLITE_CORRUPT) return connection.read_error(code);
  std::string what = code == SQLITE_ROW ? check.text(0) : "it cannot be read";
  std::replace_if(
      what.begin(), what.end(), [](char letter) { return letter < ' ' || letter > '~'; }, ' ');
  return Error{ErrorCode::bad_input, fmt::format("{}: damaged ({}); {}", connection.file().string(), what,
                                                 how_to_salvage(connection.file()))};
}

bool has_seals(const Connection& connection) {
  return connection.ask("SELECT count(*) FROM sqlite_schema WHERE name = 'seals'").value_or(0) > 0;
}

/// What has to be right before a migration writes new checksums.
std::optional<Error> check_all(const Connection& connection) {
  if (auto error = check_structure(connection)) return error;
  return has_seals(connection) ? RowSeals(connection).check(true) : std::nullopt;
}

/// One transaction over all missing steps and the checksums of the rows as they are then, so that an interrupted
/// migration leaves the old file. `seal`: false where rows may be damaged.
std::optional<Error> migrate(Connection& connection, std::span<const char* const> steps, bool seal) {
  sqlite::Transaction transaction(connection);
  if (const int code = transaction.begun(); code != SQLITE_OK) return connection.error("cannot be written", code);
  // Another process may have migrated since we looked.
  auto version = static_cast<std::size_t>(connection.ask("PRAGMA user_version").value_or(0));
  for (; version < steps.size(); ++version) {
    if (const int code = connection.run(steps[version]); code != SQLITE_OK) {
      Error error = connection.error(fmt::format("schema step {} failed", version + 1), code);
      if (error.code == ErrorCode::internal) error.message += "; it is damaged, or no store of Conebench";
      error.code = ErrorCode::bad_input;
      return error;
    }
  }
  if (seal && has_seals(connection)) {
    if (const int code = RowSeals(connection).seal_all(); code != SQLITE_OK) return connection.read_error(code);
  }
  connection.run(fmt::format("PRAGMA application_id = {}", store_application_id));
  connection.run(fmt::format("PRAGMA user_version = {}", steps.size()));
  if (const int code = transaction.commit(); code != SQLITE_OK) return connection.error("cannot be written", code);
  return std::nullopt;
}

/// Whether other hosts may read it meanwhile: the index of a WAL is memory of one host.
bool on_shared_disk(const fs::path& file) {
  // What the system does not tell, the script of a cluster's job does (docs/slurm.md).
  if (std::getenv("CONEBENCH_SHARED_DISK") != nullptr) return true;
  struct statfs disk = {};
  if (statfs(file.c_str(), &disk) != 0) return false;
  // NFS, Lustre, GPFS, BeeGFS, Ceph, SMB, CIFS, OCFS2, GFS2, AFS, 9p
  constexpr std::array<std::uint32_t, 12> networks = {0x6969,     0x0BD00BD0, 0x47504653, 0x19830326,
                                                      0x00C36400, 0x517B,     0xFF534D42, 0xFE534D42,
                                                      0x7461636F, 0x01161970, 0x5346414F, 0x01021997};
  return std::find(networks.begin(), networks.end(), static_cast<std::uint32_t>(disk.f_type)) != networks.end();
}

std::optional<Error> settle_for_writing(Connection& connection) {
  // Where the file system has no shared memory SQLite keeps its rollback journal: as safe, slower.
  connection.ask(on_shared_disk(connection.file()) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
  for (const char* setting : {"PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON"}) {
    if (const int code = connection.run(setting); code != SQLITE_OK) return connection.error("cannot be opened", code);
  }
  return std::nullopt;
}

Result<Connection> open_for_writing(const fs::path& file, std::span<const char* const> steps) {
  Connection connection;
  if (const int code = connection.open(file, Connection::Access::read_write_create); code != SQLITE_OK) {
    return connection.error("cannot be opened for writing", code);
  }
  if (connection.read_only()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: the file or its folder is read-only; make "
                                                   "it writable or give another file",
                                                   connection.file().string())};
  }
  auto header = read_header(connection);
  if (!header) return header.error();
  if (!header->blank()) {
    if (auto error = foreign(file, *header, steps.size())) return *error;
  }
  if (!header->blank()) {
    if (auto error = check_structure(connection)) return *error;
  }
  if (auto error = settle_for_writing(connection)) return *error;
  if (header->blank() || header->version < static_cast<std::int64_t>(steps.size())) {
    if (!header->blank() && has_seals(connection)) {
      if (auto error = RowSeals(connection).check(true)) return *error;
    }
    if (auto error = migrate(connection, steps, true)) return *error;
  }
  return connection;
}

Result<Connection> open_for_reading(const fs::path& file, std::span<const char* const> steps, bool salvage) {
  Connection connection;
  if (const int code = connection.open(file, Connection::Access::read_only); code != SQLITE_OK) {
    return connection.error("cannot be read", code);
  }
  // What of the schema makes no sense is then passed over.
  if (salvage) connection.run("PRAGMA writable_schema = ON");
  auto header = read_header(connection);
  std::error_code failure;
  if (!header && connection.ask("SELECT count(*) FROM sqlite_schema") == std::nullopt &&
      fs::file_size(file.string() + "-wal", failure) == static_cast<std::uintmax_t>(-1)) {
    // In a folder that we may not write to, SQLite can't make the index that WAL files want; with no log beside it the
    // file is complete and may be read as it stands.
    Connection untouched;
    if (untouched.open(file, Connection::Access::immutable) == SQLITE_OK) {
      auto second_look = read_header(untouched);
      if (second_look) {
        connection = std::move(untouched);
        header = std::move(second_look);
      }
    }
  }
  if (!header) return header.error();
  if (header->blank()) return not_a_store(file, "nothing was stored in it yet");
  if (auto error = foreign(file, *header, steps.size())) return *error;
  if (header->version == static_cast<std::int64_t>(steps.size())) return connection;

  if (!salvage) {
    if (auto error = check_all(connection)) return *error;
  }
  Connection copy;
  if (const int code = copy.open(file, Connection::Access::memory); code != SQLITE_OK) {
    return copy.error("cannot be read", code);
  }
  if (const int code = copy.copy_from(connection); code != SQLITE_OK) return copy.error("cannot be read", code);
  if (auto error = migrate(copy, steps, !salvage)) return *error;
  return copy;
}

}  // namespace

Result<Connection> open_store_file(const fs::path& file, bool writable, std::span<const char* const> steps,
                                   bool salvage) {
  if (auto error = refusal(file, writable)) return *error;
  return writable ? open_for_writing(file, steps) : open_for_reading(file, steps, salvage);
}

}  // namespace conebench
