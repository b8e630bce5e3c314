#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/folder.hpp"
#include "base/glob.hpp"
#include "base/options.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/generate.hpp"
#include "cli/output.hpp"
#include "fclib_loader/fclib_file.hpp"
#include "scenes/random_source.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

struct PerturbOptions {
  std::string path;
  long copies = 4;
  double free_term = 0.1;
  double friction = 0.3;

  static void declare(OptionBinder& bind, PerturbOptions& o) {
    bind.text("path", o.path, "FCLIB files: one, or several as a glob in quotes");
    bind.integer("copies", o.copies, {.minimum = 1, .maximum = 10'000, .doc = "of each file"});
    bind.real(
        "free_term", o.free_term,
        {.minimum = 0.0, .maximum = 10.0, .doc = "relative standard deviation of each component of the free term"});
    bind.real("friction", o.friction,
              {.minimum = 0.0, .maximum = 1.0, .doc = "largest relative change of a coefficient of friction"});
  }
};

void scale_by_normal(Vector& values, double deviation, RandomSource& random) {
  for (Index i = 0; i < values.size(); ++i) values[i] *= 1.0 + deviation * random.normal();
}

/// The same of a problem by blocks. Where it has M and J, its free term follows from v_free and b.
void perturb(conebench::GivenProblem& given, const PerturbOptions& options, RandomSource& random) {
  if (given.primal) {
    scale_by_normal(given.primal->free_velocity, options.free_term, random);
    given.free_term.reset();
  } else if (given.free_term) {
    scale_by_normal(*given.free_term, options.free_term, random);
    given.bias.reset();
  }
  if (given.bias) scale_by_normal(*given.bias, options.free_term, random);
  for (double& mu : given.blocks.mu) mu *= random.uniform(1.0 - options.friction, 1.0 + options.friction);
  given.guess.reset();
  given.reference.reset();
  given.provenance.loop.reset();
  given.configuration.scene.clear();
  given.configuration.step.reset();
  given.configuration.seed.reset();
}

/// Another problem of the same matrices. What belongs to the old one alone, its answers and its step in a simulation,
/// goes.
void perturb(FclibContent& content, const PerturbOptions& options, RandomSource& random) {
  for (Vector* const free_term : {&content.q, &content.f, &content.w}) {
    scale_by_normal(*free_term, options.free_term, random);
  }
  for (Index i = 0; i < content.mu.size(); ++i) {
    content.mu[i] *= random.uniform(1.0 - options.friction, 1.0 + options.friction);
  }
  content.guesses.clear();
  content.solution.reset();
  if (content.blocks) perturb(*content.blocks, options, random);
  if (!content.extension) return;
  FclibExtension& extension = *content.extension;
  extension.free_velocity.reset();
  extension.bias.reset();
  extension.g.reset();
  extension.loop.reset();
  extension.reference_source.clear();
  extension.reference_residuals.clear();
  extension.configuration.scene.clear();
  extension.configuration.step.reset();
  extension.configuration.seed.reset();
}

/// The k-th copy of `content` in a folder of its family. A copy depends on the seed, its number and its file's name
/// alone.
Result<fs::path> write_copy(FclibContent content, const fs::path& file, long k, const PerturbOptions& options,
                            const GenerateArguments& arguments) {
  std::uint64_t seed = static_cast<std::uint64_t>(arguments.seed) * 1'000'003U + static_cast<std::uint64_t>(k);
  for (const char letter : file.stem().string()) seed = seed * 1'000'003U + static_cast<unsigned char>(letter);
  RandomSource random(seed);
  perturb(content, options, random);
  CONEBENCH_TRY(const auto problem, to_problem(content, file));
  const std::string folder = (fs::path(arguments.folder) / problem.provenance().family).string();
  CONEBENCH_CHECK(make_folder(folder));
  fs::path target = fs::path(folder) / fmt::format("{}-copy{}.hdf5", file.stem().string(), k);
  CONEBENCH_CHECK(write_fclib(problem, target));
  return target;
}

Result<PerturbOptions> options_of(const GenerateArguments& arguments) {
  PerturbOptions options;
  OptionBinder binder;
  PerturbOptions::declare(binder, options);
  CONEBENCH_TRY(const auto values, parse_set_values(arguments.set_values, binder.specs(), arguments.scene));
  CONEBENCH_CHECK(binder.assign(values));
  if (options.path.empty()) {
    return Error{ErrorCode::wrong_usage, "perturb: no file is given; --set path=FILE.hdf5, or a glob in quotes"};
  }
  return options;
}

}  // namespace

Result<int> generate_perturbed(const GenerateArguments& arguments) {
  CONEBENCH_CHECK(refuse_simulation(arguments));
  CONEBENCH_TRY(const auto options, options_of(arguments));
  CONEBENCH_TRY(const auto files, glob_files(".", options.path));
  if (files.empty()) return Error{ErrorCode::bad_input, fmt::format("perturb: no file matches {}", options.path)};
  nlohmann::json written = nlohmann::json::array();
  std::optional<Error> first_error;
  for (const fs::path& file : files) {
    const auto content = read_fclib(file);
    for (long k = 1; content && k <= options.copies; ++k) {
      const auto copy = write_copy(*content, file, k, options, arguments);
      if (!copy) {
        print_error(copy.error().message);
        if (!first_error) first_error = copy.error();
        break;
      }
      written.push_back(copy->string());
      if (!arguments.json) print_text(copy->string() + "\n");
    }
    if (content) continue;
    print_error(content.error().message);
    if (!first_error) first_error = content.error();
  }
  if (arguments.json)
    print_json("generate", {{"files", written}, {"scene", arguments.scene}, {"seed", arguments.seed}});
  return first_error ? exit_code(first_error->code) : done;
}

}  // namespace conebench::cli
