// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/form.h"

#include "core/base/str.h"
#include "core/ir/names.h"
#include "core/ops/op_columns.h"
#include "core/ssa/nested.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

class FormBuilder {
 public:
  FormBuilder(const Net& net, const OpSet& ops, const SsaFormOptions& options)
      : options_(options),
        lookup_(ops, *net.symbols),
        nesting_(*net.symbols),
        fresh_(net.symbols, net.ops.size() * 2) {
    fresh_.Reserve(net);
  }

  // `nested`: the net of an If, AsyncIf or While, whose every blob may be looked at by the net around it.
  Result<SsaForm> Build(const Net& net, bool nested) {
    const Ssa ssa(net);
    const std::vector<Symbol> names = NameValues(net, ssa, nested);
    SsaForm out{net, {}};
    BlobMap current(*net.symbols, ssa.blobs().size());  // what each blob is called at the op we are at
    const RenameContext context{
        .symbols = net.symbols, .map = current, .nesting = nesting_, .suffix_nested = false};
    for (size_t i = 0; i < net.ops.size(); ++i) {
      Op& op = out.net.ops[i];
      const auto values = ssa.outputs(static_cast<OpId>(i));
      if (nesting_.Of(op.type) == Nesting::kNone) {
        current.Apply(op.inputs);
        current.Apply(op.control_inputs);
        for (size_t k = 0; k < values.size(); ++k) {
          current.Set(op.outputs[k], names[values[k]]);
          op.outputs[k] = names[values[k]];
        }
      } else {
        WEFT_TRY_VOID(BuildNested(op));
        for (size_t k = 0; k < values.size(); ++k) current.Set(op.outputs[k], names[values[k]]);
        Result<void> renamed = RenameInOp(context, op);
        if (!renamed.has_value()) {
          renamed.error().op = static_cast<int64_t>(i);
          return std::move(renamed).error();
        }
      }
      for (ValueId value : values) {
        const Value& v = ssa.values()[value];
        const Symbol blob = ssa.blobs()[v.blob];
        if (names[value] != blob) out.renamed.push_back({blob, v.version, names[value]});
      }
    }
    return out;
  }

 private:
  Result<void> BuildNested(Op& op) {
    if (nesting_.Of(op.type) != Nesting::kSameWorkspace) return {};
    std::vector<Arg> args = op.args.Copy();
    for (Arg& arg : args) {
      if (!(arg.has & Arg::kHasN)) continue;
      auto data = std::make_shared<ArgData>(*arg.Load());
      if (!data->n) continue;
      WEFT_TRY(SsaForm inner, Build(*data->n, true));
      data->n = std::make_shared<const Net>(std::move(inner.net));
      arg.data = std::move(data);
      arg.encoded = nullptr;
    }
    op.args = ArgList(std::move(args));
    return {};
  }

  // True when output k of `op`, which names a blob that exists already, must go on being that blob.
  bool StaysInPlace(const Op& op, size_t k) {
    if (nesting_.Of(op.type) != Nesting::kNone) return true;
    const OpDef* def = lookup_(op.type);
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != op.outputs[k]) continue;
      if (!def || HasPair(def->enforced, i, k)) return true;
    }
    return false;
  }

  // ValueId -> name. Values tied by in-place writes are one storage, named by its first value.
  std::vector<Symbol> NameValues(const Net& net, const Ssa& ssa, bool nested) {
    const size_t count = ssa.values().size();
    std::vector<bool> keeps_last(ssa.blobs().size(), nested);
    const auto keep = [&](Symbol name) {
      if (const BlobId blob = ssa.FindBlob(name); blob != kNoBlob) keeps_last[blob] = true;
    };
    for (Symbol name : net.external_outputs) keep(name);
    if (!nested) {
      for (Symbol name : options_.keep) keep(name);
      if (options_.keep_updates)
        for (Symbol name : net.external_inputs) keep(name);
    }

    std::vector<ValueId> storage(count);
    for (ValueId v = 0; v < count; ++v) {
      const Value& value = ssa.values()[v];
      const bool tied = value.previous != kNoValue && StaysInPlace(net.ops[value.def], value.output);
      storage[v] = tied ? storage[value.previous] : v;
    }
    std::vector<Symbol> names(count);
    for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob)
      if (keeps_last[blob]) names[storage[ssa.latest(blob)]] = ssa.blobs()[blob];
    for (ValueId v = 0; v < count; ++v) {
      const Value& value = ssa.values()[v];
      const Symbol blob = ssa.blobs()[value.blob];
      Symbol& name = names[storage[v]];
      const bool first_written = value.previous == kNoValue && !keeps_last[value.blob];
      if (!name && (value.def == kNoOp || first_written)) name = blob;
      if (!name) name = fresh_.Make(StrCat(net.Str(blob), "_", value.version));
      names[v] = name;
    }
    return names;
  }

  const SsaFormOptions& options_;
  OpLookup lookup_;
  NestingTypes nesting_;
  FreshNames fresh_;
};

}  // namespace

Result<SsaForm> ToSsaForm(const Net& net, const OpSet& ops, const SsaFormOptions& options) {
  return FormBuilder(net, ops, options).Build(net, false);
}

}  // namespace weft
