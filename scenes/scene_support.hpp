#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/options.hpp"
#include "problems/contact_problem.hpp"
#include "scenes/scene_table.hpp"

namespace conebench {

/// Whether a scene draws random numbers; the name of a problem has the seed only then.
enum class Seeding { none, seeded };

/// "box-stack_boxes=5_seed=1": the id and the values that differ from their defaults.
std::string scene_name(const std::string& id, const OptionBinder& options, Seeding seeding, std::uint64_t seed);

/// A row of the scene table from an options struct with `static void declare(OptionBinder&, Options&)` and a maker.
/// The row assigns the options, and fills in the problem's family, name and form.
template <class Options>
SceneRow make_scene(std::string id, std::string summary, Seeding seeding,
                    Result<ContactProblem> (*make)(const Options&, std::uint64_t seed)) {
  SceneRow row;
  row.id = id;
  row.summary = std::move(summary);
  Options defaults;
  OptionBinder listing;
  Options::declare(listing, defaults);
  row.options = listing.specs();
  row.seeded = seeding == Seeding::seeded;
  row.make = [id, seeding, make](const OptionValues& values, std::uint64_t seed) -> Result<ContactProblem> {
    Options options;
    OptionBinder binder;
    Options::declare(binder, options);
    CONEBENCH_CHECK(binder.assign(values).within("scene '" + id + "'"));
    CONEBENCH_TRY(auto problem, make(options, seed).within("scene '" + id + "'"));
    Provenance provenance = problem.provenance();
    provenance.family = id;
    provenance.name = scene_name(id, binder, seeding, seed);
    provenance.form = id;
    return problem.with_provenance(std::move(provenance));
  };
  return row;
}

/// Declares the option `form`: dense, block_sparse or factored.
void declare_form(OptionBinder& bind, std::string& form);

/// G = J M⁻¹ Jᵀ in the form named by declare_form; the assembled forms come from the factored one, so that the content
/// hash does not depend on the form.
Result<std::shared_ptr<const DelassusOperator>> make_delassus(const PrimalForm& primal, const ConeProduct& cones,
                                                              const std::string& form);

/// One step of a mechanism.
struct Mechanism {
  PrimalForm primal;
  ConeProduct cones = {};
  Vector bias = {};        ///< b; empty: 0
  Vector compliance = {};  ///< R; empty: 0
  Configuration configuration = {};
};

/// Its problem: G = J M⁻¹ Jᵀ in the form named by declare_form, g = J v_free + b.
Result<ContactProblem> step_of(Mechanism mechanism, double time_step, const std::string& form,
                               const std::string& description);

/// `problem` with the reference `impulse` and its scaled natural map.
ContactProblem with_reference(const ContactProblem& problem, Vector impulse, std::string source);

}  // namespace conebench
