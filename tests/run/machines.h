// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Several machines in one process: each has a workspace and nets of its own; they run until all are at a
// collective, which must be the same one everywhere, and then exchange what it says. GPUs are played by the
// CPU: devices are dropped, copies between devices are copies, NCCL's operators are done on the spot.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/run/interpreter.h"
#include "core/run/workspace.h"

namespace weft::test {

class Machines {
 public:
  explicit Machines(size_t count);

  Workspace& operator[](size_t machine) { return *workspaces_[machine]; }
  size_t size() const { return workspaces_.size(); }
  /// Runs nets[i] on machine i, all in step. "" or the first failure; machines at different collectives fail.
  std::string Run(std::span<const Net* const> nets);

 private:
  RunContext context_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;
};

}  // namespace weft::test
