#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/utf8.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "reports/comparison/alarms.hpp"
#include "runners/execute/environment.hpp"
#include "store/night_folder.hpp"
#include "store/store.hpp"

namespace conebench::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* accept_footer =
    R"(The alarm is named by the eight digits that `conebench nightly` and the page of all nights give it. Who accepted it and why
is written into the night's store, and each later night takes it over; so do `compare` and `merge`. The next night is
compared with this one. docs/compare.md says how long an alarm stands.

Examples:
  conebench accept 3fa9c1d2 --why "exact line search, agreed in review" --stores nights)";

struct AcceptArguments {
  std::string alarm, who, why;
  std::string folder, store;
};

std::string user_name() {
  const passwd* const user = getpwuid(geteuid());
  return user == nullptr ? std::string("unknown") : std::string(user->pw_name);
}

/// The last judged night of each suite of a folder.
Result<std::vector<fs::path>> last_nights(const fs::path& folder) {
  CONEBENCH_TRY(const auto all, read_night_folder(folder, ""));
  std::set<std::string> suites;
  for (const NightSummary& night : all.nights) suites.insert(night.suite);
  std::vector<fs::path> stores;
  for (const std::string& suite : suites) {
    NightFolder nights;
    std::copy_if(all.nights.begin(), all.nights.end(), std::back_inserter(nights.nights),
                 [&](const NightSummary& night) { return night.suite == suite; });
    if (fs::path store = last_judged(nights, {}, utc_now()); !store.empty()) stores.push_back(std::move(store));
  }
  return stores;
}

Result<int> run_accept(const AcceptArguments& arguments) {
  if (arguments.why.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error{ErrorCode::wrong_usage, "--why: give the reason why the alarm is accepted"};
  }
  if (arguments.folder.empty() == arguments.store.empty()) {
    return Error{ErrorCode::wrong_usage, "give one of --stores DIR and --db FILE"};
  }
  CONEBENCH_TRY(auto stores, arguments.folder.empty()
                                 ? Result<std::vector<fs::path>>(std::vector<fs::path>{arguments.store})
                                 : last_nights(arguments.folder));
  std::vector<std::string> standing;
  for (const fs::path& file : stores) {
    const auto result = read_night_result(file);
    if (!result) continue;
    for (Alarm alarm : result->alarms) {
      if (alarm.id() != arguments.alarm) {
        if (!alarm.accepted) standing.push_back(reports::describe_alarm(alarm));
        continue;
      }
      CONEBENCH_TRY(auto store, Store::open(file, Store::Mode::read_write));
      const AcceptanceRecord acceptance{alarm.id(), arguments.who.empty() ? user_name() : arguments.who, arguments.why,
                                        utc_now(), to_json(alarm).dump()};
      CONEBENCH_CHECK(store.put_acceptance(acceptance));
      alarm.accepted = acceptance;
      print_text(reports::describe_alarm(alarm) + "\n");
      return done;
    }
  }
  return Error{ErrorCode::bad_input,
               fmt::format("{}: the last night has no alarm '{}'; {}",
                           arguments.folder.empty() ? arguments.store : arguments.folder, one_line(arguments.alarm),
                           standing.empty() ? std::string("none stands")
                                            : fmt::format("these stand: {}", fmt::join(standing, "; ")))};
}

}  // namespace

Command add_accept(CLI::App& root) {
  auto arguments = std::make_shared<AcceptArguments>();
  CLI::App* app = root.add_subcommand("accept", "Accept an alarm of `nightly`, with who and why");
  app->footer(accept_footer);
  app->add_option("ALARM", arguments->alarm, "Eight digits, as the summary of a night gives them")->required();
  app->add_option("--why", arguments->why, "The reason, as a short text")->required()->type_name("TEXT");
  app->add_option("--who", arguments->who, "Who accepts it; else the name of the user")->type_name("NAME");
  app->add_option("--stores", arguments->folder, "Folder of the nights: of its last judged one")->type_name("DIR");
  app->add_option("--db", arguments->store, "Store of the night, where it is in no folder of nights")
      ->type_name("FILE");
  return {app, [arguments] { return run_accept(*arguments); }};
}

}  // namespace conebench::cli
