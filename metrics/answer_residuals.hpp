#pragma once

#include <optional>
#include <string>

#include "metrics/residuals.hpp"
#include "problems/blocks.hpp"

namespace conebench {

/// The scaled natural map of an answer under one law, and the same in m/s.
struct LawResidual {
  double scaled = 0.0;  ///< +inf for an impulse that is not finite
  double speed = 0.0;   ///< scaled · V [m/s]
  Index block = -1;     ///< among the given blocks, where it is worst; -1: it is 0
};

/// One answer, under the laws that a simulation's step may be meant to have.
struct AnswerResiduals {
  LawResidual own;                   ///< on the law it was computed for, with R
  LawResidual compliant;             ///< Coulomb's NCP with R
  std::optional<LawResidual> rigid;  ///< Coulomb's NCP of rigid_problem()
  ContactModes modes;
};

/// Judges answers to one step of a simulation.
class AnswerJudge {
 public:
  /// Errors: those of problem_from_blocks.
  static Result<AnswerJudge> create(const ContactProblem& problem, const GivenProblem& given);

  /// `impulse` in the problem's rows; `law`: "ncp", "ccp", or empty: the step's own, else ncp.
  AnswerResiduals operator()(ConstVectorRef impulse, const std::string& law) const;

  /// What an answer's law is called where the answer does not say.
  const std::string& law() const { return law_; }
  /// V = max_i ‖g_i‖ of the problem [m/s]; 1 where that is 0.
  double velocity_scale() const { return velocity_scale_; }

 private:
  AnswerJudge(ContactProblem problem, std::vector<Index> first_row) : problem_(std::move(problem)) {
    first_row_ = std::move(first_row);
  }
  LawResidual residual(const ContactProblem& problem, const Judgement& judgement, const char* name) const;

  ContactProblem problem_;
  std::optional<ContactProblem> rigid_;
  std::vector<Index> first_row_;  ///< of the given blocks
  std::string law_;
  double velocity_scale_ = 1.0;
};

/// The step with rigid contacts and limits: where one has R > 0, R = 0, and b alone what keeps an open gap from closing
/// faster than in this step, max(gap, 0) / Δt on its normal. Where R = 0 it is rigid already and keeps b, and so its
/// restitution and moving surface; joints' rows and intervals keep R and b: there R is a drive's, or an armature's.
/// nullopt: the bias, the time step or the gap of such a contact is not known. Errors: those of problem_from_blocks.
Result<std::optional<ContactProblem>> rigid_problem(GivenProblem given);

}  // namespace conebench
