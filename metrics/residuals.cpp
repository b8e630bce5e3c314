#include "metrics/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "metrics/residual_evaluation.hpp"
#include "metrics/residual_formulas.hpp"
#include "problems/islands.hpp"

namespace conebench {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::optional<std::string> why_missing(const ResidualDefinition& definition, const ContactProblem& problem) {
  return definition.missing != nullptr ? definition.missing(problem) : std::nullopt;
}

template <class Real>
WorstBlock evaluate(const ResidualDefinition& definition, ResidualEvaluation<Real>& evaluation) {
  if (!evaluation.finite()) return {infinity, evaluation.first_bad_block()};
  WorstBlock worst = definition.formula(evaluation);
  if (std::isnan(worst.value)) worst.value = infinity;
  return worst;
}

/// Whether the residuals have their digits: the velocities behind the official one are right to 1e-14 of it, or to
/// 1e-24 of the largest free velocity.
template <class Real>
bool is_accurate(ResidualEvaluation<Real>& evaluation) {
  constexpr double negligible = 1e-24;
  if (!evaluation.finite() || evaluation.rounding() <= negligible) return true;
  const auto definitions = residual_definitions();
  const auto official = std::find_if(definitions.begin(), definitions.end(), [](const ResidualDefinition& definition) {
    return definition.info.name == "natural_map_scaled";
  });
  return evaluation.rounding() <= 1e-14 * evaluate(*official, evaluation).value;
}

/// Nothing where Real's digits are not enough.
template <class Real>
std::optional<Judgement> judge_in(const ContactProblem& problem, ConstVectorRef impulse) {
  ResidualEvaluation<Real> evaluation(problem);
  evaluation.set_impulse(impulse);
  if (!is_accurate(evaluation)) return std::nullopt;
  Judgement judgement;
  for (const ResidualDefinition& definition : residual_definitions()) {
    Residual residual;
    residual.name = definition.info.name;
    residual.missing = why_missing(definition, problem);
    if (residual.known()) {
      const WorstBlock worst = evaluate(definition, evaluation);
      residual.value = worst.value;
      residual.worst_block = worst.block;
    } else {
      residual.value = infinity;
    }
    judgement.residuals.push_back(std::move(residual));
  }
  judgement.modes = classify_contacts(evaluation, mode_tolerance);
  judgement.velocity_scale = to_double(evaluation.velocity_scale());
  return judgement;
}

}  // namespace

std::string_view own_model_residual(std::string_view formulation, std::string_view solver) {
  if (formulation == "NCP") return "natural_map_scaled";
  if (formulation == "CCP") return "natural_map_ccp_scaled";
  if (formulation == "LCP") {
    return solver.starts_with("LEMKE") ? "natural_map_facets_scaled" : "natural_map_box_scaled";
  }
  return formulation == "model" ? "natural_map_raisim_scaled" : "";
}

std::span<const ResidualInfo> residual_table() {
  static const std::vector<ResidualInfo> table = [] {
    std::vector<ResidualInfo> rows;
    for (const ResidualDefinition& definition : residual_definitions()) rows.push_back(definition.info);
    return rows;
  }();
  return table;
}

const Residual& Judgement::operator[](const std::string& name) const {
  for (const Residual& residual : residuals) {
    if (residual.name == name) return residual;
  }
  throw std::out_of_range("no residual is called " + name);
}

Judgement judge(const ContactProblem& problem, ConstVectorRef impulse) {
  if (auto judgement = judge_in<Doubled>(problem, impulse)) return *judgement;
  if (auto judgement = judge_in<Wide>(problem, impulse)) return *judgement;
  // What even Wide can't resolve counts as not finite.
  return *judge_in<Doubled>(problem, Vector::Constant(problem.rows(), infinity));
}

struct Verdict::Workspace {
  struct Part {
    ResidualEvaluation<double> evaluation;
    std::span<const Index> rows;
    Vector impulse;
  };
  const ResidualDefinition* definition;
  ResidualEvaluation<double> evaluation;
  std::optional<Part> part = std::nullopt;
};

Result<Verdict> Verdict::create(const std::string& name, const ContactProblem& problem) {
  std::string names;
  bool known = false;
  for (const ResidualDefinition& definition : residual_definitions()) {
    if (definition.info.usable_as_verdict) {
      if (definition.info.name == name) {
        return Verdict(std::make_shared<Workspace>(Workspace{&definition, ResidualEvaluation<double>(problem)}));
      }
      names += (names.empty() ? "" : ", ") + definition.info.name;
    }
    known = known || definition.info.name == name;
  }
  return Error{ErrorCode::wrong_usage,
               "verdict '" + name + "': " +
                   (known ? "it is 0 on wrong answers too, so it can't decide" : "there is no residual of that name") +
                   "; use one of " + names};
}

double Verdict::operator()(ConstVectorRef impulse) {
  if (auto& part = workspace_->part) {
    gather(impulse, part->rows, part->impulse);
    part->evaluation.set_impulse(part->impulse);
    return evaluate(*workspace_->definition, part->evaluation).value;
  }
  workspace_->evaluation.set_impulse(impulse);
  return evaluate(*workspace_->definition, workspace_->evaluation).value;
}

void Verdict::restrict_to(const ProblemPart* part) {
  workspace_->part.reset();
  if (part == nullptr) return;
  workspace_->part.emplace(ResidualEvaluation<double>(part->problem), part->rows,
                           Vector(static_cast<Index>(part->rows.size())));
  workspace_->part->evaluation.measure_by(workspace_->evaluation.velocity_scale());
}

bool is_solved(const Residual& verdict, double tolerance) {
  return verdict.known() && std::isfinite(verdict.value) && verdict.value <= tolerance;
}

}  // namespace conebench
