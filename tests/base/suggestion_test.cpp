#include "base/suggestion.hpp"

#include <gtest/gtest.h>

namespace conebench {
namespace {

const std::vector<std::string> ids = {"NSGS", "PGS-NCP", "ADMM-NCP-SA", "quadruped", "solve"};

TEST(DidYouMean, FindsAnotherCaseAnExchangeALetterLessAndABeginning) {
  EXPECT_EQ(did_you_mean("nsgs", ids), "did you mean 'NSGS'? ");
  EXPECT_EQ(did_you_mean("sovle", ids), "did you mean 'solve'? ");
  EXPECT_EQ(did_you_mean("qadruped", ids), "did you mean 'quadruped'? ");
  EXPECT_EQ(did_you_mean("quad", ids), "did you mean 'quadruped'? ");
  EXPECT_EQ(did_you_mean("ADMM-NPC-SA", ids), "did you mean 'ADMM-NCP-SA'? ");
  EXPECT_EQ(did_you_mean("admm-ncp-sa", {"ADMM-NCP-SA-S", "ADMM-NCP-SA"}), "did you mean 'ADMM-NCP-SA'? ");
  EXPECT_EQ(did_you_mean("LeLidec24-fig13", {"LeLidec24-fig-3", "LeLidec24-fig-13"}),
            "did you mean 'LeLidec24-fig-13'? ");
}

TEST(DidYouMean, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(did_you_mean("banana", ids), "");
  EXPECT_EQ(did_you_mean("", ids), "");
  EXPECT_EQ(did_you_mean("NSGS", {}), "");
}

}  // namespace
}  // namespace conebench
