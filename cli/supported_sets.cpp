#include "cli/supported_sets.hpp"

#include <utility>

#include "problems/contact_problem.hpp"
#include "problems/scaled_rows.hpp"

namespace conebench::cli {

namespace {

struct Probe {
  SetName name;
  ContactProblem rigid, compliant;
};

/// A problem of unit G, M and J.
ContactProblem unit_problem(const ConeProduct& cones, double compliance) {
  ContactProblemData data;
  data.cones = cones;
  data.delassus = make_dense_delassus(Matrix::Identity(data.cones.rows(), data.cones.rows()));
  const Index rows = data.cones.rows();
  data.free_term = Vector::Constant(rows, -1.0);
  SparseMatrix identity(rows, rows);
  identity.setIdentity();
  data.primal = PrimalForm{identity, identity, data.free_term};
  const ContactProblem rigid = ContactProblem::create(data).value();
  if (compliance == 0.0) return rigid;
  // One value a block in scaled rows: some solvers need that.
  data.compliance = compliance * row_units_of(rigid).cwiseAbs2().cwiseInverse();
  return ContactProblem::create(std::move(data)).value();
}

Probe probe(SetName name, Index joints, Index limits, std::vector<Interval> intervals,
            const std::vector<FrictionLaw>& contacts) {
  const ConeProduct cones = ConeProduct::create(joints, limits, std::move(intervals), contacts).value();
  return {std::move(name), unit_problem(cones, 0.0), unit_problem(cones, 0.1)};
}

const std::vector<Probe>& probes() {
  static const std::vector<Probe> all = [] {
    const FrictionLaw space = FrictionLaw::coulomb(0.5);
    const FrictionLaw elliptic{ConeShape::discs, {2}, {0.5, 0.2}};
    const FrictionLaw ellipsoid{ConeShape::discs, {3}, {0.5, 0.5, 0.1}};
    const FrictionLaw torsion{ConeShape::discs, {2, 1}, {0.5, 0.5, 0.1}};
    const FrictionLaw pyramid{ConeShape::pyramid, {2}, {0.5, 0.5}};
    return std::vector<Probe>{
        probe({"joints", "bilateral rows"}, 1, 0, {}, {}),
        probe({"limits", "unilateral rows"}, 0, 1, {}, {}),
        probe({"intervals", "rows with bounds"}, 0, 0, {{-0.5, 0.5}}, {}),
        probe({"2D", "Coulomb's friction in the plane"}, 0, 0, {}, {FrictionLaw::coulomb(0.5, 1)}),
        probe({"3D", "Coulomb's friction in space"}, 0, 0, {}, {space}),
        probe({"orthotropic", "two coefficients"}, 0, 0, {}, {elliptic}),
        probe({"ellipsoid", "one group of 3 or more rows: condim 4 and 6"}, 0, 0, {}, {ellipsoid}),
        probe({"rolling", "discs of sliding and of rolling"}, 0, 0, {}, {FrictionLaw::rolling(0.5, 0.1)}),
        probe({"torsion", "discs of any sizes apart"}, 0, 0, {}, {torsion}),
        probe({"pyramid", "a pyramid by right"}, 0, 0, {}, {pyramid}),
        probe({"mixed", "contacts of different laws"}, 0, 0, {}, {space, ellipsoid}),
    };
  }();
  return all;
}

}  // namespace

const std::vector<SetName>& supported_set_names() {
  static const std::vector<SetName> names = [] {
    std::vector<SetName> list;
    for (const Probe& probe : probes()) list.push_back(probe.name);
    return list;
  }();
  return names;
}

std::vector<SupportedSet> supported_sets(const SolverRow& row) {
  std::vector<SupportedSet> sets;
  const auto solver = row.make({});
  for (const Probe& probe : probes()) {
    // A solver that this build has not got is known by its flags.
    const auto reason = [&](const ContactProblem& problem) {
      return solver ? (*solver)->unsupported_reason(problem) : unsupported_by_flags(row.info, problem);
    };
    // Some solvers need compliance.
    std::optional<std::string> why = reason(probe.rigid);
    if (why && row.info.compliance) why = reason(probe.compliant);
    sets.push_back({probe.name.name, std::move(why)});
  }
  return sets;
}

}  // namespace conebench::cli
