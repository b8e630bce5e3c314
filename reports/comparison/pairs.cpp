#include "reports/comparison/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "metrics/change/load.hpp"
#include "store/certificates.hpp"

namespace conebench::reports {

namespace {

bool is_clock(CellStatus status) { return class_of(status) == StatusClass::clock; }

/// Broken cells are no evidence on a solver's method.
bool is_broken(CellStatus status) {
  return class_of(status) == StatusClass::broke || class_of(status) == StatusClass::unreadable;
}

bool same_counts(const ComparedCell& baseline, const ComparedCell& candidate) {
  return baseline.status == candidate.status && baseline.iterations == candidate.iterations &&
         baseline.factorizations == candidate.factorizations && baseline.products == candidate.products;
}

bool same_bits(const ComparedCell& baseline, const ComparedCell& candidate) {
  return !baseline.answer_crc || !candidate.answer_crc || baseline.answer_crc == candidate.answer_crc;
}

/// Whether `solved` used so much of its limit that the other side's reaching the limit is no surprise.
bool near_the_limit(const ComparedCell& solved, const ComparedCell& ended, const Request& request) {
  constexpr double near = 1.0 / 3.0;
  if (is_clock(ended.status)) return solved.minimum_s > near * request.limit_s;
  constexpr double kb = 1024.0;
  return ended.status == CellStatus::out_of_memory &&
         static_cast<double>(solved.peak_memory_kb) > near * kb * static_cast<double>(request.limit_mb);
}

/// Whether two configurations of a solver are the same except for options that the solver gained or lost, at their
/// defaults, or whose defaults changed. `changes`: these options.
bool alike(const ConfigurationRecord& a, const ConfigurationRecord& b, std::string& changes) {
  if (a.solver != b.solver) return false;
  const auto left = nlohmann::json::parse(a.options_json, nullptr, false);
  const auto right = nlohmann::json::parse(b.options_json, nullptr, false);
  if (!left.is_object() || !right.is_object()) return a.options_json == b.options_json;
  std::map<std::string, std::string> differences;
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name)) {
      if (a.sets_option(name)) return false;
      differences[name] = name + " (baseline alone)";
    } else if (right[name] != value) {
      if (a.sets_option(name) || b.sets_option(name)) return false;
      differences[name] = fmt::format("{} {} -> {}", name, value.dump(), right[name].dump());
    }
  }
  for (const auto& [name, value] : right.items()) {
    if (left.contains(name)) continue;
    if (b.sets_option(name)) return false;
    differences[name] = name + " (candidate alone)";
  }
  changes.clear();
  for (const auto& [name, text] : differences) changes += (changes.empty() ? "" : ", ") + text;
  return true;
}

/// Names of the options of a solver that stand in a side's records. `defaults`: those alone that some configuration has
/// at its default; the options that all solvers have in common are recorded only elsewhere.
std::set<std::string> options_of(const std::vector<ConfigurationRecord>& configurations, const std::string& solver,
                                 bool defaults) {
  std::set<std::string> names;
  for (const ConfigurationRecord& configuration : configurations) {
    if (configuration.solver != solver) continue;
    const auto options = nlohmann::json::parse(configuration.options_json, nullptr, false);
    if (!options.is_object()) continue;
    for (const auto& [name, value] : options.items()) {
      if (!defaults || !configuration.sets_option(name)) names.insert(name);
    }
  }
  return names;
}

/// Why configurations are missing that set an option which the candidate's solver no longer has.
void note_lost_options(Comparison& comparison) {
  const auto& baseline = comparison.baseline.configurations;
  const auto& candidate = comparison.candidate.configurations;
  for (ComparedConfiguration& one : comparison.configurations) {
    const bool solver_is_there =
        std::any_of(candidate.begin(), candidate.end(),
                    [&](const ConfigurationRecord& configuration) { return configuration.solver == one.solver; });
    if (one.in_candidate || !solver_is_there) continue;
    const std::set<std::string> now = options_of(candidate, one.solver, false);
    std::string lost;
    for (const std::string& name : options_of(baseline, one.solver, true)) {
      if (std::ranges::count(one.changed_options, name) > 0 && !now.contains(name))
        lost += (lost.empty() ? "" : ", ") + name;
    }
    if (!lost.empty()) one.note = "the solver no longer has " + lost;
  }
}

/// Configurations by solver and options, whatever the solver's version. Others are paired where just one on either side
/// is alike.
struct PairedConfigurations {
  std::map<std::string, std::size_t> baseline, candidate;  ///< ConfigurationRecord::hash → index in the list
};

PairedConfigurations pair_configurations(Comparison& comparison) {
  PairedConfigurations paired;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  const auto add = [&](const ConfigurationRecord& configuration, bool is_baseline) {
    const auto [index, is_new] =
        known.emplace(std::pair{configuration.solver, configuration.options_json}, known.size());
    if (is_new) {
      comparison.configurations.push_back({.solver = configuration.solver,
                                           .label = configuration.label,
                                           .changed_options = configuration.changed_options});
    }
    ComparedConfiguration& one = comparison.configurations[index->second];
    (is_baseline ? one.in_baseline : one.in_candidate) = true;
    (is_baseline ? one.baseline_version : one.candidate_version) = configuration.solver_version;
    if (!is_baseline) one.candidate_hash = configuration.hash;
    if (!configuration.origin.empty()) one.origin = configuration.origin;
    if (!configuration.checks.empty()) one.checks = configuration.checks;
    (is_baseline ? paired.baseline : paired.candidate)[configuration.hash] = index->second;
  };
  for (const ConfigurationRecord& configuration : comparison.baseline.configurations) add(configuration, true);
  std::vector<const ConfigurationRecord*> left;
  for (const ConfigurationRecord& configuration : comparison.candidate.configurations) {
    if (known.contains({configuration.solver, configuration.options_json}))
      add(configuration, false);
    else
      left.push_back(&configuration);
  }
  std::map<std::size_t, std::vector<const ConfigurationRecord*>>
      candidates;  // index in the list → configurations of the candidate that are alike
  std::map<const ConfigurationRecord*, std::vector<std::size_t>> matches;
  std::string changes;
  for (const ConfigurationRecord* configuration : left) {
    for (const ConfigurationRecord& other : comparison.baseline.configurations) {
      const std::size_t index = paired.baseline.at(other.hash);
      if (comparison.configurations[index].in_candidate || !alike(other, *configuration, changes) || changes.empty())
        continue;
      matches[configuration].push_back(index);
      candidates[index].push_back(configuration);
    }
  }
  for (const ConfigurationRecord* configuration : left) {
    const std::vector<std::size_t>& indices = matches[configuration];
    if (indices.size() != 1 || candidates[indices.front()].size() != 1) {
      add(*configuration, false);
      continue;
    }
    ComparedConfiguration& one = comparison.configurations[indices.front()];
    paired.candidate[configuration->hash] = indices.front();
    one.in_candidate = true;
    one.candidate_version = configuration->solver_version;
    one.candidate_hash = configuration->hash;
    for (const ConfigurationRecord& other : comparison.baseline.configurations) {
      if (paired.baseline.at(other.hash) == indices.front() && alike(other, *configuration, changes))
        one.options_changed = changes;
    }
  }
  note_lost_options(comparison);
  return paired;
}

struct PairedProblems {
  std::map<std::string, std::size_t> baseline, candidate;  ///< ProblemRecord::hash → index in the list
};

/// Problems by their data. One that could not be loaded on a side is the problem of the same source on the other.
PairedProblems pair_problems(Comparison& comparison) {
  PairedProblems paired;
  std::map<std::string, std::size_t> by_hash, by_source;
  for (const ProblemRecord& problem : comparison.baseline.problems) {
    paired.baseline[problem.hash] = by_hash[oldest_hash(problem)] = by_source[problem.source] =
        comparison.problems.size();
    comparison.problems.push_back({problem.name, problem.family, problem.source, true, false,
                                   problem.error.empty() ? "" : "baseline: " + problem.error});
  }
  std::set<std::string> candidate_hashes;
  for (const ProblemRecord& problem : comparison.candidate.problems) candidate_hashes.insert(oldest_hash(problem));
  std::set<std::string> still_there;  // sources of baseline problems whose data the candidate has
  std::map<std::string, const ProblemRecord*> baseline_of_source;
  for (const ProblemRecord& problem : comparison.baseline.problems) {
    baseline_of_source[problem.source] = &problem;
    if (candidate_hashes.contains(oldest_hash(problem))) still_there.insert(problem.source);
  }
  for (const ProblemRecord& problem : comparison.candidate.problems) {
    const auto same_data = by_hash.find(oldest_hash(problem));
    if (same_data != by_hash.end()) {
      ComparedProblem& one = comparison.problems[same_data->second];
      one.in_candidate = true;
      if (baseline_of_source.contains(problem.source) && baseline_of_source[problem.source]->error == problem.error)
        one.note = {};
      paired.candidate[problem.hash] = same_data->second;
      continue;
    }
    const auto same_source = baseline_of_source.find(problem.source);
    const bool replaced =
        same_source != baseline_of_source.end() && !problem.source.empty() && !still_there.contains(problem.source);
    if (replaced && (!problem.error.empty() || !same_source->second->error.empty())) {
      ComparedProblem& one = comparison.problems[by_source.at(problem.source)];
      one.in_candidate = true;
      if (!problem.error.empty()) one.note = problem.error;
      paired.candidate[problem.hash] = by_source.at(problem.source);
      continue;
    }
    if (replaced) {
      ComparedProblem& old = comparison.problems[by_source.at(problem.source)];
      old.other_data = true;
      old.note = "the candidate read other data from this source";
    }
    paired.candidate[problem.hash] = comparison.problems.size();
    comparison.problems.push_back({problem.name, problem.family, problem.source, false, true,
                                   replaced ? "other data than the baseline's" : problem.error, replaced});
  }
  return paired;
}

/// Problems that do not count, if either side knows it: those at noise level, and those with a certificate that no cell
/// of either side refutes.
class LeftOut {
 public:
  LeftOut(const Comparison& comparison, const PairedProblems& problems) {
    const std::array sides = {std::pair(&comparison.baseline, &problems.baseline),
                              std::pair(&comparison.candidate, &problems.candidate)};
    for (const auto& [side, index_of] : sides) {
      for (const ProblemRecord& problem : side->problems) {
        const std::size_t index = index_of->at(problem.hash);
        if (problem.noise_level()) noise_.insert(index);
        if (problem.infeasible()) marks_[index].add(problem.feasibility);
      }
    }
    for (const auto& [side, index_of] : sides) {
      for (const ComparedCell& cell : side->cells) {
        const auto known = marks_.find(index_of->at(side->problems[cell.problem].hash));
        if (known == marks_.end()) continue;
        const Request& asked = side->requests[cell.request];
        known->second.take(cell, asked.verdict, asked.tolerance);
      }
    }
  }

  bool operator()(std::size_t problem, const Request& asked) const {
    if (noise_.contains(problem)) return true;
    const auto known = marks_.find(problem);
    return known != marks_.end() && known->second.exclude(asked.verdict, asked.tolerance);
  }

 private:
  std::set<std::size_t> noise_;               // by the index in the comparison's list
  std::map<std::size_t, JoinedMarks> marks_;  // the same
};

using PairKey = std::tuple<std::size_t, std::size_t, std::size_t>;  // slice, configuration, problem
using IndexedCell = std::pair<PairKey, std::size_t>;                // with the cell's index in its side

/// Several builds can have measured a cell into one store. Of equal keys the latest run's stays. Returns the number of
/// removed cells.
std::size_t keep_newest(std::vector<IndexedCell>& sorted, const Side& side) {
  std::size_t kept = 0;
  for (const IndexedCell& cell : sorted) {
    if (kept == 0 || sorted[kept - 1].first != cell.first) {
      sorted[kept++] = cell;
    } else if (side.cells[cell.second].run > side.cells[sorted[kept - 1].second].run) {
      sorted[kept - 1] = cell;
    }
  }
  const std::size_t gone = sorted.size() - kept;
  sorted.resize(kept);
  return gone;
}

Request without_limits(Request request) {
  request.max_iterations = request.limit_mb = 0;
  request.limit_s = 0.0;
  return request;
}

}  // namespace

const char* to_string(CellChange change) {
  switch (change) {
    case CellChange::same_work: return "same work";
    case CellChange::other_bits: return "other bits";
    case CellChange::other_work: return "other work";
    case CellChange::same_failure: return "same failure";
    case CellChange::other_failure: return "other failure";
    case CellChange::won: return "won";
    case CellChange::lost: return "lost";
    case CellChange::broke: return "broke";
    case CellChange::hit_limit: return "at the limit";
    case CellChange::flaky: return "flaky";
    case CellChange::missing: return "missing";
    case CellChange::added: return "new";
  }
  return "";
}

CellChange classify(const ComparedCell& baseline, const ComparedCell& candidate, const Request& of_baseline,
                    const Request& of_candidate, bool bits) {
  if (baseline.status == CellStatus::flaky || candidate.status == CellStatus::flaky) return CellChange::flaky;
  if (baseline.solved != candidate.solved) {
    const ComparedCell& solved = baseline.solved ? baseline : candidate;
    const ComparedCell& ended = baseline.solved ? candidate : baseline;
    if (near_the_limit(solved, ended, baseline.solved ? of_candidate : of_baseline)) return CellChange::hit_limit;
  }
  if (is_broken(candidate.status) && !is_broken(baseline.status)) return CellChange::broke;
  if (baseline.solved && !candidate.solved) return CellChange::lost;
  if (!baseline.solved && candidate.solved) return CellChange::won;
  if (is_clock(baseline.status) || is_clock(candidate.status)) return CellChange::hit_limit;
  const bool alike = !bits || same_bits(baseline, candidate);
  if (!same_counts(baseline, candidate)) return baseline.solved ? CellChange::other_work : CellChange::other_failure;
  if (baseline.solved) return alike ? CellChange::same_work : CellChange::other_bits;
  return alike ? CellChange::same_failure : CellChange::other_failure;
}

namespace {

/// The records whose hash is `used`, into `taken`; returns their indices there.
template <class Record>
std::unordered_map<std::string, std::uint32_t> take_used(const std::vector<Record>& records,
                                                         const std::unordered_set<std::string>& used,
                                                         std::vector<Record>& taken) {
  std::unordered_map<std::string, std::uint32_t> indices;
  for (const Record& record : records) {
    if (!used.contains(record.hash)) continue;
    indices.emplace(record.hash, static_cast<std::uint32_t>(taken.size()));
    taken.push_back(record);
  }
  return indices;
}

/// Minima by round. Rounds 2j and 2j + 1 belong to one block, also if an earlier round ran out of time.
std::vector<double> rounds_of(const CellRecord& cell) {
  std::vector<double> rounds;
  for (const RoundRecord& round : cell.timed_rounds) {
    if (round.round < 1) continue;
    const auto index = static_cast<std::size_t>(round.round) - 1;
    if (index >= rounds.size()) rounds.resize(index + 1, std::numeric_limits<double>::quiet_NaN());
    rounds[index] = round.minimum;
  }
  return rounds;
}

}  // namespace

Side make_side(std::string name, const StoreContents& contents, const std::function<bool(const RunRecord&)>& keep) {
  Side side;
  side.name = std::move(name);
  side.accepted = accepted_alarms(contents.acceptances);
  std::set<std::int64_t> runs;
  for (const RunRecord& run : contents.runs) {
    if (keep && !keep(run)) continue;
    runs.insert(run.id);
    side.runs.push_back(run);
  }
  std::unordered_set<std::string> used;
  for (const CellRecord& cell : contents.cells) {
    if (!runs.contains(cell.run_id)) continue;
    used.insert(cell.problem);
    used.insert(cell.configuration);
  }
  const auto problems = take_used(contents.problems, used, side.problems);
  const auto configurations = take_used(contents.configurations, used, side.configurations);
  std::map<Request, std::uint32_t> requests;
  std::vector<CellTimes> timed;
  for (const CellRecord& cell : contents.cells) {
    if (!runs.contains(cell.run_id)) continue;
    const Request request{cell.tolerance,      cell.stop_by, cell.verdict, cell.start,
                          cell.max_iterations, cell.limit_s, cell.limit_mb};
    const auto [index, is_new] = requests.emplace(request, static_cast<std::uint32_t>(requests.size()));
    if (is_new) side.requests.push_back(request);
    ComparedCell one{.key = cell.key,
                     .problem = problems.at(cell.problem),
                     .configuration = configurations.at(cell.configuration),
                     .request = index->second,
                     .run = cell.run_id,
                     .status = cell.status,
                     .reason = cell.reason,
                     .solved = cell.solved,
                     .verdict_value = cell.verdict_value,
                     .verdict_version = cell.verdict_version,
                     .iterations = cell.iterations,
                     .factorizations = cell.factorizations,
                     .products = cell.operator_products,
                     .answer_crc = cell.answer_crc,
                     .minimum_s = cell.total.minimum,
                     .median_s = cell.total.median,
                     .peak_memory_kb = cell.peak_memory_kb,
                     .doubts = cell.doubts,
                     .rounds_s = {}};
    if (!side.runs.empty() && !side.runs.front().side.empty()) one.rounds_s = rounds_of(cell);
    if (cell.solved && cell.repeats > 1) timed.push_back({cell.total.minimum, cell.total.median});
    side.cells.push_back(std::move(one));
  }
  const Load load = measure_load(timed);
  side.loaded_share = load.share();
  side.loaded = load.loaded();
  return side;
}

void pair_cells(Comparison& comparison, bool any_limits) {
  const PairedProblems problems = pair_problems(comparison);
  const PairedConfigurations configurations = pair_configurations(comparison);
  const auto equal_processors = [](const Side& a, const Side& b) {
    std::set<std::string> cpus;
    for (const Side* side : {&a, &b}) {
      for (const RunRecord& run : side->runs) cpus.insert(run.machine.cpu);
    }
    return cpus.size() == 1;
  };
  const bool bits = equal_processors(comparison.baseline, comparison.candidate);

  // Loosest tolerance first.
  const auto asked = [&](const Request& request) { return any_limits ? without_limits(request) : request; };
  std::vector<Request> requests;
  for (const Side* side : {&comparison.baseline, &comparison.candidate}) {
    for (const Request& request : side->requests) {
      const auto is_same = [&](const Request& other) { return asked(other) == asked(request); };
      if (std::none_of(requests.begin(), requests.end(), is_same)) requests.push_back(request);
    }
  }
  std::sort(requests.begin(), requests.end(), [](const Request& a, const Request& b) {
    return a.tolerance != b.tolerance ? a.tolerance > b.tolerance : a < b;
  });
  std::map<Request, std::size_t> slices;
  for (const Request& request : requests) {
    slices.emplace(asked(request), slices.size());
    comparison.slices.push_back({.request = request, .cells = 0, .times = {}, .configurations = {}, .families = {}});
  }
  const auto slice_of = [&](const Side& side, const ComparedCell& cell) {
    return slices.at(asked(side.requests[cell.request]));
  };
  const LeftOut left_out(comparison, problems);
  std::vector<IndexedCell> baseline, candidate;
  const auto index_cells = [&](const Side& side, const auto& of_configuration, const auto& of_problem, auto& into) {
    into.reserve(side.cells.size());
    for (std::size_t i = 0; i < side.cells.size(); ++i) {
      const ComparedCell& cell = side.cells[i];
      const std::size_t problem = of_problem.at(side.problems[cell.problem].hash);
      if (left_out(problem, side.requests[cell.request])) continue;
      into.push_back(
          {{slice_of(side, cell), of_configuration.at(side.configurations[cell.configuration].hash), problem}, i});
    }
  };
  index_cells(comparison.baseline, configurations.baseline, problems.baseline, baseline);
  index_cells(comparison.candidate, configurations.candidate, problems.candidate, candidate);
  for (auto* list : {&baseline, &candidate}) {
    std::sort(list->begin(), list->end());
    comparison.repeated +=
        static_cast<long>(keep_newest(*list, list == &baseline ? comparison.baseline : comparison.candidate));
  }
  const auto add = [&](const PairKey& key, std::optional<std::size_t> in_baseline,
                       std::optional<std::size_t> in_candidate) {
    const auto [slice, configuration, problem] = key;
    CellPair pair{in_baseline, in_candidate, problem, configuration, slice, CellChange::missing};
    if (!in_baseline) pair.change = CellChange::added;
    if (in_baseline && in_candidate) {
      ++comparison.compared;
      ++comparison.slices[slice].cells;
      const ComparedCell& before = comparison.baseline.cells[*in_baseline];
      const ComparedCell& after = comparison.candidate.cells[*in_candidate];
      pair.change = classify(before, after, comparison.baseline.requests[before.request],
                             comparison.candidate.requests[after.request], bits);
    }
    comparison.pairs.push_back(pair);
  };
  auto b = baseline.begin();
  auto f = candidate.begin();
  while (b != baseline.end() || f != candidate.end()) {
    if (f == candidate.end() || (b != baseline.end() && b->first < f->first)) {
      add(b->first, b->second, std::nullopt);
      ++b;
    } else if (b == baseline.end() || f->first < b->first) {
      add(f->first, std::nullopt, f->second);
      ++f;
    } else {
      add(b->first, b->second, f->second);
      ++b;
      ++f;
    }
  }
}

}  // namespace conebench::reports
