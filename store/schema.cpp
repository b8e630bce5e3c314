#include "store/schema.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "store/row_checksums.hpp"

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

/// Why the file can't be opened, by the file system alone.
Result<void> check_file(const fs::path& file, bool writable) {
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
    return {};
  }
  if (!fs::is_regular_file(status)) return not_a_store(file, "it is no regular file");
  if (!writable && fs::file_size(file, failure) == 0 && !failure) return not_a_store(file, "it is empty");
  return {};
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

Result<void> check_header(const fs::path& file, const Header& header) {
  if (header.application != store_application_id) {
    return not_a_store(file, "an SQLite file of another program");
  }
  if (header.version > schema_version) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: written by a newer Conebench (schema {}, this one knows {}); update Conebench",
                             file.string(), header.version, schema_version)};
  }
  if (header.version < schema_version) {
    return Error{
        ErrorCode::bad_input,
        fmt::format("{}: written by an older Conebench (schema {}, this one knows {}); run its suite again into "
                    "a new file: conebench run SUITE --db NEW.sqlite",
                    file.string(), header.version, schema_version)};
  }
  return {};
}

/// What sqlite_schema says of the tables, views, indices and triggers of a store; of others that are not in their way
/// (a view for one's own queries) only what has a store's name.
using SchemaEntries = std::map<std::string, std::string>;

SchemaEntries entries_of(const Connection& connection, const std::set<std::string>& tables, int& code) {
  SchemaEntries entries;
  Statement query = connection.prepare(
      "SELECT lower(name), lower(tbl_name), type || ' ' || lower(tbl_name) || ' ' || coalesce(sql, '') FROM "
      "sqlite_schema");
  for (code = query.step(); code == SQLITE_ROW; code = query.step()) {
    if (tables.empty() || tables.contains(query.text(1))) entries[query.text(0)] = query.text(2);
  }
  return entries;
}

/// Refuses a table that is a view, or a foreign trigger: the effect of our queries would be unknown, and they might not
/// end.
Result<void> check_schema(const Connection& connection, bool salvage) {
  Connection made;
  int code = made.open({}, Connection::Access::memory);
  if (code == SQLITE_OK) code = made.run(schema_sql());
  if (code != SQLITE_OK) return made.error("the tables of this build cannot be made", code);
  const SchemaEntries expected = entries_of(made, {}, code);
  std::set<std::string> tables;
  for (const auto& [name, text] : expected) {
    if (text.starts_with("table ") || text.starts_with("view ")) tables.insert(name);
  }
  const SchemaEntries found = entries_of(connection, tables, code);
  if (code != SQLITE_DONE && !salvage) return connection.read_error(code);
  const auto differs = [&](const std::string& name) {
    // A name may hold anything.
    std::string shown = name.substr(0, 40);
    std::replace_if(
        shown.begin(), shown.end(), [](char letter) { return letter < ' ' || letter > '~'; }, ' ');
    return not_a_store(
        connection.file(),
        fmt::format("its table, view, index or trigger {} is not as schema {} makes it", shown, schema_version));
  };
  for (const auto& [name, text] : found) {
    const auto same = expected.find(name);
    if (same == expected.end() || same->second != text) return differs(name);
  }
  for (const auto& [name, text] : expected) {
    if (!salvage && !found.contains(name)) return differs(name);
  }
  return {};
}

/// The name of the file's state, which every write replaces; nullopt: it can't be read, and opening reports why.
std::optional<std::string> state_of(const Connection& connection) {
  const auto header = read_header(connection);
  if (!header || !check_header(connection.file(), *header) || !check_schema(connection, false)) return std::nullopt;
  Statement query = connection.prepare("SELECT current FROM file_state");
  return query.step() == SQLITE_ROW ? query.text(0) : std::string();
}

std::uint32_t word_at(std::string_view bytes, std::size_t at, bool big_endian = true) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i)
    word = word << 8U | static_cast<unsigned char>(bytes[at + (big_endian ? i : 3 - i)]);
  return word;
}

/// The running checksum of a write-ahead log (SQLite's file format, section 4.2).
struct LogChecksum {
  bool big_endian = false;
  std::uint32_t first = 0, second = 0;
  void add(std::string_view bytes) {
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      first += word_at(bytes, at, big_endian) + second;
      second += word_at(bytes, at + 4, big_endian) + first;
    }
  }
  bool is_at(std::string_view bytes, std::size_t at) const {
    return word_at(bytes, at) == first && word_at(bytes, at + 4) == second;
  }
};

/// Whether what SQLite would replay of a write-ahead log is nothing, or has a page with `name`. It replays the frames
/// up to the last whole one that ends a write: their salts are the head's, and their checksums run on from it.
bool log_fits(const fs::path& log, const std::string& name) {
  std::ifstream stream(log, std::ios::binary);
  constexpr std::size_t head_size = 32, frame_head = 24, salts = 8;
  std::string head(head_size, '\0');
  if (!stream.read(head.data(), static_cast<std::streamsize>(head.size()))) return true;
  LogChecksum sum{(word_at(head, 0) & 1U) != 0};
  sum.add(std::string_view(head).substr(0, 24));
  const std::size_t page_size = word_at(head, 8);
  if (!sum.is_at(head, 24) || page_size < 512 || page_size > 65536) return true;
  std::string frame(frame_head + page_size, '\0');
  bool found = false, any_write = false;
  while (stream.read(frame.data(), static_cast<std::streamsize>(frame.size()))) {
    if (frame.compare(8, salts, head, 16, salts) != 0) break;
    sum.add(std::string_view(frame).substr(0, 8));
    sum.add(std::string_view(frame).substr(frame_head));
    if (!sum.is_at(frame, 16)) break;
    found = found || frame.find(name, frame_head) != std::string::npos;
    const bool ends_write = word_at(frame, 4) != 0;
    if (ends_write && found) return true;
    any_write = any_write || ends_write;
  }
  return !any_write;
}

/// SQLite replays any log that lies beside a file. Ours is one only if the file's state is one that the log's writes
/// began with or went through: each write puts a new random name in place of the last one, and both into the log. A
/// copy that was put over the file of a killed run would be mixed with that run's pages and lost.
Result<void> check_log(const fs::path& file) {
  const fs::path log = file.string() + "-wal";
  constexpr int max_tries = 20;
  std::optional<std::string> before;
  for (int i = 0; i < max_tries; ++i) {
    const auto found = sqlite::log_beside(file);
    if (!found) return {};
    Connection alone;
    if (alone.open(file, Connection::Access::immutable) != SQLITE_OK) return {};
    alone.distrust_schema();
    // Before SQLite replays it: with the log the file may look like one of this schema, and a writer's close would put
    // the log into a file that it refuses.
    if (const auto header = read_header(alone); header && !header->blank()) {
      CONEBENCH_CHECK(check_header(file, *header));
    }
    if (*found != log) return {};
    const auto state = state_of(alone);
    if (!state) return {};
    if (!state->empty() && log_fits(log, *state)) return {};
    // A run that is on may have begun its log anew between the two looks: then the file's state has changed, too.
    if (before == state) {
      return Error{
          ErrorCode::bad_input,
          fmt::format("{0}: the log {1} is of another state of this file, as where a copy was put over the file "
                      "of a killed run; move {1} and {0}-shm elsewhere to use the file as it is",
                      file.string(), log.string())};
    }
    before = state;
  }
  return {};
}

/// The pages of the file and the indices that are searched, where no checksums of rows are compared: what a writer
/// relies on.
Result<void> check_structure(const Connection& connection) {
  Statement check = connection.prepare("PRAGMA integrity_check(1)");
  const int code = check.step();
  if (code == SQLITE_ROW && check.text(0) == "ok") return {};
  if (code != SQLITE_ROW && (code & 0xff) != SQLITE_CORRUPT) return connection.read_error(code);
  std::string what = code == SQLITE_ROW ? check.text(0) : "it cannot be read";
  std::replace_if(
      what.begin(), what.end(), [](char letter) { return letter < ' ' || letter > '~'; }, ' ');
  return Error{ErrorCode::bad_input, fmt::format("{}: damaged ({}); {}", connection.file().string(), what,
                                                 how_to_salvage(connection.file()))};
}

/// Makes the tables of a new file, in one transaction.
Result<void> create_tables(Connection& connection) {
  sqlite::Transaction transaction(connection);
  int code = transaction.begun();
  // Another process may have made them since we looked.
  if (code == SQLITE_OK && connection.ask("PRAGMA user_version").value_or(0) == 0) {
    code = connection.run(schema_sql());
    if (code == SQLITE_OK) code = connection.run(fmt::format("PRAGMA application_id = {}", store_application_id));
    if (code == SQLITE_OK) code = connection.run(fmt::format("PRAGMA user_version = {}", schema_version));
  }
  if (code == SQLITE_OK) code = transaction.commit();
  if (code != SQLITE_OK) return connection.error("cannot be written", code);
  return {};
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

Result<void> prepare_for_writing(Connection& connection) {
  // Where the file system has no shared memory SQLite keeps its rollback journal: as safe, slower.
  connection.ask(on_shared_disk(connection.file()) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL");
  for (const char* pragma : {"PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON"}) {
    if (const int code = connection.run(pragma); code != SQLITE_OK) return connection.error("cannot be opened", code);
  }
  return {};
}

Result<Connection> open_for_writing(const fs::path& file) {
  Connection connection;
  if (const int code = connection.open(file, Connection::Access::read_write_create); code != SQLITE_OK) {
    return connection.error("cannot be opened for writing", code);
  }
  connection.distrust_schema();
  if (connection.read_only()) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written: the file or its folder is read-only; make "
                                                   "it writable or give another file",
                                                   connection.file().string())};
  }
  CONEBENCH_TRY(const auto header, read_header(connection));
  if (header.blank()) {
    // Without a log: the file has a state of its own before a log refers to it.
    connection.ask("PRAGMA journal_mode = DELETE");
    CONEBENCH_CHECK(create_tables(connection));
  } else {
    CONEBENCH_CHECK(check_header(file, header));
    CONEBENCH_CHECK(check_schema(connection, false));
    CONEBENCH_CHECK(check_structure(connection));
  }
  CONEBENCH_CHECK(prepare_for_writing(connection));
  return connection;
}

Result<Connection> open_for_reading(const fs::path& file, bool salvage) {
  Connection connection;
  if (const int code = connection.open(file, Connection::Access::read_only); code != SQLITE_OK) {
    return connection.error("cannot be read", code);
  }
  const auto prepare = [salvage](Connection& opened) {
    // What of the schema makes no sense is then passed over.
    if (salvage) {
      opened.run("PRAGMA writable_schema = ON");
    } else {
      opened.distrust_schema();
    }
    return read_header(opened);
  };
  auto header = prepare(connection);
  if (!header && !connection.ask("SELECT count(*) FROM sqlite_schema")) {
    // In a folder that we may not write to, SQLite can't make the index that WAL files want; with no log beside it the
    // file is complete and may be read as it stands.
    Connection other;
    const int code = sqlite::log_beside(file) ? other.open_copy(file) : other.open(file, Connection::Access::immutable);
    if (code == SQLITE_OK) {
      if (auto second_look = prepare(other)) {
        connection = std::move(other);
        header = std::move(second_look);
      }
    }
  }
  CONEBENCH_CHECK(header);
  if (header->blank()) return not_a_store(file, "nothing was stored in it yet");
  CONEBENCH_CHECK(check_header(file, *header));
  CONEBENCH_CHECK(check_schema(connection, salvage));
  return connection;
}

}  // namespace

bool is_blank_store(const fs::path& file) {
  Connection alone;
  if (alone.open(file, Connection::Access::immutable) != SQLITE_OK) return false;
  alone.distrust_schema();
  const auto header = read_header(alone);
  if (!header) return false;
  if (header->blank()) return !fs::exists(file.string() + "-wal");
  return !sqlite::log_beside(file) && check_header(file, *header) && check_schema(alone, false) &&
         alone.ask("SELECT count(*) FROM runs") == 0;
}

Result<Connection> open_store_file(const fs::path& file, bool writable, bool salvage) {
  CONEBENCH_CHECK(check_file(file, writable));
  CONEBENCH_CHECK(check_log(file));
  return writable ? open_for_writing(file) : open_for_reading(file, salvage);
}

}  // namespace conebench
