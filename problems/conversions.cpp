#include "problems/conversions.hpp"

#include <stdexcept>

namespace conebench {

Result<ContactProblem> with_form(const ContactProblem& problem, DelassusForm form) {
  if (problem.delassus().form() == form) return problem;
  ContactProblemData data = problem.data();
  switch (form) {
    case DelassusForm::dense: data.delassus = make_dense_delassus(problem.blocks().dense()); break;
    case DelassusForm::block_sparse: data.delassus = make_block_sparse_delassus(problem.blocks()); break;
    case DelassusForm::factored: {
      if (!data.primal) {
        return Error{ErrorCode::unsupported,
                     problem.provenance().name + ": no factored Delassus form, because M and J are not known"};
      }
      auto factored = make_factored_delassus(data.primal->mass, data.primal->jacobian);
      if (!factored) return factored.error();
      data.delassus = *factored;
    }
  }
  return ContactProblem::create(std::move(data));
}

ContactProblem symmetrised(const ContactProblem& problem) {
  if (problem.symmetry_error() == 0.0) return problem;
  ContactProblemData data = problem.data();
  data.delassus = make_block_sparse_delassus(problem.blocks().symmetrised());
  data.reference.reset();
  if (problem.symmetry_error() > symmetry_tolerance) data.primal.reset();
  auto result = ContactProblem::create(std::move(data));
  if (!result) throw std::logic_error("symmetrised: " + result.error().message);
  return *result;
}

}  // namespace conebench
