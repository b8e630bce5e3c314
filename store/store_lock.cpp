#include "store/store_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/descriptor.hpp"
#include "base/text_file.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;

/// Empty: it can't be read, for example because the process has ended.
std::string text_of(const fs::path& file) {
  auto text = read_text_file(file, 1 << 16);
  return text ? *std::move(text) : std::string();
}

std::string link_target(const fs::path& link) {
  std::error_code none;
  return fs::read_symlink(link, none).string();
}

/// Clock ticks between boot and the start of a process; 0 where there is none of that number, or it has ended.
std::uint64_t start_of(pid_t process) {
  const std::string stat = text_of(fmt::format("/proc/{}/stat", process));
  const auto name_end = stat.rfind(')');  // the program's name may hold anything
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(stat.substr(name_end + 1));
  std::string state, skipped;
  rest >> state;
  if (state == "Z" || state == "X") return 0;
  for (int field = 4; field < 22; ++field) rest >> skipped;
  std::uint64_t ticks = 0;
  rest >> ticks;
  return ticks;
}

struct Holder {
  pid_t process = 0;
  std::uint64_t started = 0;
  std::string host, boot, processes, since;

  static Holder myself() {
    Holder holder;
    holder.process = getpid();
    holder.started = start_of(holder.process);
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) == 0) holder.host = host.data();
    holder.boot = text_of("/proc/sys/kernel/random/boot_id").substr(0, 36);
    holder.processes = link_target("/proc/self/ns/pid");
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
    holder.since = text.data();
    return holder;
  }

  std::string json() const {
    return nlohmann::json{{"process", process}, {"started", started},     {"host", host},
                          {"boot", boot},       {"processes", processes}, {"since", since}}
               .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
           "\n";
  }

  static std::optional<Holder> parse(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
      return Holder{json.at("process"), json.at("started"),   json.at("host"),
                    json.at("boot"),    json.at("processes"), json.at("since")};
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;
    }
  }

  /// Whether its process would be visible to this one.
  bool near(const Holder& me) const { return host == me.host && boot == me.boot && processes == me.processes; }
  bool alive() const { return started != 0 && start_of(process) == started; }
  std::string name() const { return fmt::format("process {} on {} since {}", process, host, since); }
};

/// Does not wait. False: another process holds the lock. True if the file system has no such locks.
bool record_lock(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(descriptor, F_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

/// By the open descriptor: to open the file once more and close it would give up its record lock.
std::string content_of(int descriptor) {
  std::string text(4096, '\0');
  const ssize_t size = pread(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

/// A file that goes with the scope.
struct Removed {
  const fs::path& file;
  ~Removed() { unlink(file.c_str()); }
};

bool same_file(int descriptor, const fs::path& path) {
  struct stat open {
  }, named{};
  return fstat(descriptor, &open) == 0 && stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

Error cannot_lock(const fs::path& file, int code) {
  std::string why = std::strerror(code);
  if (code == ENOENT) why = fmt::format("there is no folder {}", fs::absolute(file).parent_path().string());
  return {ErrorCode::bad_input,
          fmt::format("{}: cannot be written: {}; make its folder, and writable, or give another file", file.string(),
                      why)};
}

/// A lock about to be placed at `file` for `path`, written to `mine` already.
struct Claim {
  fs::path path, file, mine;
  Holder me;
  bool break_lock = false;

  /// One attempt. Returns the note; nullopt: the file changed meanwhile, and another attempt is needed.
  using Try = Result<std::optional<std::string>>;

  Try target() const {
    // A hard link appears whole or not at all, on network disks, too; where there are none, a rename has to do.
    if (link(mine.c_str(), file.c_str()) == 0) return Try(std::string());
    const int why = errno;
    std::error_code failure;
    if (why == EEXIST || fs::exists(file, failure)) return take_over();
    if (rename(mine.c_str(), file.c_str()) == 0) return Try(std::string());
    return cannot_lock(path, why);
  }

  Try take_over() const {
    const Descriptor old(open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (old.number() < 0 && errno == ENOENT) return Try(std::nullopt);
    if (old.number() < 0) return cannot_lock(file, errno);
    const bool free = record_lock(old.number());
    const auto holder = Holder::parse(content_of(old.number()));
    if (!same_file(old.number(), file)) return Try(std::nullopt);
    const std::string who = holder ? holder->name() : "an unknown process";
    const bool near = holder && holder->near(me);
    if (near ? holder->alive() : !free) {
      return Error{ErrorCode::bad_input, fmt::format("{}: another conebench is writing it ({}); wait until that has "
                                                     "ended, or give another file",
                                                     path.string(), who)};
    }
    if (!free) return Try(std::nullopt);  // another one is taking over from the dead
    if (!near && !break_lock) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: another conebench may be writing it ({}, not to be seen from here); where that has "
                               "ended, run with --break-lock or delete {}",
                               path.string(), who, file.string())};
    }
    if (rename(mine.c_str(), file.c_str()) != 0) return cannot_lock(file, errno);
    return Try(fmt::format("{}: taken over from {}, which {}", path.string(), who,
                           near ? "has ended" : "is reported to have ended"));
  }
};

}  // namespace

Result<StoreLock> StoreLock::acquire(const fs::path& path, Options options) {
  constexpr int max_attempts = 100;
  Claim claim{path, path.string() + ".lock", {}, Holder::myself(), options.break_lock};
  claim.mine = claim.file.string() + fmt::format(".{}", claim.me.process);
  unlink(claim.mine.c_str());
  Descriptor made(open(claim.mine.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.number() < 0) return cannot_lock(path, errno);
  const Removed removed{claim.mine};
  if (!write_all(made.number(), claim.me.json())) return cannot_lock(path, ENOSPC);
  record_lock(made.number());
  for (int i = 0; i < max_attempts; ++i) {
    CONEBENCH_TRY(auto placed, claim.target());
    if (placed) {
      StoreLock lock;
      lock.file_ = claim.file;
      lock.note_ = *placed;
      lock.descriptor_ = made.release();
      lock.owner_ = claim.me.process;
      return lock;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return Error{ErrorCode::bad_input, path.string() + ": another conebench is just beginning to write it; try again"};
}

void StoreLock::release() {
  if (descriptor_ < 0) return;
  // Removed before the record lock goes; never another's.
  if (getpid() == owner_ && same_file(descriptor_, file_)) unlink(file_.c_str());
  close(std::exchange(descriptor_, -1));
}

StoreLock::~StoreLock() { release(); }

StoreLock::StoreLock(StoreLock&& other) noexcept { *this = std::move(other); }

StoreLock& StoreLock::operator=(StoreLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(note_, other.note_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(owner_, other.owner_);
  return *this;
}

}  // namespace conebench
