#include "simulation/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/feasibility.hpp"
#include "metrics/features.hpp"
#include "metrics/residuals.hpp"

namespace conebench::simulation {

namespace {

/// The contacts that take an impulse, ascending.
std::vector<std::int64_t> pressed(const StepRecord& record) {
  const ConeProduct& cones = record.problem.cones();
  std::vector<std::int64_t> identities;
  for (std::size_t c = 0; c < record.identities.size(); ++c) {
    if (record.impulse[cones.contact_row(Index(c)) + cones.normal_of(Index(c))] > 0.0)
      identities.push_back(record.identities[c]);
  }
  std::sort(identities.begin(), identities.end());
  return identities;
}

StepOutcome outcome_of(const StepRecord& record) {
  switch (record.fallback) {
    case Fallback::frictionless: return StepOutcome::frictionless;
    case Fallback::failed: return StepOutcome::failed;
    case Fallback::unused: break;
  }
  return record.solved ? StepOutcome::solved : StepOutcome::unsolved;
}

constexpr double max_feasibility_s = 0.5;

void look_for_contradiction(Simulation& simulation, const StepRecord& record, double tolerance,
                            SamplingSummary& summary) {
  const Feasibility found = check_feasibility(record.problem, max_feasibility_s);
  if (found.state != FeasibilityState::infeasible || found.verdict_bound <= tolerance) return;
  InfeasibleStep step{record.step, found.margin, {}};
  const ConeProduct& cones = record.problem.cones();
  const auto& contacts = simulation.mechanics().contacts;
  const Index contact = found.worst_block - cones.first_contact_row();
  if (contact >= 0 && contact < cones.contacts() && static_cast<Index>(contacts.size()) == cones.contacts()) {
    const ContactPoint& point = contacts[static_cast<std::size_t>(contact)];
    step.bodies = {simulation.engine().body_name(point.first_body), simulation.engine().body_name(point.second_body)};
  }
  summary.infeasible.push_back(std::move(step));
}

}  // namespace

void SampleOptions::declare(OptionBinder& bind, SampleOptions& o) {
  bind.choice("sample", o.sample, {"steps", "impacts", "stratified"},
              "every n-th step; steps in which a contact takes an impulse that took none before; or every n-th step "
              "until each stratum has per_stratum");
  bind.integer("every", o.every, {.minimum = 1, .maximum = 1e9, .doc = "n: one sample in so many steps or impacts"});
  bind.integer("per_stratum", o.per_stratum,
               {.minimum = 1, .maximum = 1e9, .doc = "stratified: samples of each category and band of conditioning"});
  bind.text("categories", o.categories,
            "stratified: those of Tsounis VII-C that are wanted, as sparse-contacts,dense-contacts (or with blanks); "
            "none: all "
            "that are met");
  bind.text("bands", o.bands, "stratified: edges of the bands of conditioning");
}

Result<void> sample(Simulation& simulation, long steps, double tolerance, const SampleOptions& options,
                    const SamplingWatch& watch, SamplingSummary& summary) {
  CONEBENCH_TRY(auto strata, Strata::create(options.categories, options.bands, options.per_stratum));
  const bool stratified = options.sample == "stratified";
  std::vector<std::int64_t> pressed_before;
  long impacts = 0;
  bool due = false;
  std::optional<Error> end;
  for (long k = 1; k <= steps && !end; ++k) {
    if (watch.interrupted != nullptr && *watch.interrupted) break;
    CONEBENCH_TRY(auto record, simulation.step());
    summary.steps = k;
    if (!record.solved && summary.unsolved++ < max_feasibility_checks)
      look_for_contradiction(simulation, record, tolerance, summary);
    if (!(record.residual <= summary.worst_residual)) summary.worst_residual = record.residual;
    summary.worst_configuration_residual =
        std::max(summary.worst_configuration_residual, record.configuration_residual);
    if (watch.step) watch.step(record);

    std::vector<std::int64_t> pressed_now = pressed(record);
    const bool impact =
        !std::includes(pressed_before.begin(), pressed_before.end(), pressed_now.begin(), pressed_now.end());
    pressed_before = std::move(pressed_now);
    summary.constrained += record.problem.rows() > 0 ? 1 : 0;
    if (options.sample == "impacts") {
      due = impact && ++impacts % options.every == 0;
    } else if (k % options.every == 0) {
      due = true;  // and remains so until there is something to solve
    }
    summary.cut += record.contacts_cut ? 1 : 0;
    summary.frictionless += record.fallback == Fallback::frictionless ? 1 : 0;
    end = simulation.end_after(record);
    due = due || end;  // the step that ends the run is worth a look
    if (!due || record.problem.rows() == 0 || record.contacts_cut) continue;
    due = false;
    ++summary.candidates;
    const Features features = extract_features(record.problem);
    const bool taken = !stratified || strata.take(features) || end;
    if (stratified) summary.strata = strata.all();
    if (!taken) continue;
    Provenance provenance = record.problem.provenance();
    provenance.category = to_string(features.category);
    provenance.conditioning = features.spectrum.conditioning;
    if (record.problem.reference()) {
      provenance.loop = LoopSolve{outcome_of(record), to_string(record.summary.status), record.residual, tolerance};
    }
    record.problem = record.problem.with_provenance(std::move(provenance));
    if (Reference reference = record.problem.reference().value_or(Reference{}); reference.reaction.size() > 0) {
      const Judgement judgement = judge(record.problem, record.impulse);
      for (const Residual& residual : judgement.residuals) {
        if (residual.known()) reference.residuals[residual.name] = residual.value;
      }
      if (record.solved) {  // those of another answer mean nothing
        summary.modes.open += judgement.modes.open;
        summary.modes.stick += judgement.modes.stick;
        summary.modes.slip += judgement.modes.slip;
      }
      record.problem = record.problem.with_reference(std::move(reference));
    }
    CONEBENCH_CHECK(watch.sample(record));
    ++summary.samples;
    summary.full = stratified && strata.full();
    if (summary.full) break;
  }
  if (end) return *end;
  return {};
}

}  // namespace conebench::simulation
