#pragma once

#include "problems/contact_problem.hpp"

namespace conebench::cond {

/// v with M v = M v_free + Jᵀ λ without a factorization: conjugate gradients with M's diagonal, from v_free to 1e-12 of
/// Jᵀ λ, at most 10 n_v + 100 products with M.
class VelocityOfImpulse {
 public:
  VelocityOfImpulse() = default;
  /// Keeps a handle to the problem's data.
  explicit VelocityOfImpulse(const ContactProblem& problem);
  /// Returns the number of products. No allocation.
  long operator()(ConstVectorRef impulse, VectorRef velocity);

 private:
  std::optional<ContactProblem> problem_;
  Vector inverse_diagonal_, residual_, direction_, image_;
};

}  // namespace conebench::cond
