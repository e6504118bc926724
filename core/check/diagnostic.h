// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A Diagnostic is a finding about a net, a pair of nets or a plan. It never stops anything: a net with
// findings still opens, prints and lays out. Values, owned by whoever asked; `op` counts within the net that
// `path` leads to.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct Net;

enum class Severity : uint8_t {
  kError,
  kWarning,
  kNote
};  // Caffe2 refuses it; likely a mistake; worth knowing
inline constexpr int kNumSeverities = 3;

enum class FindingCode : uint8_t {
  // How the file came.
  kLenient,  // read, but not the way Caffe2 writes it
  // The net and its ends.
  kNoName,
  kNoExternalInputs,
  kNoExternalOutputs,
  kRepeatedExternal,
  kUnusedInput,
  kUndeclaredInput,
  kMissingOutput,
  kHelperOutput,
  // Reads and writes.
  kReadBeforeWrite,
  kDeadWrite,
  kDoubleFill,
  kRepeatedOutput,
  // Operators.
  kUnknownOperator,
  kSchema,
  kInPlace,
  kControlLate,
  kControlCycle,
  kControlUnknown,
  kNodeName,
  kNotPortable,
  kNestedTooDeep,
  // Shapes.
  kWrongShape,
  kShapeUnknown,
  // Nets that share a workspace.
  kNotFed,
  kNeverFilled,
  kRunOrder,
  kWrongType,
  kUnusedParameter,
  // Plans.
  kUndefinedNet,
  kRepeatedNet,
  kUnusedNet,
  kSubstepsAndNets,
  kEmptyStep,
  kStepOptions,
  kConcurrentWrite,
  kConcurrentRead,
};
inline constexpr int kNumFindingCodes = static_cast<int>(FindingCode::kConcurrentRead) + 1;

/// The stable spelling in JSON and on the command line: "read_before_write".
std::string_view FindingCodeName(FindingCode code);
/// "error", "warning", "note".
std::string_view SeverityName(Severity severity);

struct Diagnostic {
  FindingCode code = FindingCode::kLenient;
  Severity severity = Severity::kNote;
  int32_t op = -1;       // index in its net, -1 when it is about no single operator
  std::string blob{};    // empty when it is about no single blob
  std::string message;   // what is wrong and where, without the remedy
  std::string remedy{};  // what to do about it, may be empty
  // Which net: "" the one asked about, "4.loop_net/0.then_net" nets inside it, "train" a net of a plan.
  std::string path{};
};

/// Collects findings in order, at most `per_code` of each code, so that a million broken operators do not
/// make a million messages; those beyond are counted.
class Findings {
 public:
  explicit Findings(size_t per_code = 1000) : per_code_(per_code) {}

  /// False when this code has enough: the caller may skip making the message. Counts the finding as left out.
  bool Wants(FindingCode code) {
    size_t& seen = seen_[static_cast<size_t>(code)];
    return seen++ < per_code_;
  }
  /// Adds a finding that Wants said yes to.
  void Add(Diagnostic diagnostic) { list_.push_back(std::move(diagnostic)); }

  /// The findings, then one note per code that was cut short.
  std::vector<Diagnostic> Take();
  size_t size() const { return list_.size(); }
  /// Moves what was added since `first` to the end of `to`.
  void MoveFrom(size_t first, std::vector<Diagnostic>& to);
  /// Sorts what was added since `first` by operator, those about none first.
  void SortFrom(size_t first);

 private:
  size_t per_code_;
  std::array<size_t, kNumFindingCodes> seen_{};
  std::vector<Diagnostic> list_;
};

/// "op 3 Relu", with its name when it has one: 'op 3 Relu "relu1"'.
std::string OpLabel(const Net& net, int32_t op);

/// "a, b, c and 12 more": at most `most` of `names`.
std::string ListNames(const std::vector<std::string>& names, size_t most = 5);

}  // namespace weft
