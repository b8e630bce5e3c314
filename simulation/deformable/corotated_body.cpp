#include "simulation/deformable/corotated_body.hpp"

#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace conebench::simulation {

namespace {

/// F = U diag(s) Wᵀ with det U Wᵀ = 1: the last stretch takes the sign.
struct Polar {
  explicit Polar(const Eigen::Matrix3d& deformation) {
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(deformation, Eigen::ComputeFullU | Eigen::ComputeFullV);
    u = svd.matrixU();
    w = svd.matrixV();
    stretch = svd.singularValues();
    if ((u * w.transpose()).determinant() < 0.0) {
      u.col(2) = -u.col(2);  // of the smallest stretch
      stretch[2] = -stretch[2];
    }
  }
  Eigen::Matrix3d rotation() const { return u * w.transpose(); }
  Eigen::Matrix3d u, w;
  Eigen::Vector3d stretch;
};

}  // namespace

Eigen::Matrix3d rotation_of(const Eigen::Matrix3d& deformation) { return Polar(deformation).rotation(); }

int value_index(const SparseMatrix& matrix, Index row, Index column) {
  const int* const inner = matrix.innerIndexPtr();
  const int* const begin = inner + matrix.outerIndexPtr()[column];
  const int* const end = inner + matrix.outerIndexPtr()[column + 1];
  return static_cast<int>(std::lower_bound(begin, end, static_cast<int>(row)) - inner);
}

CorotatedBody::CorotatedBody(const TetrahedralMesh& mesh, double young, double poisson, Index first)
    : first_(first), nodes_(static_cast<Index>(mesh.nodes.size())) {
  const auto law = hooke(young, poisson);
  shear_ = law(3, 3);
  bulk_ = law(0, 1);
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

void CorotatedBody::find_values(const SparseMatrix& matrix) {
  for (Element& element : elements_) {
    std::size_t slot = 0;
    for (const Index row : element.corners) {
      for (const Index col : element.corners) {
        for (int c = 0; c < 3; ++c) element.value_indices[slot++] = value_index(matrix, row, col + c);
      }
    }
  }
}

void CorotatedBody::add_mass(double density, Vector& mass) const {
  for (const Element& element : elements_) {
    for (const Index node : element.corners) mass.segment<3>(node).array() += 0.25 * density * element.at_rest.volume;
  }
}

CorotatedBody::Share CorotatedBody::share_of(const Element& element, const Vector& positions, Tangent tangent) const {
  Share share;
  Eigen::Matrix<double, 3, 4> x;
  const Eigen::Vector3d first = positions.segment<3>(element.corners[0]);
  for (int a = 0; a < 4; ++a) x.col(a) = positions.segment<3>(element.corners[std::size_t(a)]) - first;
  const Eigen::Matrix3d edges = x.rightCols<3>();
  const Polar polar(edges * element.at_rest.inverse_edges);
  const Eigen::Matrix3d rotation = polar.rotation();
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
  if (tangent == Tangent::turned) return share;
  Eigen::Matrix<double, 3, 4> gradients;  // of the corners' shape functions
  gradients.rightCols<3>() = element.at_rest.inverse_edges.transpose();
  gradients.col(0) = -gradients.rightCols<3>().rowwise().sum();
  const double turning = 2.0 * (2.0 * shear_ - bulk_ * (polar.stretch.sum() - 3.0));
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3;
    const double sum = polar.stretch[i] + polar.stretch[j];
    const double more = sum > 0.0 ? element.at_rest.volume * (2.0 * shear_ - turning / sum) : 0.0;
    if (more == 0.0 || (more < 0.0 && tangent == Tangent::positive)) continue;
    const Eigen::Matrix3d turn =
        (polar.u.col(i) * polar.w.col(j).transpose() - polar.u.col(j) * polar.w.col(i).transpose()) / std::sqrt(2.0);
    const Eigen::Matrix<double, 3, 4> moves = turn * gradients;
    block = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = a; b < 4; ++b, ++block) share.blocks[block] += more * moves.col(a) * moves.col(b).transpose();
    }
  }
  for (const std::size_t own : {0U, 4U, 7U, 9U}) {
    share.blocks[own] = (0.5 * (share.blocks[own] + share.blocks[own].transpose())).eval();
  }
  return share;
}

void CorotatedBody::add(const Element& element, const Share& share, Index begin, Index end, Vector& force,
                        double* values) {
  // Of both sides of the diagonal one block was turned, so that they stay each other's transpose.
  constexpr std::array<std::array<std::size_t, 4>, 4> block_of = {
      {{0, 1, 2, 3}, {1, 4, 5, 6}, {2, 5, 7, 8}, {3, 6, 8, 9}}};
  for (std::size_t b = 0; b < 4; ++b) {
    if (element.corners[b] < begin || element.corners[b] >= end) continue;
    force.segment<3>(element.corners[b]) += share.force.segment<3>(3 * Index(b));
    for (std::size_t a = 0; a < 4; ++a) {
      const Eigen::Matrix3d& block = share.blocks[block_of[a][b]];
      for (std::size_t c = 0; c < 3; ++c) {
        Eigen::Map<Eigen::Vector3d> to(values + element.value_indices[12 * a + 3 * b + c]);
        if (a > b) {
          to += block.row(Index(c)).transpose();
        } else {
          to += block.col(Index(c));
        }
      }
    }
  }
}

double CorotatedBody::evaluate(const Vector& positions, Vector& force, SparseMatrix& stiffness, Workers& workers,
                               Tangent tangent) {
  double energy = 0.0;
  double* const values = stiffness.valuePtr();
  const Index last = first_ + 3 * nodes_;
  if (workers.count() == 1) {
    for (const Element& element : elements_) {
      const Share share = share_of(element, positions, tangent);
      energy += share.energy;
      add(element, share, first_, last, force, values);
    }
    return energy;
  }
  shares_.resize(elements_.size());
  workers.run(elements_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) shares_[k] = share_of(elements_[k], positions, tangent);
  });
  workers.run(std::size_t(nodes_), [&](std::size_t begin, std::size_t end) {
    const Index from = first_ + 3 * Index(begin), until = first_ + 3 * Index(end);
    for (std::size_t k = 0; k < elements_.size(); ++k) add(elements_[k], shares_[k], from, until, force, values);
  });
  for (const Share& share : shares_) energy += share.energy;
  return energy;
}

}  // namespace conebench::simulation
