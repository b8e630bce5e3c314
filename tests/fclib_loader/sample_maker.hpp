#pragma once

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "problems/contact_problem.hpp"
#include "scenes/random_source.hpp"

namespace conebench::testing {

/// What a sample may hold, to be combined.
struct Shape {
  Index joints = 1;
  Index limits = 2;
  Index contacts = 3;
  int dimension = 3;
  bool primal = true;
  DelassusForm form = DelassusForm::factored;
  bool compliant = true;
  bool bias = true;
};

inline Configuration configuration_of(const Shape& shape) {
  Configuration known;
  known.gaps = Vector::LinSpaced(shape.contacts, -1e-3, 1e-3);
  known.time_step = 0.01;
  known.bodies = 2;
  known.generalised_velocities = 11;
  known.joint_count = 1;
  known.coordinates = Coordinates::maximal;
  known.body_masses = Vector::LinSpaced(2, 1.5, 1000.0);
  known.contact_identities.emplace();
  for (Index k = 0; k < shape.contacts; ++k) known.contact_identities->push_back((std::int64_t{1} << 40) - 7 * k);
  known.limit_identities.emplace();
  for (Index k = 0; k < shape.limits; ++k) known.limit_identities->push_back(-k);
  known.contact_frames.emplace(shape.dimension * shape.dimension * shape.contacts);
  for (Index k = 0; k < shape.contacts; ++k) {
    const double angle = 0.3 + static_cast<double>(k), c = std::cos(angle), s = std::sin(angle);
    Matrix axes = Matrix::Identity(shape.dimension, shape.dimension);
    axes.bottomRightCorner<2, 2>() << c, -s, s, c;
    known.contact_frames->segment(axes.size() * k, axes.size()) = axes.reshaped();
  }
  known.nodes = {1, 4, 8};
  if (shape.primal) {
    known.velocity = Vector::LinSpaced(11, -1.0 / 3.0, 2.0);
    known.inertia = Vector::LinSpaced(11, 0.1, 0.7);
  }
  known.friction_axes = Vector::LinSpaced(2 * shape.contacts, 0.1, 1.0 / 3.0);
  known.scene = "nunchuk links=2 größe=1";
  known.step = 17;
  known.seed = 0xfedcba9876543210;
  return known;
}

/// Everything that the format knows, with numbers that round.
inline ContactProblem sample(const Shape& shape) {
  RandomSource random(3);
  ContactProblemData data;
  std::vector<double> friction;
  for (Index k = 0; k < shape.contacts; ++k) friction.push_back(0.1 * static_cast<double>(k));
  data.cones = ConeProduct::create(shape.joints, shape.limits, friction, shape.dimension).value();
  const Index rows = data.cones.rows();
  PrimalForm primal;
  Matrix mass = Matrix::Zero(11, 11);
  for (Index k = 0; k < 11; ++k) mass(k, k) = 1.0 / 3.0 + static_cast<double>(k);
  mass(3, 4) = mass(4, 3) = 0.1;
  primal.mass = mass.sparseView();
  Matrix jacobian(rows, 11);
  for (double& value : jacobian.reshaped()) value = random.normal();
  primal.jacobian = jacobian.sparseView();
  primal.free_velocity = Vector::LinSpaced(11, -1.0 / 3.0, 0.7);
  const auto factored = make_factored_delassus(primal.mass, primal.jacobian).value();
  const Vector bias = Vector::LinSpaced(rows, -0.1, 1.0 / 7.0);
  // Summed in another order than the reader sums.
  data.free_term = bias;
  for (Index row = 0; row < rows; ++row) {
    for (Index k = 10; k >= 0; --k) data.free_term[row] += jacobian(row, k) * primal.free_velocity[k];
  }
  data.delassus = factored;
  if (shape.form == DelassusForm::dense)
    data.delassus = make_dense_delassus(jacobian * mass.inverse() * jacobian.transpose());
  if (shape.form == DelassusForm::block_sparse) {
    Matrix matrix = jacobian * mass.inverse() * jacobian.transpose();
    // Joints couple symmetrically but for rounding, as an assembly in blocks leaves it.
    if (shape.joints > 0) matrix(0, rows - 1) = std::nextafter(matrix(rows - 1, 0), 1e9);
    data.delassus = make_block_sparse_delassus(
        BlockSparseMatrix::from_sparse(Eigen::SparseMatrix<double, Eigen::RowMajor>(matrix.sparseView()), data.cones));
  }
  if (shape.primal) data.primal = primal;
  if (shape.bias) data.bias = bias;
  if (shape.compliant) {
    data.compliance = Vector::LinSpaced(rows, 0.0, 1e-3);
    data.compliance[rows / 2] = 1e-9 / 3.0;
  }
  data.configuration = configuration_of(shape);
  data.guess = Vector::LinSpaced(rows, 0.0, 1.0 / 3.0);
  data.reference = Reference{Vector::LinSpaced(rows, 1.0 / 3.0, 2.0), 0.5, "NSGS at 1e-12", {{"natural_map", 1e-13}}};
  data.provenance.family = "nunchuk";
  data.provenance.name = "nunchuk-17";
  data.provenance.category = "dense constraints";
  data.provenance.conditioning = 1.0 / 3.0;
  data.provenance.loop = LoopSolve{StepOutcome::frictionless, "max_iterations", 1.0 / 3.0, 1e-8};
  auto problem = ContactProblem::create(std::move(data));
  if (!problem) throw std::runtime_error(problem.error().message);
  return *problem;
}

inline std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (const bool primal : {true, false}) {
    for (const DelassusForm form : {DelassusForm::factored, DelassusForm::dense, DelassusForm::block_sparse}) {
      if (!primal && form == DelassusForm::factored) continue;
      for (const bool compliant : {true, false}) {
        for (const bool bias : {true, false}) {
          all.push_back({1, 2, 3, 3, primal, form, compliant, bias});
          all.push_back({0, 3, 2, 2, primal, form, compliant, bias});
        }
      }
    }
  }
  all.push_back({0, 0, 2, 3, true, DelassusForm::factored, true, true});
  all.push_back({2, 0, 0, 3, false, DelassusForm::dense, true, true});
  all.push_back({0, 2, 0, 3, true, DelassusForm::factored, false, true});
  all.push_back({0, 2, 0, 3, false, DelassusForm::block_sparse, true, false});
  return all;
}

}  // namespace conebench::testing
