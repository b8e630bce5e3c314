#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "problems/cones/contact_vector.hpp"
#include "problems/types.hpp"

namespace conebench::newton {

/// Square blocks of any sizes up to a contact's, the values of one after those of the other, each column by column.
class BlockDiagonal {
 public:
  BlockDiagonal() = default;
  /// Zeros; `size_of(i)`: rows of block i.
  template <class SizeOf>
  BlockDiagonal(Index blocks, SizeOf size_of) {
    for (Index i = 0; i < blocks; ++i) {
      sizes_.push_back(size_of(i));
      begin_.push_back(begin_.back() + sizes_.back() * sizes_.back());
    }
    values_.setZero(begin_.back());
  }

  template <int Rows = Eigen::Dynamic>
  Eigen::Map<ContactSquare<Rows>> block(Index i) {
    return {values_.data() + begin_[at(i)], sizes_[at(i)], sizes_[at(i)]};
  }
  Eigen::Map<const ContactSquare<Eigen::Dynamic>> block(Index i) const {
    return {values_.data() + begin_[at(i)], sizes_[at(i)], sizes_[at(i)]};
  }
  /// Block i in the top left corner. For products: where the distance between columns is known to the compiler, it
  /// fuses multiplications and additions in one way whatever the storage, so that results keep their last bits.
  Eigen::Matrix<double, max_contact_rows, max_contact_rows> padded(Index i) const {
    Eigen::Matrix<double, max_contact_rows, max_contact_rows> result;
    result.topLeftCorner(sizes_[at(i)], sizes_[at(i)]) = block(i);
    return result;
  }
  const Vector& values() const { return values_; }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

  std::vector<int> sizes_;
  std::vector<Index> begin_{0};
  Vector values_;
};

}  // namespace conebench::newton
