#include "runners/plan/cell_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/content_address.hpp"
#include "metrics/residuals.hpp"
#include "solvers/registry.hpp"

namespace conebench {

namespace {

/// Suites are checked when they are parsed, so a solver that is not known here is a fault of ours.
const SolverRow& row_of(const std::string& id) {
  const SolverRow* const row = find_solver(id);
  if (row == nullptr) throw std::logic_error("plan: unknown solver " + id);
  return *row;
}

OptionValue default_of(const SolverRow& row, const std::string& name) {
  for (const OptionSpec& spec : row.all_options()) {
    if (spec.name == name) return spec.default_value;
  }
  return {};
}

int verdict_version(const std::string& verdict) {
  for (const ResidualInfo& residual : residual_table()) {
    if (residual.name == verdict) return residual.version;
  }
  return 0;
}

FilterSubject subject_of(const SurveyedProblem& problem) {
  const ProblemRecord& record = problem.record;
  FilterSubject subject;
  if (!problem.pending) subject = conebench::subject_of(record);
  subject.family = record.family;
  subject.problem = record.name;
  subject.source = record.source;
  if (!problem.loaded || !record.rank) {  // the features were not asked for
    subject.category.reset();
    subject.conditioning.reset();
  }
  return subject;
}

/// Finds the cell before each one in its sequence and makes the keys. Returns the first cell of each one's sequence.
std::vector<std::size_t> give_keys(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                   const std::vector<PlannedConfiguration>& configurations,
                                   std::vector<PlannedCell>& cells) {
  std::map<std::pair<std::size_t, double>, std::vector<std::size_t>> linked;  // by configuration and tolerance
  std::vector<std::size_t> first(cells.size());
  const auto give_key = [&](std::size_t i) {
    PlannedCell& cell = cells[i];
    first[i] = cell.previous ? first[*cell.previous] : i;
    cell.key = cell_key(suite, problems[cell.problem], configurations[cell.configuration].record, cell.tolerance,
                        cell.start, cell.previous ? cells[*cell.previous].key : std::string());
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& position = problems[cells[i].problem].position;
    if (cells[i].start == Start::previous && position) {
      linked[{cells[i].configuration, cells[i].tolerance}].push_back(i);
    } else {
      give_key(i);
    }
  }
  for (const auto& [unused, members] : linked) {
    std::vector<std::optional<SequencePosition>> positions;
    for (const std::size_t i : members) positions.push_back(problems[cells[i].problem].position);
    const auto before = predecessors(positions);
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (before[k]) cells[members[k]].previous = members[*before[k]];
    }
    std::vector<std::size_t> by_step = members;
    std::stable_sort(by_step.begin(), by_step.end(), [&](std::size_t a, std::size_t b) {
      return problems[cells[a].problem].position->step < problems[cells[b].problem].position->step;
    });
    for (const std::size_t i : by_step) give_key(i);
  }
  return first;
}

}  // namespace

ConfigurationRecord configuration_record(const SolverRow& row, const OptionValues& effective) {
  ConfigurationRecord record;
  record.solver = row.info.id;
  record.solver_version = row.info.version;
  record.formulation = to_string(row.info.formulation);
  record.options_json = canonical_json(effective);
  record.origin = to_string(row.info.origin);
  record.peer_version = row.info.peer.version;
  record.peer_released = row.info.peer.released;
  record.peer_build = row.info.peer.build;
  record.checks = checks_are_free(row.info) ? "free" : "paid";
  record.label = row.info.id;
  for (const auto& [name, value] : effective) {
    if (value == default_of(row, name)) continue;
    record.changed_options.push_back(name);
    record.label += fmt::format(" {}={}", name, to_text(value));
  }
  // "setting": what configurations were called when their hashes were first given; another word would change them all.
  record.hash = content_address({"setting", record.solver, std::to_string(record.solver_version), record.options_json});
  if (!row.content_hash.empty()) record.hash = content_address({record.hash, row.content_hash});
  return record;
}

std::vector<PlannedConfiguration> plan_configurations(const Suite& suite) {
  std::vector<PlannedConfiguration> configurations;
  std::set<std::string> known;
  for (const SolverEntry& entry : suite.solvers) {
    const SolverRow& row = row_of(entry.id);
    for (const OptionValues& options : entry.options) {
      const auto effective = row.effective_options(options);
      if (!effective) throw std::logic_error("plan: " + effective.error().message);
      ConfigurationRecord record = configuration_record(row, *effective);
      if (known.insert(record.hash).second) configurations.push_back({std::move(record), options});
    }
  }
  return configurations;
}

std::string cell_key(const Suite& suite, const SurveyedProblem& problem, const ConfigurationRecord& configuration,
                     double tolerance, Start start, const std::string& previous_key) {
  std::string start_text = to_string(start);
  if (start == Start::guess) start_text += " " + problem.guess_hash;
  if (start == Start::previous) start_text += " " + previous_key;
  return content_address({"cell", problem.record.hash, configuration.hash, std::to_string(suite.limits.iterations),
                          exact_text(suite.limits.seconds), std::to_string(suite.limits.memory_mb),
                          exact_text(tolerance), to_string(suite.stop_by), suite.verdict,
                          std::to_string(verdict_version(suite.verdict)), start_text});
}

int shard_of(const std::string& key, int shards) {
  return 1 + static_cast<int>(std::stoull(key.substr(0, 16), nullptr, 16) % static_cast<unsigned>(shards));
}

std::vector<PlannedCell> plan_cells(const Suite& suite, const std::vector<SurveyedProblem>& problems,
                                    const std::vector<PlannedConfiguration>& configurations, const PlanScope& scope) {
  std::vector<PlannedCell> all;
  std::vector<bool> wanted;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    FilterSubject subject = subject_of(problems[p]);
    for (std::size_t s = 0; s < configurations.size(); ++s) {
      subject.solver = configurations[s].record.solver;
      subject.configuration = configurations[s].record.label;
      for (const double tolerance : suite.tolerances) {
        subject.tolerance = tolerance;
        const bool fits = scope.filter.holds(subject);
        for (const Start start : suite.starts) {
          if (!fits && start != Start::previous) continue;
          all.push_back({{}, p, s, tolerance, start, {}});
          wanted.push_back(fits);
        }
      }
    }
  }
  const std::vector<std::size_t> first = give_keys(suite, problems, configurations, all);

  for (std::size_t i = 0; scope.keys && i < all.size(); ++i) {
    if (!scope.keys->contains(all[i].key)) wanted[i] = false;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!wanted[i]) continue;
    for (auto before = all[i].previous; before && !wanted[*before]; before = all[*before].previous) {
      wanted[*before] = true;
    }
  }

  std::vector<PlannedCell> cells;
  std::vector<std::size_t> index_of(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!wanted[i]) continue;
    if (shard_of(all[first[i]].key, scope.shards) != scope.shard) continue;
    index_of[i] = cells.size();
    cells.push_back(all[i]);
  }
  for (PlannedCell& cell : cells) {
    if (cell.previous) cell.previous = index_of[*cell.previous];
  }
  return cells;
}

std::vector<CellGroup> shuffled_groups(const std::vector<PlannedCell>& plan, const std::vector<std::size_t>& cells,
                                       std::uint64_t seed) {
  std::map<std::size_t, std::vector<std::size_t>> by_problem;
  for (const std::size_t cell : cells) by_problem[plan[cell].problem].push_back(cell);
  std::vector<CellGroup> groups;
  SeededSequence seeds(seed);
  for (auto& [problem, members] : by_problem) {
    seeded_shuffle(members, seeds.next());
    groups.push_back({problem, std::move(members)});
  }
  seeded_shuffle(groups, seeds.next());
  return groups;
}

}  // namespace conebench
