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

/// Broken cells say nothing of a solver's method.
bool is_broken(CellStatus status) {
  return class_of(status) == StatusClass::broke || class_of(status) == StatusClass::unreadable;
}

bool same_counts(const ComparedCell& base, const ComparedCell& fresh) {
  return base.status == fresh.status && base.iterations == fresh.iterations &&
         base.factorizations == fresh.factorizations && base.products == fresh.products;
}

bool same_bits(const ComparedCell& base, const ComparedCell& fresh) {
  return !base.answer_crc || !fresh.answer_crc || base.answer_crc == fresh.answer_crc;
}

/// `solved` used up so much of what it was allowed that the other side's end is no surprise.
bool near_the_limit(const ComparedCell& solved, const ComparedCell& ended, const Request& request) {
  constexpr double near = 1.0 / 3.0;
  if (is_clock(ended.status)) return solved.minimum_s > near * request.limit_s;
  constexpr double kb = 1024.0;
  return ended.status == CellStatus::out_of_memory &&
         static_cast<double>(solved.peak_memory_kb) > near * kb * static_cast<double>(request.limit_mb);
}

/// Whether two settings of a solver are one of which the solver has got or lost options, which stand at their defaults,
/// or of which it changed defaults. `changes`: the options.
bool alike(const SettingRecord& a, const SettingRecord& b, std::string& changes) {
  if (a.solver != b.solver) return false;
  const auto left = nlohmann::json::parse(a.options_json, nullptr, false);
  const auto right = nlohmann::json::parse(b.options_json, nullptr, false);
  if (!left.is_object() || !right.is_object()) return a.options_json == b.options_json;
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : left.items()) {
    if (!right.contains(name)) {
      if (a.sets_option(name)) return false;
      words[name] = name + " (base alone)";
    } else if (right[name] != value) {
      if (a.sets_option(name) || b.sets_option(name)) return false;
      words[name] = fmt::format("{} {} -> {}", name, value.dump(), right[name].dump());
    }
  }
  for (const auto& [name, value] : right.items()) {
    if (left.contains(name)) continue;
    if (b.sets_option(name)) return false;
    words[name] = name + " (new alone)";
  }
  changes.clear();
  for (const auto& [name, text] : words) changes += (changes.empty() ? "" : ", ") + text;
  return true;
}

/// Names of the options of a solver that stand in a side's records. `defaults`: those alone that some setting has at
/// its default; the options that all solvers have in common are recorded only elsewhere.
std::set<std::string> options_of(const std::vector<SettingRecord>& settings, const std::string& solver, bool defaults) {
  std::set<std::string> names;
  for (const SettingRecord& setting : settings) {
    if (setting.solver != solver) continue;
    const auto options = nlohmann::json::parse(setting.options_json, nullptr, false);
    if (!options.is_object()) continue;
    for (const auto& [name, value] : options.items()) {
      if (!defaults || !setting.sets_option(name)) names.insert(name);
    }
  }
  return names;
}

/// Why settings are missing that set an option which the new side's solver no longer has.
void tell_lost_options(Comparison& comparison) {
  const auto& base = comparison.base.settings;
  const auto& fresh = comparison.fresh.settings;
  for (ComparedSetting& one : comparison.settings) {
    const bool solver_is_there = std::any_of(
        fresh.begin(), fresh.end(), [&](const SettingRecord& setting) { return setting.solver == one.solver; });
    if (one.in_new || !solver_is_there) continue;
    const std::set<std::string> now = options_of(fresh, one.solver, false);
    std::string lost;
    for (const std::string& name : options_of(base, one.solver, true)) {
      if (std::ranges::count(one.changed_options, name) > 0 && !now.contains(name))
        lost += (lost.empty() ? "" : ", ") + name;
    }
    if (!lost.empty()) one.note = "the solver no longer has " + lost;
  }
}

/// Settings by solver and options, whatever the solver's version. Others are paired where just one on either side is
/// alike.
struct PairedSettings {
  std::map<std::string, std::size_t> base, fresh;  ///< SettingRecord::hash → place in the list
};

PairedSettings pair_settings(Comparison& comparison) {
  PairedSettings paired;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  const auto add = [&](const SettingRecord& setting, bool is_base) {
    const auto [place, is_new] = known.emplace(std::pair{setting.solver, setting.options_json}, known.size());
    if (is_new) {
      comparison.settings.push_back(
          {.solver = setting.solver, .label = setting.label, .changed_options = setting.changed_options});
    }
    ComparedSetting& one = comparison.settings[place->second];
    (is_base ? one.in_base : one.in_new) = true;
    (is_base ? one.base_version : one.new_version) = setting.solver_version;
    if (!is_base) one.new_hash = setting.hash;
    if (!setting.origin.empty()) one.origin = setting.origin;
    if (!setting.looks.empty()) one.looks = setting.looks;
    (is_base ? paired.base : paired.fresh)[setting.hash] = place->second;
  };
  for (const SettingRecord& setting : comparison.base.settings) add(setting, true);
  std::vector<const SettingRecord*> left;
  for (const SettingRecord& setting : comparison.fresh.settings) {
    if (known.contains({setting.solver, setting.options_json}))
      add(setting, false);
    else
      left.push_back(&setting);
  }
  std::map<std::size_t, std::vector<const SettingRecord*>> candidates;  // place in the list → new ones that are alike
  std::map<const SettingRecord*, std::vector<std::size_t>> matches;
  std::string odd;
  for (const SettingRecord* setting : left) {
    for (const SettingRecord& other : comparison.base.settings) {
      const std::size_t place = paired.base.at(other.hash);
      if (comparison.settings[place].in_new || !alike(other, *setting, odd) || odd.empty()) continue;
      matches[setting].push_back(place);
      candidates[place].push_back(setting);
    }
  }
  for (const SettingRecord* setting : left) {
    const std::vector<std::size_t>& places = matches[setting];
    if (places.size() != 1 || candidates[places.front()].size() != 1) {
      add(*setting, false);
      continue;
    }
    ComparedSetting& one = comparison.settings[places.front()];
    paired.fresh[setting->hash] = places.front();
    one.in_new = true;
    one.new_version = setting->solver_version;
    one.new_hash = setting->hash;
    for (const SettingRecord& other : comparison.base.settings) {
      if (paired.base.at(other.hash) == places.front() && alike(other, *setting, odd)) one.options_changed = odd;
    }
  }
  tell_lost_options(comparison);
  return paired;
}

struct PairedProblems {
  std::map<std::string, std::size_t> base, fresh;  ///< ProblemRecord::hash → place in the list
};

/// Problems by their data. One that could not be loaded on a side is the problem of the same source on the other.
PairedProblems pair_problems(Comparison& comparison) {
  PairedProblems paired;
  std::map<std::string, std::size_t> by_hash, by_source;
  for (const ProblemRecord& problem : comparison.base.problems) {
    paired.base[problem.hash] = by_hash[oldest_hash(problem)] = by_source[problem.source] = comparison.problems.size();
    comparison.problems.push_back({problem.name, problem.family, problem.source, true, false,
                                   problem.error.empty() ? "" : "base: " + problem.error});
  }
  std::set<std::string> fresh_hashes;
  for (const ProblemRecord& problem : comparison.fresh.problems) fresh_hashes.insert(oldest_hash(problem));
  std::set<std::string> still_there;  // sources of base problems whose data the new side has
  std::map<std::string, const ProblemRecord*> base_of_source;
  for (const ProblemRecord& problem : comparison.base.problems) {
    base_of_source[problem.source] = &problem;
    if (fresh_hashes.contains(oldest_hash(problem))) still_there.insert(problem.source);
  }
  for (const ProblemRecord& problem : comparison.fresh.problems) {
    const auto same_data = by_hash.find(oldest_hash(problem));
    if (same_data != by_hash.end()) {
      ComparedProblem& one = comparison.problems[same_data->second];
      one.in_new = true;
      if (base_of_source.contains(problem.source) && base_of_source[problem.source]->error == problem.error)
        one.note = {};
      paired.fresh[problem.hash] = same_data->second;
      continue;
    }
    const auto same_source = base_of_source.find(problem.source);
    const bool replaced =
        same_source != base_of_source.end() && !problem.source.empty() && !still_there.contains(problem.source);
    if (replaced && (!problem.error.empty() || !same_source->second->error.empty())) {
      ComparedProblem& one = comparison.problems[by_source.at(problem.source)];
      one.in_new = true;
      if (!problem.error.empty()) one.note = problem.error;
      paired.fresh[problem.hash] = by_source.at(problem.source);
      continue;
    }
    if (replaced) {
      ComparedProblem& old = comparison.problems[by_source.at(problem.source)];
      old.other_data = true;
      old.note = "the new run read other data from this source";
    }
    paired.fresh[problem.hash] = comparison.problems.size();
    comparison.problems.push_back({problem.name, problem.family, problem.source, false, true,
                                   replaced ? "other data than the base's" : problem.error, replaced});
  }
  return paired;
}

/// Problems whose solving says nothing of a solver, whichever of the sides knows it: those at noise level, and where no
/// λ passes by a side's certificate that no cell of either side refutes.
class LeftOut {
 public:
  LeftOut(const Comparison& comparison, const PairedProblems& problems) {
    const std::array sides = {std::pair(&comparison.base, &problems.base),
                              std::pair(&comparison.fresh, &problems.fresh)};
    for (const auto& [side, place_of] : sides) {
      for (const ProblemRecord& problem : side->problems) {
        const std::size_t place = place_of->at(problem.hash);
        if (problem.noise_level()) noise_.insert(place);
        if (problem.infeasible()) marks_[place].add(problem.feasibility);
      }
    }
    for (const auto& [side, place_of] : sides) {
      for (const ComparedCell& cell : side->cells) {
        const auto known = marks_.find(place_of->at(side->problems[cell.problem].hash));
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
  std::set<std::size_t> noise_;               // by the place in the comparison's list
  std::map<std::size_t, MarksBeside> marks_;  // the same
};

using PairKey = std::tuple<std::size_t, std::size_t, std::size_t>;  // slice, setting, problem
using PlacedCell = std::pair<PairKey, std::size_t>;                 // with the cell's place in its side

/// Several builds can have measured a cell into one store: of equal keys the latest run's stays. Returns how many went.
std::size_t keep_newest(std::vector<PlacedCell>& sorted, const Side& side) {
  std::size_t kept = 0;
  for (const PlacedCell& cell : sorted) {
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

CellChange classify(const ComparedCell& base, const ComparedCell& fresh, const Request& of_base,
                    const Request& of_fresh, bool bits) {
  if (base.status == CellStatus::flaky || fresh.status == CellStatus::flaky) return CellChange::flaky;
  if (base.solved != fresh.solved) {
    const ComparedCell& solved = base.solved ? base : fresh;
    const ComparedCell& ended = base.solved ? fresh : base;
    if (near_the_limit(solved, ended, base.solved ? of_fresh : of_base)) return CellChange::hit_limit;
  }
  if (is_broken(fresh.status) && !is_broken(base.status)) return CellChange::broke;
  if (base.solved && !fresh.solved) return CellChange::lost;
  if (!base.solved && fresh.solved) return CellChange::won;
  if (is_clock(base.status) || is_clock(fresh.status)) return CellChange::hit_limit;
  const bool alike = !bits || same_bits(base, fresh);
  if (!same_counts(base, fresh)) return base.solved ? CellChange::other_work : CellChange::other_failure;
  if (base.solved) return alike ? CellChange::same_work : CellChange::other_bits;
  return alike ? CellChange::same_failure : CellChange::other_failure;
}

namespace {

/// The records whose hash is `used`, into `taken`; returns their places there.
template <class Record>
std::unordered_map<std::string, std::uint32_t> take_used(const std::vector<Record>& records,
                                                         const std::unordered_set<std::string>& used,
                                                         std::vector<Record>& taken) {
  std::unordered_map<std::string, std::uint32_t> places;
  for (const Record& record : records) {
    if (!used.contains(record.hash)) continue;
    places.emplace(record.hash, static_cast<std::uint32_t>(taken.size()));
    taken.push_back(record);
  }
  return places;
}

/// By their rounds: 2j and 2j + 1 are of one block, also where one before them ran out of time.
std::vector<double> replicates_of(const CellRecord& cell) {
  std::vector<double> replicates;
  for (const RoundRecord& round : cell.timed_rounds) {
    if (round.round < 1) continue;
    const auto place = static_cast<std::size_t>(round.round) - 1;
    if (place >= replicates.size()) replicates.resize(place + 1, std::numeric_limits<double>::quiet_NaN());
    replicates[place] = round.minimum;
  }
  return replicates;
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
    used.insert(cell.setting);
  }
  const auto problems = take_used(contents.problems, used, side.problems);
  const auto settings = take_used(contents.settings, used, side.settings);
  std::map<Request, std::uint32_t> requests;
  std::vector<CellTimes> timed;
  for (const CellRecord& cell : contents.cells) {
    if (!runs.contains(cell.run_id)) continue;
    const Request request{cell.tolerance,      cell.criterion, cell.verdict, cell.start,
                          cell.max_iterations, cell.limit_s,   cell.limit_mb};
    const auto [place, is_new] = requests.emplace(request, static_cast<std::uint32_t>(requests.size()));
    if (is_new) side.requests.push_back(request);
    ComparedCell one{.key = cell.key,
                     .problem = problems.at(cell.problem),
                     .setting = settings.at(cell.setting),
                     .request = place->second,
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
                     .replicates_s = {}};
    if (!side.runs.empty() && !side.runs.front().side.empty()) one.replicates_s = replicates_of(cell);
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
  const PairedSettings settings = pair_settings(comparison);
  const auto equal_processors = [](const Side& a, const Side& b) {
    std::set<std::string> cpus;
    for (const Side* side : {&a, &b}) {
      for (const RunRecord& run : side->runs) cpus.insert(run.machine.cpu);
    }
    return cpus.size() == 1;
  };
  const bool bits = equal_processors(comparison.base, comparison.fresh);

  // Loosest tolerance first.
  const auto asked = [&](const Request& request) { return any_limits ? without_limits(request) : request; };
  std::vector<Request> requests;
  for (const Side* side : {&comparison.base, &comparison.fresh}) {
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
    comparison.slices.push_back({.request = request, .cells = 0, .times = {}, .settings = {}, .families = {}});
  }
  const auto slice_of = [&](const Side& side, const ComparedCell& cell) {
    return slices.at(asked(side.requests[cell.request]));
  };
  const LeftOut left_out(comparison, problems);
  std::vector<PlacedCell> base, fresh;
  const auto place_cells = [&](const Side& side, const auto& of_setting, const auto& of_problem, auto& into) {
    into.reserve(side.cells.size());
    for (std::size_t i = 0; i < side.cells.size(); ++i) {
      const ComparedCell& cell = side.cells[i];
      const std::size_t problem = of_problem.at(side.problems[cell.problem].hash);
      if (left_out(problem, side.requests[cell.request])) continue;
      into.push_back({{slice_of(side, cell), of_setting.at(side.settings[cell.setting].hash), problem}, i});
    }
  };
  place_cells(comparison.base, settings.base, problems.base, base);
  place_cells(comparison.fresh, settings.fresh, problems.fresh, fresh);
  for (auto* list : {&base, &fresh}) {
    std::sort(list->begin(), list->end());
    comparison.repeated += static_cast<long>(keep_newest(*list, list == &base ? comparison.base : comparison.fresh));
  }
  const auto add = [&](const PairKey& key, std::optional<std::size_t> in_base, std::optional<std::size_t> in_fresh) {
    const auto [slice, setting, problem] = key;
    CellPair pair{in_base, in_fresh, problem, setting, slice, CellChange::missing};
    if (!in_base) pair.change = CellChange::added;
    if (in_base && in_fresh) {
      ++comparison.compared;
      ++comparison.slices[slice].cells;
      const ComparedCell& before = comparison.base.cells[*in_base];
      const ComparedCell& after = comparison.fresh.cells[*in_fresh];
      pair.change = classify(before, after, comparison.base.requests[before.request],
                             comparison.fresh.requests[after.request], bits);
    }
    comparison.pairs.push_back(pair);
  };
  auto b = base.begin();
  auto f = fresh.begin();
  while (b != base.end() || f != fresh.end()) {
    if (f == fresh.end() || (b != base.end() && b->first < f->first)) {
      add(b->first, b->second, std::nullopt);
      ++b;
    } else if (b == base.end() || f->first < b->first) {
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
