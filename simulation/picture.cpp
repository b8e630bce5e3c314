#include "simulation/picture.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <png.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/child_process.hpp"

namespace conebench::simulation {

namespace {

constexpr int width = 480, height = 360;
/// Drawn larger by this and averaged, so that edges blend with the white that takes the place of MuJoCo's black.
constexpr int finer = 2;
constexpr unsigned seconds_to_draw = 60;
/// What the drawing process ends with.
enum Ending : int { drawn = 0, no_library, no_context, no_framebuffer, not_written };

/// OSMesa's three functions and their constants, from its documentation: found when a picture is asked for, so that a
/// build needs no header and a run without pictures loads nothing.
class OffscreenContext {
 public:
  Ending open() {
    // MuJoCo looks for OSMesa's names among those that are loaded for all.
    void* const library = dlopen("libOSMesa.so.8", RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) return no_library;
    const auto create = reinterpret_cast<void* (*)(const int*, void*)>(dlsym(library, "OSMesaCreateContextAttribs"));
    const auto make_current =
        reinterpret_cast<unsigned char (*)(void*, void*, unsigned, int, int)>(dlsym(library, "OSMesaMakeCurrent"));
    if (create == nullptr || make_current == nullptr) return no_library;
    constexpr int format = 0x22, rgba = 0x1908, depth_bits = 0x30, stencil_bits = 0x31, profile = 0x33,
                  compatible = 0x35;
    constexpr unsigned unsigned_byte = 0x1401;
    const std::array<int, 9> wanted = {format, rgba, depth_bits, 24, stencil_bits, 8, profile, compatible, 0};
    void* const context = create(wanted.data(), nullptr);
    if (context == nullptr || make_current(context, pixels_.data(), unsigned_byte, finer * width, finer * height) == 0)
      return no_context;
    return drawn;
  }

 private:
  std::vector<unsigned char> pixels_ = std::vector<unsigned char>(std::size_t{4} * finer * width * finer * height);
};

bool is_fixed(const mjModel& m, int geom) { return m.body_weldid[m.geom_bodyid[geom]] == 0; }

struct Ball {
  Eigen::Vector3d centre;
  double radius = 0.0;
};

/// Balls around a shape: corners of a box, ends of a capsule or cylinder.
void add_balls(const mjModel& m, const mjData& d, int geom, std::vector<Ball>& balls) {
  const Eigen::Vector3d centre = Eigen::Map<const Eigen::Vector3d>(d.geom_xpos + 3 * geom);
  const Eigen::Matrix3d axes = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(d.geom_xmat + 9 * geom);
  const Eigen::Vector3d size = Eigen::Map<const Eigen::Vector3d>(m.geom_size + 3 * geom);
  switch (m.geom_type[geom]) {
    case mjGEOM_BOX:
      for (int corner = 0; corner < 8; ++corner) {
        const Eigen::Vector3d sign((corner & 1) != 0 ? 1 : -1, (corner & 2) != 0 ? 1 : -1, (corner & 4) != 0 ? 1 : -1);
        balls.push_back({centre + axes * sign.cwiseProduct(size), 0.0});
      }
      return;
    case mjGEOM_CAPSULE:
    case mjGEOM_CYLINDER:
      for (const double end : {-1.0, 1.0}) balls.push_back({centre + end * size[1] * axes.col(2), size[0]});
      return;
    default: balls.push_back({centre, m.geom_rbound[geom]});
  }
}

/// What is to be seen: all that moves, and what of the fixed shapes is not larger.
struct Sight {
  std::vector<Ball> balls;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero();
  double radius = 1.0;
};

Eigen::AlignedBox3d box_around(const std::vector<Ball>& balls) {
  Eigen::AlignedBox3d box;
  for (const Ball& ball : balls) {
    box.extend(ball.centre - Eigen::Vector3d::Constant(ball.radius));
    box.extend(ball.centre + Eigen::Vector3d::Constant(ball.radius));
  }
  return box;
}

Sight sight_of(const mjModel& m, const mjData& d) {
  Sight sight;
  for (int g = 0; g < m.ngeom; ++g) {
    if (!is_fixed(m, g)) add_balls(m, d, g, sight.balls);
  }
  if (sight.balls.empty()) sight.balls.push_back({Eigen::Vector3d::Zero(), 1.0});
  const double moving = 0.5 * box_around(sight.balls).diagonal().norm();
  for (int g = 0; g < m.ngeom; ++g) {
    if (is_fixed(m, g) && m.geom_type[g] != mjGEOM_PLANE && m.geom_rbound[g] < moving) {
      add_balls(m, d, g, sight.balls);
    }
  }
  const Eigen::AlignedBox3d box = box_around(sight.balls);
  sight.centre = box.center();
  sight.radius = 0.5 * box.diagonal().norm();
  return sight;
}

struct View {
  double azimuth = 0.0, distance = 0.0;  ///< [degrees], [m]
  Eigen::Vector3d forward, right, eye;
};
constexpr double elevation = -20.0;  ///< [degrees], negative: from above

/// As close as the balls allow, a little room left.
View view_from(const mjModel& m, const Sight& sight, double azimuth) {
  constexpr double degree = M_PI / 180.0, room = 1.08;
  const Eigen::Vector3d forward(std::cos(elevation * degree) * std::cos(azimuth * degree),
                                std::cos(elevation * degree) * std::sin(azimuth * degree),
                                std::sin(elevation * degree));
  const Eigen::Vector3d right = forward.cross(Eigen::Vector3d::UnitZ()).normalized();
  const Eigen::Vector3d up = right.cross(forward);
  const double half_height = 0.5 * m.vis.global.fovy * degree;
  const double half_width = std::atan(std::tan(half_height) * width / height);
  View view{azimuth, 0.0, forward, right, {}};
  for (const Ball& ball : sight.balls) {
    const Eigen::Vector3d arm = ball.centre - sight.centre;
    // The ball touches the edge's plane: |x| cos a + r = (distance + z) sin a.
    const auto distance = [&](double aside, double angle) {
      return (aside * std::cos(angle) + ball.radius) / std::sin(angle) - arm.dot(forward);
    };
    view.distance = std::max(
        {view.distance, distance(std::abs(arm.dot(right)), half_width), distance(std::abs(arm.dot(up)), half_height)});
  }
  view.distance *= room;
  view.eye = sight.centre - view.distance * forward;
  return view;
}

/// Planes have one side: those seen from behind hide what is before them.
bool hides(const mjModel& m, const mjData& d, int geom, const Eigen::Vector3d& eye) {
  if (m.geom_type[geom] != mjGEOM_PLANE) return false;
  const Eigen::Vector3d position = Eigen::Map<const Eigen::Vector3d>(d.geom_xpos + 3 * geom);
  const double* const axes = d.geom_xmat + 9 * geom;
  return Eigen::Vector3d(axes[2], axes[5], axes[8]).dot(eye - position) < 0.0;
}

/// From the side with the fewest planes in the way, then with the most of what is fixed (a wall) behind.
View best_view(const mjModel& m, const mjData& d, const Sight& sight) {
  View best;
  int best_score = 0;
  for (const double azimuth : {130.0, 50.0, 230.0, 310.0}) {
    const View view = view_from(m, sight, azimuth);
    int score = 1000 * (m.ngeom + 1);
    for (int g = 0; g < m.ngeom; ++g) {
      if (hides(m, d, g, view.eye)) score -= 1000;
      if (!is_fixed(m, g) || m.geom_type[g] == mjGEOM_PLANE) continue;
      const Eigen::Vector3d position = Eigen::Map<const Eigen::Vector3d>(d.geom_xpos + 3 * g);
      if ((position - sight.centre).dot(view.forward) > 0.5 * sight.radius) ++score;
    }
    if (score <= best_score) continue;
    best_score = score;
    best = view;
  }
  return best;
}

/// Okabe and Ito's colours, distinct to all eyes, without black.
constexpr std::array<std::array<float, 3>, 7> colours = {{{0.90F, 0.62F, 0.00F},
                                                          {0.34F, 0.71F, 0.91F},
                                                          {0.00F, 0.62F, 0.45F},
                                                          {0.94F, 0.89F, 0.26F},
                                                          {0.00F, 0.45F, 0.70F},
                                                          {0.84F, 0.37F, 0.00F},
                                                          {0.80F, 0.47F, 0.65F}}};

/// Models rarely have colours: bodies get theirs in turn, what is fixed a light grey. Planes that hide are taken out.
void colour(const mjModel& m, const mjData& d, const View& view, mjvScene& scene) {
  constexpr std::array<float, 4> untouched = {0.5F, 0.5F, 0.5F, 1.0F};
  for (int k = scene.ngeom - 1; k >= 0; --k) {
    mjvGeom& geom = scene.geoms[k];
    if (geom.objtype != mjOBJ_GEOM || geom.objid < 0) continue;
    if (hides(m, d, geom.objid, view.eye)) {
      geom = scene.geoms[--scene.ngeom];
      continue;
    }
    if (!std::equal(untouched.begin(), untouched.end(), geom.rgba)) continue;
    const auto body = static_cast<std::size_t>(m.geom_bodyid[geom.objid]);
    const bool fixed = is_fixed(m, geom.objid);
    for (std::size_t c = 0; c < 3; ++c) geom.rgba[c] = fixed ? 0.78F : colours[body % colours.size()][c];
    geom.specular = 0.2F;
    geom.reflectance = 0.0F;
  }
}

/// From the camera's side, left and above, beside whatever lights the model has.
void light(const Sight& sight, const View& view, mjvScene& scene) {
  for (int k = 0; k < scene.nlight; ++k) {
    mjvLight& own = scene.lights[k];
    if (own.headlight == 0) continue;
    std::fill_n(own.ambient, 3, 0.35F);
    std::fill_n(own.diffuse, 3, 0.3F);
    std::fill_n(own.specular, 3, 0.1F);
  }
  if (scene.nlight >= mjMAXLIGHT) return;
  mjvLight& sun = scene.lights[scene.nlight++];
  std::memset(&sun, 0, sizeof sun);
  const Eigen::Vector3f direction =
      (0.3 * view.forward + 0.4 * view.right - Eigen::Vector3d::UnitZ()).cast<float>().normalized();
  const Eigen::Vector3f position = sight.centre.cast<float>() - 4.0F * static_cast<float>(sight.radius) * direction;
  std::copy_n(direction.data(), 3, sun.dir);
  std::copy_n(position.data(), 3, sun.pos);
  sun.attenuation[0] = 1.0F;
  std::fill_n(sun.diffuse, 3, 0.55F);
  std::fill_n(sun.specular, 3, 0.15F);
#if mjVERSION_HEADER < 333
  sun.directional = 1;
#else
  sun.type = mjLIGHT_DIRECTIONAL;
#endif
  sun.castshadow = 1;
}

/// The mean of finer × finer points a pixel, white where nothing was drawn.
std::vector<unsigned char> averaged(const std::vector<unsigned char>& points, const std::vector<float>& depth) {
  std::vector<unsigned char> pixels(std::size_t{3} * width * height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::array<int, 3> sum{};
      for (int k = 0; k < finer * finer; ++k) {
        const auto point = static_cast<std::size_t>((finer * y + k / finer) * finer * width + finer * x + k % finer);
        for (std::size_t c = 0; c < 3; ++c) sum[c] += depth[point] < 1.0F ? points[3 * point + c] : 255;
      }
      const auto pixel = static_cast<std::size_t>(y * width + x);
      for (std::size_t c = 0; c < 3; ++c) pixels[3 * pixel + c] = static_cast<unsigned char>(sum[c] / (finer * finer));
    }
  }
  return pixels;
}

/// At most 256 colours, in the finest steps that suffice: a third of the file's size.
struct Palette {
  std::vector<unsigned char> colours, indices;
};

Palette palette_of(const std::vector<unsigned char>& pixels) {
  Palette palette;
  for (int step = 4; step <= 64; step += 4) {
    palette = {};
    std::map<std::array<unsigned char, 3>, unsigned char> known;
    for (std::size_t p = 0; p < pixels.size(); p += 3) {
      std::array<unsigned char, 3> colour{};
      for (std::size_t c = 0; c < 3; ++c) {
        const int rounded = (pixels[p + c] + step / 2) / step * step;
        colour[c] = static_cast<unsigned char>(rounded > 255 - step ? 255 : rounded);  // white stays white
      }
      const auto [entry, is_new] = known.emplace(colour, static_cast<unsigned char>(known.size()));
      if (is_new) palette.colours.insert(palette.colours.end(), colour.begin(), colour.end());
      if (known.size() > 256) break;
      palette.indices.push_back(entry->second);
    }
    if (known.size() <= 256) break;
  }
  return palette;
}

bool write_png(const std::vector<unsigned char>& pixels, const std::string& file) {
  const Palette palette = palette_of(pixels);
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.colormap_entries = static_cast<png_uint_32>(palette.colours.size() / 3);
  // MuJoCo's rows go upwards.
  return png_image_write_to_file(&image, file.c_str(), 0, palette.indices.data(), -width, palette.colours.data()) != 0;
}

Ending draw(mjModel& m, mjData& d, const std::string& file) {
  OffscreenContext context;
  if (const Ending opened = context.open(); opened != drawn) return opened;
  const Sight sight = sight_of(m, d);
  const View view = best_view(m, d, sight);
  m.vis.global.offwidth = finer * width;
  m.vis.global.offheight = finer * height;
  m.vis.quality.offsamples = 0;
  m.vis.quality.shadowsize = 2048;
  m.vis.map.shadowclip = static_cast<float>(2.0 * sight.radius / m.stat.extent);
  m.vis.map.znear = static_cast<float>(0.02 * view.distance / m.stat.extent);
  m.vis.map.zfar = static_cast<float>(50.0 * view.distance / m.stat.extent);

  mjvScene scene;
  mjv_defaultScene(&scene);
  mjv_makeScene(&m, &scene, m.ngeom + 1000);
  mjrContext renderer;
  mjr_defaultContext(&renderer);
  mjr_makeContext(&m, &renderer, mjFONTSCALE_100);
  mjr_setBuffer(mjFB_OFFSCREEN, &renderer);
  if (renderer.currentBuffer != mjFB_OFFSCREEN) return no_framebuffer;

  mjvOption shown;
  mjv_defaultOption(&shown);
  // Both engines keep bodies and shapes in the data, not these.
  for (const int part : {mjVIS_TENDON, mjVIS_ACTUATOR, mjVIS_RANGEFINDER}) shown.flags[part] = 0;
  mjvCamera camera;
  mjv_defaultCamera(&camera);
  std::copy_n(sight.centre.data(), 3, camera.lookat);
  camera.distance = view.distance;
  camera.azimuth = view.azimuth;
  camera.elevation = elevation;
  mjv_updateScene(&m, &d, &shown, nullptr, &camera, mjCAT_ALL, &scene);
  colour(m, d, view, scene);
  light(sight, view, scene);

  const mjrRect all{0, 0, finer * width, finer * height};
  mjr_render(all, &scene, &renderer);
  constexpr std::size_t points = std::size_t{finer} * width * finer * height;
  std::vector<unsigned char> colours_of_points(3 * points);
  std::vector<float> depth(points);
  mjr_readPixels(colours_of_points.data(), depth.data(), all, &renderer);
  return write_png(averaged(colours_of_points, depth), file) ? drawn : not_written;
}

int drawing_process(mjModel& m, mjData& d, const std::string& file) {
  ::alarm(seconds_to_draw);
  mju_user_error = [](const char*) { ::_exit(no_context); };
  try {
    return draw(m, d, file);
  } catch (...) {
    return no_context;
  }
}

std::string reason(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return fmt::format("it took over {} s", seconds_to_draw);
  if (WIFSIGNALED(status)) return fmt::format("Mesa crashed (signal {})", WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case no_library: return "libOSMesa.so.8 is not there; on Debian: apt-get install libosmesa6";
    case no_context: return "Mesa gives no off-screen context";
    case no_framebuffer: return "Mesa gives no off-screen buffer";
    default: return "the drawing process ended";
  }
}

}  // namespace

Result<void> draw_picture(const mjModel& model, const mjData& data, const std::filesystem::path& file) {
  const std::filesystem::path unfinished = file.string() + ".unfinished";
  const pid_t child = fork_process({}, [&] {
    // The copies of a process of its own: what is changed there does not change here.
    return drawing_process(const_cast<mjModel&>(model), const_cast<mjData&>(data), unfinished.string());
  });
  if (child < 0) return Error{ErrorCode::unsupported, "no picture: no process can be started"};
  const int status = wait_for_end(child);
  std::error_code failed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == drawn) std::filesystem::rename(unfinished, file, failed);
  if (failed || (WIFEXITED(status) && WEXITSTATUS(status) == not_written)) {
    return Error{ErrorCode::bad_input, fmt::format("{}: cannot be written", file.string())};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == drawn) return {};
  return Error{ErrorCode::unsupported, "no picture: " + reason(status)};
}

}  // namespace conebench::simulation
