#include "runners/simulation/deformable/corotated_body.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <thread>

namespace conebench::simulation {

Eigen::Matrix3d rotation_of(const Eigen::Matrix3d& deformation) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(deformation, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0.0) u.col(2) = -u.col(2);  // of the smallest stretch
  return u * svd.matrixV().transpose();
}

int place_of(const SparseMatrix& matrix, Index row, Index column) {
  const int* const inner = matrix.innerIndexPtr();
  const int* const begin = inner + matrix.outerIndexPtr()[column];
  const int* const end = inner + matrix.outerIndexPtr()[column + 1];
  return static_cast<int>(std::lower_bound(begin, end, static_cast<int>(row)) - inner);
}

CorotatedBody::CorotatedBody(const TetrahedralMesh& mesh, double young, double poisson, Index first)
    : first_(first), nodes_(static_cast<Index>(mesh.nodes.size())) {
  const auto law = hooke(young, poisson);
  for (const auto& corners : mesh.tetrahedra) {
    Element element;
    for (std::size_t a = 0; a < 4; ++a) element.corners[a] = first + 3 * corners[a];
    Eigen::Matrix<double, 3, 4> points;
    for (int a = 0; a < 4; ++a) points.col(a) = mesh.nodes[std::size_t(corners[std::size_t(a)])];
    element.rest = (points.colwise() - points.col(0).eval()).reshaped();
    element.at_rest = element_of(points, law);
    elements_.push_back(element);
  }
}

void CorotatedBody::add_pattern(std::vector<Eigen::Triplet<double>>& entries) const {
  for (const Element& element : elements_) {
    for (const Index row : element.corners) {
      for (const Index col : element.corners) {
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) entries.emplace_back(int(row) + r, int(col) + c, 0.0);
        }
      }
    }
  }
}

void CorotatedBody::find_places(const SparseMatrix& matrix) {
  for (Element& element : elements_) {
    std::size_t slot = 0;
    for (const Index row : element.corners) {
      for (const Index col : element.corners) {
        for (int c = 0; c < 3; ++c) element.places[slot++] = place_of(matrix, row, col + c);
      }
    }
  }
}

void CorotatedBody::add_mass(double density, Vector& mass) const {
  for (const Element& element : elements_) {
    for (const Index node : element.corners) mass.segment<3>(node).array() += 0.25 * density * element.at_rest.volume;
  }
}

CorotatedBody::Share CorotatedBody::share_of(const Element& element, const Vector& positions) {
  Share share;
  Eigen::Matrix<double, 3, 4> x;
  const Eigen::Vector3d first = positions.segment<3>(element.corners[0]);
  for (int a = 0; a < 4; ++a) x.col(a) = positions.segment<3>(element.corners[std::size_t(a)]) - first;
  const Eigen::Matrix3d edges = x.rightCols<3>();
  const Eigen::Matrix3d rotation = rotation_of(edges * element.at_rest.inverse_edges);
  const Eigen::Matrix<double, 3, 4> turned_back = rotation.transpose() * x;
  const Eigen::Matrix<double, 12, 1> u = turned_back.reshaped() - element.rest;
  const Eigen::Matrix<double, 12, 1> pull = element.at_rest.stiffness * u;
  share.energy = 0.5 * u.dot(pull);
  std::size_t block = 0;
  for (int a = 0; a < 4; ++a) {
    share.force.segment<3>(3 * a) = -rotation * pull.segment<3>(3 * a);
    for (int b = a; b < 4; ++b, ++block) {
      share.blocks[block] = rotation * element.at_rest.stiffness.block<3, 3>(3 * a, 3 * b) * rotation.transpose();
      if (a == b) share.blocks[block] = (0.5 * (share.blocks[block] + share.blocks[block].transpose())).eval();
    }
  }
  return share;
}

void CorotatedBody::add(const Element& element, const Share& share, Vector& force, double* values) const {
  // Of both sides of the diagonal one block was turned, so that they stay each other's transpose.
  constexpr std::array<std::array<std::size_t, 4>, 4> block_of = {
      {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}}};
  std::size_t slot = 0;
  for (std::size_t a = 0; a < 4; ++a) {
    force.segment<3>(element.corners[a]) += share.force.segment<3>(3 * Index(a));
    for (std::size_t b = 0; b < 4; ++b) {
      const Eigen::Matrix3d& block = share.blocks[block_of[a][b]];
      for (int c = 0; c < 3; ++c, ++slot) {
        Eigen::Map<Eigen::Vector3d> to(values + element.places[slot]);
        if (a > b) {
          to += block.row(c).transpose();
        } else {
          to += block.col(c);
        }
      }
    }
  }
}

double CorotatedBody::evaluate(const Vector& positions, Vector& force, SparseMatrix& stiffness, int threads) {
  double energy = 0.0;
  double* const values = stiffness.valuePtr();
  if (threads <= 1) {
    for (const Element& element : elements_) {
      const Share share = share_of(element, positions);
      energy += share.energy;
      add(element, share, force, values);
    }
    return energy;
  }
  shares_.resize(elements_.size());
  const std::size_t part = (elements_.size() + std::size_t(threads) - 1) / std::size_t(threads);
  const auto work = [&](std::size_t begin) {
    const std::size_t end = std::min(elements_.size(), begin + part);
    for (std::size_t k = begin; k < end; ++k) shares_[k] = share_of(elements_[k], positions);
  };
  std::vector<std::thread> others;
  for (std::size_t begin = part; begin < elements_.size(); begin += part) others.emplace_back(work, begin);
  work(0);
  for (std::size_t k = 0; k < elements_.size(); ++k) {
    if (k > 0 && k % part == 0) others[k / part - 1].join();
    energy += shares_[k].energy;
    add(elements_[k], shares_[k], force, values);
  }
  return energy;
}

}  // namespace conebench::simulation
