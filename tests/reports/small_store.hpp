#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "reports/analysis.hpp"
#include "tests/reports/synthetic_store.hpp"

/// The analysis of a store of a few cells, for tests of what it says.
namespace conebench::reports {

class SmallStore : public ::testing::Test {
 protected:
  Analysis analyse_store(bool force = false) { return analyse(store_, force); }

  static const RankingRow& row(const Analysis& analysis, const Ranking& ranking, const std::string& label) {
    for (const auto& candidate : ranking.rows) {
      if (analysis.columns[candidate.column].label == label) return candidate;
    }
    throw std::out_of_range(label);
  }

  static std::vector<std::string> notes(const Analysis& analysis) {
    std::vector<std::string> texts;
    for (const auto& note : analysis.notes) texts.push_back(note.text);
    return texts;
  }

  StoreContents store_ = testing::small_store();
};

}  // namespace conebench::reports
