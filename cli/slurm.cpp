#include "cli/slurm.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

#include "base/text_file.hpp"
#include "store/store.hpp"

namespace conebench::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_keys_file = std::uintmax_t{1} << 30;

}  // namespace

namespace slurm {

namespace {

struct Answer {
  int code = -1;
  std::string text;
};

/// Both outputs of a command.
Answer ask(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += quoted(word) + " ";
  std::FILE* const pipe = popen((line + "2>&1 </dev/null").c_str(), "re");
  if (pipe == nullptr) return {};
  Answer answer;
  char buffer[4096];
  for (std::size_t got = 0; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) answer.text.append(buffer, got);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
  return answer;
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto start = text.rfind('\n');
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

std::string quoted(const std::string& word) {
  if (!word.empty() &&
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=+,./:%@") ==
          std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
  return text + "'";
}

std::string ranges(const std::vector<long>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += text.empty() ? "" : ",";
    text += last == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

std::optional<long> max_indices() {
  const Answer answer = ask({"scontrol", "show", "config"});
  std::smatch found;
  if (answer.code != 0 || !std::regex_search(answer.text, found, std::regex(R"(MaxArraySize\s*=\s*(\d{1,9}))"))) {
    return std::nullopt;
  }
  return std::stol(found[1]);
}

Result<std::string> submit(const std::vector<std::string>& command) {
  constexpr int not_found = 127;
  const Answer answer = ask(command);
  if (answer.code == not_found) {
    return Error{ErrorCode::bad_input,
                 "sbatch is not installed here; submit on a host of the cluster, or write the "
                 "scripts alone with --dry-run"};
  }
  std::smatch id;
  const std::string line = last_line(answer.text);
  if (answer.code != 0 || !std::regex_match(line, id, std::regex(R"((\d+)(;.*)?)"))) {
    return Error{ErrorCode::bad_input, fmt::format("sbatch refused the job: {}", line)};
  }
  return id[1].str();
}

std::optional<std::map<std::string, long>> live_tasks(const std::vector<std::string>& jobs) {
  std::map<std::string, long> states;
  if (jobs.empty()) return states;
  const Answer answer =
      ask({"squeue", "--noheader", "--array", "--user=" + std::to_string(getuid()), "--format=%F %T"});
  if (answer.code != 0) return std::nullopt;
  const std::set<std::string> ours(jobs.begin(), jobs.end());
  std::istringstream lines(answer.text);
  for (std::string job, state; lines >> job >> state;) {
    if (ours.contains(job)) ++states[state];
  }
  return states;
}

}  // namespace slurm

long SlurmPlan::all_cells() const { return std::accumulate(cells.begin(), cells.end(), 0L); }

fs::path shard_keys(const fs::path& folder, std::size_t shard) {
  return folder / "parts" / fmt::format("{}.txt", shard);
}
fs::path shard_store(const fs::path& folder, std::size_t shard) {
  return folder / "shards" / fmt::format("{}.sqlite", shard);
}
fs::path merged_store(const fs::path& folder) { return folder / "merged.sqlite"; }

Result<SlurmPlan> read_slurm_plan(const fs::path& folder) {
  const fs::path file = folder / "plan.json";
  constexpr std::uintmax_t most = std::uintmax_t{1} << 28;
  const auto text = read_text_file(file, most);
  if (!text) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: no folder that `conebench slurm SUITE --out` made", folder.string())};
  }
  try {
    const auto json = nlohmann::json::parse(*text);
    return SlurmPlan{json.at("suite"), json.at("suite_file"), json.at("digest"), json.at("rounds"),
                     json.at("cells"), json.at("seconds"),    json.at("jobs")};
  } catch (const nlohmann::json::exception&) {
    return Error{ErrorCode::bad_input, fmt::format("{}: damaged; plan into another folder", file.string())};
  }
}

Result<void> write_slurm_plan(const fs::path& folder, const SlurmPlan& plan) {
  const nlohmann::json json = {{"suite", plan.suite},   {"suite_file", plan.suite_file}, {"digest", plan.digest},
                               {"rounds", plan.rounds}, {"cells", plan.cells},           {"seconds", plan.seconds},
                               {"jobs", plan.jobs}};
  return write_text_file(folder / "plan.json", json.dump(1) + "\n");
}

Result<std::vector<ShardState>> shard_states(const fs::path& folder, const SlurmPlan& plan) {
  std::vector<ShardState> states(plan.cells.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    ShardState& state = states[i];
    const fs::path file = shard_store(folder, i + 1);
    std::error_code failed;
    if (fs::file_size(file, failed) > 0 && !failed) {
      CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
      CONEBENCH_TRY(const auto stored, store.cell_states());
      CONEBENCH_TRY(const auto part, read_text_file(shard_keys(folder, i + 1), largest_keys_file));
      std::istringstream lines(part);
      const std::set<std::string> keys{std::istream_iterator<std::string>(lines), {}};
      state.stored =
          std::count_if(stored.begin(), stored.end(), [&](const auto& cell) { return keys.contains(cell.first); });
    }
    state.complete = state.stored >= plan.cells[i];
    if (!state.complete || plan.rounds == 1 || plan.cells[i] == 0) continue;
    // Its cells are there after the first round: only the end of a run says that the others were made.
    CONEBENCH_TRY(const auto store, Store::open(file, Store::Mode::read_only));
    CONEBENCH_TRY(const auto outcomes, store.read_outcomes());
    state.complete = !outcomes.runs.empty() && !outcomes.runs.back().finished_utc.empty();
  }
  return states;
}

}  // namespace conebench::cli
