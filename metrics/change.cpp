#include "metrics/change.hpp"

namespace conebench {

namespace {

double deviation_of(const SettingTimes& times) { return times.could_have_seen - times.bar; }

}  // namespace

const char* to_string(ChangeState state) {
  switch (state) {
    case ChangeState::same: return "same";
    case ChangeState::slower: return "slower";
    case ChangeState::faster: return "faster";
    case ChangeState::lost: return "lost";
    case ChangeState::won: return "won";
    case ChangeState::undecided: break;
  }
  return "undecided";
}

const char* to_string(ChangeSource source) {
  switch (source) {
    case ChangeSource::two_stores: return "two-stores";
    case ChangeSource::side_by_side: return "side-by-side";
    case ChangeSource::nights: break;
  }
  return "nights";
}

ChangeEvidence evidence_of(const SettingTimes& times, ChangeSource source) {
  const double v = deviation_of(times);
  return {source,      times.corrected,      times.corrected - 2.0 * v, times.corrected + 2.0 * v,
          times.cells, times.could_have_seen};
}

ChangeState state_of(const ChangeFacts& facts) {
  if (facts.lost > 0) return ChangeState::lost;
  if (facts.slower) return ChangeState::slower;
  if (!facts.decided) return ChangeState::undecided;
  if (facts.won > 0) return ChangeState::won;
  return facts.faster ? ChangeState::faster : ChangeState::same;
}

bool rules_out(const SettingTimes& times, double effect) {
  return times.verdict != TimeVerdict::none && times.corrected + 2.0 * deviation_of(times) < 0.5 * effect;
}

}  // namespace conebench
