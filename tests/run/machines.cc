// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/run/machines.h"

#include <algorithm>
#include <cmath>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"

namespace weft::test {

namespace {

bool IsOneOf(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}
bool MeetsOthers(std::string_view type) {
  return IsOneOf(type, {"Allreduce", "Allgather", "Broadcast", "Reduce"});
}
// What only makes connections.
bool IsQuiet(std::string_view type) {
  return IsOneOf(type, {"CreateCommonWorld", "CloneCommonWorld", "Barrier"});
}

const Tensor& Get(Workspace& at, const Net& net, Symbol blob) { return *at.FindTensor(net.Str(blob)); }
void Put(Workspace& at, const Net& net, Symbol blob, const Tensor& value) {
  at.Feed(net.Str(blob), value.Clone());
}

Tensor SumOf(const std::vector<const Tensor*>& tensors) {
  Tensor sum = tensors[0]->Clone();
  for (size_t i = 1; i < tensors.size(); ++i)
    for (int64_t k = 0; k < sum.numel(); ++k) sum.mutable_data<float>()[k] += tensors[i]->data<float>()[k];
  return sum;
}

// Tensors of all machines, one after the other.
Tensor Joined(const std::vector<const Tensor*>& tensors) {
  std::vector<int64_t> dims(tensors[0]->dims().begin(), tensors[0]->dims().end());
  dims[0] = 0;
  std::string bytes;
  for (const Tensor* tensor : tensors) {
    dims[0] += tensor->dim(0);
    bytes.append(static_cast<const char*>(tensor->raw()), tensor->nbytes());
  }
  Tensor out;
  WEFT_CHECK(out.Allocate(tensors[0]->type(), dims));
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(out.mutable_raw()));
  return out;
}

void RunNccl(Workspace& at, const Net& net, const Op& op) {
  const std::string_view type = net.Str(op.type);
  const auto root = static_cast<size_t>(ArgInt(*net.symbols, op.args, "root", 0));
  std::vector<const Tensor*> inputs;
  for (Symbol blob : op.inputs) inputs.push_back(&Get(at, net, blob));
  const Tensor value = type == "NCCLBroadcast" ? inputs[root]->Clone() : SumOf(inputs);
  for (Symbol blob : op.outputs) Put(at, net, blob, value);
}

struct Turn {
  Workspace* at;
  const Net* net;
  const Op* op;
};

void Exchange(const std::vector<Turn>& turns) {
  const Op& first = *turns[0].op;
  const std::string_view type = turns[0].net->Str(first.type);
  const auto root = static_cast<size_t>(ArgInt(*turns[0].net->symbols, first.args, "root", 0));
  std::vector<const Tensor*> inputs;
  for (const Turn& turn : turns)
    for (size_t i = 1; i < turn.op->inputs.size(); ++i)
      inputs.push_back(&Get(*turn.at, *turn.net, turn.op->inputs[i]));
  const size_t each = first.inputs.size() - 1;
  Tensor value = type == "Broadcast"   ? inputs[root * each]->Clone()
                 : type == "Allgather" ? Joined(inputs)
                                       : SumOf(inputs);
  for (size_t i = 0; i < turns.size(); ++i) {
    Tensor own = value.Clone();
    if (type == "Reduce" && i != root)  // must not be read
      std::fill_n(own.mutable_data<float>(), own.numel(), std::nanf(""));
    for (Symbol blob : turns[i].op->outputs) Put(*turns[i].at, *turns[i].net, blob, own);
  }
}

std::string RunOne(Workspace& at, const Net& net, const Op& op) {
  Net one = WithoutOps(net);
  one.external_inputs.clear();
  one.external_outputs.clear();
  one.ops = {op};
  if (net.Str(op.type).starts_with("Copy")) one.ops[0].type = net.symbols->Intern("Copy");
  one.ops[0].device = nullptr;
  const Result<void> ran = at.RunNetOnce(one);
  return ran ? "" : ran.error().message;
}

}  // namespace

Machines::Machines(size_t count) {
  context_.kernels = &ReferenceKernels();
  context_.ops = &StandardOps();
  for (size_t i = 0; i < count; ++i) workspaces_.push_back(std::make_unique<Workspace>(context_));
}

std::string Machines::Run(std::span<const Net* const> nets) {
  std::vector<size_t> at(size(), 0);
  for (;;) {
    std::vector<Turn> turns;
    for (size_t i = 0; i < size(); ++i) {
      const Net& net = *nets[i];
      for (; at[i] < net.ops.size(); ++at[i]) {
        const Op& op = net.ops[at[i]];
        const std::string_view type = net.Str(op.type);
        if (MeetsOthers(type)) break;
        if (type.starts_with("NCCL")) {
          RunNccl(*workspaces_[i], net, op);
        } else if (!IsQuiet(type)) {
          if (std::string failed = RunOne(*workspaces_[i], net, op); !failed.empty()) return failed;
        }
      }
      if (at[i] < net.ops.size()) turns.push_back({workspaces_[i].get(), &net, &net.ops[at[i]++]});
    }
    if (turns.empty()) return "";
    const auto text = [](const Turn& turn) {
      return StrCat(turn.net->Str(turn.op->type), " of ", turn.net->Str(turn.op->name), " through ",
                    turn.op->inputs.empty() ? "" : turn.net->Str(turn.op->inputs[0]));
    };
    if (turns.size() < size()) return StrCat("only some machines come to ", text(turns[0]));
    for (const Turn& turn : turns)
      if (text(turn) != text(turns[0])) return StrCat(text(turn), " meets ", text(turns[0]));
    Exchange(turns);
  }
}

}  // namespace weft::test
