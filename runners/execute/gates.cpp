#include "runners/execute/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/plural.hpp"
#include "store/cell_identity.hpp"
#include "store/certificates.hpp"

namespace conebench {

namespace {

bool supported(const CellRecord& cell) { return class_of(cell.status) != StatusClass::unsupported; }
bool ended_badly(const CellRecord& cell) { return class_of(cell.status) == StatusClass::broke; }

bool counts_for(const SolvedGate& gate, const std::string& solver) {
  return gate.solver.empty() || gate.solver == solver;
}

/// The cells whose problem says nothing of a solver at their tolerance, by what either store knows: else a certificate
/// in one would count as lost cells. A cell of either that was solved refutes the certificates of both.
class LeftOut {
 public:
  LeftOut(const StoreContents& contents, const StoreContents* baseline) {
    std::vector<const StoreContents*> stores = {&contents};
    if (baseline != nullptr) stores.push_back(baseline);
    for (const StoreContents* store : stores) {
      for (const ProblemRecord& problem : store->problems) {
        if (problem.infeasible()) marks_[problem.hash].add(problem.feasibility);
        if (problem.noise_level()) noise_.insert(problem.hash);
      }
    }
    for (const StoreContents* store : stores) {
      for (const CellRecord& cell : store->cells) {
        const auto known = marks_.find(cell.problem);
        if (known != marks_.end()) known->second.take(cell, cell.verdict, cell.tolerance);
      }
    }
  }

  bool infeasible(const CellRecord& cell) const {
    const auto known = marks_.find(cell.problem);
    return known != marks_.end() && known->second.exclude(cell.verdict, cell.tolerance);
  }
  bool noise_level(const CellRecord& cell) const { return noise_.contains(cell.problem); }
  bool operator()(const CellRecord& cell) const { return infeasible(cell) || noise_level(cell); }

 private:
  std::map<std::string, JoinedMarks> marks_;
  std::set<std::string> noise_;
};

std::string of_solver(const SolvedGate& gate) { return gate.solver.empty() ? "" : " of " + gate.solver; }

}  // namespace

Result<SolvedGate> parse_gate(const std::string& text) {
  SolvedGate gate{.text = text};
  std::string_view rest = text;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    gate.supported_only = rest.substr(at) == "@supported";
    if (gate.supported_only) rest = rest.substr(0, at);
  }
  if (const auto colon = rest.rfind(':'); colon != std::string_view::npos && colon > 0) {
    gate.solver = rest.substr(0, colon);
    rest = rest.substr(colon + 1);
  }
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), gate.share);
  if (parsed.ec != std::errc{} || parsed.ptr != rest.data() + rest.size() ||
      !(gate.share >= 0.0 && gate.share <= 1.0)) {
    return Error{ErrorCode::wrong_usage,
                 fmt::format("--require-solved {}: must be a share from 0 to 1, as in 0.9, CASCADE:0.99 or "
                             "CASCADE:0.99@supported",
                             text)};
  }
  return gate;
}

std::string GateOutcome::failure() const {
  const std::string which = gate.supported_only ? "supported cells" : "cells";
  if (cells == 0) {
    return fmt::format("gate failed: --require-solved {}: there are no {}{}", gate.text, which, of_solver(gate));
  }
  if (share() < gate.share) {
    return fmt::format("gate failed: {} of {} {}{} solved, a share of {:.4g} where --require-solved asks for {:g}",
                       solved, cells, which, of_solver(gate), share(), gate.share);
  }
  if (baseline_supported && supported < *baseline_supported) {
    return fmt::format("gate failed: --require-solved {}: {}{} {} supported, {} in the baseline", gate.text,
                       plural(supported, "cell"), of_solver(gate), supported == 1 ? "is" : "are", *baseline_supported);
  }
  return {};
}

bool is_measured(const CellRecord& cell) { return cell.repeats > 0 || cell.status == CellStatus::timeout; }

SweepVerdict judge_sweep(const StoreContents& contents, const std::set<std::string>& keys,
                         const std::vector<SolvedGate>& gates, const StoreContents* baseline) {
  SweepVerdict verdict;
  for (const SolvedGate& gate : gates) verdict.gates.push_back({.gate = gate});
  const LeftOut left_out(contents, baseline);
  std::map<std::string, std::set<double>> infeasible;  // at which tolerances
  std::set<std::string> feasible, noise_level;
  for (const CellRecord& cell : contents.cells) {
    if (!keys.contains(cell.key)) continue;
    if (left_out.infeasible(cell)) {
      infeasible[cell.problem].insert(cell.tolerance);
    } else if (!left_out.noise_level(cell)) {
      feasible.insert(cell.problem);
    }
    if (left_out.noise_level(cell)) noise_level.insert(cell.problem);
  }
  std::erase_if(noise_level, [&](const std::string& problem) { return infeasible.contains(problem); });
  verdict.infeasible = static_cast<long>(infeasible.size());
  for (const auto& [problem, tolerances] : infeasible) {
    if (feasible.contains(problem)) ++verdict.infeasible_in_part[tolerances];
  }
  verdict.noise_level = static_cast<long>(noise_level.size());
  std::set<CrossStoreIdentity> ended_in_baseline;
  if (baseline != nullptr) {
    const ConfigurationIndex configurations(*baseline);
    for (GateOutcome& gate : verdict.gates) gate.baseline_supported = 0;
    for (const CellRecord& cell : baseline->cells) {
      if (ended_badly(cell)) ended_in_baseline.insert(configurations.identity(cell));
      for (GateOutcome& gate : verdict.gates) {
        if (left_out(cell)) break;
        if (supported(cell) && counts_for(gate.gate, configurations.of(cell).solver)) ++*gate.baseline_supported;
      }
    }
  }
  const ConfigurationIndex configurations(contents);
  std::set<std::string> unreadable;
  for (const CellRecord& cell : contents.cells) {
    if (!keys.contains(cell.key)) continue;
    ++verdict.cells;
    ++verdict.statuses[to_string(cell.status)];
    verdict.solved += cell.solved ? 1 : 0;
    verdict.supported += supported(cell) ? 1 : 0;
    verdict.answered += is_measured(cell) ? 1 : 0;
    verdict.skipped += cell.status == CellStatus::skipped ? 1 : 0;
    if (class_of(cell.status) == StatusClass::unreadable) unreadable.insert(cell.problem);
    if (ended_badly(cell))
      ++(ended_in_baseline.contains(configurations.identity(cell)) ? verdict.ended_before : verdict.ended);
    for (GateOutcome& gate : verdict.gates) {
      if (left_out(cell) || !counts_for(gate.gate, configurations.of(cell).solver)) continue;
      gate.supported += supported(cell) ? 1 : 0;
      if (gate.gate.supported_only && !supported(cell)) continue;
      ++gate.cells;
      gate.solved += cell.solved ? 1 : 0;
    }
  }
  verdict.unreadable = static_cast<long>(unreadable.size());
  return verdict;
}

StoreContents with_partners(StoreContents baseline, const StoreContents& contents, const std::set<std::string>& keys) {
  const ConfigurationIndex configurations(contents);
  std::set<CrossStoreIdentity> partners;
  for (const CellRecord& cell : contents.cells) {
    if (keys.contains(cell.key)) partners.insert(configurations.identity(cell));
  }
  const ConfigurationIndex baseline_configurations(baseline);
  std::erase_if(baseline.cells,
                [&](const CellRecord& cell) { return !partners.contains(baseline_configurations.identity(cell)); });
  return baseline;
}

}  // namespace conebench
