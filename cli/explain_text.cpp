#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/plural.hpp"
#include "cli/answer_output.hpp"
#include "cli/explain.hpp"
#include "cli/output.hpp"
#include "reports/text.hpp"
#include "store/late_answer.hpp"

namespace conebench::cli {

namespace {

using reports::human_share;
using reports::human_tolerance;

/// "20,000".
std::string grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

/// 12345.6 → "12,000": two digits are known of a number that is extrapolated.
std::string about(double count) {
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(std::max(count, 1.0))) - 1.0));
  const double rounded = unit * std::ceil(count / unit);
  return rounded < 1e15 ? grouped(rounded) : fmt::format("{:.0e}", rounded);
}

/// "body 2", or "what velocities 6 to 28 move".
std::string part_name(const MovingParts& parts, Index index) {
  const MovingPart& part = parts.list()[static_cast<std::size_t>(index)];
  if (part.mass) return fmt::format("body {}", index);
  return part.velocities.size() == 1
             ? fmt::format("what velocity {} moves", part.velocities.front())
             : fmt::format("what velocities {} to {} move", part.velocities.front(), part.velocities.back());
}

/// "contact 3 (body 1 and body 2)".
std::string block_of(const Explanation& known, Index block) {
  std::vector<std::string> names;
  for (const Index part : known.parts.of(block)) names.push_back(part_name(known.parts, part));
  const std::string name = block_text(known.of, block);
  return names.empty() ? name : fmt::format("{} ({})", name, fmt::join(names, " and "));
}

std::string contact_of(const Explanation& known, Index contact) {
  return block_of(known, known.of.cones().first_contact_row() + contact);
}

/// The body that the worst blocks have in common, where each of them acts on one.
std::optional<Index> common_part(const Explanation& known) {
  const auto& worst = known.course->worst;
  if (worst.size() < 2 || known.parts.list().size() < 2) return std::nullopt;
  for (const Index part : known.parts.of(worst.front().block)) {
    const bool all = std::ranges::all_of(
        worst, [&](const auto& one) { return std::ranges::binary_search(known.parts.of(one.block), part); });
    if (all) return part;
  }
  return std::nullopt;
}

std::string modes_text(const std::vector<ContactMode>& modes) {
  std::vector<std::string> names;
  for (const ContactMode mode : modes) {
    names.emplace_back(mode == ContactMode::open ? "open" : mode == ContactMode::stick ? "sticking" : "sliding");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string residual(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : "not finite"; }

std::string falls_text(const Course& course) {
  std::string text = fmt::format(
      "{} the residual still fell, by a factor of {} an iteration.",
      course.at_the_end ? "At the end" : "Over the last half of the iterations",
      *course.factor > 0.99 ? fmt::format("1 − {:.1e}", 1.0 - *course.factor) : fmt::format("{:.3f}", *course.factor));
  if (course.to_tolerance && course.estimate != Course::Estimate::none) {
    text +=
        fmt::format(" {} {} iterations after the {} that were made.",
                    course.estimate == Course::Estimate::about ? "At that rate the tolerance is about"
                                                               : "It falls ever more slowly: the tolerance is at least",
                    about(*course.to_tolerance), grouped(static_cast<double>(course.iterations)));
  }
  return text;
}

std::string range_of(const Course& course) {
  return fmt::format("between {} and {}", residual(course.low), residual(course.high));
}

std::string flapping_text(const Explanation& known) {
  constexpr std::size_t shown = 3;
  const Course& course = *known.course;
  std::vector<std::string> parts;
  for (const Course::Flapping& one : course.flapping) {
    if (parts.size() == shown) break;
    parts.push_back(
        fmt::format("{} {} times ({})", contact_of(known, one.contact), one.changes, modes_text(one.modes)));
  }
  const auto count = static_cast<long>(course.flapping.size());
  return fmt::format("{} left a mode and came back to it within the last {} iterates: {}{}.", plural(count, "contact"),
                     course.compared, fmt::join(parts, ", "), course.flapping.size() > shown ? ", …" : "");
}

std::string finding_text(const Explanation& known, Finding finding) {
  const CellRecord& record = known.record;
  const auto& course = known.course;
  switch (finding) {
    case Finding::solved: return {};
    case Finding::infeasible: {
      std::string text =
          "The problem has no solution: a certificate that the judge has checked excludes every impulse.";
      if (known.feasibility.margin)
        text +=
            fmt::format(" In every answer the velocity of some row misses by {:.2g} m/s.", -*known.feasibility.margin);
      if (known.feasibility.verdict_bound)
        text += fmt::format(" {}.", reports::capital(reports::bound_text(*known.feasibility.verdict_bound)));
      if (known.feasibility.worst_block)
        text += fmt::format(" {} contributes most to the contradiction.",
                            reports::capital(block_of(known, *known.feasibility.worst_block)));
      return text;
    }
    case Finding::noise_level:
      return fmt::format(
          "The problem is at noise level: g is {} times the rounding of the terms that made it, so that "
          "the residual measures rounding.",
          short_number(known.noise_ratio));
    case Finding::unsupported: return fmt::format("{} does not take the problem: {}.", known.solver, record.reason);
    case Finding::broke: return fmt::format("It ended without an answer ({}): {}.", name(record.status), record.reason);
    case Finding::late:
      return fmt::format("Its answer passes, but came after the time limit of {:g} s.", record.limit_s);
    case Finding::false_claim:
      return fmt::format(
          "It says that it has converged{}, but the judge finds {} = {}, above {}.",
          record.own_residual_known ? fmt::format(" (its own residual is {})", residual(record.own_residual)) : "",
          record.verdict, short_number(record.verdict_value), human_tolerance(record.tolerance));
    case Finding::gave_up:
      return fmt::format("It ended by itself, before its limits ({}{}).", name(record.status),
                         record.reason.empty() ? "" : ": " + record.reason);
    case Finding::iterations_up:
      return fmt::format("It ended at its limit of {} iterations.",
                         grouped(static_cast<double>(record.max_iterations)));
    case Finding::time_up: return fmt::format("It ended at its limit of {:g} s.", record.limit_s);
    case Finding::falls: return falls_text(*course);
    case Finding::rests:
      return fmt::format(
          "It stalls: the iterates no longer move ({} in the last step, {} is left), so that more "
          "iterations change nothing.",
          short_number(course->last_step), residual(course->last));
    case Finding::cycles:
      return fmt::format("It cycles: the last iterate is the one of {} iterations before. The residual stays {}.",
                         *course->period, range_of(*course));
    case Finding::wanders:
      return fmt::format(
          "The residual does not fall: over the last half of the iterations it stayed {}, without a "
          "trend or a period. The best was {} at iteration {}.",
          range_of(*course), residual(course->best), grouped(static_cast<double>(course->best_iteration)));
    case Finding::grows:
      return fmt::format("It diverges: the residual was {} at iteration {} and is {} at the end.",
                         residual(course->best), grouped(static_cast<double>(course->best_iteration)),
                         residual(course->last));
    case Finding::modes_flap: return flapping_text(known);
    case Finding::rounding:
      return fmt::format("What is left may be rounding: in double, (G + R) λ of this answer is known to {} V only.",
                         short_number(known.rounding));
    case Finding::redundant: return {};  // among the facts on the problem
  }
  throw std::logic_error("unknown finding");
}

/// The blocks that were the worst over the iterations.
std::string worst_text(const Explanation& known) {
  const auto& worst = known.course->worst;
  if (worst.empty()) return {};
  std::vector<std::string> parts;
  for (const Course::Share& one : worst)
    parts.push_back(fmt::format("{} in {}", block_of(known, one.block), human_share(one.share)));
  std::string text = fmt::format("The worst in the iterates of the last half: {}.", fmt::join(parts, ", "));
  if (const auto part = common_part(known))
    text += fmt::format(" All of these act on {}.", part_name(known.parts, *part));
  return text;
}

std::vector<std::string> why(const Explanation& known) {
  std::vector<std::string> lines;
  for (const Finding finding : known.findings) {
    if (auto line = finding_text(known, finding); !line.empty()) lines.push_back(std::move(line));
  }
  if (known.course && !known.record.solved) {
    if (auto line = worst_text(known); !line.empty()) lines.push_back(std::move(line));
  }
  const CellRecord& last = known.again ? *known.again : known.record;
  if (known.course && known.course->trend == Trend::unseen && last.iterations > 0)
    lines.push_back("It shows no iterates, so nothing is known of their course.");
  const bool more_time = known.again && known.again->limit_s > known.record.limit_s;
  if (more_time && !known.again->solved && known.again->iterations < known.record.iterations) {
    lines.push_back(fmt::format("The rerun made {} of the stored {} iterations.",
                                grouped(static_cast<double>(std::max<std::int64_t>(known.again->iterations, 0))),
                                grouped(static_cast<double>(known.record.iterations))));
  }
  if (known.again && known.again->solved != known.record.solved) {
    lines.push_back(fmt::format(
        "Run again now{}, it ended as {} with {} = {}: {}.",
        more_time ? fmt::format(" with a limit of {:g} s", known.again->limit_s) : "", name(known.again->status),
        known.record.verdict, short_number(known.again->verdict_value), known.again->solved ? "solved" : "not solved"));
  }
  return lines;
}

std::string mass_text(const Explanation& known) {
  if (!known.structure.mass || known.structure.mass->smallest == known.structure.mass->largest) return {};
  const Spread& mass = *known.structure.mass;
  return fmt::format("Masses: from {:.4g} kg (body {}) to {:.4g} kg (body {}), a ratio of {:.4g}.", mass.minimum,
                     mass.smallest, mass.maximum, mass.largest, mass.ratio());
}

std::vector<std::string> facts(const Explanation& known) {
  std::vector<std::string> lines;
  const Spectrum& spectrum = known.features.spectrum;
  const Structure& structure = known.structure;
  const char* const estimated = spectrum.estimated ? " (estimated)" : "";
  if (spectrum.conditioning) {
    lines.push_back(fmt::format("Conditioning of G on its range: {:.3g}{}.", *spectrum.conditioning, estimated));
  }
  if (spectrum.rank < known.rows) {
    lines.push_back(fmt::format("Redundancy: G has rank {} of {} rows{}; {} directions of λ change no velocity.",
                                spectrum.rank, known.rows, estimated, known.rows - spectrum.rank));
  } else {
    lines.push_back(fmt::format("Redundancy: none, G has full rank ({} rows){}.", known.rows, estimated));
  }
  if (!spectrum.positive_semidefinite) {
    lines.push_back(fmt::format("G is not positive semidefinite: its least eigenvalue is {:.2g}, its largest {:.2g}.",
                                spectrum.min_eigenvalue, spectrum.max_eigenvalue));
  }
  if (known.features.coupling) {
    lines.push_back(fmt::format("Coupling within a contact: |G_NT| is up to {:.2g} G_NN.", *known.features.coupling));
  }
  if (structure.coupling_between) {
    lines.push_back(
        fmt::format("Coupling between blocks: what the others do to {} is {:.3g} times what it does itself "
                    "(Σ |G_ij| / |G_ii|), the most of all.",
                    block_of(known, structure.coupled_block), *structure.coupling_between));
  }
  lines.push_back(fmt::format(
      "Islands: {}{}.", structure.islands,
      structure.islands > 1 ? fmt::format(", the largest of {}", plural(structure.largest_island, "block")) : ""));
  if (auto line = mass_text(known); !line.empty()) lines.push_back(std::move(line));
  if (const auto& spread = structure.effective_mass) {
    lines.push_back(
        fmt::format("Scale: effective masses from {:.4g} kg ({}) to {:.4g} kg ({}), a ratio of {:.4g}; "
                    "largest free velocity V = {:.3g} m/s.",
                    spread->minimum, block_text(known.of, spread->smallest), spread->maximum,
                    block_text(known.of, spread->largest), spread->ratio(), structure.velocity_scale));
  }
  const std::string& state = known.feasibility.state;
  if (state == "not_excluded") lines.push_back("Feasibility: no proof that there is no solution.");
  if (state == "undecided") lines.push_back("Feasibility: not decided in the time for it.");
  return lines;
}

std::string time_of(const ComparedCell& cell) {
  if (cell.status == CellStatus::unsupported || !cell.total_s) return "–";
  return short_time(*cell.total_s) + (cell.times_rank ? "" : " †");
}

std::string verdict_of(const ComparedCell& cell) { return cell.solved ? "yes" : "no"; }

std::string notes_of(const std::vector<ComparedCell>& cells) {
  const bool loaded = std::ranges::any_of(cells, [](const auto& one) { return !one.times_rank && one.total_s; });
  return loaded ? "† of a run whose times are not compared (quick, or several workers)\n" : "";
}

std::string variants_text(const Explanation& known) {
  if (known.variants.empty()) {
    return known.variants_left == 0
               ? std::string()
               : fmt::format(
                     "\nOptions: no stored cell differs from this one in one option alone. `--try {}` runs {} such "
                     "variants, each within these limits.\n",
                     std::min(known.variants_left, 12L), std::min(known.variants_left, 12L));
  }
  const bool stored = known.variants.front().stored;
  std::vector<std::vector<std::string>> rows = {
      {"option", "value", "solved", known.record.verdict, "iterations", "time", "ended as"}};
  const auto add = [&](const std::string& option, const std::string& value, const ComparedCell& cell) {
    rows.push_back({option, value, verdict_of(cell), short_number(cell.verdict_value), std::to_string(cell.iterations),
                    time_of(cell), std::string(name(cell.status))});
  };
  ComparedCell as_is;
  as_is.status = known.record.status;
  as_is.solved = known.record.solved;
  as_is.verdict_value = known.record.verdict_value;
  as_is.iterations = known.record.iterations;
  as_is.total_s = known.record.total.cold;
  add("(as it is)", "", as_is);
  for (const ComparedCell& cell : known.variants) add(cell.option, cell.value, cell);
  std::string text =
      fmt::format("\nOptions of {}, one changed at a time ({}):\n", known.solver, stored ? "stored cells" : "run now") +
      align_columns(rows, output_columns()) + notes_of(known.variants);
  if (!stored && known.variants_left > 0)
    text += fmt::format("{} were not tried; --try N runs more\n", plural(known.variants_left, "variant"));
  return text;
}

std::string solvers_text(const Explanation& known) {
  constexpr std::size_t shown = 8;
  if (known.solvers.empty()) return {};
  std::vector<std::vector<std::string>> rows = {{"solver", "solved", known.record.verdict, "time", "ended as", "from"}};
  for (const ComparedCell& cell : known.solvers) {
    if (rows.size() > shown) break;
    rows.push_back({cell.label + (cell.own ? " *" : ""), verdict_of(cell), short_number(cell.verdict_value),
                    time_of(cell), std::string(name(cell.status)), cell.stored ? "store" : "run now"});
  }
  const bool own = std::ranges::any_of(known.solvers, [](const auto& one) { return one.own; });
  std::string text = "\nOther solvers of this problem, at the same tolerance:\n" +
                     align_columns(rows, output_columns()) + notes_of(known.solvers);
  if (own) text += "* by Conebench's authors\n";
  if (known.solvers.size() > shown) text += fmt::format("{} more with --json\n", known.solvers.size() - shown);
  return text;
}

std::string list(const std::string& heading, const std::vector<std::string>& lines) {
  if (lines.empty()) return {};
  std::string text = "\n" + heading + "\n";
  for (const std::string& line : lines) text += paragraph("- " + line, 2);
  return text;
}

}  // namespace

std::string explanation_text(const Explanation& known) {
  const CellRecord& record = known.record;
  std::string text = fmt::format("problem    {}: {}, {}\n", known.problem, plural(known.contacts, "contact"),
                                 plural(known.rows, "row"));
  text += fmt::format("solver     {}; tolerance {} of {}, at most {} iterations and {:g} s\n", known.label,
                      human_tolerance(record.tolerance), record.verdict,
                      grouped(static_cast<double>(record.max_iterations)), record.limit_s);
  if (!known.key.empty()) text += fmt::format("cell       {} of {}\n", known.key, known.store);
  const bool ran = record.status != CellStatus::unknown;
  if (ran) {
    text +=
        fmt::format("ended      {}: {}; {} after {} and {}\n", record.solved ? "solved" : "not solved",
                    record.verdict_value ? fmt::format("{} = {}", record.verdict, short_number(record.verdict_value))
                                         : "no answer was judged",
                    name(record.status), plural(record.iterations, "iteration"), short_time(record.total.median));
  } else {
    text += "ended      not run\n";
  }
  text += list(record.solved || !ran ? "What was found" : "Why it is not solved", why(known));
  text += list("The problem (contacts and bodies count from 0)", facts(known));
  return text + variants_text(known) + solvers_text(known);
}

}  // namespace conebench::cli
