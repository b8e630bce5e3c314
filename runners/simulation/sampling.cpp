#include "runners/simulation/sampling.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace conebench::simulation {

namespace {

/// The contacts that take an impulse, ascending.
std::vector<std::int64_t> pressed(const StepRecord& record) {
  const ConeProduct& cones = record.problem.cones();
  std::vector<std::int64_t> identities;
  for (std::size_t c = 0; c < record.identities.size(); ++c) {
    if (record.impulse[cones.contact_row(Index(c)) + 2] > 0.0) identities.push_back(record.identities[c]);
  }
  std::sort(identities.begin(), identities.end());
  return identities;
}

}  // namespace

void SampleOptions::declare(OptionBinder& bind, SampleOptions& o) {
  bind.choice("sample", o.sample, {"steps", "impacts"},
              "every n-th step, or steps in which a contact takes an impulse that took none before");
  bind.integer("every", o.every, {.minimum = 1, .maximum = 1e9, .doc = "n: one sample in so many steps or impacts"});
}

ContactModes contact_modes(const ContactProblem& problem, const Vector& impulse) {
  const ConeProduct& cones = problem.cones();
  Vector sigma(problem.rows());
  problem.velocity(impulse, sigma);
  double scale = 0.0;
  for (Index b = 0; b < cones.blocks(); ++b) {
    scale = std::max(scale, problem.free_term().segment(cones.block_row(b), cones.block_size(b)).norm());
  }
  ContactModes modes;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const Index row = cones.contact_row(i);
    if (impulse[row + 2] <= 0.0) {
      ++modes.open;
    } else {
      ++(sigma.segment<2>(row).norm() > 1e-6 * scale ? modes.slip : modes.stick);
    }
  }
  return modes;
}

bool SamplingSummary::trivial() const {
  const auto share = [&](Index count) { return modes.all() > 0 ? double(count) / double(modes.all()) : 0.0; };
  return share(modes.slip) < 0.1 || share(modes.open) < 0.05;
}

Result<std::monostate> sample(Simulation& simulation, long steps, double tolerance, const SampleOptions& options,
                              const SamplingWatch& watch, SamplingSummary& summary) {
  std::vector<std::int64_t> pressed_before;
  long candidates = 0;
  for (long k = 1; k <= steps; ++k) {
    if (watch.interrupted != nullptr && *watch.interrupted) break;
    const auto record = simulation.step();
    if (!record) return record.error();
    summary.steps = k;
    summary.unsolved += record->residual > tolerance ? 1 : 0;
    summary.worst_residual = std::max(summary.worst_residual, record->residual);
    summary.worst_configuration_residual =
        std::max(summary.worst_configuration_residual, record->configuration_residual);
    if (watch.step) watch.step(*record);

    std::vector<std::int64_t> pressed_now = pressed(*record);
    const bool impact =
        !std::includes(pressed_before.begin(), pressed_before.end(), pressed_now.begin(), pressed_now.end());
    pressed_before = std::move(pressed_now);
    const bool candidate = options.sample == "steps" || impact;
    if (!candidate || ++candidates % options.every != 0 || record->problem.rows() == 0) continue;
    const ContactModes modes = contact_modes(record->problem, record->impulse);
    summary.modes.open += modes.open;
    summary.modes.stick += modes.stick;
    summary.modes.slip += modes.slip;
    if (const auto taken = watch.sample(*record); !taken) return taken.error();
    ++summary.samples;
  }
  return std::monostate{};
}

}  // namespace conebench::simulation
