#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "cli/paper_commands.hpp"
#include "cli/paper_trajectories.hpp"
#include "papers/render.hpp"
#include "papers/results.hpp"
#include "simulation/engine.hpp"
#include "simulation/sampled_scenes.hpp"
#include "store/store.hpp"
#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// A table of two solvers; `relation`: of their mean iterations, which the check claims.
void write_entry(const std::string& file, const std::string& relation, const std::string& more = "") {
  std::ofstream(file) << R"json({"id": "mine-1", "paper": "mine", "location": "Table I", "title": "Sweeps",
    "suites": {"quick": {"problems": [{"scene": "box-stack", "grid": {"boxes": [1, 2]}}], "solvers": ["NSGS", "PGS-NCP"],
                         "repeats": {"min": 1, "min_ms": 0, "max": 1}},
               "full": {"problems": [{"scene": "box-stack"}], "solvers": ["NSGS", "PGS-NCP"]}},
    "tables": [{"title": "Sweeps", "quantity": "mean(iterations)", "rows": [{"name": "NSGS", "where": "solver=NSGS"}]}],
    "checks": [{"id": "a", "claim": "so it is", "holds": "count(cells) )json"
                      << relation << R"json( 4", "measure": "count(cells)")json" << more
                      << R"json(, "mutated": [{"field": "iterations", "to": 1}]}]})json";
}

TEST(PaperCommand, ListsEveryEntryWithItsState) {
  const auto list = conebench({"paper", "list", "--json"}).json();
  std::set<std::string> ids;
  std::set<std::string> states;
  for (const auto& entry : list["tables"]) {
    ids.insert(entry["id"]);
    states.insert(entry["state"]);
    EXPECT_TRUE(entry["state"] == "runs" || entry["state"] == "static" || !entry["reason"].get<std::string>().empty())
        << entry;
  }
  EXPECT_TRUE(ids.contains("Carpentier24-table-3"));
  EXPECT_TRUE(ids.contains("LeLidec24-fig-13"));
  EXPECT_TRUE(states.contains("runs"));
  const std::string text = conebench({"paper", "list"}).out;
  EXPECT_LT(text.find("LeLidec24-fig-9 "), text.find("LeLidec24-fig-10 ")) << "by their numbers";
  EXPECT_NE(text.find("LeLidec24-fig-10 "), std::string::npos);
}

TEST(PaperCommand, RunsAnEntryOfOnesOwnAndResumes) {
  const ScratchFolder folder;
  write_entry(folder / "mine.json", "=");
  const std::vector<std::string> words = {"paper", folder / "mine.json", "--out", folder / "out", "--require-checks"};
  const Outcome first = conebench(words);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("Claim a holds: So it is. The number of cells is 4 (claimed: equal to 4).\n"));
  EXPECT_THAT(text_of(folder / "out/mine-1.md"), HasSubstr("| NSGS \\* |"));
  EXPECT_THAT(text_of(folder / "out/mine-1.md"),
              ContainsRegex("Measured on 2 problems .generated., on 20[0-9-]+ by Conebench [0-9.]+"));
  EXPECT_THAT(text_of(folder / "out/mine-1-table.tex"), HasSubstr("\\toprule"));
  EXPECT_THAT(text_of(folder / "out/paper-mine.html"), HasSubstr("mine-1"));
  const auto times = [&] {
    std::vector<double> seconds;
    const auto store = Store::open(folder / "out/stores/mine-1-quick.sqlite", Store::Mode::read_only);
    if (!store) return seconds;
    for (const CellRecord& cell : store->read().value().cells) seconds.push_back(cell.total.cold);
    return seconds;
  };
  const auto measured = times();
  EXPECT_EQ(measured.size(), 4U);
  const Outcome second = conebench(words);
  EXPECT_EQ(second.out, first.out);
  EXPECT_EQ(times(), measured);
}

TEST(PaperCommand, KeepsAllSuitesInOneStoreWhereItIsNamed) {
  const ScratchFolder folder;
  write_entry(folder / "mine.json", "=");
  const std::vector<std::string> words = {"paper", folder / "mine.json",   "--out", folder / "out",
                                          "--db",  folder / "a/all.sqlite"};
  ASSERT_EQ(conebench(words).code, 0);
  const auto store = Store::open(folder / "a/all.sqlite", Store::Mode::read_only);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->read()->cells.size(), 4U);
  EXPECT_FALSE(fs::exists(folder / "out/stores"));
}

TEST(PaperCommand, TakesWhatAnotherBuildMeasuredOnlyWithPermission) {
  const ScratchFolder folder;
  write_entry(folder / "mine.json", "<");
  const std::string out = folder / "out";
  ASSERT_EQ(conebench({"paper", folder / "mine.json", "--out", out}).code, 0);
  const std::string other = folder / "conebench";
  std::filesystem::copy_file(executable(), other);
  std::ofstream(other, std::ios::app | std::ios::binary) << "edited";
  std::vector<std::string> again = {other, "paper", folder / "mine.json", "--out", out};
  EXPECT_THAT(run_program(again).err, HasSubstr("another build"));
  again.push_back("--allow-mixed");
  const Outcome mixed = run_program(again);
  EXPECT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_THAT(mixed.err, HasSubstr("0 cells to run"));
}

TEST(PaperCommand, GatesOnChecksOnlyWhereAsked) {
  const ScratchFolder folder;
  write_entry(folder / "mine.json", "<");
  const std::string out = folder / "out";
  EXPECT_EQ(conebench({"paper", folder / "mine.json", "--out", out}).code, 0);
  const Outcome gated = conebench({"paper", folder / "mine.json", "--out", out, "--require-checks"});
  EXPECT_EQ(gated.code, 1);
  EXPECT_THAT(gated.err, HasSubstr("mine-1, check a: fails"));
  write_entry(folder / "known.json", "<", R"(, "known_failure": {"reason": "as many", "range": [4, 4]})");
  EXPECT_EQ(conebench({"paper", folder / "known.json", "--out", out, "--require-checks"}).code, 0);
  write_entry(folder / "again.json", "=", R"(, "known_failure": {"reason": "as many", "range": [4, 4]})");
  EXPECT_EQ(conebench({"paper", folder / "again.json", "--out", out, "--require-checks"}).code, 1);
}

TEST(PaperCommand, RunsTheVariantThatIsAskedFor) {
  const ScratchFolder folder;
  std::ofstream(folder / "mine.json")
      << R"json({"id": "mine-1", "paper": "mine", "location": "Table I", "title": "Sweeps",
    "suites": {"quick": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]},
               "full": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]}},
    "tables": [{"title": "Sweeps", "quantity": "count(cells)", "rows": [{"name": "all"}]}],
    "variants": {"code": {"suites": {"quick": {"solvers": ["NSGS", "PGS-NCP"]}}, "notes": ["as the code has it"]}}})json";
  const std::string file = folder / "mine.json", out = folder / "out";
  EXPECT_THAT(conebench({"paper", file, "--out", out}).out, HasSubstr("mine-1: Sweeps"));
  const Outcome variant = conebench({"paper", file, "--out", out, "--variant", "code"});
  EXPECT_EQ(variant.code, 0) << variant.err;
  EXPECT_THAT(variant.out, HasSubstr("mine-1-code: Sweeps"));
  EXPECT_THAT(text_of(folder / "out/mine-1.csv"), HasSubstr(",all,,1,"));
  EXPECT_THAT(text_of(folder / "out/mine-1-code.csv"), HasSubstr(",all,,2,"));
  expect_failure(conebench({"paper", file, "--out", out, "--variant", "cod"}), 2, {"variant 'cod'"});
}

TEST(PaperCommand, ASimulationThatBlowsUpLeavesTheClaimsOfTheOthersDecided) {
  if (simulation::engine_version().empty()) GTEST_SKIP() << "built without MuJoCo";
  const ScratchFolder folder;
  const auto write =
      [&](const std::string& speed) {
        std::ofstream(folder / "mine.json")
            << R"json({"id": "mine-1", "paper": "mine", "location": "Fig. 1", "title": "Cubes",
    "trajectories": [{"name": "slow", "scene": "cube-dragged", "steps": 300},
                     {"name": "fast", "scene": "cube-dragged", "steps": 300, "options": {"max_speed": )json"
            << speed << R"json(}}],
    "tables": [{"title": "Steps", "quantity": "count(step.rows > 0)", "rows": [{"name": "all"}]}],
    "checks": [{"id": "a", "claim": "the slow one ends", "holds": "count(step.rows > 0){family=slow} > 0", "mutated": [{"field": "step.rows", "to": 0}]},
               {"id": "b", "claim": "the fast one too", "holds": "count(step.rows > 0){family=fast} > 0", "mutated": [{"field": "step.rows", "to": 0}]}]})json";
      };
  write("0.05");
  const Outcome run = conebench({"paper", folder / "mine.json", "--out", folder / "out"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Claim a holds"));
  EXPECT_THAT(run.out, HasSubstr("Claim b is not comparable"));
  EXPECT_THAT(run.out + run.err, HasSubstr("ended early: "));
  EXPECT_THAT(run.out + run.err, HasSubstr("blown up"));
  const Outcome again = conebench({"paper", folder / "mine.json", "--out", folder / "out"});
  EXPECT_THAT(again.out, HasSubstr("Claim b is not comparable"));
  EXPECT_THAT(again.err, ::testing::Not(HasSubstr("simulating"))) << "as far as it came, it is kept";
  write("-1");  // what is no blow-up is no result
  EXPECT_THAT(conebench({"paper", folder / "mine.json", "--out", folder / "out"}).out, HasSubstr("not run"));
}

TEST(PaperCommand, RemembersVerdictsOfTheEntryAsItIs) {
  const ScratchFolder folder;
  const std::string out = folder / "out";
  write_entry(folder / "mine.json", "=");
  ASSERT_EQ(conebench({"paper", folder / "mine.json", "--out", out}).code, 0);
  const auto kept = nlohmann::json::parse(text_of(folder / "out/verdicts.json"));
  EXPECT_EQ(kept["mine-1"]["checks"]["a"], "holds");
  EXPECT_EQ(kept["mine-1"]["size"], "quick");
}

bool has_program(const std::string& name) {
  return std::system((name + " --version >/dev/null 2>&1").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

/// Whether pdflatex makes a PDF of `document` in the folder.
void expect_compiles(const fs::path& folder, const std::string& document) {
  const std::string command = "cd '" + folder.string() + "' && pdflatex -interaction=nonstopmode -halt-on-error '" +
                              document + "' >'" + document + ".out' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << text_of(folder / (document + ".out"));  // NOLINT(concurrency-mt-unsafe)
}

bool has_tex_file(const std::string& name) {
  return std::system(("kpsewhich " + name + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(concurrency-mt-unsafe)
}

/// The entry's document compiles without a warning or a box that is too wide, and so does each file alone in two
/// columns; the figure is drawn.
void expect_publishable(const fs::path& out, const std::string& entry, const std::string& figure,
                        const std::string& word) {
  if (has_program("gnuplot")) {
    EXPECT_THAT(text_of(out / (figure + ".svg")), HasSubstr(word));
    EXPECT_EQ(text_of(out / (figure + ".pdf")).substr(0, 5), "%PDF-");
  }
  if (!has_program("pdflatex")) GTEST_SKIP() << "pdflatex is not installed";
  if (!has_tex_file("siunitx.sty")) GTEST_SKIP() << "siunitx or pgfplots is not installed";
  expect_compiles(out, entry + ".tex");
  std::string body;
  for (const auto& file : fs::directory_iterator(out)) {
    const std::string name = file.path().filename().string();
    const bool is_float = name.starts_with(entry + "-") && name.ends_with(".tex") && name != entry + "-numbers.tex";
    if (is_float) body += "\\input{" + name + "}\\clearpage\n";
  }
  std::ofstream(out / "whole.tex") << "\\documentclass[twocolumn]{article}\\input{preamble}\\nofiles\\begin{document}\n"
                                   << body << "\\end{document}\n";
  expect_compiles(out, "whole.tex");
  for (const std::string& document : {entry, std::string("whole")}) {
    const std::string log = text_of(out / (document + ".log"));
    EXPECT_THAT(log, Not(HasSubstr("Overfull"))) << document;
    EXPECT_THAT(log, Not(HasSubstr("too large"))) << document;
  }
}

TEST(PaperCommand, ItsLatexCompilesAndItsFiguresAreDrawn) {
  const ScratchFolder folder;
  const fs::path out = folder.path() / "out";
  ASSERT_EQ(conebench({"paper", "LeLidec24-fig-13", "--out", out.string()}).code, 0);
  expect_publishable(out, "LeLidec24-fig-13", "LeLidec24-fig-13-right", "ADMM-NCP-SA");
}

TEST(PaperCommand, DrawsTheProfilesOfFilesThatAreGivenAndLeavesClaimsOnFewOpen) {
  const ScratchFolder folder;
  for (const std::string family : {"BoxesStack", "Chain", "Capsules"}) {
    const std::string ratio = "mass_ratio=" + std::to_string(family.size());
    for (const std::vector<std::string>& scene :
         {std::vector<std::string>{"box-stack", "--set", ratio}, {"sphere-lattice"}}) {
      std::vector<std::string> words = {"generate", "--out", folder / ("data/" + family)};
      words.insert(words.end(), scene.begin(), scene.end());
      ASSERT_EQ(conebench(words).code, 0);
    }
  }
  const fs::path out = folder.path() / "out";
  const Outcome run = conebench({"paper", "Carpentier24-fig-7", "--data", folder / "data", "--out", out.string()});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("files of BoxesStack, Chain and Capsules below --data"));
  EXPECT_THAT(run.out, HasSubstr("Claim a is undecided: "));
  EXPECT_THAT(run.out, HasSubstr("a verdict takes 8"));
  expect_publishable(out, "Carpentier24-fig-7", "Carpentier24-fig-7-boxesstack", "PGS");
}

TEST(PaperCommand, APageIsKeptWhereNothingRanAndItsSuccessorSaysWhatItLacks) {
  const ScratchFolder folder;
  const std::string out = folder / "out", page = out + "/paper-LeLidec24.html";
  ASSERT_EQ(conebench({"paper", "LeLidec24-fig-13", "--out", out}).code, 0);
  const std::string before = text_of(page);
  EXPECT_THAT(before, HasSubstr("LeLidec24-fig-13"));
  EXPECT_EQ(conebench({"paper", "LeLidec24-fig-1", "--out", out}).code, 5);
  EXPECT_EQ(text_of(page), before);
  std::ofstream(folder / "mine.json")
      << R"json({"id": "LeLidec24-mine", "paper": "LeLidec24", "location": "Table I", "title": "Sweeps",
      "suites": {"quick": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]},
                 "full": {"problems": [{"scene": "sliding-box"}], "solvers": ["NSGS"]}},
      "data": {"what": "my files", "problems": [{"files": "*.hdf5"}]},
      "tables": [{"title": "Sweeps", "quantity": "count(cells)", "rows": [{"name": "all"}]}],
      "checks": [{"id": "a", "claim": "few", "problems": 3, "holds": "count(cells) > 2", "measure": "count(cells)",
                  "mutated": [{"field": "iterations", "to": 1}]}]})json";
  const Outcome other = conebench({"paper", folder / "mine.json", "--out", out});
  EXPECT_EQ(other.code, 0);
  EXPECT_THAT(other.err, AllOf(HasSubstr("paper-LeLidec24.html"), HasSubstr("without LeLidec24-fig-13\n")));
  EXPECT_THAT(other.out, HasSubstr("Claim a is undecided: Few. The number of cells is 1 (claimed: above 2)."));
  EXPECT_THAT(other.err, AllOf(HasSubstr("LeLidec24-mine: "), HasSubstr("--data FOLDER"), HasSubstr("--full")));
}

TEST(PaperCommand, FindsEntriesByAuthorsBeginningsAndFormerIds) {
  const auto ids = [](const std::vector<std::string>& names) {
    std::vector<std::string> words = {"paper", "list", "--json"};
    words.insert(words.begin() + 2, names.begin(), names.end());
    std::set<std::string> found;
    const auto list = conebench(words).json();
    for (const auto& entry : list["tables"]) found.insert(entry["id"]);
    return found;
  };
  const std::set<std::string> of_paper = ids({"LeLidec24"});
  EXPECT_TRUE(of_paper.contains("LeLidec24-fig-13"));
  EXPECT_FALSE(of_paper.contains("Yamane-table-1"));
  EXPECT_EQ(ids({"lelidec"}), of_paper);
  EXPECT_EQ(ids({"002"}), of_paper);
  EXPECT_TRUE(ids({"nakamura"}).contains("Yamane-table-1"));
  EXPECT_EQ(ids({"000-fig-1"}), std::set<std::string>{"Carpentier24-fig-1"});
  const auto listed = conebench({"list", "tables", "yamane", "--json"}).json()["tables"];
  EXPECT_EQ(listed.size(), ids({"001"}).size());
  const std::set<std::string> one = {"LeLidec24-fig-13", "LeLidec24-fig-13-code"};  // and its variant
  for (const char* const name : {"lelidec-fig-13", "LE LIDEC fig. 13", "lelidec2024-fig-13", "lelidec24_fig_13"}) {
    EXPECT_EQ(ids({name}), one) << name;
  }
  EXPECT_EQ(ids({"tsounis2025-table-1"}), std::set<std::string>{"Tsounis-table-1"});
  EXPECT_EQ(ids({"yamane08"}), ids({"001"}));
  EXPECT_TRUE(ids({"bremond"}).contains("acary-2018-table-6")) << "without the accent";
  const std::set<std::string> written = ids({"--of", "Carpentier"});
  EXPECT_TRUE(written.contains("Carpentier24-fig-1") && written.contains("LeLidec24-fig-13")) << "with others, too";
  EXPECT_FALSE(written.contains("Tsounis-table-1"));
  expect_failure(conebench({"paper", "list", "--of", "nobody"}), 2, {"no paper here has an author 'nobody'", "Yamane"});
  expect_failure(conebench({"paper", "LeLidec24-fig-13", "--of", "carpentier"}), 2, {"--of belongs to list"});
  expect_failure(conebench({"paper", "list", "lelidac24"}), 2, {"did you mean 'LeLidec24'?"});
  const ScratchFolder folder;
  const Outcome ran = conebench({"paper", "002-fig-1", "--out", folder / "out"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_THAT(ran.out, HasSubstr("LeLidec24-fig-1: not run: static"));
}

TEST(PaperCommand, SaysWhatItCannotRun) {
  const ScratchFolder folder;
  const std::string out = folder / "out";
  expect_failure(conebench({"paper", "Carpentier24-tabel-3", "--out", out}), 2,
                 {"Carpentier24-tabel-3", "did you mean 'Carpentier24-table-3'"});
  expect_failure(conebench({"paper", "all", "--quick", "--full", "--out", out}), 2, {"--quick"});
  const Outcome nothing = conebench({"paper", "Carpentier24-table-1", "--out", out});
  EXPECT_EQ(nothing.code, 5);
  EXPECT_THAT(nothing.out, HasSubstr("Carpentier24-table-1: not run: static"));
  std::ofstream(folder / "bad.json") << R"({"id": "x"})";
  expect_failure(conebench({"paper", folder / "bad.json", "--out", out}), 2, {"bad.json", "paper: is missing"});
  expect_failure(conebench({"paper", folder / "none.json", "--out", out}), 3, {"none.json"});
}

/// Cells of the entry's suites in `stores`: of the files that it names where these were run, else of the generated
/// ones.
std::vector<papers::Sample> samples_of_suites(const papers::Entry& entry, papers::Size size,
                                              const std::vector<papers::Entry>& entries, const fs::path& stores) {
  std::vector<papers::Sample> samples;
  for (const bool with_data : {true, false}) {
    const auto suites = suites_of(entry, size, with_data, entries, simulation::sampled_scenes());
    if (!suites || !samples.empty()) continue;
    for (const Suite& suite : *suites) {
      const auto store = Store::open(stores / (suite.name + ".sqlite"), Store::Mode::read_only);
      if (!store) continue;
      const auto contents = store->read();
      if (!contents) continue;
      for (auto& sample : papers::samples_of(*contents)) samples.push_back(std::move(sample));
    }
  }
  return samples;
}

/// What `stores` have of the entry in that size.
std::vector<papers::Sample> samples_of_entry(const papers::Entry& entry, papers::Size size,
                                             const std::vector<papers::Entry>& entries, const fs::path& stores) {
  const bool quick = size == papers::Size::quick;
  std::vector<papers::Sample> samples;
  if (!entry.suites_of.empty() || !entry.quick.empty()) samples = samples_of_suites(entry, size, entries, stores);
  const auto& simulations = quick ? entry.quick_trajectories : entry.full_trajectories;
  if (!simulations.empty()) {
    if (auto steps = cli::trajectory_samples(simulations, stores / "trajectories")) {
      samples.insert(samples.end(), steps->begin(), steps->end());
    }
  }
  if (auto printed = cli::command_samples(quick ? entry.quick_commands : entry.full_commands, stores / "commands")) {
    samples.insert(samples.end(), printed->begin(), printed->end());
  }
  return samples;
}

/// Whether the check turns round on mutated numbers: what holds fails, what is known to fail holds. Nothing where the
/// samples do not decide it, or not as it ought to be. On how few of them it is decided does not matter here.
std::optional<bool> notices(const papers::Entry& entry, papers::Check check,
                            const std::vector<papers::Sample>& samples) {
  check.min_problems = check.min_cells = 0;
  const papers::Verdict expected = check.known_failure ? papers::Verdict::fails : papers::Verdict::holds;
  const auto sound = evaluate_check(check, counted(entry, samples));
  if (sound.verdict != expected) return std::nullopt;
  const auto changed = mutated(samples, check.mutated);
  const auto noticed = evaluate_check(check, counted(entry, changed));
  EXPECT_NE(sound.verdict, noticed.verdict)
      << entry.id << " " << check.id << ": " << measured_text(check, sound) << " | " << measured_text(check, noticed);
  return sound.verdict != noticed.verdict;
}

/// Checks of the entry, each of which is tried on the samples of both sizes; those that neither decides.
std::vector<std::string> undecided_checks(const papers::Entry& entry, const std::vector<papers::Entry>& entries,
                                          const fs::path& stores) {
  std::vector<std::string> undecided;
  const auto quick = samples_of_entry(entry, papers::Size::quick, entries, stores);
  const auto full = samples_of_entry(entry, papers::Size::full, entries, stores);
  for (const papers::Check& check : entry.checks) {
    const bool in_quick = notices(entry, check, quick).has_value();
    const bool in_full = notices(entry, check, full).has_value();
    if (!in_quick && !in_full) undecided.push_back(entry.id + " " + check.id);
  }
  return undecided;
}

TEST(PaperEntries, ChecksNoticeMutatedNumbers) {
  const ScratchFolder folder;
  const fs::path stores = folder.path() / "stores";
  const double cheap_s = 1.0;
  const auto entries = papers::embedded_entries();
  ASSERT_TRUE(entries);
  const bool simulates = !simulation::engine_version().empty();
  long decided = 0;
  for (const papers::Entry& entry : *entries) {
    if (entry.state != papers::State::runs || entry.quick_s > cheap_s) continue;
    if (!simulates && !(entry.quick_trajectories.empty() && entry.quick_commands.empty())) continue;
    const Outcome run =
        conebench({"paper", entry.id, "--out", folder / "out", "--db", stores.string(), "--require-checks"});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    decided += undecided_checks(entry, *entries, stores).size() < entry.checks.size() ? 1 : 0;
  }
  if (!simulates) GTEST_SKIP() << "built without MuJoCo";
  EXPECT_GE(decided, 4);
}

TEST(PaperEntries, EveryCheckNoticesMutatedNumbersOnWhatAllEntriesMeasured) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): tests don't change the environment
  const char* const stores = std::getenv("CONEBENCH_PAPER_STORES");
  if (stores == nullptr) GTEST_SKIP() << "CONEBENCH_PAPER_STORES names no folder of `conebench paper all --db`";
  const auto entries = papers::embedded_entries();
  ASSERT_TRUE(entries);
  std::vector<std::string> undecided;
  for (const papers::Entry& entry : *entries) {
    if (entry.state != papers::State::runs || !entry.variant.empty()) continue;
    for (std::string& check : undecided_checks(entry, *entries, stores)) undecided.push_back(std::move(check));
  }
  EXPECT_THAT(undecided, ::testing::IsEmpty());
}

TEST(PaperCommand, WhatNamesFilesIsNoPath) {
  const ScratchFolder folder;
  for (const std::string key : {"id", "paper"}) {
    write_entry(folder / "mine.json", "=");
    std::string text = text_of(folder / "mine.json");
    text.replace(text.find(key == "id" ? "mine-1" : "mine\""), key == "id" ? 6 : 4, "x/../../../escaped");
    std::ofstream(folder / "mine.json") << text;
    fs::create_directories(folder / "a/b/out/paper-x");
    expect_failure(conebench({"paper", folder / "mine.json", "--out", folder / "a/b/out"}), 2,
                   {key + ": 'x/../../../escaped' must be of letters, digits, - and _"});
    EXPECT_FALSE(fs::exists(folder / "a/escaped.html"));
  }
}

}  // namespace
}  // namespace conebench::testing
