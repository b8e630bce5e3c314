#include "fclib_loader/fclib_transfer.hpp"

#include <cstring>
#include <type_traits>

#include "fclib_loader/hdf5_file.hpp"

namespace conebench {

namespace {

class Packer {
 public:
  static constexpr bool reading = false;

  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  std::size_t count(std::size_t size, std::size_t) {
    raw(&size, sizeof size);
    return size;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Unpacker {
 public:
  static constexpr bool reading = true;

  explicit Unpacker(const std::string& bytes) : bytes_(bytes) {}
  void raw(void* to, std::size_t size) {
    require(size <= bytes_.size() - position_);
    if (size > 0) std::memcpy(to, bytes_.data() + position_, size);
    position_ += size;
  }
  /// A number of elements of `element` bytes each, which must still be there.
  std::size_t count(std::size_t, std::size_t element) {
    std::size_t size = 0;
    raw(&size, sizeof size);
    require(size <= (bytes_.size() - position_) / element);
    return size;
  }
  void finish() const { require(position_ == bytes_.size()); }
  static void require(bool holds) {
    if (!holds) throw hdf5::Failure("the process that read the file was led astray by it; the file is damaged");
  }

 private:
  const std::string& bytes_;
  std::size_t position_ = 0;
};

template <class Archive, class T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void transfer(Archive& archive, T& value) {
  archive.raw(&value, sizeof value);
}

template <class Archive>
void transfer(Archive& archive, std::string& text) {
  text.resize(archive.count(text.size(), 1));
  archive.raw(text.data(), text.size());
}

template <class Archive>
void transfer(Archive& archive, Vector& vector) {
  const std::size_t size = archive.count(static_cast<std::size_t>(vector.size()), sizeof(double));
  if constexpr (Archive::reading) vector.resize(static_cast<Index>(size));
  archive.raw(vector.data(), sizeof(double) * size);
}

void transfer(Packer& archive, SparseMatrix& matrix) {
  matrix.makeCompressed();
  Index rows = matrix.rows();
  transfer(archive, rows);
  const std::size_t cols = archive.count(static_cast<std::size_t>(matrix.cols()), 0);
  const std::size_t entries = archive.count(static_cast<std::size_t>(matrix.nonZeros()), 0);
  archive.raw(matrix.outerIndexPtr(), sizeof(int) * (cols + 1));
  archive.raw(matrix.innerIndexPtr(), sizeof(int) * entries);
  archive.raw(matrix.valuePtr(), sizeof(double) * entries);
}

void transfer(Unpacker& archive, SparseMatrix& matrix) {
  Index rows = 0;
  transfer(archive, rows);
  const std::size_t cols = archive.count(0, sizeof(int));
  const std::size_t entries = archive.count(0, sizeof(int) + sizeof(double));
  Unpacker::require(rows >= 0 && rows < (Index{1} << 31));
  matrix.resize(rows, static_cast<Index>(cols));
  matrix.resizeNonZeros(static_cast<Index>(entries));
  archive.raw(matrix.outerIndexPtr(), sizeof(int) * (cols + 1));
  archive.raw(matrix.innerIndexPtr(), sizeof(int) * entries);
  archive.raw(matrix.valuePtr(), sizeof(double) * entries);
  const int* outer = matrix.outerIndexPtr();
  Unpacker::require(outer[0] == 0 && static_cast<std::size_t>(outer[cols]) == entries);
  for (std::size_t col = 0; col < cols; ++col) Unpacker::require(outer[col] <= outer[col + 1]);
  for (std::size_t k = 0; k < entries; ++k) {
    Unpacker::require(matrix.innerIndexPtr()[k] >= 0 && matrix.innerIndexPtr()[k] < rows);
  }
}

template <class Archive, class T>
void transfer(Archive& archive, std::optional<T>& value);
template <class Archive, class T>
void transfer(Archive& archive, std::vector<T>& values);

template <class Archive>
void transfer(Archive& archive, FclibContent::Guess& answer) {
  transfer(archive, answer.r);
  transfer(archive, answer.u);
  transfer(archive, answer.v);
  transfer(archive, answer.l);
}

template <class Archive>
void transfer(Archive& archive, std::map<std::string, double>& values) {
  std::vector<std::string> names;
  std::vector<double> numbers;
  for (const auto& [name, value] : values) {
    names.push_back(name);
    numbers.push_back(value);
  }
  transfer(archive, names);
  transfer(archive, numbers);
  if constexpr (Archive::reading) {
    Archive::require(names.size() == numbers.size());
    for (std::size_t k = 0; k < names.size(); ++k) values[names[k]] = numbers[k];
  }
}

template <class Archive>
void transfer(Archive& archive, Configuration& known) {
  transfer(archive, known.gaps);
  transfer(archive, known.time_step);
  transfer(archive, known.bodies);
  transfer(archive, known.generalised_velocities);
  transfer(archive, known.joint_count);
  transfer(archive, known.coordinates);
  transfer(archive, known.body_masses);
  transfer(archive, known.contact_identities);
  transfer(archive, known.limit_identities);
  transfer(archive, known.contact_frames);
  transfer(archive, known.scene);
  transfer(archive, known.step);
  transfer(archive, known.seed);
}

template <class Archive>
void transfer(Archive& archive, FclibContent::Extension& extension) {
  transfer(archive, extension.version);
  transfer(archive, extension.family);
  transfer(archive, extension.category);
  transfer(archive, extension.conditioning);
  transfer(archive, extension.limits);
  transfer(archive, extension.free_velocity);
  transfer(archive, extension.bias_known);
  transfer(archive, extension.bias);
  transfer(archive, extension.g);
  transfer(archive, extension.compliance);
  transfer(archive, extension.delassus_form);
  transfer(archive, extension.delassus);
  transfer(archive, extension.configuration);
  transfer(archive, extension.reference_source);
  transfer(archive, extension.reference_residuals);
}

template <class Archive, class T>
void transfer(Archive& archive, std::optional<T>& value) {
  std::uint8_t there = value.has_value() ? 1 : 0;
  transfer(archive, there);
  if (there == 0) return;
  if (!value) value.emplace();
  transfer(archive, *value);
}

template <class Archive, class T>
void transfer(Archive& archive, std::vector<T>& values) {
  values.resize(archive.count(values.size(), 1));
  for (T& value : values) transfer(archive, value);
}

template <class Archive>
void transfer(Archive& archive, FclibContent& content) {
  transfer(archive, content.kind);
  transfer(archive, content.space_dimension);
  for (SparseMatrix* matrix : {&content.w_matrix, &content.v_matrix, &content.r_matrix, &content.m_matrix,
                               &content.h_matrix, &content.g_matrix}) {
    transfer(archive, *matrix);
  }
  for (Vector* vector :
       {&content.q, &content.s, &content.f, &content.w, &content.b, &content.mu, &content.mu_rolling}) {
    transfer(archive, *vector);
  }
  for (std::string* text : {&content.title, &content.description, &content.math_info}) transfer(archive, *text);
  transfer(archive, content.also_other_kind);
  transfer(archive, content.extension);
  transfer(archive, content.bodies);
  transfer(archive, content.notes);
  transfer(archive, content.guesses);
  transfer(archive, content.solution);
}

}  // namespace

std::string pack(FclibContent content) {
  Packer archive;
  transfer(archive, content);
  return archive.take();
}

FclibContent unpack(const std::string& bytes) {
  Unpacker archive(bytes);
  FclibContent content;
  transfer(archive, content);
  archive.finish();
  return content;
}

}  // namespace conebench
