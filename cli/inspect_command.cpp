#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/plural.hpp"
#include "cli/answer_output.hpp"
#include "cli/command.hpp"
#include "cli/inspect_text.hpp"
#include "cli/output.hpp"
#include "cli/problem_argument.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "fclib_loader/recording.hpp"
#include "metrics/feasibility.hpp"
#include "metrics/features.hpp"
#include "metrics/noise_level.hpp"
#include "metrics/normal_rows.hpp"
#include "problems/islands.hpp"
#include "problems/mass_solve.hpp"
#include "runners/plan/data_set.hpp"
#include "runners/plan/problem_survey.hpp"
#include "simulation/sample_folder.hpp"

namespace conebench::cli {

namespace {

constexpr const char* inspect_footer = R"(Examples:
  conebench inspect problem.hdf5
  conebench inspect problems/ --sort conditioning
  conebench inspect problems/*.hdf5 --json
  conebench inspect step.hdf5 --feasibility
  conebench inspect "box-stack boxes=5")";

struct InspectArguments {
  std::vector<std::string> files;
  bool feasibility = false;
  std::string sort;
  bool reverse = false;
  bool json = false;
};

/// What needs the condensed problem: null, with the reason, where there is none (rolling friction, a singular M).
void add_features(nlohmann::json& out, const Result<ContactProblem>& problem) {
  for (const char* name : {"joint_rows", "rank", "conditioning", "features_estimated", "positive_semidefinite",
                           "min_eigenvalue", "max_eigenvalue", "coupling", "islands", "category", "densities", "given",
                           "problem_hash", "problem_hash_assembled", "noise_ratio"}) {
    out[name] = nullptr;
  }
  if (!problem) {
    out["notes"].push_back(problem.error().message);
    return;
  }
  out["joint_rows"] = problem->cones().joints();
  const Features features = extract_features(*problem);
  const Spectrum& spectrum = features.spectrum;
  out["rank"] = spectrum.rank;
  out["conditioning"] = number(spectrum.conditioning);
  out["features_estimated"] = spectrum.estimated;
  out["positive_semidefinite"] = spectrum.positive_semidefinite;
  out["min_eigenvalue"] = number(spectrum.min_eigenvalue);
  out["max_eigenvalue"] = number(spectrum.max_eigenvalue);
  out["coupling"] = number(features.coupling);
  out["islands"] = Islands(*problem).count();
  out["category"] = to_string(features.category);
  const auto ratio = noise_ratio(*problem);
  out["noise_ratio"] = number(ratio);
  if (ratio && *ratio <= 1.0) {
    out["notes"].push_back("noise-level: g is no larger than the rounding of what made it; left out of all shares");
  }
  out["given"] = problem->given_as_primal() ? "M, J, v_free" : "G";
  out["problem_hash"] = problem->content_hash();
  const auto aliases = problem->aliases();
  out["problem_hash_assembled"] = aliases ? aliases->content_hash : problem->content_hash();
  if (!problem->condenses_sparsely()) {
    out["problem_hash_assembled"] = nullptr;
    out["symmetry_error"] = number(problem->symmetry_error());
    out["notes"].push_back(
        "G is not assembled: symmetry_error is M's, what is reported of G comes from products with it and its diagonal "
        "blocks");
  }
  if (const auto& densities = features.densities) {
    out["densities"] = {{"joints", number(densities->joints)},
                        {"contacts", number(densities->contacts)},
                        {"all", number(densities->all)},
                        {"degrees_of_freedom", densities->degrees_of_freedom},
                        {"of", densities->source == ConstraintDensities::Source::bodies ? "bodies" : "M"}};
  }
}

std::string name_of(FeasibilityState state) {
  switch (state) {
    case FeasibilityState::infeasible: return "infeasible";
    case FeasibilityState::not_excluded: return "not_excluded";
    case FeasibilityState::undecided: return "undecided";
    case FeasibilityState::no_library: return "no_library";
  }
  throw std::logic_error("unknown feasibility");
}

/// What a simulation calls a contact or limit in all of its steps.
std::optional<std::int64_t> identity_of(const ContactProblem& problem, Index block) {
  const ConeProduct& cones = problem.cones();
  const BlockKind kind = cones.block_kind(block);
  if (!problem.configuration() || (kind != BlockKind::limit && kind != BlockKind::contact)) return std::nullopt;
  const bool contact = kind == BlockKind::contact;
  const auto& identities =
      contact ? problem.configuration()->contact_identities : problem.configuration()->limit_identities;
  const Index first = contact ? cones.first_contact_row() : cones.joints();
  return identities ? std::optional(identities->at(static_cast<std::size_t>(block - first))) : std::nullopt;
}

/// The names that the simulation which wrote the file has for the bodies of the contact at fault, where it is known.
std::vector<std::string> bodies_at_fault(const ContactProblem& problem, const std::filesystem::path& file) {
  const auto list = simulation::read_list(file.parent_path());
  if (!list || !problem.configuration()) return {};
  if (std::ranges::find(list->files, file.filename().string()) == list->files.end()) return {};
  for (const simulation::InfeasibleStep& step : list->summary.infeasible) {
    if (step.step == problem.configuration()->step) return step.bodies;
  }
  return {};
}

/// Whether a solution exists, with the certificate z by rows where none does. `file`: empty for a scene.
void add_feasibility(nlohmann::json& out, const Result<ContactProblem>& problem, const std::filesystem::path& file) {
  for (const char* name : {"feasibility", "feasibility_margin", "verdict_bound", "infeasible_block",
                           "infeasible_identity", "infeasible_bodies", "certificate"}) {
    out[name] = nullptr;
  }
  if (!problem) return;
  const Feasibility found = check_feasibility(*problem, max_feasibility_s);
  out["feasibility"] = name_of(found.state);
  if (found.state != FeasibilityState::infeasible) return;
  out["feasibility_margin"] = number(found.margin);
  out["verdict_bound"] = number(found.verdict_bound);
  out["infeasible_block"] = block_name(problem->cones(), found.worst_block);
  if (const auto identity = identity_of(*problem, found.worst_block)) out["infeasible_identity"] = *identity;
  if (auto bodies = bodies_at_fault(*problem, file); !bodies.empty()) out["infeasible_bodies"] = std::move(bodies);
  nlohmann::json entries = nlohmann::json::object();
  for (Index row = 0; row < found.certificate.size(); ++row) {
    if (found.certificate[row] != 0.0) entries[std::to_string(row)] = found.certificate[row];
  }
  out["certificate"] = std::move(entries);
}

/// Scene, step and seed of a simulation's sample; null where it is none.
void add_sample(nlohmann::json& out, const Result<ContactProblem>& problem) {
  for (const std::string_view name : sample_keys) out[std::string(name)] = nullptr;
  if (!problem) return;
  if (const auto& primal = problem->primal(); primal && primal->metric != Metric::unknown) {
    out["metric"] = to_string(primal->metric);
  }
  if (const auto& loop = problem->provenance().loop) {
    out["loop_outcome"] = to_string(loop->outcome);
    out["loop_status"] = loop->status;
    out["loop_residual"] = number(loop->residual);
  }
  if (!problem->configuration()) return;
  const Configuration& known = *problem->configuration();
  if (!known.scene.empty()) out["scene"] = known.scene;
  if (known.step) out["step"] = *known.step;
  if (known.seed) out["seed"] = *known.seed;
  if (known.coordinates) out["coordinates"] = to_string(*known.coordinates);
}

/// What a contact's law is called.
std::string law_name(const FrictionLaw& law) {
  const std::size_t tangents = law.coefficients.size();
  if (law.shape == ConeShape::pyramid) return fmt::format("pyramid of {} rows", law.rows());
  if (law.groups == std::vector{1}) return "coulomb 2D";
  if (law.groups == std::vector{2}) return law.isotropic() ? "coulomb 3D" : "orthotropic";
  if (law.groups.size() == 1) return fmt::format("ellipsoid of {} rows", law.rows());
  if (law.groups == std::vector{2, 1}) return "torsion";
  if (law.groups == std::vector{2, 2} && law.isotropic()) return "rolling";
  return fmt::format("discs of {} rows in {} groups", tangents + 1, law.groups.size());
}

/// Rows by the type of their set, contacts by their law.
void add_row_types(nlohmann::json& out, const Result<ContactProblem>& problem) {
  for (const char* name : {"row_types", "law", "readers"}) out[name] = nullptr;
  if (!problem) return;
  const ConeProduct& cones = problem->cones();
  nlohmann::json types = nlohmann::json::array();
  const auto add = [&](const std::string& name, Index rows, Index contacts) {
    const auto same = std::ranges::find_if(types, [&](const auto& one) { return one["type"] == name; });
    if (same == types.end()) {
      types.push_back({{"type", name}, {"rows", rows}});
      if (contacts > 0) types.back()["contacts"] = contacts;
    } else {
      (*same)["rows"] = (*same)["rows"].template get<Index>() + rows;
      (*same)["contacts"] = (*same)["contacts"].template get<Index>() + contacts;
    }
  };
  if (cones.joints() > 0) add("bilateral", cones.joints(), 0);
  if (cones.limits() > 0) add("unilateral", cones.limits(), 0);
  if (!cones.intervals().empty()) add("interval", static_cast<Index>(cones.intervals().size()), 0);
  if (cones.coulomb() && cones.contacts() > 0) {
    add(law_name(cones.law(0)), cones.contacts() * cones.contact_dimension(), cones.contacts());
  } else {
    for (Index i = 0; i < cones.contacts(); ++i) add(law_name(cones.law(i)), cones.contact_rows(i), 1);
  }
  out["row_types"] = std::move(types);
  if (!problem->provenance().law.empty()) out["law"] = problem->provenance().law;
}

/// Rows of a contact where FCLIB has a number for them, else the dimension of space.
int dimension_of(const ConeProduct& cones) {
  return cones.coulomb() || cones.rolls() ? cones.contact_dimension() : cones.space_dimension();
}

/// The least and the largest coefficient of sliding: of the first group's tangents, behind which stand moments [m].
std::pair<double, double> sliding_friction(const ConeProduct& cones) {
  double least = std::numeric_limits<double>::infinity(), largest = 0.0;
  for (Index i = 0; i < cones.contacts(); ++i) {
    const auto coefficients = cones.coefficients(i);
    const auto tangents = std::min<std::size_t>({2, static_cast<std::size_t>(cones.groups(i)[0]), coefficients.size()});
    for (const double mu : coefficients.first(tangents)) {
      least = std::min(least, mu);
      largest = std::max(largest, mu);
    }
  }
  return {least, largest};
}

/// What became of rows and cones of a problem by blocks, and what is odd about its M.
void add_block_notes(nlohmann::json& out, const BlockTable& table, const ContactProblem& problem) {
  std::vector<std::string> parts;
  if (problem.given_rows()) {
    const auto left_out = std::ranges::count(problem.given_rows()->row, Index{-1});
    if (left_out > 0) parts.push_back(plural(left_out, "row") + " with mu = 0 left out");
  }
  const auto cones = std::ranges::count_if(table.cone, [](BlockCone cone) { return cone != BlockCone::none; });
  if (const auto limits = cones - problem.cones().contacts(); limits > 0) {
    parts.push_back(plural(limits, "contact") + " without friction read as " + (limits == 1 ? "a limit" : "limits"));
  }
  if (const auto shifts = (table.shift.array() != 0.0).count(); shifts > 0) parts.push_back(plural(shifts, "shift"));
  if (!parts.empty()) out["notes"].push_back(fmt::format("{}", fmt::join(parts, "; ")));
  if (!problem.primal()) return;
  const SparseMatrix& mass = problem.primal()->mass;
  if (!nearly_symmetric(mass)) {
    out["notes"].push_back(fmt::format("M is not symmetric: |M - M^T| / |M| = {}", short_number(asymmetry(mass))));
  } else if (Eigen::SimplicialLLT<SparseMatrix>(mass).info() != Eigen::Success) {
    out["notes"].push_back("M is not positive definite");
  }
}

/// The problem of a scene or by blocks.
nlohmann::json describe(const std::string& text, const std::string& kind, const ContactProblem& problem) {
  const ConeProduct& cones = problem.cones();
  nlohmann::json out = {{"file", text},
                        {"kind", kind},
                        {"space_dimension", dimension_of(cones)},
                        {"contacts", cones.contacts()},
                        {"limits", cones.limits()},
                        {"rows", cones.rows() - cones.joints()},
                        {"nonzeros", count_nonzeros(problem)},
                        {"mu_min", nullptr},
                        {"mu_max", nullptr},
                        {"mu_r_min", nullptr},
                        {"mu_r_max", nullptr},
                        {"symmetry_error", number(problem.symmetry_error())},
                        {"guess", problem.guess().has_value()},
                        {"solution", problem.reference().has_value()},
                        {"title", problem.provenance().name},
                        {"also_other_kind", false},
                        {"notes", nlohmann::json::array()}};
  if (cones.contacts() > 0) {
    const auto [least, largest] = sliding_friction(cones);
    out["mu_min"] = least;
    out["mu_max"] = largest;
  }
  if (cones.contacts() > 0 && cones.rolls()) {
    const auto rolling = cones.rolling_friction();
    out["mu_r_min"] = *std::min_element(rolling.begin(), rolling.end());
    out["mu_r_max"] = *std::max_element(rolling.begin(), rolling.end());
  }
  if (!problem.condenses_sparsely()) out["notes"].push_back("nonzeros counts the entries of M and J");
  return out;
}

std::string name_of(NormalDoubt::Evidence evidence) {
  switch (evidence) {
    case NormalDoubt::Evidence::answer: return "answer";
    case NormalDoubt::Evidence::lever_arms: return "lever_arms";
  }
  throw std::logic_error("unknown evidence");
}

/// Which row the contacts of a file look to have as their normal, where it is not the first; else null.
void add_normal_doubt(nlohmann::json& out, const Result<ContactProblem>& problem, const FclibContent& content) {
  out["permuted"] = nullptr;
  if (!problem || problem->cones().contacts() == 0) return;
  std::vector<Vector> answers;
  if (problem->reference()) answers.push_back(problem->reference()->reaction);
  if (content.blocks) {
    const auto& rows = problem->given_rows();
    for (const EngineAnswer& answer : content.blocks->answers) {
      answers.push_back(rows ? rows->to_problem(answer.impulse, problem->rows()) : answer.impulse);
    }
  }
  const auto doubt = doubt_normals(*problem, answers);
  if (!doubt) return;
  // Its file has the normal in front of the tangents.
  out["permuted"] = {
      {"normal_row", doubt->tangent + 1}, {"contacts", doubt->contacts}, {"evidence", name_of(doubt->evidence)}};
}

/// What of the problem follows the description of its file. `path`: empty for a scene.
void add_problem(nlohmann::json& out, const Result<ContactProblem>& problem, bool feasibility,
                 const std::filesystem::path& path) {
  add_row_types(out, problem);
  add_features(out, problem);
  if (feasibility) add_feasibility(out, problem, path);
  add_sample(out, problem);
}

/// Who can read the problem from its file; of a scene, from the one that is written of it.
nlohmann::json readers_of(FileFormat format) {
  switch (format) {
    case FileFormat::fclib: return {"FCLIB", "conebench"};
    case FileFormat::siconos: return {"Siconos' text", "conebench"};
    case FileFormat::blocks: break;
  }
  return nlohmann::json::array({"conebench"});
}

Result<nlohmann::json> inspect(const std::string& file, bool feasibility) {
  CONEBENCH_TRY(const auto scene, make_named_scene(file));
  if (scene) {
    nlohmann::json out = describe(file, "generated", *scene);
    add_problem(out, *scene, feasibility, {});
    out["readers"] = readers_of(fits_fclib(*scene) ? FileFormat::fclib : FileFormat::blocks);
    return out;
  }
  const auto path = find_problem_file(file);
  CONEBENCH_CHECK(check_problem_file(path));
  CONEBENCH_TRY(const auto content, read_fclib(path));
  const auto problem = to_problem(content, path);
  if (content.blocks) {
    if (!problem) return problem.error();
    nlohmann::json out = describe(file, to_string(content.kind), *problem);
    add_block_notes(out, content.blocks->blocks, *problem);
    add_problem(out, problem, feasibility, path);
    out["readers"] = readers_of(content.format);
    out["answers"] = nlohmann::json::array();
    for (const EngineAnswer& answer : content.blocks->answers) out["answers"].push_back(answer.name);
    add_normal_doubt(out, problem, content);
    return out;
  }
  const auto summary = summarise(content);
  nlohmann::json out = {{"file", file},
                        {"kind", summary.kind},
                        {"space_dimension", summary.space_dimension},
                        {"contacts", summary.contacts},
                        {"limits", summary.limits},
                        {"rows", summary.rows},
                        {"nonzeros", summary.nonzeros},
                        {"mu_min", number(summary.mu_min)},
                        {"mu_max", number(summary.mu_max)},
                        {"mu_r_min", number(summary.mu_r_min)},
                        {"mu_r_max", number(summary.mu_r_max)},
                        {"symmetry_error", number(summary.symmetry_error)},
                        {"guess", summary.has_guess},
                        {"solution", summary.has_solution},
                        {"title", content.title},
                        {"also_other_kind", content.also_other_kind},
                        {"notes", content.notes}};
  add_problem(out, problem, feasibility, path);
  out["readers"] = readers_of(content.format);
  add_normal_doubt(out, problem, content);
  return out;
}

/// The files of folders, and the steps of recordings. Errors: as problem_files_below; bad_input: a folder without one.
Result<std::vector<std::string>> expanded(const std::vector<std::string>& arguments) {
  std::vector<std::string> files, all;
  std::error_code failed;
  for (const std::string& argument : arguments) {
    const std::filesystem::path folder = find_problem_file(argument);
    if (!std::filesystem::is_directory(folder, failed)) {
      files.push_back(argument);
      continue;
    }
    CONEBENCH_TRY(const auto below, problem_files_below(folder));
    if (below.empty()) {
      return Error{
          ErrorCode::bad_input,
          fmt::format("{}: holds no .hdf5 or .h5 file and no problem in Siconos' text, at any depth", argument)};
    }
    for (const std::string& file : below) files.push_back((folder / file).string());
  }
  for (const std::string& file : files) {
    const auto steps = recording_steps(find_problem_file(file));
    if (!steps || steps->empty()) {
      all.push_back(file);
    } else {
      for (const auto& step : *steps) all.push_back(step.string());
    }
  }
  return all;
}

Result<int> run_inspect(const InspectArguments& arguments) {
  if (!arguments.sort.empty()) CONEBENCH_CHECK(check_column(arguments.sort).within("--sort"));
  CONEBENCH_TRY(const auto files, expanded(arguments.files));
  const bool several = files.size() > 1;
  nlohmann::json all = nlohmann::json::array();
  int code = done;
  ProgressPrinter progress = progress_on_stderr();
  long done_files = 0;
  for (const auto& file : files) {
    if (several) progress.stepped(++done_files, static_cast<long>(files.size()));
    auto one = inspect(file, arguments.feasibility);
    if (!one) {
      if (!several) return one.error();
      print_error(one.error().message);
      code = std::max(code, exit_code(one.error().code));
      all.push_back({{"file", file}, {"error", one.error().message}});
    } else {
      all.push_back(std::move(*one));
    }
  }
  progress.clear();
  if (!arguments.sort.empty()) sort_by(arguments.sort, arguments.reverse, all);
  if (arguments.json) {
    print_json("inspect", several ? nlohmann::json{{"files", all}} : all.front());
  } else {
    const auto steps = recording_steps(find_problem_file(arguments.files.front()));
    const bool recording = arguments.files.size() == 1 && steps && !steps->empty();
    print_text(several ? inspect_table(arguments.files, recording, all) : inspect_text(all.front()));
  }
  return code;
}

}  // namespace

Command add_inspect(CLI::App& root) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* app = root.add_subcommand("inspect", "What is in FCLIB files and scenes");
  app->footer(inspect_footer);
  app->add_option(
         "FILE", arguments->files,
         "FCLIB HDF5 files, recordings, Siconos' .dat files, folders of these, or scenes with their options; of "
         "several a table, a line each")
      ->required();
  app->add_flag("--feasibility", arguments->feasibility,
                "Look for a proof that there is no solution (docs/metrics.md); up to a minute a problem");
  app->add_option("--sort", arguments->sort, "Of several: order by this column, what is not known last")
      ->type_name("COLUMN");
  app->add_flag("--reverse", arguments->reverse, "With --sort: from the largest")->needs("--sort");
  app->add_flag("--json", arguments->json, "Print one JSON object ({\"files\": […]} for several files)");
  add_read_limit(*app);
  return {app, [arguments] { return run_inspect(*arguments); }};
}

}  // namespace conebench::cli
