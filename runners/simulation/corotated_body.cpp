#include "runners/simulation/corotated_body.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>

namespace conebench::simulation {

Eigen::Matrix3d rotation_of(const Eigen::Matrix3d& deformation) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(deformation, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0.0) u.col(2) = -u.col(2);  // of the smallest stretch
  return u * svd.matrixV().transpose();
}

CorotatedBody::CorotatedBody(const TetrahedralMesh& mesh, double young, double poisson)
    : nodes_(static_cast<Index>(mesh.nodes.size())) {
  const auto law = hooke(young, poisson);
  std::vector<Eigen::Triplet<double>> pattern;
  for (const auto& corners : mesh.tetrahedra) {
    Element element;
    element.corners = corners;
    Eigen::Matrix<double, 3, 4> points;
    for (int a = 0; a < 4; ++a) points.col(a) = mesh.nodes[std::size_t(corners[std::size_t(a)])];
    element.rest = (points.colwise() - points.col(0).eval()).reshaped();
    element.at_rest = element_of(points, law);
    elements_.push_back(element);
    for (const Index row : corners) {
      for (const Index col : corners) {
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) pattern.emplace_back(int(3 * row) + r, int(3 * col) + c, 0.0);
        }
      }
    }
  }
  stiffness_.resize(3 * nodes_, 3 * nodes_);
  stiffness_.setFromTriplets(pattern.begin(), pattern.end());
  const int* const outer = stiffness_.outerIndexPtr();
  const int* const inner = stiffness_.innerIndexPtr();
  for (Element& element : elements_) {
    std::size_t slot = 0;
    for (const Index row : element.corners) {
      for (const Index col : element.corners) {
        for (int c = 0; c < 3; ++c) {
          const int* const begin = inner + outer[3 * col + c];
          const int* const end = inner + outer[3 * col + c + 1];
          element.slots[slot++] = static_cast<int>(std::lower_bound(begin, end, int(3 * row)) - inner);
        }
      }
    }
  }
}

Vector CorotatedBody::lumped_mass(double density) const {
  Vector mass = Vector::Zero(3 * nodes_);
  for (const Element& element : elements_) {
    for (const Index node : element.corners)
      mass.segment<3>(3 * node).array() += 0.25 * density * element.at_rest.volume;
  }
  return mass;
}

double CorotatedBody::evaluate(const Vector& positions, Vector& force) {
  force.setZero(3 * nodes_);
  double* const values = stiffness_.valuePtr();
  std::fill(values, values + stiffness_.nonZeros(), 0.0);
  double energy = 0.0;
  for (const Element& element : elements_) {
    Eigen::Matrix<double, 3, 4> x;
    const Eigen::Vector3d first = positions.segment<3>(3 * element.corners[0]);
    for (int a = 0; a < 4; ++a) x.col(a) = positions.segment<3>(3 * element.corners[std::size_t(a)]) - first;
    const Eigen::Matrix3d edges = x.rightCols<3>();
    const Eigen::Matrix3d rotation = rotation_of(edges * element.at_rest.inverse_edges);
    const Eigen::Matrix<double, 3, 4> turned_back = rotation.transpose() * x;
    const Eigen::Matrix<double, 12, 1> u = turned_back.reshaped() - element.rest;
    const Eigen::Matrix<double, 12, 1> pull = element.at_rest.stiffness * u;
    energy += 0.5 * u.dot(pull);
    std::size_t slot = 0;
    for (int a = 0; a < 4; ++a) {
      force.segment<3>(3 * element.corners[std::size_t(a)]) -= rotation * pull.segment<3>(3 * a);
      for (int b = 0; b < 4; ++b, slot += 3) {
        // Of both sides of the diagonal one block is turned, so that they stay each other's transpose.
        const int row = std::min(a, b), col = std::max(a, b);
        Eigen::Matrix3d block =
            rotation * element.at_rest.stiffness.block<3, 3>(3 * row, 3 * col) * rotation.transpose();
        if (row == col) block = (0.5 * (block + block.transpose())).eval();
        if (a > b) block.transposeInPlace();
        for (int c = 0; c < 3; ++c) {
          Eigen::Map<Eigen::Vector3d>(values + element.slots[slot + std::size_t(c)]) += block.col(c);
        }
      }
    }
  }
  return energy;
}

}  // namespace conebench::simulation
