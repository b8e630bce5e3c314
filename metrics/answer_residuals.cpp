#include "metrics/answer_residuals.hpp"

#include <algorithm>
#include <cmath>

namespace conebench {

namespace {

constexpr const char* ncp_residual = "natural_map_scaled";
constexpr const char* ccp_residual = "natural_map_ccp_scaled";

/// A limit or a contact.
bool opens(const BlockTable& table, Index block) {
  const Index row = table.first_row[static_cast<std::size_t>(block)];
  if (table.cone[static_cast<std::size_t>(block)] != BlockCone::none) return true;
  return table.lower[row] == 0.0 && std::isinf(table.upper[row]);
}

}  // namespace

Result<std::optional<ContactProblem>> rigid_problem(GivenProblem given) {
  const BlockTable& table = given.blocks;
  Vector bias = given.bias.value_or(Vector::Zero(table.rows()));
  bool softened = false;
  for (Index block = 0; block < table.blocks(); ++block) {
    if (given.compliance.size() == 0 || !opens(table, block)) continue;
    const Index first = table.first_row[static_cast<std::size_t>(block)];
    const Index rows = table.first_row[static_cast<std::size_t>(block) + 1] - first;
    if (given.compliance.segment(first, rows).isZero(0.0)) continue;
    const auto time_step = given.configuration.time_step;
    if (!time_step || given.gaps.size() == 0 || !std::isfinite(given.gaps[block])) {
      return std::optional<ContactProblem>();
    }
    softened = true;
    given.compliance.segment(first, rows).setZero();
    bias.segment(first, rows).setZero();
    bias[first] = std::max(given.gaps[block], 0.0) / *time_step;
  }
  if (softened) {
    if (given.primal) {
      given.free_term = given.primal->jacobian * given.primal->free_velocity + bias;
    } else if (given.free_term && given.bias) {
      *given.free_term += bias - *given.bias;
    } else {
      return std::optional<ContactProblem>();
    }
    given.bias = std::move(bias);
  }
  given.reference.reset();
  given.answers.clear();
  CONEBENCH_TRY(auto problem, problem_from_blocks(std::move(given)));
  return std::optional(std::move(problem));
}

Result<AnswerJudge> AnswerJudge::create(const ContactProblem& problem, const GivenProblem& given) {
  AnswerJudge judge(problem, given.blocks.first_row);
  judge.law_ = given.provenance.law.empty() ? "ncp" : given.provenance.law;
  CONEBENCH_TRY(judge.rigid_, rigid_problem(given));
  judge.velocity_scale_ = conebench::judge(problem, Vector::Zero(problem.rows())).velocity_scale;
  return judge;
}

LawResidual AnswerJudge::residual(const ContactProblem& problem, const Judgement& judgement, const char* name) const {
  const Residual& found = judgement[name];
  LawResidual result{.scaled = found.value, .speed = found.value * judgement.velocity_scale, .block = -1};
  if (found.worst_block < 0) return result;
  const Index row = problem.cones().block_row(found.worst_block);
  Index given_row = row;
  if (const auto& rows = problem.given_rows()) {
    given_row = std::ranges::find(rows->row, row) - rows->row.begin();
  }
  result.block = std::ranges::upper_bound(first_row_, given_row) - first_row_.begin() - 1;
  return result;
}

AnswerResiduals AnswerJudge::operator()(ConstVectorRef impulse, const std::string& law) const {
  const Judgement judgement = judge(problem_, impulse);
  AnswerResiduals result;
  result.compliant = residual(problem_, judgement, ncp_residual);
  const bool convex = (law.empty() ? law_ : law) == "ccp";
  result.own = convex ? residual(problem_, judgement, ccp_residual) : result.compliant;
  result.modes = judgement.modes;
  if (rigid_) result.rigid = residual(*rigid_, judge(*rigid_, impulse), ncp_residual);
  return result;
}

}  // namespace conebench
