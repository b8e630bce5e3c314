#include "simulation/strata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "base/option_parsing.hpp"

namespace conebench::simulation {

namespace {

bool before(const Stratum& a, const Stratum& b) { return std::tie(a.category, a.band) < std::tie(b.category, b.band); }

}  // namespace

std::string Stratum::name() const { return fmt::format("{}, conditioning {}", to_string(category), band_name); }

nlohmann::json to_json(const Stratum& stratum) {
  return {{"category", to_string(stratum.category)},
          {"conditioning", stratum.band_name},
          {"met", stratum.met},
          {"samples", stratum.taken},
          {"wanted", stratum.wanted},
          {"short", stratum.is_short()}};
}

Stratum stratum_of_json(const nlohmann::json& json) {
  Stratum stratum;
  const auto found = category_of(json.at("category").get<std::string>());
  if (!found) throw std::domain_error("a category that is none");
  stratum.category = *found;
  json.at("conditioning").get_to(stratum.band_name);
  json.at("met").get_to(stratum.met);
  json.at("samples").get_to(stratum.taken);
  json.at("wanted").get_to(stratum.wanted);
  return stratum;
}

Result<Strata> Strata::create(const std::string& list, const std::string& edge_list, long per_stratum) {
  std::vector<double> edges;
  for (const std::string& text : split_list(edge_list)) {
    double edge = 0.0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), edge);
    const bool whole = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
    if (!whole || !(edge > (edges.empty() ? 1.0 : edges.back()))) {
      return Error{ErrorCode::wrong_usage,
                   fmt::format("option 'bands' = {}: '{}' must be a number above {}; write ascending edges as in "
                               "1e2,1e4",
                               edge_list, text, edges.empty() ? 1.0 : edges.back())};
    }
    edges.push_back(edge);
  }
  Strata strata(ConditioningBands(std::move(edges)), per_stratum);
  for (const std::string& text : split_list(list)) {
    const auto found = category_of(text);
    if (!found) return Error{ErrorCode::wrong_usage, "option 'categories': " + unknown_category(text)};
    strata.asked_ = true;
    for (std::size_t band = 0; band < strata.bands_.count(); ++band) strata.find(*found, band).wanted = per_stratum;
  }
  return strata;
}

Stratum& Strata::find(SampleCategory category, std::size_t band) {
  Stratum wanted{.category = category, .band = band, .band_name = bands_.name(band)};
  const auto found = std::lower_bound(strata_.begin(), strata_.end(), wanted, before);
  if (found != strata_.end() && found->category == category && found->band == band) return *found;
  return *strata_.insert(found, std::move(wanted));
}

bool Strata::take(const Features& features) {
  Stratum& stratum = find(features.category, bands_.band_of(features.spectrum.conditioning));
  if (!asked_) stratum.wanted = per_stratum_;
  ++stratum.met;
  if (!stratum.is_short()) return false;
  ++stratum.taken;
  return true;
}

bool Strata::full() const {
  return asked_ && std::none_of(strata_.begin(), strata_.end(), [](const Stratum& s) { return s.is_short(); });
}

}  // namespace conebench::simulation
