// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The backward planner: one reverse walk over a net that asks each operator's rule for its gradient
// operators, adds up what several readers of one value contribute, and names the results as Caffe2 does
// (semantics.md section 2). Gradients are keyed by (blob, version); names are decided last, so a generated
// name never overwrites something that is still needed. Linear in the net. The net's SymbolTable grows;
// nothing else of the net changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ops/gradient_context.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"

namespace weft {

namespace internal {
class Planner;
}

/// Faults of Caffe2 (semantics.md section 8) that a plan may repeat. The default repeats none. All of them
/// together are the mode `caffe2`, which exists to be compared with recorded nets.
enum GradientFault : uint32_t {
  kFaultLostGiven = 1 << 0,      // B1: a given gradient of an intermediate blob is lost
  kFaultByName = 1 << 1,         // B2: gradients belong to a name, whatever its version
  kFaultUnknownLoss = 1 << 2,    // B4: an unknown loss is accepted
  kFaultShallowRename = 1 << 3,  // B6: renaming a gradient does not reach the nets inside its operator
  kFaultRules = 1 << 4,          // B10, B53: rules that forget unused outputs
  kFaultNameClash = 1 << 5,      // B13: generated names overwrite blobs of the net
  kFaultTagDevice = 1 << 6,      // B14: a tag drops the device of a Sum
  kFaultDeviceType = 1 << 7,     // B15: accelerators of different types pass for the same device
  kFaultSeedDevice = 1 << 8,     // B18: start gradients are not made where the loss is
  kFaultOverwrite = 1 << 9,      // B56: a gradient that others still need is overwritten, or an operator
                                 // overwrites its input that can't work in place
  kFaultTemporaries =
      1 << 10,  // a rule's intermediate values are summed in (Sqrt, Pow, Log of a blob with two readers)
  kFaultLastWins = 1 << 11,     // B60: one blob twice in an operator loses its gradient
  kFaultControlFlow = 1 << 12,  // B3, B5, B7-B9, B11, B54, B57: Do, If and While
  kFaultOwnInput =
      1 << 13,  // an operator that works in place, and whose gradient needs the input that it overwrote
  kFaultCopyReads = 1 << 14,  // the gradient of Copy counts as a reader of what it was copied from
  kFaultTwice = 1 << 15,      // B55: a second backward pass of one loss is appended to the first
};
inline constexpr uint32_t kNoFaults = 0;
inline constexpr uint32_t kAllFaults = (1 << 16) - 1;

/// What to do when dense and sparse gradients meet on one value.
enum class MixedGradients : uint8_t {
  kError,   // as Caffe2
  kDense,   // scatter the sparse ones into a dense one
  kSparse,  // turn the dense ones into (all rows, values)
};

struct Loss {
  Symbol blob;
  Gradient given;  // none: a ConstantFill of ones is generated
};

struct GradientOptions {
  std::vector<Loss> losses;
  uint32_t faults = kNoFaults;  // GradientFault bits; kAllFaults is the mode `caffe2`
  size_t skip = 0;              // operators at the front that are not differentiated
  DevicePtr scope_device;  // of seeds whose loss nobody in the net writes (and, with kFaultSeedDevice, of all
                           // seeds)
  MixedGradients mixed = MixedGradients::kError;
  std::vector<Symbol> wrt;     // only these gradients are wanted; empty: all
  std::vector<Symbol> stop;    // gradients do not flow into these blobs
  std::vector<Symbol> frozen;  // parameters that get no gradient
  bool repair = false;         // PlanWithRepair (grad/repair.h) may rewrite the net, and nets inside it

  // For planning nested nets and for repair.
  bool collect_conflicts = false;  // go on after a version conflict and list them all
  bool nested = false;  // in a nested net: given gradients are never overwritten, and an operator that
                        // overwrites its own input is repaired unasked
  std::function<bool(Symbol)> reserved;  // names that generated ones must not take
};

/// Why a generated operator is there.
struct Origin {
  enum Kind : uint8_t {
    kSeed,        // the start gradient of a loss
    kRule,        // the gradient rule of forward operator `forward`
    kAccumulate,  // adds up the contributions to (blob, version); `forward` is the first reader of that value
  };
  Kind kind = kRule;
  OpId forward = kNoOp;  // index in the net (skipped operators counted), kNoOp for a seed
  Symbol blob;           // kSeed, kAccumulate: the blob whose gradient this is
  uint32_t version = 0;  // its version (get_ssa numbers)
};

/// A gradient needs (blob, version), and a later operator overwrites it.
struct VersionConflict {
  OpId reader;      // the forward operator whose gradient needs it
  bool is_output;   // as one of its outputs (else: inputs)
  ValueId needed;   // in the Ssa of the net from `skip` on
  OpId overwriter;  // the first operator that writes the blob after that version
};

struct BlobGradient {
  Symbol blob;
  Gradient gradient;
  uint32_t version = 0;  // of the blob, that this is the gradient of (get_ssa numbers)
};

struct Backward {
  std::vector<Op> ops;         // in execution order
  std::vector<Origin> origin;  // one per op
  std::vector<BlobGradient>
      gradients;  // blobs by first appearance; the gradient of their earliest version reached
  std::vector<VersionConflict>
      conflicts;  // only with collect_conflicts; when there are any, ops must not be run
  // Forward operators whose nets had to be rewritten, so that a value that an operator in them overwrites
  // survives (with repair: any such value). The plan fits them; AppendBackward puts them in.
  std::vector<std::pair<OpId, Op>> repaired_ops;
};

class GradientPlanner final : public Job {
 public:
  /// `net` and `ops` must outlive the planner.
  GradientPlanner(const Net& net, const OpSet& ops, GradientOptions options);
  ~GradientPlanner() override;

  /// A unit is one forward operator.
  bool Step(uint64_t units) override;
  Progress progress() const override;
  /// The plan. REQUIRES: Step returned true. Call once.
  /// Errors: kNotFound (a loss, or a blob of the options, that is not in the net), kInvalidArgument (a loss
  /// twice, or one whose backward pass the net has already, B55; a skip too large), kVersionConflict,
  /// kMixedGradients, kDeviceMismatch, kNoGradient, kMissingGradient, kSchema, kOrphanStopGradient,
  /// kUnknownOperator, kControlFlow.
  Result<Backward> Take();

 private:
  std::unique_ptr<internal::Planner> planner_;
};

/// Plans in one go.
Result<Backward> PlanGradients(const Net& net, const OpSet& ops, const GradientOptions& options);

/// `net` with its repaired operators put in and the planned ones appended. Move both in when they are not
/// needed afterwards.
Net AppendBackward(Net net, Backward backward);

}  // namespace weft
