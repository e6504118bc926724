// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/interpreter.h"

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/ops/schema.h"

namespace weft {

namespace {

// The innermost operator is told whole, those around it by their type.
Error At(Error error, const Net& net, size_t index) {
  const Op& op = net.ops[index];
  error.message = StrCat("op ", index, " ", error.op < 0 ? OpText(net, op) : std::string(net.Str(op.type)),
                         ": ", error.message);
  error.op = static_cast<int64_t>(index);
  return error;
}

// Semantics 5.1: sources of inputs when external inputs are declared, and producers of declared outputs.
Result<void> CheckSources(const Net& net) {
  const bool declares = !net.external_inputs.empty();
  SymbolMap<char> known(*net.symbols, net.ops.size() * 2 + net.external_inputs.size());
  for (Symbol name : net.external_inputs) known[name] = 1;
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    if (op.device && op.device->node_name && !op.device->node_name->empty())
      return At(Error{ErrorCode::kUnsupported, "node_name must be empty before the net is created"}, net, i);
    for (Symbol name : op.inputs) {
      if (declares && !known.Get(name))
        return At(Error{ErrorCode::kNotFound,
                        StrCat("Source for input ", net.Str(name), " is unknown for net ", net.Str(net.name)),
                        -1, std::string(net.Str(name))},
                  net, i);
    }
    for (Symbol name : op.outputs) known[name] = 1;
  }
  for (Symbol name : net.external_outputs) {
    if (!known.Get(name))
      return Error{ErrorCode::kNotFound,
                   StrCat("Some of the blobs are declared as output but never produced by the net ",
                          net.Str(net.name), ": ", net.Str(name)),
                   -1, std::string(net.Str(name))};
  }
  return {};
}

// Why the reference kernels lack an operator that exists.
std::string_view LackReason(const OpDef& def) {
  if (def.flags & kGpuOnly) return "it needs a GPU, so it runs only natively";
  if (def.flags & kCollective) return "it talks to other devices or machines, so it runs only natively";
  if (def.flags & kHostOnly) return "it needs files, threads or a clock, so it runs only natively";
  return "no reference kernel exists for it";
}

// Some schemas allow fewer outputs than any kernel can do without.
Result<void> CheckOutputs(const OpDef& def, const Op& op) {
  size_t needed = 0;
  for (const PortSpec& port : ParsePorts(def.ports).outputs) needed += !port.optional && !port.repeated;
  if (op.outputs.size() < needed)
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("expected at least ", needed, " outputs, found ", op.outputs.size())};
  return {};
}

Error NoKernel(const RunContext& context, std::string_view type) {
  const OpDef* def = context.ops ? context.ops->Find(type) : nullptr;
  if (!context.ops || def)
    return {ErrorCode::kUnsupported,
            StrCat("Cannot create operator of type '", type, "': ", LackReason(def ? *def : OpDef{}))};
  std::vector<std::string_view> types;
  for (const KernelRow* row : context.kernels->all()) types.push_back(row->type);
  const auto near = NearestNames(type, types, 1);
  return {ErrorCode::kUnknownOperator,
          StrCat("Cannot create operator of type '", type, "': there is no such operator",
                 near.empty() ? "" : StrCat("; did you mean ", near[0], "?"))};
}

}  // namespace

std::string OpText(const Net& net, const Op& op) {
  std::string out = StrCat(net.Str(op.type), "(");
  for (size_t i = 0; i < op.inputs.size(); ++i) StrAppend(out, i ? ", " : "", net.Str(op.inputs[i]));
  out += ")";
  for (size_t i = 0; i < op.outputs.size(); ++i) StrAppend(out, i ? ", " : "->", net.Str(op.outputs[i]));
  return out;
}

Result<std::unique_ptr<PreparedNet>> PreparedNet::Create(std::shared_ptr<const Net> net,
                                                         Workspace& workspace) {
  WEFT_TRY_VOID(CheckSources(*net));
  RunContext& context = workspace.context();
  WEFT_CHECK(context.kernels);
  std::unique_ptr<PreparedNet> out(new PreparedNet(std::move(net), workspace));
  const Net& n = *out->net_;
  out->ops_.reserve(n.ops.size());
  if (context.depth >= kMaxRunDepth)
    return Error{ErrorCode::kLimit, StrCat("nets nested deeper than ", kMaxRunDepth)};
  ++context.depth;
  std::optional<Error> error;
  for (size_t i = 0; i < n.ops.size() && !error; ++i) {
    const Op& op = n.ops[i];
    const KernelRow* row = context.kernels->Find(n.Str(op.type));
    if (!row) {
      error = At(NoKernel(context, n.Str(op.type)), n, i);
      break;
    }
    if (const OpDef* def = context.ops ? context.ops->Find(n.Str(op.type)) : nullptr) {
      if (auto right = VerifySchema(*def, n, op); !right) {
        error = At(std::move(right).error(), n, i);
        break;
      }
      if (auto enough = CheckOutputs(*def, op); !enough) {
        error = At(std::move(enough).error(), n, i);
        break;
      }
    }
    auto prepared = std::make_unique<KernelContext>(n, op, workspace);
    if (auto bound = prepared->Bind(*row); !bound) error = At(std::move(bound).error(), n, i);
    out->ops_.push_back(std::move(prepared));
  }
  --context.depth;
  if (error) return *std::move(error);
  return out;
}

Result<void> PreparedNet::Run() {
  RunContext& context = workspace_.context();
  if (context.depth >= kMaxRunDepth)
    return Error{ErrorCode::kLimit, StrCat("nets nested deeper than ", kMaxRunDepth)};
  ++context.depth;
  for (size_t i = 0; i < ops_.size(); ++i) {
    if (auto ran = RunOp(i); !ran) {
      --context.depth;
      return ran;
    }
  }
  --context.depth;
  return {};
}

Result<void> PreparedNet::RunOp(size_t index) {
  RunContext& context = workspace_.context();
  if (!context.Count())
    return Error{ErrorCode::kLimit, StrCat("stopped after ", context.op_limit, " operators")};
  KernelContext& op = *ops_[index];
  if (auto ready = op.BeforeRun(); !ready) return At(std::move(ready).error(), *net_, index);
  if (auto ran = op.row_->run(op); !ran) return At(std::move(ran).error(), *net_, index);
  return {};
}

}  // namespace weft
