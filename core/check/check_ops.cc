// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/check_ops.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/ops/schema.h"

namespace weft::internal {

namespace {

struct LateWait {
  OpId waiter;
  Symbol blob;
  OpId writer;
};

// The strongly connected component of each op when it must follow the ops that it reads from, the ops that it
// waits for, and the later writers that it meant to wait for. Tarjan's algorithm with its own stack.
std::vector<int32_t> Components(const Ssa& ssa, const std::vector<LateWait>& late) {
  const OpId n = static_cast<OpId>(ssa.num_ops());
  std::vector<std::vector<OpId>> extra(late.size());
  std::vector<int32_t> extra_of(static_cast<size_t>(n), -1);
  int32_t lists = 0;
  for (const LateWait& wait : late) {
    int32_t& list = extra_of[static_cast<size_t>(wait.waiter)];
    if (list < 0) list = lists++;
    extra[static_cast<size_t>(list)].push_back(wait.writer);
  }
  const auto degree = [&](OpId op) {
    const int32_t list = extra_of[static_cast<size_t>(op)];
    return ssa.inputs(op).size() + (list < 0 ? 0 : extra[static_cast<size_t>(list)].size());
  };
  const auto before = [&](OpId op, size_t k) {
    const auto inputs = ssa.inputs(op);
    if (k < inputs.size()) return ssa.values()[inputs[k]].def;
    return extra[static_cast<size_t>(extra_of[static_cast<size_t>(op)])][k - inputs.size()];
  };

  std::vector<int32_t> index(static_cast<size_t>(n), -1), low(static_cast<size_t>(n), 0);
  std::vector<int32_t> component(static_cast<size_t>(n), -1);
  std::vector<std::pair<OpId, size_t>> path;  // op, its next edge
  std::vector<OpId> open;
  int32_t counter = 0, components = 0;
  for (OpId root = 0; root < n; ++root) {
    if (index[static_cast<size_t>(root)] >= 0) continue;
    path.emplace_back(root, 0);
    while (!path.empty()) {
      const OpId op = path.back().first;
      const size_t o = static_cast<size_t>(op);
      size_t& edge = path.back().second;
      if (edge == 0) {
        index[o] = low[o] = counter++;
        open.push_back(op);
      }
      bool deeper = false;
      while (edge < degree(op)) {
        const OpId to = before(op, edge++);
        if (to == kNoOp) continue;
        const size_t t = static_cast<size_t>(to);
        if (index[t] < 0) {
          path.emplace_back(to, 0);
          deeper = true;
          break;
        }
        if (component[t] < 0) low[o] = std::min(low[o], index[t]);
      }
      if (deeper) continue;
      if (low[o] == index[o]) {
        OpId member;
        do {
          member = open.back();
          open.pop_back();
          component[static_cast<size_t>(member)] = components;
        } while (member != op);
        ++components;
      }
      path.pop_back();
      if (!path.empty()) {
        const size_t parent = static_cast<size_t>(path.back().first);
        low[parent] = std::min(low[parent], low[o]);
      }
    }
  }
  return component;
}

bool IsPython(std::string_view type) {
  return type == "Python" || type == "PythonDLPack" || type == "PythonGradient" ||
         type == "PythonDLPackGradient";
}

struct Unknown {
  Symbol type;
  OpId first;
  size_t count;
};

void TellUnknown(const Net& net, const OpSet& ops, const std::vector<Unknown>& unknown,
                 const std::string& path, Findings& findings) {
  for (const Unknown& u : unknown) {
    if (!findings.Wants(FindingCode::kUnknownOperator)) continue;
    std::vector<std::string> near;
    for (std::string_view name : ops.Nearest(net.Str(u.type))) near.emplace_back(name);
    findings.Add(
        {.code = FindingCode::kUnknownOperator,
         .severity = Severity::kWarning,
         .op = u.first,
         .message = StrCat(OpLabel(net, u.first), ": Weft knows no operator called ", net.Str(u.type),
                           u.count > 1 ? StrCat(" (used ", u.count, " times)") : ""),
         .remedy = near.empty() ? "" : StrCat("did you mean ", ListNames(near), "?"),
         .path = path});
  }
}

std::string Counted(Arity arity, std::string_view noun) {
  const std::string most = arity.max == kAny        ? StrCat(arity.min, " or more")
                           : arity.max == arity.min ? std::to_string(arity.min)
                                                    : StrCat(arity.min, " to ", arity.max);
  return StrCat(most, " ", noun, arity.min == 1 && arity.max == 1 ? "" : "s");
}

// "FC takes 3 inputs and makes 1 output: X W b -> Y".
std::string Expected(const OpDef& def) {
  std::string out =
      StrCat(def.name, " takes ", Counted(def.in, "input"), " and makes ", Counted(def.out, "output"));
  if (!def.arities.empty()) StrAppend(out, " (", def.arities, ")");
  if (!ParsePorts(def.ports).inputs.empty()) StrAppend(out, ": ", def.ports);
  return out;
}

void TellSchema(const Net& net, OpId id, const OpDef& def, const std::string& path, Findings& findings) {
  const Op& op = net.ops[static_cast<size_t>(id)];
  for (const Error& error : SchemaErrors(def, net, op)) {
    const bool in_place = !error.blob.empty();
    const FindingCode code = in_place ? FindingCode::kInPlace : FindingCode::kSchema;
    if (!findings.Wants(code)) continue;
    std::string remedy;
    if (!in_place) {
      remedy = error.message.starts_with("Argument") ? "set it" : Expected(def);
    } else if (error.message.find("but should be") != std::string::npos) {
      remedy = "write the two as the same blob";
    } else {
      remedy = "give the output a name of its own, and rename it in the operators behind that read it";
    }
    findings.Add({code, Severity::kError, id, error.blob, StrCat(OpLabel(net, id), ": ", error.message),
                  std::move(remedy), path});
  }
}

void CheckAgainstTable(const Net& net, const OpSet& ops, const std::string& path, Findings& findings) {
  OpLookup lookup(ops, *net.symbols);
  std::vector<Unknown> unknown;
  SymbolMap<uint32_t> slot(*net.symbols, 64, 0);
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const Op& op = net.ops[i];
    const OpId id = static_cast<OpId>(i);
    if (const OpDef* def = lookup(op.type)) {
      if (!VerifySchema(*def, net, op)) TellSchema(net, id, *def, path, findings);
      continue;
    }
    if (net.Str(op.type).empty()) continue;
    uint32_t& at = slot[op.type];
    if (at == 0) {
      unknown.push_back({op.type, id, 0});
      at = static_cast<uint32_t>(unknown.size());
    }
    ++unknown[at - 1].count;
  }
  TellUnknown(net, ops, unknown, path, findings);
}

void CheckOne(const Net& net, OpId id, const std::string& path, Findings& findings) {
  const Op& op = net.ops[static_cast<size_t>(id)];
  const std::string_view type = net.Str(op.type);
  const auto add = [&](FindingCode code, Severity severity, std::string blob, std::string message,
                       std::string remedy) {
    findings.Add({code, severity, id, std::move(blob), std::move(message), std::move(remedy), path});
  };
  if (type.empty()) {
    if (findings.Wants(FindingCode::kSchema))
      add(FindingCode::kSchema, Severity::kError, "", StrCat("op ", id, " has no type"), "set its type");
  } else if (IsPython(type) && findings.Wants(FindingCode::kNotPortable)) {
    std::string token = ArgString(*net.symbols, op.args, "token", "");
    if (token.empty() && FindArg(*net.symbols, op.args, "pickled_builder")) token = "a pickled function";
    std::vector<std::string> outputs;
    for (Symbol output : op.outputs) outputs.emplace_back(net.Str(output));
    add(FindingCode::kNotPortable, Severity::kWarning, op.outputs.empty() ? "" : outputs[0],
        StrCat(OpLabel(net, id), " calls Python code that lives only in the process that made the net",
               token.empty() ? "" : StrCat(" (token ", token, ")"),
               outputs.empty() ? "" : StrCat("; it makes ", ListNames(outputs))),
        outputs.empty()
            ? "replace it with an operator"
            : StrCat("replace it with an operator, or feed ", ListNames(outputs), " and extract the rest"));
  }
  if (op.device && op.device->node_name && !op.device->node_name->empty() &&
      findings.Wants(FindingCode::kNodeName))
    add(FindingCode::kNodeName, Severity::kWarning, "",
        StrCat(OpLabel(net, id), " names the node ", *op.device->node_name,
               " in its device_option; Caffe2 refuses to create a net with one"),
        "split the net by node, or remove node_name");
}

}  // namespace

void CheckControlInputs(const Net& net, const Ssa& ssa, const std::string& path, Findings& findings) {
  std::vector<OpId> first_writer;
  std::vector<LateWait> late;
  for (size_t i = 0; i < net.ops.size(); ++i) {
    if (net.ops[i].control_inputs.empty()) continue;
    if (first_writer.empty()) {
      first_writer.assign(ssa.blobs().size(), kNoOp);
      for (size_t k = net.ops.size(); k-- > 0;)
        for (ValueId v : ssa.outputs(static_cast<OpId>(k)))
          first_writer[ssa.values()[v].blob] = static_cast<OpId>(k);
    }
    for (Symbol name : net.ops[i].control_inputs) {
      const OpId op = static_cast<OpId>(i);
      const BlobId blob = ssa.FindBlob(name);
      if (blob != kNoBlob && ssa.declared_input(blob)) continue;
      const OpId writer = blob == kNoBlob ? kNoOp : first_writer[blob];
      if (writer >= op) {
        late.push_back({op, name, writer});
      } else if (writer == kNoOp && findings.Wants(FindingCode::kControlUnknown)) {
        findings.Add({FindingCode::kControlUnknown, Severity::kWarning, op, std::string(net.Str(name)),
                      StrCat(OpLabel(net, op), " waits for ", net.Str(name),
                             " (control_input), which no operator writes"),
                      "remove the control input", path});
      }
    }
  }
  if (late.empty()) return;
  const std::vector<int32_t> component = Components(ssa, late);
  for (const LateWait& wait : late) {
    const bool cycle = wait.waiter == wait.writer || component[static_cast<size_t>(wait.waiter)] ==
                                                         component[static_cast<size_t>(wait.writer)];
    const FindingCode code = cycle ? FindingCode::kControlCycle : FindingCode::kControlLate;
    if (!findings.Wants(code)) continue;
    const std::string_view blob = net.Str(wait.blob);
    std::string message = StrCat(OpLabel(net, wait.waiter), " waits for ", blob, " (control_input), ");
    std::string remedy;
    if (wait.waiter == wait.writer) {
      StrAppend(message, "which it writes itself");
      remedy = "remove the control input";
    } else if (cycle) {
      StrAppend(message, "which ", OpLabel(net, wait.writer), " writes, and op ", wait.writer,
                " needs what op ", wait.waiter, " makes: neither can go first");
      remedy = "remove the control input";
    } else {
      StrAppend(message, "but only ", OpLabel(net, wait.writer),
                " writes it, later; Caffe2 would run the two in the opposite order without a word");
      remedy = StrCat("move op ", wait.writer, " ahead of op ", wait.waiter);
    }
    findings.Add({code, Severity::kError, wait.waiter, std::string(blob), std::move(message),
                  std::move(remedy), path});
  }
}

void CheckOperators(const Net& net, const CheckOptions& options, const std::string& path,
                    Findings& findings) {
  if (options.ops) CheckAgainstTable(net, *options.ops, path, findings);
  for (size_t i = 0; i < net.ops.size(); ++i) CheckOne(net, static_cast<OpId>(i), path, findings);
}

}  // namespace weft::internal
