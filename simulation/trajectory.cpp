#include "simulation/trajectory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/suggestion.hpp"
#include "metrics/residuals.hpp"
#include "metrics/spectrum.hpp"

namespace conebench::simulation {

namespace fs = std::filesystem;

namespace {

constexpr const char* common_columns =
    "step,time_s,rows,contacts,iterations,status,natural_map_scaled,configuration_residual,kinetic_J,potential_J,"
    "momentum_x,momentum_y,momentum_z,angular_x,angular_y,angular_z,joint_drift,r_primal,r_dual,r_ncp,r_nat,setup_ms,"
    "solve_ms,factorizations,own_residual,state_time_s,fallback,active,failed,passes,"
    "inverse_error_N,weight_N,"
    "impulse_norm,impulse_change,internal_force_N,internal_error_N,contact_error_N";
constexpr const char* impulse_columns =
    "step,state_time_s,contact,first_body,second_body,x,y,z,gap_m,force_x,force_y,force_z";

/// A model's name as a word of a CSV file, which no reader takes for two cells or a formula.
std::string csv_word(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  if (!name.empty() && name.front() == '-') name.front() = '_';
  return name;
}

/// λ/Δt of each contact in world axes, on its second body [N].
std::vector<Eigen::Vector3d> contact_forces(const Simulation& simulation, const StepRecord& record) {
  const auto& contacts = simulation.mechanics().contacts;
  std::vector<Eigen::Vector3d> forces;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const Index row = record.problem.cones().contact_row(Index(c));
    const Eigen::Vector3d impulse(record.impulse[row], record.impulse[row + 1] * contacts[c].across,
                                  record.impulse[row + contacts[c].normal()]);
    forces.emplace_back(contacts[c].frame * impulse / simulation.time_step());
  }
  return forces;
}

/// Of G + R, on its range; 1 without rows.
double conditioning(const ContactProblem& problem) {
  if (problem.rows() == 0) return 1.0;
  Matrix matrix = problem.blocks().dense();
  if (problem.compliance().size() > 0) matrix.diagonal() += problem.compliance();
  const Spectrum spectrum = analyse_spectrum(BlockSparseMatrix::from_dense(matrix, problem.cones()));
  return spectrum.conditioning.value_or(1.0);
}

/// Contacts that push: more than a billionth of the one that does most.
Index active_contacts(const std::vector<Eigen::Vector3d>& forces, const std::vector<ContactPoint>& contacts) {
  Vector normal(Index(forces.size()));
  for (std::size_t c = 0; c < forces.size(); ++c) normal[Index(c)] = forces[c].dot(contacts[c].frame.col(2));
  const double most = normal.size() == 0 ? 0.0 : normal.maxCoeff();
  return most <= 0.0 ? 0 : (normal.array() > 1e-9 * most).count();
}

/// 0: solved; 1: the loop's solver was not; 2: nor was the step without friction that was to take its place.
int failed(const StepRecord& record) {
  if (record.fallback == Fallback::failed) return 2;
  return record.solved ? 0 : 1;
}

void append_vector(std::string& text, const auto& values) {
  for (const double value : values) fmt::format_to(std::back_inserter(text), ",{}", value);
}

}  // namespace

Result<std::vector<int>> body_numbers(const Engine& engine, const std::vector<std::string>& names) {
  std::vector<int> numbers;
  for (const std::string& name : names) {
    const auto number = engine.body_number(name);
    if (!number) {
      std::vector<std::string> known;
      for (int b = 0; b <= engine.dimensions().bodies; ++b) known.push_back(engine.body_name(b));
      return Error{ErrorCode::wrong_usage, fmt::format("no body '{}' in the model; {}known: {}", name,
                                                       did_you_mean(name, known), fmt::join(known, ", "))};
    }
    numbers.push_back(*number);
  }
  return numbers;
}

TrajectoryFiles::TrajectoryFiles(Simulation& simulation, const TrajectoryOptions& options, std::vector<int> bodies,
                                 fs::path folder)
    : simulation_(&simulation),
      clock_(std::make_shared<StageClock>()),
      state_(options.state),
      conditioning_(options.conditioning),
      bodies_(std::move(bodies)),
      folder_(std::move(folder)) {
  simulation.watch([clock = clock_](Stage stage) { clock->begin(stage); });
}

Result<void> TrajectoryFiles::open(Stream& stream, const char* name, const std::string& heading) const {
  stream.reset(std::fopen((folder_ / name).c_str(), "w"));
  if (stream == nullptr) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: cannot be written: {}", (folder_ / name).string(), std::strerror(errno))};
  }
  std::fputs((heading + "\n").c_str(), stream.get());
  return {};
}

Result<TrajectoryFiles> TrajectoryFiles::create(const fs::path& folder, const TrajectoryOptions& options,
                                                Simulation& simulation) {
  CONEBENCH_TRY(auto bodies, body_numbers(simulation.engine(), options.bodies));
  TrajectoryFiles files(simulation, options, std::move(bodies), folder);
  CONEBENCH_CHECK(files.open(files.trajectory_, trajectory_name, files.heading()));
  std::error_code ignored;  // what is not there need not go
  fs::remove(folder / impulses_name, ignored);
  if (!options.impulses) return files;
  CONEBENCH_CHECK(files.open(files.impulses_, impulses_name, impulse_columns));
  return files;
}

Result<void> TrajectoryFiles::check() const {
  for (const auto& [stream, name] : {std::pair(trajectory_.get(), trajectory_name), {impulses_.get(), impulses_name}}) {
    if (stream == nullptr || std::ferror(stream) == 0) continue;
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: could not be written whole; the disk may be full", (folder_ / name).string())};
  }
  return {};
}

std::string TrajectoryFiles::heading() const {
  std::string text = common_columns;
  const auto numbered = [&](char letter, Index count) {
    for (Index i = 1; i <= count; ++i) text += fmt::format(",{}{}", letter, i);
  };
  const Dimensions& size = simulation_->engine().dimensions();
  if (conditioning_) text += ",conditioning";
  if (state_) {
    numbered('q', size.positions);
    numbered('v', size.velocities);
  }
  for (const int body : bodies_) {
    const std::string name = csv_word(simulation_->engine().body_name(body));
    for (const char* of : {"x", "y", "z", "qw", "qx", "qy", "qz", "force_x", "force_y", "force_z"}) {
      text += fmt::format(",{}_{}", name, of);
    }
  }
  return text;
}

std::string TrajectoryFiles::line(const StepRecord& record, const std::vector<Eigen::Vector3d>& forces) const {
  Engine& engine = simulation_->engine();
  const Energy energy = engine.energy();
  const auto [p, l] = engine.momentum();
  const SolveSummary& solve = record.summary;
  std::string text =
      fmt::format("{},{:.9g},{},{},{},{},{:.3g},{:.3g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.9g},{:.3g}",
                  record.step, record.time, record.problem.rows(), record.problem.cones().contacts(), solve.iterations,
                  to_string(solve.status), record.residual, record.configuration_residual, energy.kinetic,
                  energy.potential, p[0], p[1], p[2], l[0], l[1], l[2], record.joint_drift);
  const Judgement judgement = record.problem.rows() > 0 ? judge(record.problem, record.impulse) : Judgement{};
  for (const char* name : {"r_primal", "r_dual", "r_ncp", "r_nat"}) {
    text += fmt::format(",{:.3g}", judgement.residuals.empty() ? 0.0 : judgement[name].value);
  }
  constexpr double ms = 1e3;
  const std::string factorizations = solve.factorizations == not_counted ? "nan" : std::to_string(solve.factorizations);
  text += fmt::format(",{:.6g},{:.6g},{},{:.3g},{:.12g},{}", ms * clock_->seconds(Stage::setup),
                      ms * clock_->seconds(Stage::solve), factorizations, solve.own_residual, record.state.time,
                      to_string(record.fallback));
  const auto masses = engine.body_masses();
  text += fmt::format(",{},{},{},{:.6g},{:.12g}", active_contacts(forces, simulation_->mechanics().contacts),
                      failed(record), record.passes, record.inverse_error,
                      engine.dimensions().gravity * std::accumulate(masses.begin(), masses.end(), 0.0));
  const auto& guess = record.problem.guess();
  text += fmt::format(",{:.9g},{:.9g}", record.impulse.norm(),
                      guess ? (record.impulse - *guess).norm() : record.impulse.norm());
  text += fmt::format(",{:.9g},{:.6g},{:.6g}", record.internal_force, record.internal_error, record.contact_error);
  if (conditioning_) text += fmt::format(",{:.6g}", conditioning(record.problem));
  if (state_) {
    append_vector(text, record.state.position);
    append_vector(text, record.state.velocity);
  }
  return text;
}

std::string TrajectoryFiles::of_bodies(const std::vector<Eigen::Vector3d>& forces) const {
  const auto& contacts = simulation_->mechanics().contacts;
  std::string text;
  for (const int body : bodies_) {
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    for (std::size_t c = 0; c < contacts.size(); ++c) {
      if (contacts[c].first_body == body) force -= forces[c];
      if (contacts[c].second_body == body) force += forces[c];
    }
    const BodyPose pose = simulation_->engine().body_pose(body);
    append_vector(text, pose.position);
    append_vector(text, pose.quaternion);
    append_vector(text, force);
  }
  return text;
}

std::string TrajectoryFiles::impulse_lines(const StepRecord& record, const std::vector<Eigen::Vector3d>& forces) const {
  const auto& contacts = simulation_->mechanics().contacts;
  std::string text;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const ContactPoint& contact = contacts[c];
    const auto name = [&](int body) { return csv_word(simulation_->engine().body_name(body)); };
    text += fmt::format("{},{:.12g},{},{},{}", record.step, record.state.time, record.identities[c],
                        name(contact.first_body), name(contact.second_body));
    append_vector(text, contact.position);
    text += fmt::format(",{}", contact.gap);
    append_vector(text, forces[c]);
    text += '\n';
  }
  return text;
}

void TrajectoryFiles::add(const StepRecord& record) {
  const auto forces = contact_forces(*simulation_, record);
  const std::string text = line(record, forces) + of_bodies(forces) + '\n';
  std::fputs(text.c_str(), trajectory_.get());
  std::fflush(trajectory_.get());
  if (impulses_ != nullptr) {
    std::fputs(impulse_lines(record, forces).c_str(), impulses_.get());
    std::fflush(impulses_.get());
  }
  clock_->start(Stage::rest);
}

}  // namespace conebench::simulation
