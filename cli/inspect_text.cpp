#include "cli/inspect_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/plural.hpp"
#include "base/suggestion.hpp"
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
                                      "islands",
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

namespace {

/// A column of the table. Those that are not `always` there are left out where no line has anything in them.
struct Column {
  const char* name;
  bool always = false;
};
constexpr Column columns[] = {
    {"file", true},         {"kind"},     {"contacts", true}, {"limits"},     {"joint_rows"},         {"rows", true},
    {"degrees_of_freedom"}, {"mu_max"},   {"islands", true},  {"rank", true}, {"conditioning", true}, {"coupling"},
    {"symmetry_error"},     {"category"}, {"remarks"}};

/// What sets a problem apart, in a word each.
std::string remarks_of(const nlohmann::json& inspected) {
  std::vector<std::string> remarks;
  if (const auto ratio = inspected.value("noise_ratio", nlohmann::json());
      ratio.is_number() && ratio.get<double>() <= 1.0)
    remarks.emplace_back("noise-level");
  if (inspected.value("feasibility", nlohmann::json()) == "infeasible") remarks.emplace_back("infeasible");
  if (!inspected.value("permuted", nlohmann::json()).is_null()) remarks.emplace_back("permuted rows?");
  return fmt::format("{}", fmt::join(remarks, ", "));
}

nlohmann::json value_of(const nlohmann::json& inspected, const std::string& column) {
  if (column == "remarks") {
    const std::string remarks = remarks_of(inspected);
    return remarks.empty() ? nlohmann::json() : nlohmann::json(remarks);
  }
  if (column == "degrees_of_freedom") {
    const auto densities = inspected.value("densities", nlohmann::json());
    return densities.is_object() ? densities.at("degrees_of_freedom") : nlohmann::json();
  }
  return inspected.value(column, nlohmann::json());
}

std::string cell_text(const nlohmann::json& value) {
  if (value.is_null()) return "–";
  if (value.is_number_float()) return short_number(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

Result<void> check_column(const std::string& name) {
  std::vector<std::string> names;
  for (const Column& column : columns) names.emplace_back(column.name);
  if (std::ranges::find(names, name) != names.end()) return {};
  return Error{ErrorCode::wrong_usage,
               fmt::format("no column {}; {}columns: {}", name, did_you_mean(name, names), fmt::join(names, ", "))};
}

void sort_by(const std::string& column, bool largest_first, nlohmann::json& inspected) {
  std::stable_sort(inspected.begin(), inspected.end(), [&](const nlohmann::json& a, const nlohmann::json& b) {
    const auto x = a.contains("error") ? nlohmann::json() : value_of(a, column);
    const auto y = b.contains("error") ? nlohmann::json() : value_of(b, column);
    if (x.is_null() || y.is_null()) return !x.is_null() && y.is_null();
    return largest_first ? y < x : x < y;
  });
}

std::string inspect_table(const std::vector<std::string>& arguments, bool recording, const nlohmann::json& inspected) {
  std::vector<const nlohmann::json*> lines;
  for (const auto& one : inspected) {
    if (!one.contains("error")) lines.push_back(&one);
  }
  if (lines.empty()) return {};
  const std::string above =
      arguments.size() == 1 ? arguments.front() + (arguments.front().ends_with('/') ? "" : "/") : "";
  const auto text_of = [&](const nlohmann::json& one, const char* column) {
    std::string text = cell_text(value_of(one, column));
    if (std::string_view(column) == "file" && text.starts_with(above)) text.erase(0, above.size());
    return text;
  };
  std::vector<std::vector<std::string>> table(lines.size() + 1);
  for (const Column& column : columns) {
    const auto is_empty = [&](const nlohmann::json* one) {
      const auto value = value_of(*one, column.name);
      // An asymmetry of rounding is none.
      const bool rounding = std::string_view(column.name) == "symmetry_error" && value.is_number() && value < 1e-12;
      return value.is_null() || value == 0 || rounding;
    };
    if (!column.always && std::ranges::all_of(lines, is_empty)) continue;
    table[0].emplace_back(column.name);
    for (std::size_t k = 0; k < lines.size(); ++k) table[k + 1].push_back(text_of(*lines[k], column.name));
  }
  std::string text;
  if (recording) {
    text = fmt::format("{}: a recording of {}\n", arguments.front(), plural(static_cast<long>(lines.size()), "step"));
    if (const auto& answers = lines.front()->value("answers", nlohmann::json::array()); !answers.empty()) {
      text += fmt::format("answers: {}; `conebench judge {} --answers` judges them\n",
                          fmt::join(answers.get<std::vector<std::string>>(), ", "), arguments.front());
    }
  }
  return text + align_columns(table, output_columns());
}

}  // namespace conebench::cli
