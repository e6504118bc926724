// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a gradient rule sees and fills: one forward operator with the gradients of its outputs in, the
// gradient operators and the gradients of its inputs out. Caffe2's GradientMakerBase (semantics section 2,
// step 8).
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/data_type.h"
#include "core/ir/net.h"

namespace weft {

struct OpDef;
struct RuleProgram;  // ops/gradient_program.h

/// The gradient of one blob: none, one dense blob, or a sparse pair (rows and their values).
struct Gradient {
  Symbol dense;
  Symbol indices, values;

  static Gradient Dense(Symbol name) { return {name, {}, {}}; }
  static Gradient Sparse(Symbol indices, Symbol values) { return {{}, indices, values}; }
  bool none() const { return !dense && !indices && !values; }
  bool is_dense() const { return static_cast<bool>(dense); }
  bool is_sparse() const { return indices || values; }
  friend bool operator==(const Gradient& a, const Gradient& b) {
    return a.dense == b.dense && a.indices == b.indices && a.values == b.values;
  }
};

class GradientContext {
 public:
  /// `grad_name`: the symbol of "<blob>_grad" for a blob; the planner caches and, where needed, makes it
  /// unique.
  GradientContext(Net& net, std::function<Symbol(Symbol)> grad_name)
      : net_(net), grad_name_(std::move(grad_name)) {}

  /// Mode caffe2: rules repeat Caffe2's faults (semantics section 8: B10, B53) instead of mending them.
  void set_caffe2_mode(bool on) { caffe2_mode_ = on; }
  bool caffe2_mode() const { return caffe2_mode_; }
  /// Off: both gradients of a blob that the operator reads twice go by one name inside the rule, as in
  /// Caffe2.
  void set_separate_twins(bool on) { separate_twins_ = on; }
  /// How rules learn the element type of the operator's input i; without it none is known.
  void set_input_type(std::function<DataType(size_t)> of) { input_type_ = std::move(of); }

  /// Whether anybody wants the gradient of the operator's input i; without it all are wanted.
  void set_wanted(std::function<bool(size_t)> wanted) { wanted_ = std::move(wanted); }

  /// Starts on `op`, forgetting the last one. `op` and `output_gradients` (one per output) must outlive the
  /// rule.
  void Begin(const Op& op, std::span<const Gradient> output_gradients);

  // What the rule asks.
  Net& net() { return net_; }
  const Op& op() const { return *op_; }
  size_t num_inputs() const { return op_->inputs.size(); }
  size_t num_outputs() const { return op_->outputs.size(); }
  Symbol I(size_t i) const { return op_->inputs[i]; }
  Symbol O(size_t i) const { return op_->outputs[i]; }
  /// I(i) as something a gradient operator reads. When the forward operator overwrites that input itself (it
  /// works in place), a name that only OverwrittenInput knows: what is in the blob by then is the output.
  /// (Only while tracked.)
  Symbol ReadInput(size_t i);
  /// The input that `name` stands for, -1 when ReadInput did not make it for this operator.
  int OverwrittenInput(Symbol name) const;
  void set_tracks_overwritten_inputs(bool on) { tracks_overwritten_ = on; }
  const Gradient& output_gradient(size_t i) const { return output_gradients_[i]; }
  /// kUndefined when it is not known.
  DataType input_type(size_t i) const { return input_type_ ? input_type_(i) : DataType::kUndefined; }
  /// False when there is no such input, or a gradient of it would be left lying.
  bool wants_GI(size_t i) const { return i < num_inputs() && (!wanted_ || wanted_(i)); }
  bool has_GO(size_t i) const { return i < output_gradients_.size() && !output_gradients_[i].none(); }
  /// The dense gradient of output i. When it is missing or sparse, returns kNoSymbol and the rule's result
  /// becomes Caffe2's error ("Gradient of output O is not provided!" / "is sparse (expected dense)"): no
  /// check needed there.
  Symbol GO(size_t i);
  Symbol GO_indices(size_t i);  // likewise "is dense (expected sparse)"
  Symbol GO_values(size_t i);

  // Where the answers go. Each call also records that input i has this gradient.
  /// "X_grad". When the operator reads X twice, the second has a name of its own ("X_grad_1"), so that a
  /// rule's intermediate values don't mix; the planner names it last.
  Symbol GI(size_t i);
  Symbol GI_indices(size_t i);           // "X_grad_indices"
  Symbol GI_values(size_t i);            // "X_grad_values"
  void SetDense(size_t i, Symbol name);  // pass-through
  void SetSparse(size_t i, Symbol indices, Symbol values);
  void SetIndices(size_t i, Symbol indices) { input_gradients_[i].indices = indices; }
  void SetValues(size_t i, Symbol values) { input_gradients_[i].values = values; }
  /// "X_grad" without recording anything, for names derived from it.
  Symbol GradName(Symbol blob) { return grad_name_(blob); }
  Symbol Name(std::string_view text) { return net_.Intern(text); }
  std::string_view Str(Symbol symbol) const { return net_.Str(symbol); }

  enum Copy { kCopyAll, kNoArgs, kNoEngine, kNoArgsOrEngine };
  /// Adds a gradient op: is_gradient_op set; device, engine and all arguments of the forward op copied unless
  /// `copy` says otherwise; then `args` replace or extend those of the same name. The reference lives until
  /// the next Add.
  Op& Add(std::string_view type, std::span<const Symbol> inputs, std::span<const Symbol> outputs,
          std::span<const Arg> args = {}, Copy copy = kCopyAll);
  Op& Add(std::string_view type, std::initializer_list<Symbol> inputs, std::initializer_list<Symbol> outputs,
          std::initializer_list<Arg> args = {}, Copy copy = kCopyAll);
  /// The same with an interned type.
  Op& Add(Symbol type, std::span<const Symbol> inputs, std::span<const Symbol> outputs,
          std::span<const Arg> args = {}, Copy copy = kCopyAll);

  // Reading the forward op's arguments.
  bool HasArg(std::string_view name) const { return FindArg(*net_.symbols, op_->args, name) != nullptr; }
  int64_t ArgI(std::string_view name, int64_t otherwise) const {
    return ArgInt(*net_.symbols, op_->args, name, otherwise);
  }
  float ArgF(std::string_view name, float otherwise) const {
    return ArgFloat(*net_.symbols, op_->args, name, otherwise);
  }
  std::string ArgS(std::string_view name, std::string_view otherwise) const {
    return ArgString(*net_.symbols, op_->args, name, otherwise);
  }

  // What the planner reads afterwards.
  bool is_twin(size_t i);  // GI(i) has a name of its own because the operator reads the blob twice
  std::vector<Op>& ops() { return ops_; }
  std::span<const Gradient> input_gradients() const { return input_gradients_; }
  /// The first missing or wrong-kind output gradient that the rule asked for; none when all were there.
  const std::string& missing() const { return missing_; }

  /// The place where RunGradientRule keeps the compiled rule of `def`, null until it has.
  std::shared_ptr<const RuleProgram>& ProgramOf(const OpDef& def) { return programs_[&def]; }

 private:
  void Missing(size_t i, std::string_view what);
  // `base` with `args` replaced or added. Operators that share their arguments share what is made of them,
  // too.
  ArgList Extended(const ArgList& base, std::span<const Arg> args);
  bool HasTwin(size_t i) const;
  Symbol TwinName(size_t i);

  Net& net_;
  std::function<Symbol(Symbol)> grad_name_;
  std::function<DataType(size_t)> input_type_;
  std::function<bool(size_t)> wanted_;
  const Op* op_ = nullptr;
  std::span<const Gradient> output_gradients_;
  std::vector<Op> ops_;
  std::vector<Gradient> input_gradients_;
  std::string missing_;
  std::unordered_map<const OpDef*, std::shared_ptr<const RuleProgram>> programs_;  // looked up, never walked
  struct Extension {
    ArgList base;
    std::vector<Arg> args;
    ArgList made;
  };
  static constexpr size_t kExtensions = 64;  // remembered ones
  Extension extensions_[kExtensions];
  bool caffe2_mode_ = false;
  bool separate_twins_ = false;
  bool tracks_overwritten_ = false;
  std::vector<std::pair<Symbol, int>> overwritten_;  // of this operator: name made by ReadInput, input
  bool repeats_ = false;                             // the operator reads some blob more than once
};

/// Puts `args` before those of `op`, for mode caffe2: Caffe2 writes an argument of the rule and copies that
/// of the forward operator, even where they are the same.
void PrependArgs(Op& op, std::vector<Arg> args);

}  // namespace weft
