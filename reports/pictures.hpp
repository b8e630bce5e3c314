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

/// `picture.png` of the folder that a problem's file is in (conebench generate --picture). Anything there that is no
/// PNG, or larger than a megabyte, is passed over.
/// `folders`: that the problems' sources are relative to, the working folder apart.
Pictures find_pictures(const std::vector<ProblemRecord>& problems, const std::vector<std::filesystem::path>& folders);

/// {"images": [base64, …], "of": {hash: index}}
std::string pictures_json(const Pictures& pictures);

}  // namespace conebench::reports
