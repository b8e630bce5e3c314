#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "reports/write_files.hpp"
#include "store/store.hpp"

namespace conebench::reports {

/// The stored answers of each configuration, tolerance and start as a tar file that holds a folder by itself:
/// manifest.json and one .npy a problem, as `conebench judge --submission` takes it (docs/submissions.md). The same
/// records give the same bytes. Errors (bad_input): an answer that can't be read.
Result<std::vector<ReportFile>> answer_archives(const Store& store, const StoreContents& contents);

/// Letters, digits, dots, underscores and hyphens that name `text` in an address: itself where it has no others, else
/// what is left of it and eight digits of its hash.
std::string address_part(const std::string& text);

}  // namespace conebench::reports
