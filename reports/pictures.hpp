#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "store/records.hpp"

namespace conebench::reports {

/// Pictures of simulated scenes, each once.
struct Pictures {
  std::vector<std::string> images;        ///< PNG
  std::map<std::string, std::size_t> of;  ///< by the hash of the problem
};

/// `picture.png` in the folder of each problem's file (conebench generate --picture). Files that are no PNG, or larger
/// than a megabyte, are skipped. `folders`: searched for relative sources, in addition to the working folder.
Pictures find_pictures(const std::vector<ProblemRecord>& problems, const std::vector<std::filesystem::path>& folders);

/// {"images": [base64, …], "of": {hash: index}}
std::string pictures_json(const Pictures& pictures);

}  // namespace conebench::reports
