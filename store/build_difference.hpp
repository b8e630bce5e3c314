#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench {

/// How two builds differ, in a few words ("commit abc there, def here; flags -O3 there, -O0 here"); empty where
/// their times and answers may stand side by side. Builds are the same where their executables are, byte for byte, and
/// the libraries that they load; of an older Conebench, whose executable is not known, where a clean commit is.
/// `there`, `here`: how the text calls the two sides.
std::string build_difference(const BuildRecord& first, const BuildRecord& second, const std::string& there = "there",
                             const std::string& here = "here");

/// Solver → hashes of the content of its plug-in's or program's files; several where runs have other ones.
using CodeHashes = std::map<std::string, std::set<std::string>>;
CodeHashes code_hashes_of(const std::vector<RunRecord>& runs);

/// A solver whose plug-in or program is another one, though the build of Conebench may be the same.
struct CodeChange {
  std::string solver;
  std::set<std::string> before, after;  ///< hashes
};
/// Of the solvers that both have.
std::vector<CodeChange> code_changes(const CodeHashes& before, const CodeHashes& after);

/// How two configurations of one solver differ; the second one is "here": "version 1, here 2; omega 1.0, here 1.2".
/// Empty where nothing does.
std::string configuration_difference(const ConfigurationRecord& there, const ConfigurationRecord& here);

}  // namespace conebench
