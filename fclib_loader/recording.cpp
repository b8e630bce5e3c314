#include "fclib_loader/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string_view>
#include <tuple>

#include "base/archive.hpp"
#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/isolation.hpp"

namespace conebench {

namespace fs = std::filesystem;

namespace {

constexpr const char* steps_group = "steps";
constexpr std::size_t max_steps = 10'000'000;

/// The name of a root group's only link stands in a file's first bytes, so that other files need not be opened.
bool may_be_recording(const fs::path& file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::array<char, 1 << 14> bytes{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), bytes.size());
  const std::string_view head(bytes.data(), static_cast<std::size_t>(stream.gcount()));
  return head.find(signature) != std::string_view::npos && head.find(steps_group) != std::string_view::npos;
}

std::optional<std::int64_t> number_of(const std::string& step) {
  std::int64_t number = 0;
  const char* const end = step.data() + step.size();
  const auto parsed = std::from_chars(step.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

std::string StepAddress::problem_name() const { return file.stem().string() + "_step=" + step; }

std::optional<std::int64_t> StepAddress::number() const { return number_of(step); }

std::optional<StepAddress> step_address(const fs::path& path) {
  std::error_code ignored;
  if (!path.has_parent_path() || !fs::is_regular_file(path.parent_path(), ignored)) return std::nullopt;
  return StepAddress{path.parent_path(), path.filename().string()};
}

bool names_problem_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) || step_address(path);
}

Result<std::vector<fs::path>> recording_steps(const fs::path& file) {
  if (!may_be_recording(file)) return std::vector<fs::path>{};
  CONEBENCH_TRY(
      const auto bytes, hdf5::isolated(file, [&] {
        const hdf5::ReadFile read(file);
        const hdf5::Object root = read.root();
        Packer archive;
        const bool recording = read.has(root, steps_group) && read.is_group(root, steps_group);
        archive(recording);
        archive(recording ? read.names(read.open_group(root, steps_group), max_steps) : std::vector<std::string>());
        return archive.take();
      }));
  bool recording = false;
  std::vector<std::string> steps;
  Unpacker archive(bytes);
  archive(recording, steps);
  const std::string name = hdf5::one_line(file.string());
  if (!archive.done()) return Error{ErrorCode::bad_input, name + ": is damaged"};
  if (recording && steps.empty()) return Error{ErrorCode::bad_input, name + ": is a recording without a step"};
  std::ranges::sort(steps, {}, [](const std::string& step) { return std::tuple(number_of(step), step); });
  std::vector<fs::path> addresses;
  for (const std::string& step : steps) addresses.push_back(file / step);
  return addresses;
}

}  // namespace conebench
