#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/cli/conebench_process.hpp"

namespace conebench::testing {
namespace {

std::string document(const std::string& name) {
  std::ifstream file(CONEBENCH_SOURCE_DIR "/docs/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(GeneratedDocs, AreWhatTheExecutablePrints) {
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"solvers", "options.md"}, {"scenes", "scenes.md"}, {"commands", "command_line.md"}};
  for (const auto& [topic, name] : documents) {
    EXPECT_EQ(conebench({"list", topic, "--markdown"}).out, document(name))
        << "docs/" << name << " is out of date: run scripts/update_docs.sh";
  }
}

}  // namespace
}  // namespace conebench::testing
