#pragma once

namespace conebench {

/// Takes from this process and all that it starts the right to send signals to others and to leave its process group,
/// and ends it by SIGSYS where it sends itself one of those that sent_from_outside() tells of: whatever kills it or its
/// parent by them then comes from outside, and its group holds all that it leaves behind. Without a system that can do
/// that (seccomp) nothing changes.
void confine_this_process();

}  // namespace conebench
