// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A Job is long work that its host drives: the host calls Step until it is done, shows progress, and drops
// the Job to cancel. Core has no clock and no threads, so a result never depends on how the work was sliced.
#pragma once

#include <cstdint>
#include <limits>

namespace weft {

struct Progress {
  uint64_t done = 0;   // work units; what a unit is, the job says
  uint64_t total = 0;  // 0 while unknown
};

class Job {
 public:
  virtual ~Job() = default;
  /// Does about `units` of work. True when the job is finished (also when it ended in an Error).
  virtual bool Step(uint64_t units) = 0;
  virtual Progress progress() const = 0;
};

/// Steps to the end.
inline void Finish(Job& job) {
  while (!job.Step(std::numeric_limits<uint32_t>::max())) {
  }
}

}  // namespace weft
