// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A line of progress for work that takes longer than a second. In the browser (progress_none.cc) there is
// none: the page shows that a command runs, and can stop it.
#pragma once

#include <memory>
#include <string>

#include "core/base/job.h"

namespace weft::cli {

/// Shows "weft: reading net.pb, 3 s" on standard error once a second has passed: a line that renews itself on
/// a terminal, a new line every ten seconds elsewhere. Ends when it goes out of scope.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(Progress progress);
  /// What goes on just now: "op 7 While".
  void Now(std::string what);

 private:
  class Watcher;
  std::unique_ptr<Watcher> watcher_;
};

/// Steps `job` to its end with a line of progress.
void RunJob(Job& job, std::string what);

}  // namespace weft::cli
