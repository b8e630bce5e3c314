#include "fclib_loader/isolation.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <utility>
#include <variant>

#include "fclib_loader/hdf5_file.hpp"

namespace conebench::hdf5 {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif
#else
constexpr bool limits_memory = true;
#endif

using Clock = std::chrono::steady_clock;

std::atomic<double> read_seconds = default_read_seconds;
constexpr rlim_t bytes_a_second = 4 << 20;
constexpr rlim_t base_bytes = rlim_t{4} << 30;
constexpr rlim_t memory_a_byte = 64;

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return descriptor_; }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }

 private:
  int descriptor_;
};

/// What the child sends: a mark, the size, then the bytes. The mark tells success from the kinds of failure.
struct Header {
  std::uint64_t magic = 0;
  std::int64_t mark = 0;
  std::uint64_t size = 0;
};
constexpr std::uint64_t header_magic = 0x436f6e6542656e63;
constexpr std::int64_t success = -1;

bool write_all(int descriptor, const void* bytes, std::size_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t step = ::write(descriptor, next, size);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) return false;
    next += step;
    size -= static_cast<std::size_t>(step);
  }
  return true;
}

/// The time of a child that reads. A file is damaged where its reader has used `seconds` of the processor, however busy
/// the machine is; where the machine does not give it that much, nothing is known of the file.
class ReadingTime {
 public:
  ReadingTime(pid_t child, double seconds) : seconds_(seconds), begin_(Clock::now()) {
    has_clock_ = ::clock_getcpuclockid(child, &clock_) == 0;
  }
  bool used_up() const { return processor_seconds() >= seconds_; }
  bool starved() const { return waited() >= patience * seconds_; }
  /// Until the reader can be out of its time at the earliest.
  int poll_milliseconds() const {
    const double left = std::max(seconds_ - std::max(processor_seconds(), 0.0), 1e-3);
    return static_cast<int>(std::min(std::ceil(left * 1e3), 60e3));
  }
  double processor_seconds() const {
    timespec now{};
    if (!has_clock_ || ::clock_gettime(clock_, &now) != 0) return waited();
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }
  double waited() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  /// Wall clock over processor time, as on a core that ten share.
  static constexpr double patience = 10.0;
  double seconds_;
  Clock::time_point begin_;
  clockid_t clock_{};
  bool has_clock_ = false;
};

/// False where the stream ends, fails or the reader is out of its time.
bool read_all(int descriptor, void* bytes, std::size_t size, const ReadingTime& time) {
  char* next = static_cast<char*>(bytes);
  while (size > 0) {
    pollfd wanted{descriptor, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, time.poll_milliseconds());
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0 && !time.used_up() && !time.starved()) continue;
    if (ready <= 0) return false;
    const ssize_t step = ::read(descriptor, next, size);
    if (step < 0 && errno == EINTR) continue;
    if (step <= 0) return false;
    next += step;
    size -= static_cast<std::size_t>(step);
  }
  return true;
}

void limit(decltype(RLIMIT_CPU) resource, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(resource, &limits) != 0) return;
  if (limits.rlim_cur != RLIM_INFINITY && limits.rlim_cur < most) return;
  limits.rlim_cur = limits.rlim_max == RLIM_INFINITY ? most : std::min(most, limits.rlim_max);
  // For process time: a blocked SIGXCPU is followed by SIGKILL.
  if (resource == RLIMIT_CPU) limits.rlim_max = std::min(limits.rlim_max, most + 2);
  ::setrlimit(resource, &limits);
}

/// Address space in use [bytes].
rlim_t address_space() {
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Processor time for a file of this size [s].
double seconds_for(std::uintmax_t file_bytes) {
  return read_seconds + static_cast<double>(file_bytes) / static_cast<double>(bytes_a_second);
}

void prepare_child(std::uintmax_t file_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) {
    ::signal(signal, SIG_DFL);
  }
  // glibc and HDF5 print where they abort; the parent says it in one line.
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDERR_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
  }
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(seconds_for(file_bytes))) + 1);  // where nobody watches any more
  if (limits_memory) limit(RLIMIT_AS, address_space() + base_bytes + memory_a_byte * file_bytes);
}

[[noreturn]] void run_child(int out, const std::string& file, std::uintmax_t file_bytes,
                            const std::function<std::string()>& body) {
  prepare_child(file_bytes);
  Header header{header_magic, success, 0};
  std::string payload;
  const Result<std::string> result = guarded(file, body);
  if (result) {
    payload = *result;
  } else {
    header.mark = static_cast<std::int64_t>(result.error().code);
    payload = result.error().message;
  }
  header.size = payload.size();
  const bool sent = write_all(out, &header, sizeof header) && write_all(out, payload.data(), payload.size());
  ::_exit(sent ? 0 : 1);
}

/// How the reading process ended without an answer.
struct Death {
  int status = 0;
  bool too_slow = false;       ///< ended here, after its time
  double starved_after = 0.0;  ///< ended here, having waited this long for the processor or the disk [s]; 0: not so
  double processor_seconds = 0.0;
};

/// HDF5 raises none of these; the kernel's memory killer, a user or an init system does.
bool from_outside(const Death& death) {
  if (death.too_slow || death.starved_after > 0.0 || !WIFSIGNALED(death.status)) return false;
  const int signal = WTERMSIG(death.status);
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

std::string words_of(const Death& death, std::uintmax_t file_bytes) {
  if (death.too_slow || (WIFSIGNALED(death.status) && WTERMSIG(death.status) == SIGXCPU)) {
    return fmt::format(
        "reading it took more than {:.3g} s; it is damaged, or give it longer (limits.read_seconds in a suite, "
        "--read-seconds)",
        seconds_for(file_bytes));
  }
  if (WIFSIGNALED(death.status)) {
    return fmt::format("HDF5's library crashed (signal {}) on this file; it is damaged", WTERMSIG(death.status));
  }
  return "HDF5's library ended its process on this file; it is damaged";
}

/// The payload, an error, or how the child ended without either.
std::variant<std::string, Error, Death> run_once(const std::filesystem::path& file, std::uintmax_t size,
                                                 const std::function<std::string()>& body) {
  const auto here = [&]() -> std::variant<std::string, Error, Death> {
    auto result = guarded(file.string(), body);
    if (!result) return result.error();
    return std::move(*result);
  };
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return here();
  Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  pid_t child = -1;
  {
    // No other thread may be inside HDF5 when the process is copied.
    const Session session;
    child = ::fork();
  }
  if (child < 0) return here();
  if (child == 0) run_child(out.get(), file.string(), size, body);
  out.close();

  const ReadingTime time(child, seconds_for(size));
  Header header;
  std::string payload;
  bool complete = read_all(in.get(), &header, sizeof header, time) && header.magic == header_magic &&
                  header.mark >= success && header.mark <= static_cast<std::int64_t>(ErrorCode::internal);
  if (complete) {
    // Grows with what arrives: the size comes from a process that a damaged file may have led astray.
    constexpr std::size_t piece = 1 << 20;
    while (complete && payload.size() < header.size) {
      const std::size_t begin = payload.size();
      const std::size_t step = std::min<std::size_t>(std::max(piece, begin), header.size - begin);
      payload.resize(begin + step);
      complete = read_all(in.get(), payload.data() + begin, step, time);
    }
  }
  in.close();
  Death death;
  if (!complete) {
    death.processor_seconds = time.processor_seconds();
    death.too_slow = time.used_up();
    if (!death.too_slow && time.starved()) death.starved_after = time.waited();
    if (death.too_slow || death.starved_after > 0.0) ::kill(child, SIGKILL);
  }
  while (::waitpid(child, &death.status, 0) < 0 && errno == EINTR) {
  }
  if (!complete) return death;
  if (header.mark == success) return payload;
  return Error{static_cast<ErrorCode>(header.mark), payload};
}

}  // namespace

void limit_reading(double seconds) { read_seconds = seconds; }

Result<std::string> isolated(const std::filesystem::path& file, const std::function<std::string()>& body) {
  constexpr int most_tries = 3;
  const std::string name = one_line(file.string());
  std::error_code ignored;
  const std::uintmax_t size =
      std::filesystem::is_regular_file(file, ignored) ? std::filesystem::file_size(file, ignored) : std::uintmax_t{0};
  for (int tries = 1;; ++tries) {
    auto outcome = run_once(file, size, body);
    if (auto* payload = std::get_if<std::string>(&outcome)) return std::move(*payload);
    if (auto* error = std::get_if<Error>(&outcome)) return std::move(*error);
    const Death& death = std::get<Death>(outcome);
    if (death.starved_after > 0.0) {
      return Error{
          ErrorCode::killed,
          fmt::format("{}: reading it got {:.2g} s of the processor in {:.2g} s; nothing is known of the file: "
                      "run again when the machine and its disks are less busy",
                      name, death.processor_seconds, death.starved_after)};
    }
    if (!from_outside(death)) return Error{ErrorCode::bad_input, name + ": " + words_of(death, size)};
    if (tries == most_tries) {
      return Error{ErrorCode::killed,
                   fmt::format("{}: the process that reads it was killed from outside {} times (signal {}); nothing is "
                               "known of the file: free memory, or stop what kills it, and run again",
                               name, tries, WTERMSIG(death.status))};
    }
  }
}

}  // namespace conebench::hdf5
