#include "cli/inspect_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/plural.hpp"
#include "cli/output.hpp"
#include "metrics/features.hpp"
#include "reports/text.hpp"

namespace conebench::cli {

namespace {

/// What follows its name in a text.
std::string explain(const std::string& state) {
  if (state == "infeasible") return "it is proved that no impulses satisfy all constraints";
  if (state == "not_excluded") return "no proof that there is no solution, so there may be one";
  if (state == "undecided") {
    return fmt::format("CLP could not solve the linear program, in {:g} s or because of rounding", max_feasibility_s);
  }
  return "this build is without CLP, which looks for a proof that there is no solution";
}

constexpr const char* text_order[] = {"file",
                                      "title",
                                      "kind",
                                      "space_dimension",
                                      "contacts",
                                      "limits",
                                      "rows",
                                      "permuted",
                                      "joint_rows",
                                      "row_types",
                                      "law",
                                      "readers",
                                      "answers",
                                      "nonzeros",
                                      "mu_min",
                                      "mu_max",
                                      "mu_r_min",
                                      "mu_r_max",
                                      "symmetry_error",
                                      "rank",
                                      "conditioning",
                                      "coupling",
                                      "category",
                                      "noise_ratio",
                                      "feasibility",
                                      "feasibility_margin",
                                      "verdict_bound",
                                      "infeasible_block",
                                      "positive_semidefinite",
                                      "min_eigenvalue",
                                      "max_eigenvalue",
                                      "densities",
                                      "features_estimated",
                                      "guess",
                                      "solution",
                                      "scene",
                                      "step",
                                      "seed",
                                      "coordinates",
                                      "metric",
                                      "loop_outcome",
                                      "loop_status",
                                      "loop_residual",
                                      "also_other_kind",
                                      "given",
                                      "problem_hash",
                                      "problem_hash_assembled",
                                      "notes"};

/// "joints 0.00, contacts 0.67, all 0.67 of 18 velocities (n_v)", or "… of 78 = 6 n_b".
std::string densities_text(const nlohmann::json& densities, long space_dimension) {
  const auto share = [&](const char* name) {
    const auto& value = densities.at(name);
    return value.is_null() ? std::string("unknown") : fmt::format("{:.2f}", value.get<double>());
  };
  const bool of_bodies = densities.at("of") == "bodies";
  const std::string of =
      of_bodies ? fmt::format(" = {} n_b", body_velocities(static_cast<int>(std::min(space_dimension, 3L))))
                : " velocities (n_v)";
  return fmt::format("joints {}, contacts {}, all {} of {}{}", share("joints"), share("contacts"), share("all"),
                     densities.at("degrees_of_freedom").get<long>(), of);
}

/// "bilateral 2, interval 1, coulomb 3D 12 (4 contacts)", in rows.
std::string row_types_text(const nlohmann::json& types) {
  std::vector<std::string> parts;
  for (const auto& one : types) {
    parts.push_back(fmt::format("{} {}", one.at("type").get<std::string>(), one.at("rows").get<long>()));
    if (one.contains("contacts"))
      parts.back() += fmt::format(" ({})", plural(one.at("contacts").get<long>(), "contact"));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

/// "contact 3 between base and link: contributes most to the contradiction".
std::string block_text(const nlohmann::json& inspected) {
  std::string text = inspected.at("infeasible_block").get<std::string>();
  if (const auto& bodies = inspected.at("infeasible_bodies"); !bodies.is_null()) {
    text += fmt::format(" between {}", fmt::join(bodies.get<std::vector<std::string>>(), " and "));
  }
  if (const auto& identity = inspected.at("infeasible_identity"); !identity.is_null()) {
    text += fmt::format(" (identity {})", identity.get<std::int64_t>());
  }
  return text + ": contributes most to the contradiction";
}

/// What makes the rows look permuted, and what to do.
std::string permuted_text(const nlohmann::json& permuted) {
  const long row = permuted.at("normal_row").get<long>();
  const std::string reason =
      permuted.at("evidence") == "answer"
          ? fmt::format("its answer is in the cones with row {} of each contact as the normal, not with row 0", row)
          : fmt::format("row {} looks like the normal of {}: G_ii is diagonal and least there", row,
                        plural(permuted.at("contacts").get<long>(), "contact"));
  return fmt::format(
      "warning: {}; a file has (n, t1, t2), see docs/fclib_format.md, and with normal=\"last\" "
      "conebench.problem() takes (t1, t2, n)",
      reason);
}

/// Those that are estimates where features_estimated is true.
constexpr std::array<std::string_view, 5> spectral_keys = {"rank", "conditioning", "positive_semidefinite",
                                                           "min_eigenvalue", "max_eigenvalue"};

}  // namespace

std::string inspect_text(const nlohmann::json& inspected) {
  const bool has_estimates = inspected.at("features_estimated") == true;
  std::vector<std::vector<std::string>> rows;
  for (const char* name : text_order) {
    if (!inspected.contains(name)) continue;  // not asked for
    const auto& value = inspected.at(name);
    const bool of_samples = std::find(sample_keys.begin(), sample_keys.end(), name) != sample_keys.end();
    const bool of_infeasible = std::string_view(name) == "feasibility_margin" ||
                               std::string_view(name) == "verdict_bound" ||
                               std::string_view(name) == "infeasible_block";
    const bool of_some = std::string_view(name) == "law" || std::string_view(name) == "permuted";
    if (value.is_null() && (of_samples || of_infeasible || of_some)) continue;
    if (value.is_null()) {
      rows.push_back({name, std::string_view(name).starts_with("mu_") ? "none" : "unknown"});
    } else if (std::string_view(name) == "permuted") {
      rows.push_back({name, permuted_text(value)});
    } else if (value.is_object()) {
      rows.push_back({name, densities_text(value, inspected.at("space_dimension").get<long>())});
    } else if (std::string_view(name) == "row_types") {
      rows.push_back({name, row_types_text(value)});
    } else if (std::string_view(name) == "readers") {
      rows.push_back({name, fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "))});
    } else if (value.is_array()) {
      for (const auto& line : value) rows.push_back({name, line.get<std::string>()});
    } else if (value.is_boolean()) {
      rows.push_back({name, value.get<bool>() ? "yes" : "no"});
    } else if (std::string_view(name) == "verdict_bound") {
      rows.push_back({name, reports::bound_text(value.get<double>())});
    } else if (value.is_number_float()) {
      const std::string_view unit = std::string_view(name) == "noise_ratio" ? " (up to 1: g is only rounding)"
                                    : std::string_view(name) == "feasibility_margin"
                                        ? " m/s: whatever the impulses, a contact or limit closes or a joint moves at "
                                          "least that fast"
                                        : "";
      rows.push_back({name, short_number(value.get<double>()) + std::string(unit)});
    } else if (std::string_view(name) == "feasibility") {
      const std::string state = value.get<std::string>();
      rows.push_back({name, fmt::format("{}: {}", state, explain(state))});
    } else if (std::string_view(name) == "infeasible_block") {
      rows.push_back({name, block_text(inspected)});
    } else {
      rows.push_back({name, value.is_string() ? value.get<std::string>() : value.dump()});
    }
    const bool estimated =
        has_estimates && !value.is_null() && std::ranges::find(spectral_keys, name) != spectral_keys.end();
    if (estimated) rows.back()[1] = value.is_number() ? "≈ " + rows.back()[1] : rows.back()[1] + " (estimated)";
  }
  return align_columns(rows, output_columns());
}

std::string inspect_steps_text(const std::string& recording, const nlohmann::json& steps) {
  constexpr const char* keys[] = {"step", "contacts",     "limits",  "joint_rows", "rows", "degrees of freedom",
                                  "rank", "conditioning", "category"};
  std::vector<std::vector<std::string>> table = {{std::begin(keys), std::end(keys)}};
  for (const auto& step : steps) {
    std::vector<std::string> row;
    for (const std::string key : keys) {
      const auto& densities = step.value("densities", nlohmann::json());
      const bool of_densities = key == "degrees of freedom";
      const auto value = of_densities ? densities.is_object() ? densities.at("degrees_of_freedom") : nlohmann::json()
                                      : step.value(key, nlohmann::json());
      row.push_back(value.is_null()           ? "–"
                    : value.is_number_float() ? short_number(value.get<double>())
                    : value.is_string()       ? value.get<std::string>()
                                              : value.dump());
    }
    table.push_back(std::move(row));
  }
  std::string text = fmt::format("{}: a recording of {}\n", recording, plural(static_cast<long>(steps.size()), "step"));
  if (!steps.empty() && !steps.front().value("answers", nlohmann::json::array()).empty()) {
    text += fmt::format("answers: {}; `conebench judge {} --answers` judges them\n",
                        fmt::join(steps.front().at("answers").get<std::vector<std::string>>(), ", "), recording);
  }
  return text + align_columns(table, output_columns());
}

}  // namespace conebench::cli
