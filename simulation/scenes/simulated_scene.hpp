#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/options.hpp"
#include "base/result.hpp"
#include "problems/types.hpp"
#include "simulation/scenes/soft_model.hpp"
#include "simulation/scenes/trot.hpp"
#include "simulation/scenes/urdf.hpp"

namespace conebench {

/// A scene to simulate: its model and what MJCF does not hold.
///
/// Friction of a contact: the larger of the two geoms' friction[0] (MJCF's rule), 0 for condim 1. Restitution: the
/// larger of the two geoms' <geom user="ε"> (with <size nuser_geom="1"/>), 0 where there is none.
struct SimulatedModel {
  std::string
      mjcf;  ///< the whole model, unless it is `soft`; keyframe 0, where there is one, is the start (qpos, qvel, ctrl)
  std::map<std::string, std::string> files = {};  ///< what mjcf names besides, by name, in bytes
  double time_step = 0.01;                        ///< Δt [s], unless asked otherwise; 0: the model's own
  Index steps = 200;                              ///< how long it is interesting
  std::string control = "hold";                   ///< "none", "hold" (the keyframe's ctrl), "sine", "random", "trot"
  std::optional<Trot> trot = {};                  ///< of control "trot"
  std::string source_file = {};  ///< where the model was read from: messages name it, meshes are looked for beside it
  bool ground = false;           ///< of a URDF: a plane is to be added just under the lowest point
  std::optional<UrdfSource> urdf = {};  ///< mjcf is a URDF, to be prepared with this
  std::optional<SoftModel> soft = {};
};

/// A built-in scene, or a file's, that the simulator in simulation makes samples of.
struct SimulatedSceneRow {
  std::string id;        ///< "box-on-plane"; differs from those of scene_table()
  std::string summary;   ///< one line
  bool elastic = false;  ///< its model is SimulatedModel::soft, which needs no MuJoCo
  std::vector<OptionSpec> options;
  /// Defaults of the loop and the sampling (simulation) that differ from the usual ones.
  OptionValues loop = {};
  /// The model; the same values and seed give the same text. Errors: see OptionBinder::assign; bad_input where a file
  /// can't be read.
  std::function<Result<SimulatedModel>(const OptionValues& values, std::uint64_t seed)> make;
};

/// All simulated scenes, in the order in which they are listed.
std::span<const SimulatedSceneRow> simulated_scene_table();

/// The row with this id. Errors (wrong_usage): unknown; lists the known ids.
Result<const SimulatedSceneRow*> require_simulated_scene(const std::string& id);

/// A row from an options struct with `static void declare(OptionBinder&, Options&)` and a maker.
template <class Options>
SimulatedSceneRow make_simulated_scene(std::string id, std::string summary,
                                       Result<SimulatedModel> (*make)(const Options&, std::uint64_t seed),
                                       OptionValues loop = {}) {
  SimulatedSceneRow row;
  row.id = id;
  row.summary = std::move(summary);
  Options defaults;
  OptionBinder listing;
  Options::declare(listing, defaults);
  row.options = listing.specs();
  row.loop = std::move(loop);
  row.make = [id, make](const OptionValues& values, std::uint64_t seed) -> Result<SimulatedModel> {
    Options options;
    OptionBinder binder;
    Options::declare(binder, options);
    CONEBENCH_CHECK(binder.assign(values).within("scene '" + id + "'"));
    return make(options, seed).within("scene '" + id + "'");
  };
  return row;
}

}  // namespace conebench
