#pragma once

namespace conebench {

/// Time of a fixed computation of about 10 µs that fills the processor's units and its first cache [s]. It takes at
/// least a third longer while the core's other hardware thread works for this machine or another guest. Counts of
/// processor time do not show that.
double probe_processor();

/// The minimum of recent probes: the time on a core that is not shared. Probes older than a minute are dropped, so that
/// a lasting change of the clock rate does not make every later run appear shared.
class MinimumProbe {
 public:
  void see(double probe_s, double now_s);
  double min_s() const;  ///< 0: none was seen

 private:
  double since_ = 0.0;
  double now_ = 0.0;     ///< of the half minute that began at `since_`
  double before_ = 0.0;  ///< of the one before it
};

}  // namespace conebench
