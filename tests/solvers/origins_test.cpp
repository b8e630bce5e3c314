#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "solvers/peer_builds.hpp"
#include "solvers/registry.hpp"

namespace conebench {
namespace {

std::set<std::string> solvers_of(Origin origin) {
  std::set<std::string> ids;
  for (const SolverRow& row : solver_catalogue()) {
    if (row.info.origin == origin) ids.insert(row.info.id);
  }
  return ids;
}

TEST(Origins, TheseMethodsAreOfConebenchsAuthors) {
  EXPECT_EQ(solvers_of(Origin::own),
            (std::set<std::string>{"ADMM-NCP-AA-S", "ADMM-NCP-SA-S", "ADMM-NCP-ST-S", "APGD-NCP", "BB-NCP", "CASCADE",
                                   "COND-PROX-S", "COND-STRICT-S", "IPM", "LEMKE-ROBUST-DF", "NEWTON-KRYLOV", "NSGS",
                                   "NSGS-AA", "NSGS-DAMPED", "PGS-LCP-SAFE", "PGS-NCP-SAFE", "PPA", "SSN"}));
}

TEST(Origins, APapersMethodNamesThePaper) {
  EXPECT_GE(solvers_of(Origin::paper).size(), 20U);
  for (const SolverRow& row : solver_catalogue()) {
    if (row.info.origin == Origin::paper) {
      EXPECT_FALSE(row.info.citation.empty()) << row.info.id;
    }
  }
}

TEST(Origins, SiconosAndIpoptArePeersAndPayForTestsOfTheirOwn) {
  for (const SolverRow& row : solver_catalogue()) {
    const bool peer = row.info.id.starts_with("SICONOS-") || row.info.id.starts_with("IPOPT-");
    EXPECT_EQ(row.info.origin == Origin::peer, peer) << row.info.id;
    EXPECT_EQ(checks_are_free(row.info), !peer) << row.info.id;
  }
}

TEST(Origins, AForeignSolverThatIsSeenInEveryIterationCanBeLookedAtForFree) {
  SolverInfo info;
  info.origin = Origin::foreign;
  EXPECT_TRUE(checks_are_free(info));
  info.observed_every_iteration = false;
  EXPECT_FALSE(checks_are_free(info));
}

TEST(Origins, AVersionsDateIsOfTheTableOrNotKnown) {
  EXPECT_EQ(release_date("siconos", "4.4.0"), "2021-09-07");
  EXPECT_EQ(release_date("ipopt", "3.11.9"), "2014-08-16");
  EXPECT_EQ(release_date("ipopt", "4.4.0"), "");
  EXPECT_EQ(release_date("siconos", "99.0"), "");
}

TEST(Origins, APeerOfThisBuildHasAVersionOrSaysNothing) {
  for (const SolverRow& row : solver_catalogue()) {
    const PeerBuild& peer = row.info.peer;
    if (row.info.origin != Origin::peer) {
      EXPECT_TRUE((peer.version + peer.released + peer.build).empty());
    }
    if (!peer.released.empty() || !peer.build.empty()) {
      EXPECT_FALSE(peer.version.empty()) << row.info.id;
    }
  }
}

}  // namespace
}  // namespace conebench
