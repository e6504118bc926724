// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/control_builder.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"

namespace weft {

namespace {

using Names = std::vector<Symbol>;

class ControlBuilder {
 public:
  ControlBuilder(Net& net, std::span<const Symbol> around)
      : net_(net), known_(*net.symbols, net.ops.size() * 2) {
    for (Symbol s : around) known_[s] = 1;
    for (Symbol s : net.external_inputs) known_[s] = 1;
    for (const Op& op : net.ops) {
      for (Symbol s : op.inputs) known_[s] = 1;
      for (Symbol s : op.outputs) known_[s] = 1;
    }
  }

  bool IsKnown(Symbol blob) const { return known_.Get(blob) != 0; }
  void Know(Symbol blob) { known_[blob] = 1; }

  Symbol FreshName(std::string_view text) {
    std::string name(text);
    for (int k = 1; IsKnown(net_.Intern(name)); ++k) name = StrCat(text, "_", k);
    const Symbol symbol = net_.Intern(name);
    Know(symbol);
    return symbol;
  }

  Op MakeOp(std::string_view type, const Names& inputs, const Names& outputs, std::vector<Arg> args = {}) {
    Op op;
    op.type = net_.Intern(type);
    op.name = kEmptySymbol;
    op.inputs = BlobList(std::span<const Symbol>(inputs));
    op.outputs = BlobList(std::span<const Symbol>(outputs));
    op.args = ArgList(std::move(args));
    return op;
  }

  // One block: a net that holds one Do around `body`.
  struct Block {
    Net net;
    Names inputs, outputs;  // blobs of the net around, without the workspace
  };
  Block Wrap(const Net& body, std::string_view name, Symbol workspace, bool copy_outer) {
    Block block{Net(net_.symbols), {}, {}};
    SymbolMap<uint8_t> written(*net_.symbols, body.ops.size() * 2), read(*net_.symbols, body.ops.size() * 2);
    for (const Op& op : body.ops) {
      for (Symbol s : op.inputs) {
        if (written.Get(s) || read.Get(s)) continue;
        read[s] = 1;
        block.inputs.push_back(s);  // of the net around, or undefined there, too: the run will say so
      }
      for (Symbol s : op.outputs) {
        if (written.Get(s)) continue;
        written[s] = 1;
        if (IsKnown(s) || read.Get(s)) block.outputs.push_back(s);
      }
    }
    Names inputs = block.inputs, outputs = block.outputs;
    std::vector<std::string> inner;
    std::vector<int64_t> index;
    for (size_t k = 0; k < inputs.size(); ++k) {
      inner.emplace_back(net_.Str(inputs[k]));
      index.push_back(static_cast<int64_t>(k));
    }
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (read.Get(outputs[k])) continue;
      inner.emplace_back(net_.Str(outputs[k]));
      index.push_back(static_cast<int64_t>(inputs.size() + k));
    }
    Net inner_net = body;
    inner_net.external_inputs = inputs;
    inputs.push_back(workspace);
    outputs.push_back(workspace);
    std::vector<Arg> args = {MakeArg(net_.Intern("net"), std::make_shared<const Net>(std::move(inner_net))),
                             MakeArg(net_.Intern("inner_blobs"), std::move(inner)),
                             MakeArg(net_.Intern("outer_blobs_idx"), std::move(index))};
    if (copy_outer) args.push_back(MakeArg(net_.Intern("copy_external_blobs"), int64_t{1}));
    block.net.name = net_.Intern(name);
    block.net.ops.push_back(MakeOp("Do", inputs, outputs, std::move(args)));
    block.net.external_inputs = inputs;
    block.net.external_outputs = outputs;
    return block;
  }

 private:
  Net& net_;
  SymbolMap<uint8_t> known_;
};

void AddOnce(Names& names, std::span<const Symbol> more) {
  for (Symbol s : more)
    if (std::find(names.begin(), names.end(), s) == names.end()) names.push_back(s);
}

Error OtherTable() {
  return {ErrorCode::kInvalidArgument,
          "the block's net has a symbol table of its own; it must share the net's"};
}

}  // namespace

Result<void> AppendIf(Net& net, Symbol cond, const Net& then_body, const Net* else_body,
                      std::span<const Symbol> around) {
  if (then_body.symbols != net.symbols || (else_body && else_body->symbols != net.symbols))
    return OtherTable();
  ControlBuilder builder(net, around);
  if (!builder.IsKnown(cond))
    return Error{ErrorCode::kNotFound, StrCat("the condition ", net.Str(cond), " is no blob of this net"), -1,
                 std::string(net.Str(cond))};
  const std::string prefix = StrCat(net.Str(net.name), else_body ? "/if_else_net" : "/if_net");
  Names inputs = {cond}, outputs;
  std::vector<Arg> args;
  const auto add = [&](const Net& body, std::string_view which) {
    const Symbol workspace = builder.FreshName(StrCat(prefix, "/workspace_if_", which));
    net.ops.push_back(builder.MakeOp("CreateScope", {}, {workspace}));
    auto block = builder.Wrap(body, StrCat("do_", which, "_net"), workspace, false);
    AddOnce(inputs, block.net.external_inputs);
    AddOnce(outputs, block.net.external_outputs);
    args.push_back(
        MakeArg(net.Intern(StrCat(which, "_net")), std::make_shared<const Net>(std::move(block.net))));
  };
  add(then_body, "then");
  if (else_body) add(*else_body, "else");
  net.ops.push_back(builder.MakeOp("If", inputs, outputs, std::move(args)));
  return {};
}

Result<void> AppendWhile(Net& net, Symbol cond, const Net& condition_body, const Net& body,
                         std::span<const Symbol> around) {
  if (condition_body.symbols != net.symbols || body.symbols != net.symbols) return OtherTable();
  const bool writes_cond =
      std::any_of(condition_body.ops.begin(), condition_body.ops.end(), [&](const Op& op) {
        return std::find(op.outputs.begin(), op.outputs.end(), cond) != op.outputs.end();
      });
  if (!writes_cond)
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("the condition net does not write the condition ", net.Str(cond)), -1,
                 std::string(net.Str(cond))};
  ControlBuilder builder(net, around);
  if (!builder.IsKnown(cond)) {
    net.ops.push_back(
        builder.MakeOp("ConstantFill", {}, {cond},
                       {MakeArg(net.Intern("dtype"), int64_t{5}), MakeArg(net.Intern("value"), int64_t{0})}));
    builder.Know(cond);
  }
  const std::string prefix = StrCat(net.Str(net.name), "/while_net");
  const Symbol loop_space = builder.FreshName(StrCat(prefix, "/workspace_loop_body"));
  const Symbol cond_space = builder.FreshName(StrCat(prefix, "/workspace_loop_cond"));
  net.ops.push_back(builder.MakeOp("CreateScope", {}, {loop_space}));
  net.ops.push_back(builder.MakeOp("CreateScope", {}, {cond_space}));
  auto loop = builder.Wrap(body, "do_loop_body_net", loop_space, true);
  auto condition = builder.Wrap(condition_body, "do_loop_condition_net", cond_space, false);
  Names inputs = {cond}, outputs = loop.net.external_outputs;
  AddOnce(outputs, condition.net.external_outputs);
  AddOnce(inputs, loop.net.external_inputs);
  AddOnce(inputs, condition.net.external_inputs);
  AddOnce(inputs, outputs);  // with zero iterations an output is what it was
  net.ops.push_back(builder.MakeOp(
      "While", inputs, outputs,
      {MakeArg(net.Intern("loop_net"), std::make_shared<const Net>(std::move(loop.net))),
       MakeArg(net.Intern("cond_net"), std::make_shared<const Net>(std::move(condition.net)))}));
  return {};
}

}  // namespace weft
