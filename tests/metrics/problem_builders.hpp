#pragma once

#include <initializer_list>
#include <vector>

#include "problems/contact_problem.hpp"

namespace conebench {

inline Vector vector_of(std::initializer_list<double> values) {
  Vector vector(static_cast<Index>(values.size()));
  Index i = 0;
  for (const double value : values) vector[i++] = value;
  return vector;
}

struct Shape {
  Index joints = 0;
  Index limits = 0;
  std::vector<double> friction = {};
  int dimension = 3;
};

inline ContactProblemData problem_data(const Shape& shape, const Matrix& delassus, const Vector& free_term) {
  ContactProblemData data;
  data.cones = *ConeProduct::create(shape.joints, shape.limits, shape.friction, shape.dimension);
  data.delassus = make_dense_delassus(delassus);
  data.free_term = free_term;
  return data;
}

inline ContactProblem problem_of(const Shape& shape, const Matrix& delassus, const Vector& free_term,
                                 const Vector& compliance = {}) {
  ContactProblemData data = problem_data(shape, delassus, free_term);
  data.compliance = compliance;
  return *ContactProblem::create(std::move(data));
}

inline ConeProduct interval_cones(const std::vector<Interval>& bounds, const std::vector<FrictionLaw>& contacts = {}) {
  return *ConeProduct::create(0, 0, bounds, contacts);
}

inline ContactProblem problem_with(const ConeProduct& cones, const Matrix& delassus, const Vector& free_term,
                                   const Vector& compliance = {}) {
  ContactProblemData data;
  data.cones = cones;
  data.delassus = make_dense_delassus(delassus);
  data.free_term = free_term;
  data.compliance = compliance;
  return *ContactProblem::create(std::move(data));
}

/// One contact with G = diagonal and friction 0.5.
inline ContactProblem one_contact(const Vector& free_term, double diagonal = 2.0, double friction = 0.5) {
  const Index dimension = free_term.size();
  return problem_of({.friction = {friction}, .dimension = static_cast<int>(dimension)},
                    diagonal * Matrix::Identity(dimension, dimension), free_term);
}

}  // namespace conebench
