#pragma once

namespace conebench {

/// Times a fixed piece of work of some 10 µs that fills the processor's units and stays in its first cache [s]. It
/// takes a third longer and more while the core's other thread, of this machine or of a guest beside it, is at work,
/// which no count of processor time shows.
double probe_processor();

/// The least probe of late: what the processor does when it is not shared. It forgets what is more than a minute old,
/// so that a clock that was lowered for good does not make each later run look shared.
class LeastProbe {
 public:
  void see(double probe_s, double now_s);
  double least() const;  ///< 0 where none was seen

 private:
  double since_ = 0.0;
  double now_ = 0.0;     ///< of the half minute that began at `since_`
  double before_ = 0.0;  ///< of the one before it
};

}  // namespace conebench
