#pragma once

#include <string>
#include <string_view>

#include "reports/write_files.hpp"

namespace conebench::reports {

std::string base64(std::string_view bytes);

/// What `text` writes, as a zlib stream in base64, for an element that page.html unpacks. Piece by piece: none of it is
/// ever whole in memory.
void write_packed(const ByteSource& text, const ByteSink& sink);

}  // namespace conebench::reports
