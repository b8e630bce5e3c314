#include "store/night_summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "base/text_file.hpp"
#include "store/certificates.hpp"
#include "store/json_fields.hpp"
#include "store/store.hpp"
#include "store/store_load.hpp"
#include "store/suite_scope.hpp"

namespace conebench {

namespace {

using Json = nlohmann::json;
constexpr int layout = 9;  // of the file; another one is made anew

std::uint32_t checksum(std::string_view text) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const unsigned char*>(text.data()), static_cast<unsigned>(text.size())));
}

std::uint32_t work_of(const CellRecord& cell) {
  return checksum(fmt::format("{} {} {}", cell.iterations, cell.factorizations, cell.operator_products));
}

std::vector<NightProblem> problems_of(const std::vector<ProblemRecord>& records) {
  std::vector<NightProblem> problems;
  problems.reserve(records.size());
  for (const ProblemRecord& record : records) {
    problems.push_back({oldest_hash(record), record.name, record.family,
                        record.duplicate_of.empty() && record.error.empty() && !record.noise_level(),
                        record.infeasible() && record.feasibility.solved_by.empty(), record.feasibility.verdict_bound,
                        record.noise_level()});
  }
  return problems;
}

void take_runs(const std::vector<RunRecord>& runs, NightSummary& night) {
  if (runs.empty()) return;
  const RunRecord& latest = runs.back();
  night.suite = latest.suite_name;
  night.suite_hash = hash_of_text(latest.suite_text);
  night.started_utc = runs.front().started_utc;
  night.finished_utc = latest.finished_utc;
  night.cpu = latest.machine.cpu;
  night.cores = latest.machine.cores;
  night.version = latest.build.version;
  night.commit = latest.build.commit;
  night.executable = latest.build.executable;
  night.compiler = latest.build.compiler;
  night.flags = latest.build.flags;
  night.libraries = latest.build.libraries;
  night.code_hashes = code_hashes_of(runs);
  night.mode = latest.mode;
  std::set<std::string> hosts;
  for (const RunRecord& run : runs) {
    if (run.mode != "timed") night.mode = run.mode;
    hosts.insert(run.machine.host);
    if (!run.side.empty()) night.side_by_side = true;
    if (!build_difference(run.build, latest.build).empty()) night.several_builds = true;
  }
  night.host = fmt::format("{}", fmt::join(hosts, ","));
}

/// Near what it was allowed, as compare has it: a third.
bool near_memory_limit(const CellRecord& cell) {
  constexpr double near = 1.0 / 3.0, kb = 1024.0;
  return cell.limit_mb > 0 && static_cast<double>(cell.peak_memory_kb) > near * kb * static_cast<double>(cell.limit_mb);
}

/// The rows of a night, found by configuration, tolerance and start.
class Rows {
 public:
  Rows(const StoreContents& contents, NightSummary& night) : night_(night) {
    for (const ConfigurationRecord& configuration : contents.configurations)
      configurations_[configuration.hash] = &configuration;
    for (std::size_t i = 0; i < contents.problems.size(); ++i) problems_[contents.problems[i].hash] = i;
  }

  void add(const CellRecord& cell) {
    const auto problem = problems_.find(cell.problem);
    const auto configuration = configurations_.find(cell.configuration);
    if (problem == problems_.end() || configuration == configurations_.end()) return;
    NightCell& into = row(*configuration->second, cell).cells[problem->second];
    into = {cell.status,
            cell.solved,
            cell.repeats > 0 ? cell.total.minimum : 0.0,
            work_of(cell),
            near_memory_limit(cell),
            !cell.doubts.empty()};
  }

 private:
  NightRow& row(const ConfigurationRecord& configuration, const CellRecord& cell) {
    const auto [found, is_new] = rows_.emplace(
        std::tuple(&configuration, cell.tolerance, cell.stop_by, cell.verdict, cell.start), night_.rows.size());
    if (is_new) {
      night_.rows.push_back({configuration.label, configuration.solver, configuration.solver_version, cell.tolerance,
                             cell.stop_by, cell.verdict, cell.start, cell.limit_s,
                             std::vector<NightCell>(night_.problems.size()), configuration.origin,
                             configuration.checks});
    }
    return night_.rows[found->second];
  }

  NightSummary& night_;
  std::map<std::string, const ConfigurationRecord*> configurations_;
  std::map<std::string, std::size_t> problems_;
  std::map<std::tuple<const ConfigurationRecord*, double, std::string, std::string, std::string>, std::size_t> rows_;
};

/// Size and time of last change of a store and of what SQLite has not yet put into it.
struct Stamp {
  std::vector<std::int64_t> numbers;
  bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::filesystem::path& store) {
  Stamp stamp;
  for (const char* const ending : {"", "-wal"}) {
    struct stat status = {};
    const bool there = stat((store.string() + ending).c_str(), &status) == 0 && status.st_size > 0;
    stamp.numbers.push_back(there ? status.st_size : 0);
    stamp.numbers.push_back(there ? status.st_mtim.tv_sec : 0);
    stamp.numbers.push_back(there ? status.st_mtim.tv_nsec : 0);
  }
  return stamp;
}

Json cells_json(const NightRow& row) {
  Json statuses = Json::array(), solved = Json::array(), minima = Json::array(), works = Json::array();
  Json near_memory = Json::array(), doubtful = Json::array();  // indices, since only few cells are
  for (const NightCell& cell : row.cells) {
    if (cell.near_memory) near_memory.push_back(statuses.size());
    if (cell.doubtful) doubtful.push_back(statuses.size());
    statuses.push_back(static_cast<int>(cell.status) - 1);
    solved.push_back(cell.solved ? 1 : 0);
    // Seven digits: ten times less than what is reported of a night, a fifth of the file.
    minima.push_back(
        std::strtod(fmt::format("{:.7g}", std::isfinite(cell.minimum_s) ? cell.minimum_s : 0.0).c_str(), nullptr));
    works.push_back(cell.work);
  }
  return {{"status", std::move(statuses)}, {"solved", std::move(solved)},           {"minimum_s", std::move(minima)},
          {"work", std::move(works)},      {"near_memory", std::move(near_memory)}, {"doubtful", std::move(doubtful)}};
}

std::string body_of(const NightSummary& night) {
  Json problems = Json::array(), rows = Json::array();
  for (const NightProblem& problem : night.problems) {
    Json row = {problem.hash, problem.name, problem.family, problem.counts, problem.certified, problem.noise_level};
    if (problem.verdict_bound) row.push_back(*problem.verdict_bound);
    problems.push_back(std::move(row));
  }
  for (const NightRow& row : night.rows) {
    Json json = json_of(row);
    json["cells"] = cells_json(row);
    rows.push_back(std::move(json));
  }
  Json statuses = Json::array();
  for (const CellStatusRow& row : cell_status_table()) statuses.push_back(row.name);
  Json body = json_of(night);
  body["statuses"] = std::move(statuses);
  body["problems"] = std::move(problems);
  body["rows"] = std::move(rows);
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

NightRow row_of(const Json& json, std::size_t problems, const std::vector<CellStatus>& statuses) {
  NightRow row;
  JsonReader reader(json);
  NightRow::fields(reader, row);
  const Json& cells = json.at("cells");
  const Json &status = cells.at("status"), &solved = cells.at("solved"), &minimum = cells.at("minimum_s"),
             &work = cells.at("work");
  row.cells.reserve(problems);
  for (std::size_t i = 0; i < problems; ++i) {
    const int index = status.at(i).get<int>();
    row.cells.push_back({index < 0 ? CellStatus::unknown : statuses.at(static_cast<std::size_t>(index)),
                         solved.at(i).get<int>() != 0, minimum.at(i).get<double>(), work.at(i).get<std::uint32_t>()});
  }
  for (const Json& index : cells.at("near_memory")) row.cells.at(index.get<std::size_t>()).near_memory = true;
  for (const Json& index : cells.at("doubtful")) row.cells.at(index.get<std::size_t>()).doubtful = true;
  return row;
}

/// Throws what nlohmann's json throws, std::out_of_range too.
NightSummary night_of(const Json& body) {
  NightSummary night;
  JsonReader reader(body);
  NightSummary::fields(reader, night);
  // By their names: another build's table may have another order.
  std::vector<CellStatus> statuses;
  for (const Json& word : body.at("statuses")) statuses.push_back(cell_status(word.get<std::string>()));
  for (const Json& problem : body.at("problems")) {
    night.problems.push_back({problem.at(0).get<std::string>(), problem.at(1).get<std::string>(),
                              problem.at(2).get<std::string>(), problem.at(3).get<bool>(), problem.at(4).get<bool>()});
    night.problems.back().noise_level = problem.at(5).get<bool>();
    if (problem.size() > 6) night.problems.back().verdict_bound = problem.at(6).get<double>();
  }
  for (const Json& row : body.at("rows")) {
    night.rows.push_back(row_of(row, night.problems.size(), statuses));
  }
  return night;
}

/// Nothing unless the file is whole and of exactly this state of the store, or the store is gone (prune_stores).
std::optional<NightSummary> kept_summary(const std::filesystem::path& file, const std::optional<Stamp>& stamp) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const std::size_t line_end = text.find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  const std::string_view body = std::string_view(text).substr(line_end + 1);
  try {
    const Json head = Json::parse(std::string_view(text).substr(0, line_end));
    if (head.at("conebench_summary") != layout) return std::nullopt;
    if (stamp && head.at("store") != stamp->numbers) return std::nullopt;
    if (head.at("bytes") != body.size() || head.at("crc32") != checksum(body)) return std::nullopt;
    return night_of(Json::parse(body));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

/// A folder that cannot be written keeps none.
void keep_summary(const std::filesystem::path& file, const Stamp& stamp, const NightSummary& night) {
  const std::string body = body_of(night);
  const Json head = {
      {"conebench_summary", layout}, {"store", stamp.numbers}, {"bytes", body.size()}, {"crc32", checksum(body)}};
  static_cast<void>(write_text_file(file, head.dump() + "\n" + body));
}

}  // namespace

bool NightSummary::answered() const {
  return std::any_of(rows.begin(), rows.end(), [](const NightRow& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](const NightCell& cell) { return cell.minimum_s > 0.0; });
  });
}

std::string hash_of_text(const std::string& text) { return fmt::format("{:08x}", checksum(text)); }

NightSummary summarise(const StoreContents& contents) {
  NightSummary night;
  take_runs(contents.runs, night);
  night.problems = problems_of(contents.problems);
  Rows rows(contents, night);
  for (const CellRecord& cell : contents.cells) rows.add(cell);
  for (const SuiteState& suite : contents.suites) night.missing += static_cast<long>(suite.missing.size());
  const Load load = load_of(contents.cells);
  night.loaded_share = load.share();
  night.loaded = load.loaded();
  night.exact = std::none_of(contents.cells.begin(), contents.cells.end(), [](const CellRecord& cell) {
    return cell.solved && cell.verdict_version < first_exact_verdict;
  });
  return night;
}

std::filesystem::path summary_file(const std::filesystem::path& store) { return store.string() + ".summary.json"; }

Result<NightSummary> read_night(const std::filesystem::path& store) {
  const Stamp stamp = stamp_of(store);
  const std::filesystem::path file = summary_file(store);
  std::error_code ignored;
  const bool is_gone = !std::filesystem::exists(store, ignored) && !ignored;
  if (auto kept = kept_summary(file, is_gone ? std::nullopt : std::optional(stamp))) {
    kept->store = store;
    return std::move(*kept);
  }
  CONEBENCH_TRY(const auto contents, read_present(store));
  NightSummary night = summarise(contents);
  night.store = store;
  // Of a store that changed meanwhile: right for this reader, not to be kept.
  if (stamp_of(store) == stamp) keep_summary(file, stamp, night);
  return night;
}

}  // namespace conebench
