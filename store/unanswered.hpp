#pragma once

#include "store/records.hpp"

namespace conebench {

/// Clears the cell's judgement: not solved, no residuals, no modes.
void clear_judgement(CellRecord& cell);

/// Clears the judgement of every cell that has no λ of its problem's size (CellRecord::answer_crc) though its problem
/// has rows: nothing was judged there, whatever the build that wrote it believed. One that is reported to have ended
/// with an answer has crashed.
void clear_unanswered(StoreContents& contents);

}  // namespace conebench
