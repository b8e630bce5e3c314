#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conebench {

/// "did you mean 'NSGS'? " if one of the candidates is close to the word: a few letters differ, or it continues
/// the word. Case is ignored. Else empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace conebench
