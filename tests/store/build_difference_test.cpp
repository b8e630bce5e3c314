#include "store/build_difference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/suite_scope.hpp"
#include "tests/store/sample_records.hpp"

namespace conebench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

BuildRecord build() { return testing::sample_run().build; }

TEST(BuildDifference, AnotherExecutableIsAnotherBuildThoughTheCommitIsTheSame) {
  auto edited = build();
  edited.executable = "fedcba9876543210";
  EXPECT_THAT(build_difference(build(), build()), IsEmpty());
  EXPECT_THAT(build_difference(build(), edited),
              AllOf(HasSubstr("same commit"), HasSubstr("01234567 there"), HasSubstr("fedcba98 here")));
}

TEST(ConfigurationDifference, NamesVersionAndOptionsWithBothValues) {
  const ConfigurationRecord there{"", "NSGS", 1, "NCP", "NSGS", R"({"omega":1.0,"gone":true,"same":"a"})"};
  const ConfigurationRecord here{"", "NSGS", 2, "NCP", "NSGS", R"({"omega":1.2,"same":"a"})"};
  EXPECT_EQ(configuration_difference(there, here), "version 1, here 2; gone true, here none; omega 1.0, here 1.2");
  EXPECT_THAT(configuration_difference(here, here), IsEmpty());
}

TEST(BuildDifference, LongFlagsAreReportedByWhatDiffers) {
  auto first = build(), second = build();
  first.flags = std::string(300, 'x') + " -O2 " + std::string(300, 'y');
  second.flags = std::string(300, 'x') + " -O3 " + std::string(300, 'y');
  EXPECT_EQ(build_difference(first, second, "in a", "in b"), "flags -O2 in a, -O3 in b");
  second.flags = "-O2";
  EXPECT_LT(build_difference(first, second).size(), 200U);
  EXPECT_THAT(build_difference(first, second), Not(HasSubstr("\n")));
}

TEST(CodeChanges, TellThePlugInsOfBothRunsThatHaveOtherFiles) {
  const auto run_with = [](const std::map<std::string, std::string>& hashes) {
    SuiteScope scope;
    scope.code_hashes = hashes;
    RunRecord run = testing::sample_run();
    run.scope_json = to_json_text(scope);
    return run;
  };
  const CodeHashes before = code_hashes_of({run_with({{"MINE", "01"}, {"GONE", "02"}}), run_with({{"MINE", "03"}})});
  EXPECT_EQ(before, (CodeHashes{{"MINE", {"01", "03"}}, {"GONE", {"02"}}}));
  EXPECT_THAT(code_changes(before, before), IsEmpty());
  const auto changes = code_changes(before, code_hashes_of({run_with({{"MINE", "03"}, {"NEW", "04"}})}));
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].solver, "MINE");
  EXPECT_EQ(changes[0].after, std::set<std::string>{"03"});
  EXPECT_THAT(code_hashes_of({testing::sample_run()}), IsEmpty());
}

TEST(BuildDifference, ALibraryMayChangeUnderTheSameExecutable) {
  auto second = build();
  second.libraries["hdf5"] = "1.14.0";
  EXPECT_EQ(build_difference(build(), second), "hdf5 1.10.8 there, 1.14.0 here");
}

}  // namespace
}  // namespace conebench
