// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The graph: Net, Op, Arg. Plain values over interned names; copying a Net copies the graph (argument lists,
// devices and large payloads are shared and never written in place). A net, its nested nets and its copies
// share one SymbolTable. Presence is kept: a Symbol, optional or `has` bit that is unset was absent in the
// file, so that a file is written back as it came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/small_vec.h"
#include "core/base/symbol.h"
#include "core/ir/bytes.h"
#include "core/ir/device.h"

namespace weft {

struct Net;
using NetPtr = std::shared_ptr<const Net>;

/// The payload of an argument that is more than a number. Several fields may be set at once, as in the file.
struct ArgData {
  std::string s;              // kHasS
  std::vector<float> floats;  // kHasFloats ...
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  NetPtr n;
  std::vector<NetPtr> nets;
  Bytes t;                      // an encoded TensorProto
  std::vector<Bytes> tensors;   // encoded TensorProtos
  std::vector<Bytes> qtensors;  // encoded QTensorProtos
  std::string unknown;          // fields we do not know, as they came
};
using ArgDataPtr = std::shared_ptr<const ArgData>;

struct Arg {
  enum Has : uint16_t {
    kHasF = 1,
    kHasI = 2,
    kHasS = 4,
    kHasFloats = 8,
    kHasInts = 16,
    kHasStrings = 32,
    kHasN = 64,
    kHasNets = 128,
    kHasT = 256,
    kHasTensors = 512,
    kHasQTensors = 1024,
    kHasUnknown = 2048,
  };
  /// A large argument left in its file: decoded when asked, and never held decoded.
  struct Encoded {
    Bytes bytes;  // empty when they are still to be read from `file`
    ArgDataPtr (*decode)(const Encoded&);
    SymbolTablePtr symbols;
    std::shared_ptr<const FileSource> file = nullptr;
    uint64_t offset = 0, size = 0;  // in `file`

    /// The encoded argument, read from the file now if it was left there.
    Bytes Fetch() const { return file ? Bytes(file->read(offset, size)) : bytes; }
  };

  Symbol name;
  uint16_t has = 0;  // which fields are set; lists are set when not empty
  float f = 0;
  int64_t i = 0;
  ArgDataPtr data;  // null when nothing beyond f and i is set, or when `encoded` is
  std::shared_ptr<const Encoded> encoded;

  /// The payload, decoding it now if it was left in the file. Never null.
  ArgDataPtr Load() const;
};

/// A shared, immutable list of arguments. To change it, copy the vector and make a new list.
class ArgList {
 public:
  ArgList() = default;
  explicit ArgList(std::vector<Arg> args);

  const Arg* begin() const { return list_ ? list_->data() : nullptr; }
  const Arg* end() const { return list_ ? list_->data() + list_->size() : nullptr; }
  size_t size() const { return list_ ? list_->size() : 0; }
  bool empty() const { return size() == 0; }
  const Arg& operator[](size_t i) const { return (*list_)[i]; }
  /// A copy to edit.
  std::vector<Arg> Copy() const { return list_ ? *list_ : std::vector<Arg>(); }
  /// True when both are the same list in memory (then they are equal; otherwise they may be equal all the
  /// same).
  bool SameAs(const ArgList& other) const { return list_ == other.list_; }

 private:
  std::shared_ptr<const std::vector<Arg>> list_;
};

using BlobList = SmallVec<Symbol, 5>;

/// What hardly any operator has.
struct OpRest {
  Symbol debug_info, domain;
  std::optional<int64_t> op_version;
  std::string unknown;  // fields we do not know, as they came
};

/// Two cache lines: there may be millions.
struct Op {
  Symbol type, name, engine;
  std::optional<bool> is_gradient_op;
  BlobList inputs, outputs;
  SmallVec<Symbol, 3> control_inputs;
  ArgList args;
  DevicePtr device;                    // null: the file says nothing
  std::shared_ptr<const OpRest> rare;  // null: nothing of it is set

  /// What is in `rare`, all unset when that is null.
  const OpRest& rest() const;
};

struct Net {
  SymbolTablePtr symbols = std::make_shared<SymbolTable>();
  Symbol name, type;
  std::vector<Op> ops;
  std::vector<Symbol> external_inputs, external_outputs;
  std::optional<int32_t> num_workers;
  DevicePtr device;
  ArgList args;
  std::vector<Bytes> partition_info;  // encoded PartitionInfo messages
  std::string unknown;                // fields we do not know, as they came

  Net() = default;
  /// An empty net that shares `table`.
  explicit Net(SymbolTablePtr table) : symbols(std::move(table)) {}

  std::string_view Str(Symbol symbol) const { return symbols->Str(symbol); }
  Symbol Intern(std::string_view text) { return symbols->Intern(text); }
};

/// Everything of `net` but its ops.
Net WithoutOps(const Net& net);

/// `net` with every name re-interned into `table`, nested nets too. Cheap when it already shares `table`.
Net Rehome(const Net& net, const SymbolTablePtr& table);

/// A NetPtr argument of `op` (then_net, loop_net, step_net, net...). Null when absent.
NetPtr FindNetArg(const Net& net, const Op& op, std::string_view name);

// Reading arguments. `args` belongs to a net, op or plan whose names are in `table`.

/// The argument called `name`, or null. Linear in the list, which is short.
const Arg* FindArg(const SymbolTable& table, const ArgList& args, std::string_view name);
int64_t ArgInt(const SymbolTable& table, const ArgList& args, std::string_view name, int64_t otherwise);
float ArgFloat(const SymbolTable& table, const ArgList& args, std::string_view name, float otherwise);
std::string ArgString(const SymbolTable& table, const ArgList& args, std::string_view name,
                      std::string_view otherwise);
std::vector<int64_t> ArgInts(const SymbolTable& table, const ArgList& args, std::string_view name);
std::vector<float> ArgFloats(const SymbolTable& table, const ArgList& args, std::string_view name);
std::vector<std::string> ArgStrings(const SymbolTable& table, const ArgList& args, std::string_view name);

// Making arguments (semantics 1.2: int and bool -> i, float -> f, text -> s, lists -> their list).

Arg MakeArg(Symbol name, int64_t value);
Arg MakeArg(Symbol name, float value);
Arg MakeArg(Symbol name, std::string value);
Arg MakeArg(Symbol name, std::vector<int64_t> values);
Arg MakeArg(Symbol name, std::vector<float> values);
Arg MakeArg(Symbol name, std::vector<std::string> values);
Arg MakeArg(Symbol name, NetPtr net);
/// `args` with the argument of that name replaced, or appended.
ArgList WithArg(const ArgList& args, Arg arg);
ArgList WithoutArg(const ArgList& args, Symbol name);

/// True when the two arguments hold the same fields and values (nested nets compared by value). Both nets'
/// names must be in the tables given.
bool SameArg(const SymbolTable& table_a, const Arg& a, const SymbolTable& table_b, const Arg& b);
/// Same arguments in any order.
bool SameArgs(const SymbolTable& table_a, const ArgList& a, const SymbolTable& table_b, const ArgList& b);
/// Same operator: every field, arguments in any order.
bool SameOp(const SymbolTable& table_a, const Op& a, const SymbolTable& table_b, const Op& b);

/// Same net: every field, operators in order, arguments in any.
bool SameNet(const Net& a, const Net& b);

}  // namespace weft
