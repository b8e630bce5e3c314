#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fclib_loader/hdf5_file.hpp"
#include "fclib_loader/hdf5_image.hpp"
#include "problems/contact_problem.hpp"

namespace conebench {

/// Optional datasets of the group /conebench, of all versions. Methods throw hdf5::Failure.
class GroupReader {
 public:
  GroupReader(const hdf5::ReadFile& file, hdf5::Object group) : file_(file), group_(std::move(group)) {}

 protected:
  using Values = hdf5::ReadFile::Values;

  [[noreturn]] void fail(const std::string& part, const std::string& reason) const;
  bool has(const std::string& part) const { return file_.has(group_, part); }
  Index length_of(const char* part) const { return file_.open_dataset(group_, part, Values::reals).length; }
  std::optional<Vector> read_reals(const char* part, Index size) const;
  std::optional<Index> read_count(const char* part) const;
  std::optional<std::vector<std::int64_t>> read_integers(const char* part, Index size) const;
  /// What is known of the step and its bodies whatever the rows are; `body_count`: the name of n_b.
  void read_step(const char* body_count, Configuration& known) const;
  /// Of M, from `metric`.
  Metric read_metric() const;
  void read_reference(std::string& source, std::map<std::string, double>& residuals) const;
  /// How a simulation's loop solved the step, from the group `loop`.
  std::optional<LoopSolve> read_loop() const;

  const hdf5::ReadFile& file_;
  hdf5::Object group_;
};

/// The same, written; `group` ends without a slash.
void write_step(const Configuration& known, const char* body_count, hdf5::Image& image, const std::string& group);
void write_metric(Metric metric, hdf5::Image& image, const std::string& group);
void write_scene(const Configuration& known, hdf5::Image& image, const std::string& group);
void write_reference(const Reference& reference, hdf5::Image& image, const std::string& group);
void write_origin(const Provenance& provenance, hdf5::Image& image, const std::string& group);

}  // namespace conebench
