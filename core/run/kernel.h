// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel is the function that runs one operator: one row of a table per operator type, tables per family,
// the tables passed in as a KernelSet. A kernel sees its operator through a KernelContext: inputs whose types
// were checked against the row, outputs that it sizes, arguments, a random generator, state that lives as
// long as the prepared operator, and the workspace for nested nets.
//
// How reference kernels compute: plain loops from the first element to the last; sums and products of float
// and half are formed in double and rounded once at the end, integers in int64; -ffp-contract=off. So a value
// does not depend on the platform beyond its math library.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/str.h"
#include "core/ir/net.h"
#include "core/run/blob.h"
#include "core/run/random.h"
#include "core/run/workspace.h"

namespace weft {

class KernelContext;
using KernelFn = Result<void> (*)(KernelContext&);

enum KernelFlags : uint8_t {
  /// The kernel is right when an output is the same tensor as an input: it reads what it needs of an element
  /// before it writes there, or updates in place on purpose. Without the flag such an input is copied first.
  kInPlace = 1,
};

struct KernelRow {
  std::string_view type;
  KernelFn run;
  /// What each input must hold, one letter each, the last for all further ones: f float, d double, h half, i
  /// int32, l int64, u uint8, c int8, b bool, s string; I int32 or int64, F float or double, R float, double
  /// or half, N float, double, int32 or int64, * a tensor of any type, ? a tensor perhaps without a type, B
  /// any object.
  std::string_view inputs = "*";
  uint8_t flags = 0;
  /// Called once when a net is prepared: checks arguments, prepares nested nets.
  KernelFn prepare = nullptr;

  /// What input `i` must hold.
  char letter(size_t i) const {
    return inputs.empty() ? '*' : inputs[i < inputs.size() ? i : inputs.size() - 1];
  }
};

/// The types that a letter of KernelRow::inputs stands for, the usual one first; none for *, ? and B.
std::span<const DataType> KernelInputTypes(char letter);

using KernelFamily = std::span<const KernelRow>;

/// Kernels by operator type; rows of later families replace those of earlier ones. Immutable once built.
class KernelSet {
 public:
  explicit KernelSet(std::span<const KernelFamily> families);
  /// The kernel of an operator type, or null.
  const KernelRow* Find(std::string_view type) const;
  /// All rows, sorted by type.
  std::span<const KernelRow* const> all() const { return sorted_; }

 private:
  std::vector<const KernelRow*> sorted_;
};

/// The reference kernels (core/kernels). Built on first use; read-only.
const KernelSet& ReferenceKernels();

class KernelContext {
 public:
  KernelContext(const Net& net, const Op& op, Workspace& workspace)
      : net_(net), op_(op), workspace_(workspace) {}

  const Net& net() const { return net_; }
  const Op& op() const { return op_; }
  std::string_view Str(Symbol symbol) const { return net_.Str(symbol); }
  Workspace& workspace() { return workspace_; }
  RunContext& run() { return workspace_.context(); }

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  /// Input i. REQUIRES: the row says that it is a tensor.
  const Tensor& In(size_t i) const {
    WEFT_CHECK(i < in_.size() && in_[i]);
    return *in_[i];
  }
  template <typename T>
  const T* In(size_t i) const {
    return In(i).data<T>();
  }
  bool has_input(size_t i) const { return i < inputs_.size(); }
  bool has_output(size_t i) const { return i < outputs_.size(); }
  /// Output i, made a tensor.
  Tensor& Out(size_t i) {
    WEFT_CHECK(i < outputs_.size());
    return outputs_[i]->Ensure<Tensor>();
  }
  /// Output i with these dimensions and elements of type T, which hold what was there before or zeros.
  /// Errors: a negative dimension, too many elements.
  template <typename T>
  Result<T*> Out(size_t i, std::span<const int64_t> dims) {
    WEFT_TRY_VOID(Allocate(i, DataTypeOf<T>, dims));
    return Out(i).template mutable_data<T>();
  }
  template <typename T>
  Result<T*> Out(size_t i, std::initializer_list<int64_t> dims) {
    return Out<T>(i, std::span<const int64_t>(dims.begin(), dims.size()));
  }
  Result<void> Allocate(size_t i, DataType type, std::span<const int64_t> dims);
  /// For what a kernel keeps beside its tensors. Errors: a negative count; a product of `counts` that is more
  /// elements than a tensor may have.
  Result<void> CheckRoom(std::initializer_list<int64_t> counts) const;
  /// Errors: there are fewer inputs; or they have another type than the first of them.
  Result<void> CheckInputs(size_t first, size_t last) const;
  /// Output i as a copy of `from` (nothing happens when it is that tensor already).
  Result<void> CopyOut(size_t i, const Tensor& from);
  const Blob& InBlob(size_t i) const {
    WEFT_CHECK(i < inputs_.size());
    return *inputs_[i];
  }
  Blob& MutableInBlob(size_t i) {
    WEFT_CHECK(i < inputs_.size());
    return *inputs_[i];
  }
  Blob& OutBlob(size_t i) {
    WEFT_CHECK(i < outputs_.size());
    return *outputs_[i];
  }
  /// True when output `out` is the same blob as input `in`.
  bool IsInPlace(size_t in, size_t out) const {
    return in < inputs_.size() && out < outputs_.size() && inputs_[in] == outputs_[out];
  }
  std::string_view InName(size_t i) const { return Str(op_.inputs[i]); }
  std::string_view OutName(size_t i) const { return Str(op_.outputs[i]); }

  bool HasArg(std::string_view name) const { return FindArg(*net_.symbols, op_.args, name) != nullptr; }
  const Arg* GetArg(std::string_view name) const { return FindArg(*net_.symbols, op_.args, name); }
  int64_t ArgI(std::string_view name, int64_t otherwise) const {
    return ArgInt(*net_.symbols, op_.args, name, otherwise);
  }
  bool ArgB(std::string_view name, bool otherwise) const { return ArgI(name, otherwise) != 0; }
  float ArgF(std::string_view name, float otherwise) const {
    return ArgFloat(*net_.symbols, op_.args, name, otherwise);
  }
  std::string ArgS(std::string_view name, std::string_view otherwise) const {
    return ArgString(*net_.symbols, op_.args, name, otherwise);
  }
  std::vector<int64_t> ArgIs(std::string_view name) const { return ArgInts(*net_.symbols, op_.args, name); }
  std::vector<float> ArgFs(std::string_view name) const { return ArgFloats(*net_.symbols, op_.args, name); }
  std::vector<std::string> ArgSs(std::string_view name) const {
    return ArgStrings(*net_.symbols, op_.args, name);
  }
  NetPtr ArgNet(std::string_view name) const { return FindNetArg(net_, op_, name); }

  /// The operator's own generator, made at first use: seeded by its device's random_seed, else by the run's.
  RandomGenerator& random();
  /// An object that lives as long as the prepared operator, made at first use.
  template <typename T>
  T& State() {
    return state_.Ensure<T>();
  }

  /// An error of this operator; `pieces` say what was expected and found.
  template <typename... Pieces>
  Error Fail(const Pieces&... pieces) const {
    return Error{ErrorCode::kInvalidArgument, StrCat(pieces...)};
  }

 private:
  friend class PreparedNet;
  Result<void> Bind(const KernelRow& row);
  Result<void> BeforeRun();

  const Net& net_;
  const Op& op_;
  Workspace& workspace_;
  const KernelRow* row_ = nullptr;
  SmallVec<Blob*, 4> inputs_, outputs_;
  SmallVec<const Tensor*, 4> in_;
  std::vector<Tensor> copies_;  // inputs that an output would overwrite
  std::unique_ptr<RandomGenerator> random_;
  Blob state_;
};

#define WEFT_ENSURE(context, condition, ...)              \
  do {                                                    \
    if (!(condition)) return (context).Fail(__VA_ARGS__); \
  } while (false)

}  // namespace weft
