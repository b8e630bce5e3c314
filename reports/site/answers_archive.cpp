#include "reports/site/answers_archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/content_address.hpp"
#include "reports/text.hpp"

namespace conebench::reports {

namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "float64 values are copied as they lie in memory");

/// A POSIX ustar archive of regular files, without owners and dates, so that its bytes depend on the contents alone.
class Tar {
 public:
  void add(const std::string& name, std::string_view content) {
    constexpr std::size_t block = 512;
    std::array<char, block> header{};
    const auto put = [&](std::size_t at, std::string_view text) {
      std::memcpy(header.data() + at, text.data(), text.size());
    };
    put(0, name.substr(0, 100));
    put(100, "0000644");                               // mode
    put(108, "0000000");                               // owner
    put(116, "0000000");                               // group
    put(124, fmt::format("{:011o}", content.size()));  // size
    put(136, "00000000000");                           // date
    put(148, "        ");                              // checksum, as blanks while it is summed
    put(156, "0");                                     // a regular file
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char one : header) sum += static_cast<unsigned char>(one);
    put(148, fmt::format("{:06o}", sum) + std::string(1, '\0'));
    bytes_.append(header.data(), header.size());
    bytes_ += content;
    bytes_.append((block - content.size() % block) % block, '\0');
  }
  std::string take() {
    bytes_.append(1024, '\0');
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

/// A NumPy array file, format 1.
std::string npy(const std::vector<double>& values) {
  std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", values.size());
  constexpr std::size_t prefix = 10, alignment = 64;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xffU);
  bytes += static_cast<char>(header.size() >> 8U);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), sizeof(double) * values.size());
  return bytes;
}

std::string version_of(const ConfigurationRecord& configuration, const StoreContents& contents) {
  if (!configuration.peer_version.empty()) return configuration.peer_version;
  const std::string build = contents.runs.empty() ? "" : " of Conebench " + contents.runs.front().build.version;
  return std::to_string(configuration.solver_version) + build;
}

}  // namespace

std::string address_part(const std::string& text) {
  constexpr std::size_t longest = 40;
  std::string kept;
  for (const char one : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_' || one == '-' || one == '.';
    if (plain || (!kept.empty() && kept.back() != '-')) kept += plain ? one : '-';
  }
  const std::size_t begin = std::min(kept.find_first_not_of("-._"), kept.size());
  kept = kept.substr(begin, longest);
  while (!kept.empty() && kept.back() == '-') kept.pop_back();
  if (kept == text && !kept.empty()) return kept;
  return kept + (kept.empty() ? "" : "-") + content_address({text}).substr(0, 8);
}

Result<std::vector<ReportFile>> answer_archives(const Store& store, const StoreContents& contents) {
  using Group = std::tuple<std::string, double, std::string, std::string, std::string>;
  std::map<Group, std::vector<const CellRecord*>> groups;
  for (const CellRecord& cell : contents.cells) {
    if (!cell.answer_crc) continue;
    groups[{cell.configuration, cell.tolerance, cell.start, cell.stop_by, cell.verdict}].push_back(&cell);
  }
  std::map<std::string, const ConfigurationRecord*> configurations;
  for (const ConfigurationRecord& one : contents.configurations) configurations[one.hash] = &one;
  std::map<std::string, std::string> archives;
  for (auto& [group, cells] : groups) {
    const auto& [hash, tolerance, start, stop_by, verdict] = group;
    const auto known = configurations.find(hash);
    if (known == configurations.end()) continue;
    const ConfigurationRecord& configuration = *known->second;
    std::string name = address_part(
        fmt::format("{}-{}{}", configuration.label, human_tolerance(tolerance), start == "cold" ? "" : "-" + start));
    if (archives.contains(name)) {
      name += "-" + content_address({hash, exact(tolerance), start, stop_by, verdict}).substr(0, 8);
    }
    std::ranges::sort(cells, {}, &CellRecord::problem);
    Json manifest = {{"schema", "conebench.submission/1"},
                     {"solver", shorten(one_line(configuration.label), 100)},
                     {"version", shorten(one_line(version_of(configuration, contents)), 100)},
                     {"rows", "problem"},
                     {"answers", Json::array()}};
    Tar files;
    std::string last;
    for (const CellRecord* cell : cells) {
      // The same cell under other limits.
      if (std::exchange(last, cell->problem) == cell->problem) continue;
      const std::string file = address_part(cell->problem) + ".npy";
      CONEBENCH_TRY(const auto reaction, store.reaction(cell->key));
      manifest["answers"].push_back({{"problem", cell->problem}, {"file", file}});
      files.add(name + "/" + file, npy(reaction.value_or(std::vector<double>())));
    }
    files.add(name + "/manifest.json", manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    archives[name] = files.take();
  }
  std::vector<ReportFile> result;
  for (auto& [name, bytes] : archives) result.push_back({"answers/" + name + ".tar", std::move(bytes)});
  return result;
}

}  // namespace conebench::reports
