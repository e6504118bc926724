// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// NetBuilder makes a net op by op with Caffe2's naming rules. It is a class because it guards one invariant:
// a name that it hands out is new in its net. It owns the net while it builds; to edit the net otherwise,
// Finish, edit, and start a builder on the result. Scopes are values given with each call. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/base/symbol_map.h"
#include "core/ir/names.h"
#include "core/ir/net.h"
#include "core/ir/op_arg.h"
#include "core/ir/scope.h"

namespace weft {

/// A blob as the user names it: text goes into the name scope, a Symbol is taken as it is.
struct BlobRef {
  BlobRef(Symbol blob) : symbol(blob) {}                // NOLINT: implicit on purpose
  BlobRef(std::string_view name) : text(name) {}        // NOLINT
  BlobRef(const char* name) : text(name) {}             // NOLINT
  BlobRef(std::string name) : text(std::move(name)) {}  // NOLINT
  Symbol symbol;
  std::string text;  // used when `symbol` is not set
};

/// The outputs of an op: names, a number of names to make ("net/Split:0"), or nothing: one name ("net/Relu").
using OutputSpec = std::variant<std::monostate, int, std::vector<BlobRef>>;

struct OpSpec {
  std::string_view type;
  std::vector<BlobRef> inputs{};
  OutputSpec outputs{};
  OpArgs args{};
  std::string_view name{};
  std::optional<std::string> engine{};
  std::vector<BlobRef> control_inputs{};
  DevicePtr device{};  // null: the device scope's
};

/// A constant: one of Caffe2's array types and its shape ({} is a scalar).
struct ConstValue {
  std::variant<std::vector<float>, std::vector<int32_t>, std::vector<int64_t>, std::vector<bool>,
               std::vector<std::string>>
      values;
  std::vector<int64_t> shape;
};

class NetBuilder {
 public:
  /// A new net. Its name is registry.UniqueNet(name).
  NetBuilder(NameRegistry& registry, std::string_view name,
             SymbolTablePtr table = std::make_shared<SymbolTable>());
  /// Goes on with a net, which gets a new name by the same rule, as in Caffe2.
  NetBuilder(NameRegistry& registry, Net net);

  const Net& net() const { return net_; }
  std::string_view name() const { return net_.Str(net_.name); }
  Symbol Intern(std::string_view text) { return net_.Intern(text); }
  Net Finish() && { return std::move(net_); }

  /// An op of this net writes the blob, or it is an external input.
  bool BlobIsDefined(Symbol blob) const { return has(blob, kWritten | kExternalInput); }
  /// An op of this net reads the blob, or it is an external input.
  bool UsesBlob(Symbol blob) const { return has(blob, kRead | kExternalInput); }
  bool IsExternalInput(Symbol blob) const { return has(blob, kExternalInput); }

  /// "<net>/<prefix>", "<net>/<prefix>_2", ... in the scope, with ":<output>" when given. The name returned
  /// is final (scope and all) and taken from now on.
  Symbol NextName(std::string_view prefix, std::optional<int> output = {}, const NameScope& scope = {});
  /// "<net>_blob_0", "<net>_blob_1", ... in the scope. A net that was loaded goes on after its highest
  /// number.
  Symbol NextName(const NameScope& scope = {});
  /// `prefix`, then "<prefix>_auto_0", "<prefix>_auto_1", ...: the first that is neither defined nor taken.
  Symbol NextBlob(std::string_view prefix = "unnamed");
  Symbol NextScopedBlob(std::string_view prefix = "unnamed", const NameScope& scope = {}) {
    return NextBlob(scope.Scoped(prefix));
  }

  /// Errors: kNameConflict when one is an external input already, or is given twice; then none is added.
  Result<void> AddExternalInputs(std::span<const Symbol> blobs);
  Result<void> AddExternalInput(Symbol blob) { return AddExternalInputs({&blob, 1}); }
  /// Errors: kNotFound when one is not defined; then none is added.
  Result<void> AddExternalOutputs(std::span<const Symbol> blobs);
  Result<void> AddExternalOutput(Symbol blob) { return AddExternalOutputs({&blob, 1}); }

  /// Appends an op and returns its outputs. An input that the net does not define becomes an external input.
  std::vector<Symbol> Add(const OpSpec& spec, const Scope& scope = {});
  /// Appends a ready op over this net's symbols. External inputs as in Add.
  void Append(Op op);
  /// Changes type, workers or arguments of the net; `edit` must leave its name, ops and external inputs.
  void EditHead(const std::function<void(Net&)>& edit) { edit(net_); }
  /// Appends the fill op that makes `value`: GivenTensor{,Int,Int64,Bool,String}Fill; the output is `output`,
  /// or a new name. Errors: kInvalidArgument when the shape does not hold the number of values.
  Result<Symbol> Const(const ConstValue& value, std::optional<BlobRef> output = {}, const Scope& scope = {});
  /// Appends the ConstantFill that Caffe2 makes for a single bool.
  Symbol ConstBool(bool value, std::optional<BlobRef> output = {}, const Scope& scope = {});
  /// Appends a Print of each: a Symbol is a blob; text is a message, which a fill op puts into a new blob.
  void LogInfo(std::span<const BlobRef> messages, const Scope& scope = {});
  /// The blob called as `blob` with `suffix` behind. As a Symbol it takes no further name scope.
  Symbol Suffixed(Symbol blob, std::string_view suffix);

 private:
  enum Flag : uint8_t { kWritten = 1, kRead = 2, kExternalInput = 4, kReserved = 8 };

  bool has(Symbol blob, int flags) const { return (flags_.Get(blob) & flags) != 0; }
  Symbol Resolve(const BlobRef& ref, const NameScope& scope);
  Symbol Reserve(Symbol name);
  void Note(const Op& op);

  Net net_;
  SymbolMap<uint8_t> flags_;
  SymbolMap<uint32_t> next_suffix_;  // per base name: the first suffix worth trying
  int64_t next_blob_ = 0;
};

}  // namespace weft
