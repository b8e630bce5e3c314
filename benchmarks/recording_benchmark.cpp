#include <benchmark/benchmark.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "conebench/recording.hpp"

namespace {

namespace rec = conebench::recording;

/// A quadruped: 18 velocities, 12 joints with dry friction, 0 to 2 limits, 4 to 12 contacts, one answer.
rec::Step quadruped(int k) {
  double seed = k;
  const auto number = [&] {
    seed += 1.7;
    return std::cos(seed * seed);
  };
  const auto vector = [&](Eigen::Index size) { return rec::Vector(rec::Vector::NullaryExpr(size, number)); };
  rec::Step step;
  const int limits = k / 50 % 3, contacts = 4 + k / 30 % 9;
  for (int j = 0; j < 12; ++j) {
    step.interval(-2e-4, 2e-4).name("friction of joint " + std::to_string(j)).bodies(j, j + 1).identity(j);
  }
  for (int j = 0; j < limits; ++j) {
    step.unilateral().name("limit of joint " + std::to_string(j)).gap(number()).bodies(j, j + 1).identity(100 + j);
  }
  for (int c = 0; c < contacts; ++c) {
    rec::Block contact = step.friction({0.8, 0.8}, rec::Cone::ellipsoid);
    contact.name("floor and foot " + std::to_string(c)).gap(number()).bodies(0, 3 * (c % 4) + 3).identity(1000 + c);
    contact.point(vector(3)).frame(Eigen::Matrix3d::Identity());
  }
  using Entries = std::vector<Eigen::Triplet<double>>;
  const auto matrix = [](int rows, const Entries& entries) {
    Eigen::SparseMatrix<double, Eigen::RowMajor> result(rows, 18);
    result.setFromTriplets(entries.begin(), entries.end());
    return result;
  };
  Entries mass, jacobian;
  for (int i = 0; i < 18; ++i) {
    for (int j = 0; j <= i; ++j) {
      const bool coupled = j < 6 || i / 3 == j / 3;  // the trunk with all, a leg's joints with each other
      if (!coupled) continue;
      const double value = i == j ? 30.0 + number() : number();
      mass.emplace_back(i, j, value);
      if (i != j) mass.emplace_back(j, i, value);
    }
  }
  for (int row = 0; row < step.rows(); ++row) {
    if (row < 12 + limits) {
      jacobian.emplace_back(row, 6 + row % 12, 1.0);
      continue;
    }
    const int leg = (row - 12 - limits) / 3 % 4;
    for (int j = 0; j < 6; ++j) jacobian.emplace_back(row, j, number());
    for (int j = 0; j < 3; ++j) jacobian.emplace_back(row, 6 + 3 * leg + j, number());
  }
  step.M = matrix(18, mass);
  step.J = matrix(step.rows(), jacobian);
  step.v_free = vector(18);
  step.velocity = vector(18);
  step.b = vector(step.rows());
  step.R = vector(step.rows()).cwiseAbs();
  step.metric = "mass";
  step.law = "ccp";
  step.time_step = 0.002;
  step.time = 0.002 * k;
  for (int j = 0; j < 14; ++j) step.body_names.push_back("link " + std::to_string(j));
  step.answers["Engine 1.0"] = {vector(step.rows()), k % 7, 1e-4 * number(), 1e-8, "converged", "ccp"};
  return step;
}

void record_a_quadruped(benchmark::State& state) {
  constexpr int count = 1000;
  std::vector<rec::Step> steps;
  for (int k = 0; k < count; ++k) steps.push_back(quadruped(k));
  const auto file = std::filesystem::temp_directory_path() / "conebench_recording_benchmark.hdf5";
  for (auto _ : state) {
    rec::Recorder recorder(file);
    for (const rec::Step& step : steps) recorder.add(step);
    recorder.close();
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["bytes_per_step"] = static_cast<double>(std::filesystem::file_size(file)) / count;
  std::filesystem::remove(file);
}
BENCHMARK(record_a_quadruped)->Unit(benchmark::kMillisecond);

}  // namespace
