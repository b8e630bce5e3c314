#include "fclib_loader/isolation.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "base/archive.hpp"
#include "base/child_process.hpp"
#include "base/processor_limit.hpp"
#include "fclib_loader/hdf5_file.hpp"

namespace conebench::hdf5 {

namespace {

std::atomic<double> read_seconds = default_read_seconds;
constexpr double bytes_a_second = 4 << 20;
constexpr double base_mb = 4096.0;
constexpr double memory_a_byte = 64.0;

/// In front of what the child sends, so that a process that ends early is not taken for one that answers.
constexpr std::uint64_t answer_mark = 0x436f6e6542656e63;
constexpr std::int64_t success = -1;

/// Processor time for a file of this size [s].
double seconds_for(std::uintmax_t file_bytes) {
  return read_seconds + static_cast<double>(file_bytes) / bytes_a_second;
}

int run_child(const std::string& file, std::uintmax_t file_bytes, const std::function<std::string()>& body) {
  ProcessLimits limits;
  limits.cpu_s = seconds_for(file_bytes) + 1.0;  // where nobody watches any more
  limits.address_mb = base_mb + memory_a_byte * static_cast<double>(file_bytes) / 1048576.0;
  limit_this_process(limits);
  const Result<std::string> result = guarded(file, body);
  Packer answer;
  if (result) {
    answer(answer_mark, success, *result);
  } else {
    answer(answer_mark, static_cast<std::int64_t>(result.error().code), result.error().message);
  }
  return write_all(child_channel, answer.take()) ? 0 : 1;
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
  return !death.too_slow && death.starved_after == 0.0 && is_terminated_externally(death.status);
}

std::string describe_death(const Death& death, std::uintmax_t file_bytes) {
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
    CONEBENCH_TRY(auto result, guarded(file.string(), body));
    return result;
  };
  auto channel = make_channel();
  if (!channel) return here();
  auto& [in, out] = *channel;
  // No other thread may be inside HDF5 when the process is copied.
  std::optional<Session> session(std::in_place);
  const pid_t child = fork_process({.channel = out.number()}, [&] {
    session.reset();
    return run_child(file.string(), size, body);
  });
  session.reset();
  if (child < 0) return here();
  out.close();

  const ProcessorLimit time(child, seconds_for(size));
  const auto bytes = read_to_end(in.number(), [&] { return time.left(); });
  in.close();
  Death death;
  if (!bytes) {
    death.processor_seconds = time.used_s();
    death.too_slow = time.used_up();
    if (!death.too_slow && time.overdue()) death.starved_after = time.waited_s();
    if (death.too_slow || death.starved_after > 0.0) ::kill(child, SIGKILL);
  }
  death.status = wait_for_end(child);
  std::uint64_t mark = 0;
  std::int64_t code = 0;
  std::string payload;
  Unpacker answer(bytes ? *bytes : std::string_view());
  answer(mark, code, payload);
  const bool known = code >= success && code <= static_cast<std::int64_t>(ErrorCode::internal);
  if (!answer.done() || mark != answer_mark || !known) return death;
  if (code == success) return payload;
  return Error{static_cast<ErrorCode>(code), payload};
}

}  // namespace

void limit_reading(double seconds) { read_seconds = seconds; }

Result<std::string> isolated(const std::filesystem::path& file, const std::function<std::string()>& body) {
  constexpr int max_attempts = 3;
  const std::string name = one_line(file.string());
  std::error_code ignored;
  const std::uintmax_t size =
      std::filesystem::is_regular_file(file, ignored) ? std::filesystem::file_size(file, ignored) : std::uintmax_t{0};
  for (int attempts = 1;; ++attempts) {
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
    if (!from_outside(death)) return Error{ErrorCode::bad_input, name + ": " + describe_death(death, size)};
    if (attempts == max_attempts) {
      return Error{
          ErrorCode::killed,
          fmt::format("{}: the process that reads it was terminated externally {} times (signal {}); nothing is "
                      "known of the file: free memory, or stop what kills it, and run again",
                      name, attempts, WTERMSIG(death.status))};
    }
  }
}

}  // namespace conebench::hdf5
