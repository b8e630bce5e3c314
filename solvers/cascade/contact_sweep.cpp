#include "solvers/cascade/contact_sweep.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "problems/cones/contact_rows.hpp"

namespace conebench::cascade {

void ContactSweep::refresh() {
  with_contact_rows(problem_.dimension(), [&]<int Dim>() {
    auto& prepared = std::get<Prepared<Dim>>(prepared_);
    prepared.clear();
    prepared.reserve(static_cast<std::size_t>(problem_.contacts()));
    for (int i = 0; i < problem_.contacts(); ++i)
      prepared.push_back(local_.prepare<Dim>(problem_.block<Dim>(problem_.diagonal(i)), 1.0));
  });
}

double ContactSweep::sweep(Vector& r) const {
  double change = 0.0;
  double size = 0.0;
  with_contact_rows(problem_.dimension(), [&]<int Dim>() {
    for (int i = 0; i < problem_.contacts(); ++i) {
      const ContactVector<Dim> old = ScaledProblem::part<Dim>(r, i);
      auto sum = ScaledProblem::whole_register<Dim>(problem_.free_term(), i);
      const int own = problem_.diagonal(i);
      problem_.add_row_product<Dim>(problem_.row_begin(i), own, r, sum);
      problem_.add_row_product<Dim>(own + 1, problem_.row_begin(i + 1), r, sum);
      const ContactVector<Dim> free = sum.template head<Dim>().matrix();
      const auto& prepared = std::get<Prepared<Dim>>(prepared_)[static_cast<std::size_t>(i)];
      const ContactVector<Dim> solved = local_.solve<Dim>(prepared, problem_.block<Dim>(own), 1.0, free, old);
      change += (solved - old).squaredNorm();
      size += solved.squaredNorm();
      for (int a = 0; a < Dim; ++a) r[3 * static_cast<Index>(i) + (a + 1 < Dim ? a : 2)] = solved[a];
    }
  });
  return std::sqrt(change / std::max(size, std::numeric_limits<double>::min()));
}

}  // namespace conebench::cascade
