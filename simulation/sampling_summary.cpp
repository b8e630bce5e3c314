#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "simulation/sampling.hpp"

namespace conebench::simulation {

namespace {

using Json = nlohmann::json;

constexpr double min_slip = 0.1, min_open = 0.05;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

std::string SamplingSummary::why_trivial() const {
  if (samples == 0) return {};
  if (modes.all() == 0) return "its samples have no contacts";
  const double slip = double(modes.slip) / double(modes.all());
  const double open = double(modes.open) / double(modes.all());
  if (slip >= min_slip && open >= min_open) return {};
  const auto share = [](double part, const char* what, double least) {
    return fmt::format("{:.3g} % {}{}", 100 * part, what,
                       part < least ? fmt::format(" (fewer than {:g} %)", 100 * least) : "");
  };
  return fmt::format("of {} contacts {} and {}", modes.all(), share(slip, "slip", min_slip),
                     share(open, "open", min_open));
}

std::string SamplingSummary::why_empty(const SampleOptions& options, const std::string& advice) const {
  if (samples > 0) return {};
  if (constrained == 0) {
    return fmt::format("none of the {} steps had a contact, an active limit or a joint's row; {}", steps, advice);
  }
  if (cut == constrained) {
    return fmt::format(
        "in all {} steps with a constraint two shapes have more contacts than MuJoCo keeps; use a coarser "
        "height field, or smaller or round shapes",
        cut);
  }
  if (options.sample == "impacts" && candidates == 0) {
    return fmt::format("fewer than every={} contacts began to push in {} steps; set every=1, or sample=steps",
                       options.every, steps);
  }
  if (candidates == 0) {
    return fmt::format("every={} leaves none of the {} steps, of which {} had a constraint; set it lower",
                       options.every, steps, constrained);
  }
  return fmt::format("none of the {} candidates is of the categories asked for ({}); see what was met with categories=",
                     candidates, options.categories);
}

Json to_json(const SamplingSummary& summary) {
  Json infeasible = Json::array();
  for (const InfeasibleStep& step : summary.infeasible)
    infeasible.push_back({{"step", step.step}, {"margin", number(step.margin)}, {"bodies", step.bodies}});
  Json strata = Json::array();
  for (const Stratum& stratum : summary.strata) strata.push_back(to_json(stratum));
  return {{"steps", summary.steps},
          {"samples", summary.samples},
          {"unsolved_steps", summary.unsolved},
          {"frictionless_steps", summary.frictionless},
          {"infeasible_steps", infeasible},
          {"worst_residual", number(summary.worst_residual)},
          {"worst_configuration_residual", number(summary.worst_configuration_residual)},
          {"contacts", {{"open", summary.modes.open}, {"stick", summary.modes.stick}, {"slip", summary.modes.slip}}},
          {"trivial", !summary.why_trivial().empty()},
          {"why_trivial", summary.why_trivial()},
          {"strata", strata}};
}

}  // namespace conebench::simulation
