#pragma once

#include "store/records.hpp"

namespace conebench {

/// The fields of each record, named once: visit(name, field) for plain values, visit.group(name, fields) for a record
/// within. SQL columns (a group's name in front of its fields') and JSON keys are derived from these lists, and their
/// order is that of the tables.

template <class Visitor, class Record>
void visit_machine(Visitor& visit, Record& machine) {
  visit("host", machine.host);
  visit("cpu", machine.cpu);
  visit("cores", machine.cores);
  visit("memory_mb", machine.memory_mb);
  visit("kernel", machine.kernel);
  visit("governor", machine.governor);
}

template <class Visitor, class Record>
void visit_build(Visitor& visit, Record& build) {
  visit("version", build.version);
  visit("commit", build.commit);
  visit("compiler", build.compiler);
  visit("flags", build.flags);
  visit("type", build.build_type);
  visit("native", build.native);
  visit("libraries", build.libraries);
  visit("executable", build.executable);
}

/// Without the id, which the store gives.
template <class Visitor, class Record>
void visit_run(Visitor& visit, Record& run) {
  visit("suite_name", run.suite_name);
  visit("suite_text", run.suite_text);
  visit("seed", run.seed);
  visit("started_utc", run.started_utc);
  visit("finished_utc", run.finished_utc);
  visit("mode", run.mode);
  visit("jobs", run.jobs);
  visit.group("machine", [&](auto& inner) { visit_machine(inner, run.machine); });
  visit.group("build", [&](auto& inner) { visit_build(inner, run.build); });
  visit("load_before", run.load_before);
  visit("load_after", run.load_after);
  visit("steal_share", run.steal_share);
  visit("noise", run.noise);
  visit("suite_folder", run.suite_folder);
  visit("data_folder", run.data_folder);
  visit("scope", run.scope_json);
  visit("side", run.side);
  visit("data_sets", run.data_sets);
}

template <class Visitor, class Record>
void visit_problem(Visitor& visit, Record& problem) {
  visit("hash", problem.hash);
  visit("name", problem.name);
  visit("family", problem.family);
  visit("source", problem.source);
  visit("kind", problem.kind);
  visit("space_dimension", problem.space_dimension);
  visit("contacts", problem.contacts);
  visit("joints", problem.joints);
  visit("limits", problem.limits);
  visit("rows", problem.rows);
  visit("nonzeros", problem.nonzeros);
  visit("mu_min", problem.mu_min);
  visit("mu_max", problem.mu_max);
  visit("symmetry_error", problem.symmetry_error);
  visit("rank", problem.rank);
  visit("conditioning", problem.conditioning);
  visit("features_estimated", problem.features_estimated);
  visit("category", problem.category);
  visit("duplicate_of", problem.duplicate_of);
  visit("error", problem.error);
  visit("zero_impulse", problem.zero_impulse);
  visit("copies", problem.copies);
  visit("given", problem.given);
  visit("alias", problem.alias);
  visit("factor_s", problem.factor_s);
  visit("assemble_s", problem.assemble_s);
  visit("diagonal_s", problem.diagonal_s);
  visit("feasibility", problem.feasibility.state);
  visit("feasibility_margin", problem.feasibility.margin);
  visit("infeasible_block", problem.feasibility.worst_block);
  visit("noise_ratio", problem.noise_ratio);
  visit("certificate", problem.feasibility.certificate);
  visit("verdict_bound", problem.feasibility.verdict_bound);
}

template <class Visitor, class Record>
void visit_setting(Visitor& visit, Record& setting) {
  visit("hash", setting.hash);
  visit("solver", setting.solver);
  visit("solver_version", setting.solver_version);
  visit("formulation", setting.formulation);
  visit("label", setting.label);
  visit.json_text("options", setting.options_json);
  visit("origin", setting.origin);
  visit("peer_version", setting.peer_version);
  visit("peer_released", setting.peer_released);
  visit("peer_build", setting.peer_build);
  visit("looks", setting.looks);
  visit("changed_options", setting.changed_options);
}

template <class Visitor, class Record>
void visit_timing(Visitor& visit, Record& timing) {
  visit("cold_s", timing.cold);
  visit("minimum_s", timing.minimum);
  visit("median_s", timing.median);
  visit("deviation_s", timing.deviation);
}

/// What judging alone decides, apart from the residuals: the part that a new look at a stored answer replaces.
template <class Visitor, class Record>
void visit_judgement(Visitor& visit, Record& cell) {
  visit("solved", cell.solved);
  visit("verdict_value", cell.verdict_value);
  visit("verdict_symmetrised", cell.verdict_symmetrised);
  visit("verdict_compliant", cell.verdict_compliant);
  visit("ccp_compliant", cell.ccp_compliant);
  visit("open", cell.open);
  visit("stick", cell.stick);
  visit("slip", cell.slip);
  visit("verdict_version", cell.verdict_version);
}

/// Without the run that they are of.
template <class Visitor, class Record>
void visit_times(Visitor& visit, Record& cell) {
  visit.group("setup", [&](auto& inner) { visit_timing(inner, cell.setup); });
  visit.group("solve", [&](auto& inner) { visit_timing(inner, cell.solve); });
  visit.group("total", [&](auto& inner) { visit_timing(inner, cell.total); });
  visit("wall_s", cell.wall_s);
  visit("own_setup_s", cell.own_setup_s);
  visit("own_solve_s", cell.own_solve_s);
  visit("repeats", cell.repeats);
  visit("rounds", cell.rounds);
  visit("doubts", cell.doubts);
}

/// Without the residuals, the rounds and the reaction, which have tables of their own.
template <class Visitor, class Record>
void visit_cell(Visitor& visit, Record& cell) {
  visit("key", cell.key);
  visit("run_id", cell.run_id);
  visit("problem", cell.problem);
  visit("setting", cell.setting);
  visit("tolerance", cell.tolerance);
  visit("criterion", cell.criterion);
  visit("verdict", cell.verdict);
  visit("start", cell.start);
  visit("start_used", cell.start_used);
  visit("max_iterations", cell.max_iterations);
  visit("limit_s", cell.limit_s);
  visit("limit_mb", cell.limit_mb);
  visit("status", cell.status);
  visit("reason", cell.reason);
  visit("claimed", cell.claimed);
  visit("stage", cell.stage);
  visit_judgement(visit, cell);
  visit("own_residual", cell.own_residual);
  visit("own_residual_known", cell.own_residual_known);
  visit("solved_symmetrised", cell.solved_symmetrised);
  visit("compliance_share", cell.compliance_share);
  visit("iterations", cell.iterations);
  visit("factorizations", cell.factorizations);
  visit("operator_products", cell.operator_products);
  visit_times(visit, cell);
  visit("judge_s", cell.judge_s);
  visit("peak_memory_kb", cell.peak_memory_kb);
  visit("used", cell.used);
  visit("condensation_s", cell.condensation_s);
}

template <class Visitor, class Record>
void visit_round(Visitor& visit, Record& round) {
  visit("round", round.round);
  visit("run_id", round.run_id);
  visit("minimum_s", round.minimum);
  visit("median_s", round.median);
  visit("cpu_share", round.cpu_share);
  visit("switches", round.switches);
}

template <class Visitor, class Record>
void visit_residual(Visitor& visit, Record& residual) {
  visit("value", residual.value);
  visit("missing", residual.missing);
  visit("worst_block", residual.worst_block);
}

}  // namespace conebench
