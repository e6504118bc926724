// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The serial interpreter. PreparedNet is a net bound to a workspace: every operator has its kernel, its blobs
// and its state. Preparing does Caffe2's construction checks and makes the output blobs; running calls the
// kernels in order and stops at the first error. Operators in nested nets run through PreparedNets of their
// own, made by the kernels of control operators.
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/run/kernel.h"
#include "core/run/workspace.h"

namespace weft {

inline constexpr int kMaxRunDepth = 100;  // nested nets inside one another

class PreparedNet {
 public:
  /// Binds `net` to `workspace`, which must outlive it. Errors name the operator: no kernel for its type, an
  /// input blob that does not exist, an input that the net does not declare or produce although it declares
  /// external inputs, a declared output that is not produced, arguments that the operator refuses.
  static Result<std::unique_ptr<PreparedNet>> Create(std::shared_ptr<const Net> net, Workspace& workspace);

  /// Runs all operators in order. The error of an operator carries its index and starts with both:
  /// "op 3 Relu(x)->y: ..."; in nested nets with the operators around it, outermost first.
  Result<void> Run();
  /// Runs one operator.
  Result<void> RunOp(size_t index);
  const Net& net() const { return *net_; }
  size_t num_ops() const { return ops_.size(); }

 private:
  PreparedNet(std::shared_ptr<const Net> net, Workspace& workspace)
      : net_(std::move(net)), workspace_(workspace) {}

  std::shared_ptr<const Net> net_;
  Workspace& workspace_;
  std::vector<std::unique_ptr<KernelContext>> ops_;
};

/// "Relu(x)->y": how an operator is written in run-time errors.
std::string OpText(const Net& net, const Op& op);

}  // namespace weft
