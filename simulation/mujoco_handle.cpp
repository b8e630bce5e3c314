#include "simulation/mujoco_handle.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "simulation/urdf_model.hpp"

namespace conebench::simulation {

namespace {

/// Where this thread's warnings go while MuJoCo runs.
thread_local std::vector<std::string>* warnings_of_thread = nullptr;

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  return text;
}

void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
}

void on_error(const char* message) { throw EngineFailure(one_line(message)); }

void on_warning(const char* message) {
  if (warnings_of_thread != nullptr) add_once(*warnings_of_thread, one_line(message));
}

void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    mju_user_error = on_error;
    mju_user_warning = on_warning;
  });
}

struct FilesDeleter {
  void operator()(mjVFS* files) const {
    mj_deleteVFS(files);
    delete files;
  }
};

void add_file(mjVFS& files, const std::string& name, const std::string& bytes) {
  mj_addBufferVFS(&files, name.c_str(), bytes.data(), static_cast<int>(bytes.size()));
}

mjModel* load_text(const SimulatedModel& model, char* error, int error_size) {
  const char* const file = "model.xml";
  const std::unique_ptr<mjVFS, FilesDeleter> files(new mjVFS);
  mj_defaultVFS(files.get());
  add_file(*files, file, model.mjcf);
  for (const auto& [name, bytes] : model.files) add_file(*files, name, bytes);
  return mj_loadXML(file, files.get(), error, error_size);
}

/// `robot` is the model's, if it is a URDF.
mjModel* load(const SimulatedModel& model, const std::optional<UrdfRobot>& robot, UrdfFindings& found,
              std::array<char, 1000>& error) {
  const int size = static_cast<int>(error.size());
  if (robot) {
    auto compiled = compile_urdf(*robot, model.ground, found);
    if (compiled) return compiled->release();
    *fmt::format_to_n(error.data(), size - 1, "{}", compiled.error().message).out = '\0';
    return nullptr;
  }
  return model.source_file.empty() ? load_text(model, error.data(), size)
                                   : mj_loadXML(model.source_file.c_str(), nullptr, error.data(), size);
}

constexpr unsigned max_load_s = 10;
constexpr double max_load_mb = 8192.0;

/// How MuJoCo ends as it reads a file from outside, found in a process of its own, so that what its libraries print
/// (Qhull sixty lines on a flat mesh) is not shown. MuJoCo 2.2.2 crashes on some that are wrong (a URDF joint of an
/// unknown type), and waits for ever for a mesh that is a FIFO.
struct FirstLoad {
  int signal = 0;       ///< that ended it; 0: none
  std::string refusal;  ///< MuJoCo's reason not to take the model, if it has one
};

FirstLoad load_apart(const SimulatedModel& model, const std::optional<UrdfRobot>& robot) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t child = fork_process({.channel = writing.number()}, [&] {
    limit_this_process({.address_mb = max_load_mb});  // a mesh that is a device has no end
    ::alarm(max_load_s);
    mju_user_error = [](const char*) { ::_exit(0); };
    std::array<char, 1000> reported{};
    UrdfFindings found;
    if (load(model, robot, found, reported) != nullptr) return 0;
    const std::size_t size = std::strlen(reported.data());  // fits into a pipe
    return ::write(child_channel, reported.data(), size) == static_cast<ssize_t>(size) ? 0 : 1;
  });
  if (child < 0) return {};
  const int status = wait_for_end(child);
  writing = Descriptor();
  FirstLoad ended{WIFSIGNALED(status) ? WTERMSIG(status) : 0, std::string(1000, '\0')};
  const ssize_t size = ::read(reading.number(), ended.refusal.data(), ended.refusal.size());
  ended.refusal.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return ended;
}

}  // namespace

Result<void> guarded(const std::string& name, std::vector<std::string>& notes, const std::function<void()>& calls) {
  install_handlers();
  std::vector<std::string>* const outer = warnings_of_thread;
  warnings_of_thread = &notes;
  Result<void> outcome;
  try {
    calls();
  } catch (const EngineFailure& failure) {
    outcome = Error{ErrorCode::bad_input, fmt::format("{}: MuJoCo stopped: {}", name, failure.what())};
  }
  warnings_of_thread = outer;
  return outcome;
}

Result<ModelHandle> load_model(const SimulatedModel& model, const std::string& name, std::vector<std::string>& notes,
                               std::vector<LeftOut>* left_out) {
  std::array<char, 1000> message{};
  ModelHandle handle;
  const auto not_taken = [&](const std::string& why) {
    return Error{ErrorCode::bad_input,
                 fmt::format("{}: MuJoCo {} can't take the model: {}; correct it",
                             model.source_file.empty() ? name : model.source_file, mj_versionString(),
                             why.empty() ? "no reason given" : one_line(why))};
  };
  std::optional<UrdfRobot> robot;
  if (model.urdf) {
    CONEBENCH_TRY(robot, prepare_urdf(model.mjcf, *model.urdf).within(model.source_file));
  }
  if (!model.source_file.empty()) {
    install_handlers();
    const auto [signal, refusal] = load_apart(model, robot);
    if (signal == SIGALRM) {
      return Error{
          ErrorCode::bad_input,
          fmt::format("{}: is not read within {} s; look whether a mesh or texture that it names is a pipe or a "
                      "device",
                      model.source_file, max_load_s)};
    }
    if (signal != 0) {
      return Error{ErrorCode::bad_input,
                   fmt::format("{}: MuJoCo {} crashes on the model (signal {}); correct it (URDF joints: revolute, "
                               "continuous, prismatic, fixed, floating or planar)",
                               model.source_file, mj_versionString(), signal)};
    }
    if (!refusal.empty()) return not_taken(refusal);
  }
  std::vector<std::string> warnings;
  UrdfFindings found;
  CONEBENCH_CHECK(guarded(name, warnings, [&] { handle.reset(load(model, robot, found, message)); }));
  const std::string reported = one_line(message.data());
  if (handle == nullptr) return not_taken(reported);
  if (!reported.empty()) warnings.push_back(reported);
  if (robot && left_out != nullptr) *left_out = left_out_of(*robot);
  if (robot) {
    for (const std::string& note : urdf_notes(*robot, found)) notes.push_back(fmt::format("{}: {}", name, note));
  }
  for (std::string& warning : warnings) {
    // MuJoCo steps a new model once in the room that the file gives; here it gets room of its own.
    if (!warning.starts_with("Pre-allocated")) add_once(notes, std::move(warning));
  }
  return handle;
}

void adapt(mjModel& model, const EngineOptions& options) {
  if (!options.armature) {
    std::fill_n(model.dof_armature, model.nv, 0.0);
    std::fill_n(model.tendon_armature, model.ntendon, 0.0);
#if mjVERSION_HEADER >= 3011000
    std::fill_n(model.actuator_armature, model.nactuator, 0.0);
#endif
  }
  if (options.passive) {
    model.opt.disableflags |= mjDSBL_LIMIT | mjDSBL_SPRING | mjDSBL_DAMPER | mjDSBL_FRICTIONLOSS | mjDSBL_ACTUATION;
    std::fill_n(model.jnt_limited, model.njnt, 0);
    std::fill_n(model.jnt_stiffness, model.njnt, 0.0);
    std::fill_n(model.dof_damping, model.nv, 0.0);
  }
  if (options.self_contact) {
    model.opt.disableflags &= ~mjDSBL_FILTERPARENT;
    model.nexclude = 0;
    for (int g = 0; g < model.ngeom; ++g) {
      const bool touches = model.geom_contype[g] != 0 || model.geom_conaffinity[g] != 0;
      model.geom_contype[g] = model.geom_conaffinity[g] = touches ? 1 : 0;
    }
    std::fill_n(model.body_contype, model.nbody, 1);
    std::fill_n(model.body_conaffinity, model.nbody, 1);
  }
}

}  // namespace conebench::simulation
