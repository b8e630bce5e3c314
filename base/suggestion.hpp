#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conebench {

/// "did you mean 'NSGS'? " where one of the candidates is close to the word: a few letters changed, whatever their
/// case, or more of them behind it. Else empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace conebench
