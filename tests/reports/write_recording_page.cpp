#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reports/recording/recording_page.hpp"

/// write_recording_page JUDGED.json PAGE.html
int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: write_recording_page JUDGED.json PAGE.html\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  std::ofstream(argv[2]) << conebench::reports::recording_page(nlohmann::json::parse(in));
}
