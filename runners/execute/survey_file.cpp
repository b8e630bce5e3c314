#include "runners/execute/survey_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "base/archive.hpp"
#include "base/text_file.hpp"
#include "runners/execute/environment.hpp"
#include "runners/execute/wire.hpp"

namespace conebench {

namespace {

namespace fs = std::filesystem;

using Surveys = std::map<std::string, std::string>;  ///< by identity of the source, encoded

/// Everything of a source that its survey depends on; changes where its file does.
std::string identity(const ProblemSource& source) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", source.name, source.family, source.source, source.file.string(),
                                 source.as_fclib);
  for (const ProblemSource& member : source.members) text += '\n' + identity(member);
  if (source.file.empty()) return text;
  struct stat found = {};
  if (::stat(source.stored_in().c_str(), &found) != 0) return text;
  const auto time = [](const timespec& t) { return fmt::format("{}.{:09}", t.tv_sec, t.tv_nsec); };
  // Who copies a file with its date leaves the time of its last change.
  return text + fmt::format("\n{} {} {}", found.st_size, time(found.st_mtim), time(found.st_ctim));
}

Error unusable(const fs::path& file, const char* why) {
  return {ErrorCode::bad_input, fmt::format("{}: {}; delete it to survey the problems anew", file.string(), why)};
}

Result<Surveys> read_surveys(const fs::path& file, const std::string& executable) {
  Surveys surveys;
  std::error_code failed;
  if (fs::file_size(file, failed) == 0) return surveys;  // just begun
  constexpr std::uintmax_t max_bytes = std::uintmax_t{1} << 40;
  const auto bytes = read_text_file(file, max_bytes);
  if (!bytes) return bytes.error();
  FrameBuffer buffer;
  buffer.append(bytes->data(), bytes->size());
  const auto head = buffer.next();
  if (!head) return unusable(file, "no survey of this Conebench");
  if (head->payload != executable) return unusable(file, "the survey of another build of Conebench");
  while (const auto frame = buffer.next()) {
    Unpacker unpacker(frame->payload);
    std::string key, survey;
    unpacker(key, survey);
    if (!unpacker.done()) return unusable(file, "a damaged survey");
    surveys.emplace(std::move(key), std::move(survey));
  }
  if (!buffer.empty()) return unusable(file, "a damaged survey");
  return surveys;
}

Result<void> write_surveys(const fs::path& file, const std::string& executable, const Surveys& surveys) {
  std::string bytes;
  const auto put = [&](const std::string& payload) { bytes += encode_frame(FrameKind::surveyed, payload); };
  put(executable);
  for (const auto& [key, survey] : surveys) {
    Packer packer;
    packer(key, survey);
    put(packer.take());
  }
  return write_text_file(file, bytes);
}

}  // namespace

Result<std::vector<SurveyedProblem>> survey_kept(const fs::path& file, const SurveyPlan& plan,
                                                 const std::vector<ProblemSource>& sources, int at_a_time,
                                                 const std::atomic<bool>* interrupted, Progress& progress) {
  if (file.empty()) return survey_sources(plan, sources, at_a_time, interrupted, progress);
  const std::string executable = capture_build().executable;
  auto surveys = read_surveys(file, executable);
  if (!surveys) return surveys.error();

  std::vector<SurveyedProblem> all(sources.size());
  std::vector<std::string> keys;
  std::vector<std::size_t> missing;
  std::vector<ProblemSource> missing_sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    keys.push_back(identity(sources[i]));
    const auto found = surveys->find(keys[i]);
    auto survey = found != surveys->end() ? decode_surveyed(found->second) : std::nullopt;
    if (survey) {
      all[i] = std::move(*survey);
      if (sources[i].position) all[i].position = sources[i].position;
    } else {
      missing.push_back(i);
      missing_sources.push_back(sources[i]);
    }
  }
  if (missing.empty()) return all;
  auto found = survey_sources(plan, missing_sources, at_a_time, interrupted, progress);
  bool grown = false;
  for (std::size_t k = 0; k < missing.size(); ++k) {
    const std::size_t i = missing[k];
    // What the store knows already was surveyed without features.
    if (found[k].loaded && plan.features && !plan.known.contains(found[k].record.hash)) {
      (*surveys)[keys[i]] = encode(found[k]);
      grown = true;
    }
    all[i] = std::move(found[k]);
  }
  if (grown) {
    CONEBENCH_CHECK(write_surveys(file, executable, *surveys));
  }
  return all;
}

void renew_survey(const fs::path& cache) {
  begin_survey(cache);
  const fs::path file = survey_file(cache);
  if (!file.empty() && !read_surveys(file, capture_build().executable)) std::ofstream(file, std::ios::trunc);
}

fs::path survey_file(const fs::path& cache) {
  const fs::path file = cache / "survey";
  std::error_code ignored;
  return !cache.empty() && fs::exists(file, ignored) ? file : fs::path();
}

void begin_survey(const fs::path& cache) {
  std::error_code ignored;  // the first write says what is wrong
  fs::create_directories(cache, ignored);
  std::ofstream(cache / "survey", std::ios::app);
}

}  // namespace conebench
