#include "solvers/peer_builds.hpp"

#include <array>

// From cmake/PeerBuild.cmake: "VERSION|BUILD" of the library that was found, empty where there is none.
#ifndef CONEBENCH_SICONOS_BUILD
#define CONEBENCH_SICONOS_BUILD ""
#endif
#ifndef CONEBENCH_IPOPT_BUILD
#define CONEBENCH_IPOPT_BUILD ""
#endif

namespace conebench {

namespace {

struct Release {
  const char* library;
  const char* version;
  const char* date;
};

/// Siconos: the tags of its repository; Ipopt: its ChangeLog.
constexpr std::array releases{
    Release{"siconos", "4.2.0", "2018-04-27"}, Release{"siconos", "4.3.0", "2020-05-05"},
    Release{"siconos", "4.3.1", "2020-10-24"}, Release{"siconos", "4.4.0", "2021-09-07"},
    Release{"siconos", "4.5.0", "2024-03-28"}, Release{"siconos", "4.5.0+git20260812", "2026-08-12"},
    Release{"ipopt", "3.11.9", "2014-08-16"},  Release{"ipopt", "3.14.4", "2021-09-20"},
    Release{"ipopt", "3.14.5", "2022-02-09"},  Release{"ipopt", "3.14.9", "2022-07-21"},
    Release{"ipopt", "3.14.11", "2023-02-07"}, Release{"ipopt", "3.14.12", "2023-04-05"},
    Release{"ipopt", "3.14.13", "2023-11-08"}, Release{"ipopt", "3.14.19", "2025-07-30"}};

}  // namespace

std::string release_date(const std::string& library, const std::string& version) {
  for (const Release& release : releases) {
    if (library == release.library && version == release.version) return release.date;
  }
  return {};
}

PeerBuild peer_build(const std::string& library) {
  const std::string found = library == "siconos" ? CONEBENCH_SICONOS_BUILD : CONEBENCH_IPOPT_BUILD;
  const std::size_t bar = found.find('|');
  if (bar == std::string::npos) return {};
  const std::string version = found.substr(0, bar);
  return {version, release_date(library, version), found.substr(bar + 1)};
}

}  // namespace conebench
