// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/check_net.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/check/check_ops.h"

namespace weft {

namespace {

// One net's walk. `current` follows the version of each blob from op to op; `used` says which values anybody
// reads, waits for, or may read from a nested net.
class NetChecker {
 public:
  NetChecker(const Net& net, const CheckOptions& options, const std::string& path, int depth,
             Findings& findings)
      : net_(net),
        options_(options),
        path_(path),
        depth_(depth),
        findings_(findings),
        ssa_(net),
        nesting_(*net.symbols) {}

  NetEffects Run() {
    const size_t first = findings_.size();
    Walk();
    CheckEnds();
    CheckReads();
    CheckWrites();
    if (options_.ops && depth_ == 0) CheckHelpers(*options_.ops);
    internal::CheckControlInputs(net_, ssa_, path_, findings_);
    internal::CheckOperators(net_, options_, path_, findings_);
    findings_.SortFrom(first);
    for (Diagnostic& diagnostic : nested_findings_) findings_.Add(std::move(diagnostic));
    return std::move(effects_);
  }

 private:
  std::string Name(BlobId blob) const { return std::string(net_.Str(ssa_.blobs()[blob])); }
  std::string ValueText(ValueId value) const { return ValueName(net_, ssa_, value); }
  bool Written(BlobId blob) const { return ssa_.values()[ssa_.latest(blob)].def != kNoOp; }

  void Add(FindingCode code, Severity severity, OpId op, std::string blob, std::string message,
           std::string remedy) {
    findings_.Add({code, severity, op, std::move(blob), std::move(message), std::move(remedy), path_});
  }

  void Walk() {
    const size_t num_values = ssa_.values().size();
    used_.assign(num_values, false);
    next_.assign(num_values, kNoValue);
    std::vector<ValueId> current(ssa_.blobs().size(), kNoValue);
    for (ValueId v = 0; v < num_values; ++v) {
      const Value& value = ssa_.values()[v];
      used_[v] = !ssa_.uses(v).empty();
      if (value.previous != kNoValue) next_[value.previous] = v;
      if (value.def == kNoOp) current[value.blob] = v;
    }
    SymbolMap<uint8_t> seen(*net_.symbols, ssa_.blobs().size(), 0);
    const auto use = [&](Symbol name) {
      const BlobId blob = ssa_.FindBlob(name);
      if (blob != kNoBlob && current[blob] != kNoValue) used_[current[blob]] = true;
    };
    std::vector<NetEffects> nested;
    for (size_t i = 0; i < net_.ops.size(); ++i) {
      const Op& op = net_.ops[i];
      for (Symbol name : op.control_inputs) use(name);
      nested.clear();
      if (HoldsNet(op)) CheckNested(op, static_cast<OpId>(i), nested);
      for (const NetEffects& inner : nested) {
        for (const Effect& effect : inner.reads) use(effect.blob);
        for (const Effect& effect : inner.writes) nested_writes_.push_back(effect.blob);
      }
      AddEffects(op, static_cast<OpId>(i), nested, seen, effects_);
      for (ValueId v : ssa_.outputs(static_cast<OpId>(i))) current[ssa_.values()[v].blob] = v;
    }
  }

  void CheckNested(const Op& op, OpId id, std::vector<NetEffects>& nested) {
    if (depth_ + 1 > kMaxNesting) {
      if (findings_.Wants(FindingCode::kNestedTooDeep))
        Add(FindingCode::kNestedTooDeep, Severity::kError, id, "",
            StrCat(OpLabel(net_, id), " holds a net nested deeper than ", kMaxNesting,
                   " levels; it was not checked"),
            "");
      return;
    }
    const Nesting nesting = nesting_.Of(op.type);
    ForEachNestedNet(net_, op, [&](const Net& inner, std::string_view place) {
      const std::string path = StrCat(path_, path_.empty() ? "" : "/", id, ".", place);
      // Nested findings go behind this net's own; the counts per code stay shared.
      const size_t first = findings_.size();
      nested.push_back(
          Visible(internal::CheckNetInto(inner, options_, path, depth_ + 1, findings_), nesting));
      findings_.MoveFrom(first, nested_findings_);
    });
  }

  void CheckEnds() {
    if (depth_ == 0 && net_.Str(net_.name).empty() && findings_.Wants(FindingCode::kNoName))
      Add(FindingCode::kNoName, Severity::kWarning, -1, "",
          "the net has no name; Caffe2 refuses to create it", "set name (weft clone FILE --name NAME)");
    CheckRepeated(net_.external_inputs, "external_input");
    CheckRepeated(net_.external_outputs, "external_output");
    CheckOutputs();
    if (depth_ == 0 && net_.external_outputs.empty() && !net_.ops.empty()) OfferOutputs();
  }

  void CheckRepeated(const std::vector<Symbol>& names, std::string_view field) {
    SymbolMap<uint32_t> count(*net_.symbols, names.size(), 0);
    for (Symbol name : names) ++count[name];
    for (Symbol name : names) {
      uint32_t& times = count[name];
      if (times > 1 && findings_.Wants(FindingCode::kRepeatedExternal))
        Add(FindingCode::kRepeatedExternal, Severity::kWarning, -1, std::string(net_.Str(name)),
            StrCat(field, " lists ", net_.Str(name), " ", times, " times"), "keep one");
      times = 0;
    }
  }

  void CheckOutputs() {
    SymbolMap<uint8_t> inside(*net_.symbols, nested_writes_.size(), 0);
    for (Symbol name : nested_writes_) inside[name] = true;
    SymbolMap<uint8_t> done(*net_.symbols, net_.external_outputs.size(), 0);
    for (Symbol name : net_.external_outputs) {
      if (done.Get(name) || inside.Get(name)) continue;
      done[name] = true;
      const BlobId blob = ssa_.FindBlob(name);
      if (blob != kNoBlob && (ssa_.declared_input(blob) || Written(blob))) continue;
      if (!findings_.Wants(FindingCode::kMissingOutput)) continue;
      Add(FindingCode::kMissingOutput, Severity::kError, -1, std::string(net_.Str(name)),
          StrCat("external_output ", net_.Str(name), " is written by no operator and is no external_input"),
          StrCat("remove it from external_output", DidYouMean(name)));
    }
  }

  // A net without outputs gives a predictor nothing to return; what nobody reads is what it was made for.
  // Nets that fill parameters or update them work on the workspace, and need none.
  void OfferOutputs() {
    bool reads_outside = false;
    for (BlobId blob = 0; blob < ssa_.blobs().size(); ++blob) {
      reads_outside |= ssa_.starts_outside(blob);
      if (ssa_.starts_outside(blob) && Written(blob)) return;
    }
    size_t sources = 0;
    for (const Op& op : net_.ops) {
      if (op.is_gradient_op.value_or(false) || net_.Str(op.type).ends_with("Gradient")) return;
      sources += op.inputs.empty();
    }
    if (!reads_outside || 2 * sources > net_.ops.size() || !findings_.Wants(FindingCode::kNoExternalOutputs))
      return;
    std::vector<std::string> names;
    for (BlobId blob = 0; blob < ssa_.blobs().size(); ++blob)
      if (Written(blob) && !used_[ssa_.latest(blob)]) names.push_back(Name(blob));
    const bool predicts = !net_.external_inputs.empty();
    Add(FindingCode::kNoExternalOutputs, predicts ? Severity::kWarning : Severity::kNote, -1, "",
        "the net declares no external_output: whoever runs it gets nothing back",
        names.empty() ? "" : StrCat("declare what is written and never read: ", ListNames(names)));
  }

  void CheckReads() {
    const bool declares = !net_.external_inputs.empty();
    std::vector<std::string> undeclared;
    for (ValueId v = 0; v < ssa_.values().size(); ++v) {
      const Value& value = ssa_.values()[v];
      if (value.version != 0) continue;
      if (ssa_.declared_input(value.blob)) {
        CheckDeclared(v);
        continue;
      }
      const OpId reader = ssa_.uses(v)[0];
      // An operator that updates the blob in place needs a value from outside; one that only writes it
      // suggests that the reader came too early. In a body that runs again, that is how a value is carried
      // over.
      if (next_[v] != kNoValue && !Updates(v)) {
        if (depth_ == 0) ReadBeforeWrite(v, reader, declares);
      } else if (!declares) {
        undeclared.push_back(Name(value.blob));
      } else if (findings_.Wants(FindingCode::kUndeclaredInput)) {
        Add(FindingCode::kUndeclaredInput, Severity::kError, reader, Name(value.blob),
            StrCat(OpLabel(net_, reader), " reads ", Name(value.blob),
                   ", which no operator writes and external_input does not list"),
            StrCat("add it to external_input", DidYouMean(ssa_.blobs()[value.blob])));
      }
    }
    if (depth_ > 0 || undeclared.empty() || !findings_.Wants(FindingCode::kNoExternalInputs)) return;
    Add(FindingCode::kNoExternalInputs, Severity::kNote, -1, "",
        StrCat("the net declares no external_input, and takes ", undeclared.size(),
               undeclared.size() == 1 ? " blob" : " blobs", " from its workspace: ", ListNames(undeclared)),
        "list them in external_input, so that a missing one is found before the run");
  }

  // True when the operator that overwrites `v` also reads it.
  bool Updates(ValueId v) const {
    const auto inputs = ssa_.inputs(ssa_.values()[next_[v]].def);
    return std::find(inputs.begin(), inputs.end(), v) != inputs.end();
  }

  void ReadBeforeWrite(ValueId v, OpId reader, bool declares) {
    if (!findings_.Wants(FindingCode::kReadBeforeWrite)) return;
    const OpId writer = ssa_.values()[next_[v]].def;
    const std::string name = Name(ssa_.values()[v].blob);
    Add(FindingCode::kReadBeforeWrite, declares ? Severity::kError : Severity::kWarning, reader, name,
        StrCat(OpLabel(net_, reader), " reads ", ValueText(v), " before anything has written it; ",
               OpLabel(net_, writer), " writes ", ValueText(next_[v]), " later"),
        StrCat("move op ", writer, " ahead of op ", reader, ", or list ", name,
               " in external_input if it comes from outside"));
  }

  void CheckDeclared(ValueId v) {
    const Value& value = ssa_.values()[v];
    // What a builder lists for a net inside an operator is the operator's business.
    if (used_[v] || depth_ > 0) return;
    const bool overwritten = next_[v] != kNoValue;
    if (!overwritten && IsOutput(value.blob)) return;
    if (!findings_.Wants(FindingCode::kUnusedInput)) return;
    const std::string name = Name(value.blob);
    if (overwritten) {
      const OpId writer = ssa_.values()[next_[v]].def;
      Add(FindingCode::kUnusedInput, Severity::kNote, writer, name,
          StrCat("external_input ", name, " is overwritten by ", OpLabel(net_, writer), " before it is read"),
          "remove it from external_input");
    } else {
      Add(FindingCode::kUnusedInput, Severity::kNote, -1, name,
          StrCat("external_input ", name, " is never read"), "remove it from external_input");
    }
  }

  bool IsOutput(BlobId blob) {
    if (!outputs_known_) {
      is_output_.assign(ssa_.blobs().size(), false);
      for (Symbol name : net_.external_outputs) {
        const BlobId id = ssa_.FindBlob(name);
        if (id != kNoBlob) is_output_[id] = true;
      }
      outputs_known_ = true;
    }
    return is_output_[blob];
  }

  void CheckWrites() {
    for (ValueId v = 0; v < ssa_.values().size(); ++v) {
      const Value& value = ssa_.values()[v];
      if (value.def != kNoOp && !used_[v] && next_[v] != kNoValue) DeadWrite(v, ssa_.values()[next_[v]]);
    }
    for (OpId op = 0; op < static_cast<OpId>(net_.ops.size()); ++op) {
      const auto outputs = ssa_.outputs(op);
      for (uint32_t k = 0; k < outputs.size(); ++k) {
        // One value has several places only when its blob is named several times; it keeps the last of them.
        const uint32_t last = ssa_.values()[outputs[k]].output;
        if (last == k || !findings_.Wants(FindingCode::kRepeatedOutput)) continue;
        const std::string name = Name(ssa_.values()[outputs[k]].blob);
        Add(FindingCode::kRepeatedOutput, Severity::kWarning, op, name,
            StrCat(OpLabel(net_, op), " writes ", name, " twice, as outputs ", k, " and ", last,
                   "; only the second is left"),
            "give the outputs different names");
      }
    }
  }

  // An output that its operator need not make, that nobody reads, and that is handed out all the same: a
  // dropout mask, a normalisation's scale.
  void CheckHelpers(const OpSet& ops) {
    OpLookup lookup(ops, *net_.symbols);
    for (Symbol name : net_.external_outputs) {
      const BlobId blob = ssa_.FindBlob(name);
      if (blob == kNoBlob || used_[ssa_.latest(blob)]) continue;
      const Value& value = ssa_.values()[ssa_.latest(blob)];
      if (value.def == kNoOp || value.output == 0) continue;
      const OpDef* def = lookup(At(value.def).type);
      if (!def) continue;
      // An operator that makes 1 or 2 outputs need not make the second.
      if (def->out.max == kAny || value.output < static_cast<uint32_t>(def->out.min) ||
          !findings_.Wants(FindingCode::kHelperOutput))
        continue;
      Add(FindingCode::kHelperOutput, Severity::kNote, value.def, Name(blob),
          StrCat("external_output ", Name(blob), " is an output that ", OpLabel(net_, value.def),
                 " need not make, and no operator reads it"),
          "remove it from the operator and from external_output");
    }
  }

  const Op& At(OpId id) const { return net_.ops[static_cast<size_t>(id)]; }
  bool Fills(OpId id) const { return net_.Str(At(id).type).ends_with("Fill"); }

  void DeadWrite(ValueId v, const Value& over) {
    const Value& value = ssa_.values()[v];
    if (Fills(value.def) && Fills(over.def)) return DoubleFill(v);
    if (!findings_.Wants(FindingCode::kDeadWrite)) return;
    // A side output that nobody wants is common and harmless, and so is a starting value that is replaced; an
    // operator's only result is not.
    const bool wasted = At(value.def).outputs.size() == 1 && !Fills(value.def);
    Add(FindingCode::kDeadWrite, wasted ? Severity::kWarning : Severity::kNote, value.def, Name(value.blob),
        StrCat(OpLabel(net_, value.def), " writes ", ValueText(v), ", which nobody reads before ",
               OpLabel(net_, over.def), " overwrites it with ", ValueText(next_[v])),
        wasted ? StrCat("remove op ", value.def, ", or give one of the two results another name") : "");
  }

  // One finding for a run of fills of one blob, told at its first.
  void DoubleFill(ValueId v) {
    const Value& value = ssa_.values()[v];
    if (value.previous != kNoValue) {
      const Value& before = ssa_.values()[value.previous];
      if (before.def != kNoOp && !used_[value.previous] && Fills(before.def)) return;
    }
    OpId last = value.def;
    size_t times = 1;
    bool same = true;
    for (ValueId w = v; !used_[w] && next_[w] != kNoValue; w = next_[w]) {
      const OpId again = ssa_.values()[next_[w]].def;
      if (!Fills(again)) break;
      last = again;
      ++times;
      same = same && At(again).type == At(value.def).type &&
             SameArgs(*net_.symbols, At(value.def).args, *net_.symbols, At(again).args);
    }
    if (!findings_.Wants(FindingCode::kDoubleFill)) return;
    const std::string name = Name(value.blob);
    if (same) {
      Add(FindingCode::kDoubleFill, Severity::kNote, value.def, name,
          StrCat(OpLabel(net_, value.def), " fills ", name, ", and so ",
                 times == 2 ? "does op " : "do more, up to op ", last, ", with the same value: ", times,
                 " fills before anyone reads it"),
          "");
      return;
    }
    Add(FindingCode::kDoubleFill, Severity::kWarning, last, name,
        StrCat(OpLabel(net_, last), " fills ", name, " again; nobody has read what ",
               OpLabel(net_, value.def), " put there",
               times > 2 ? StrCat(" (", times, " fills in all)") : ""),
        "keep one of the fills, or rename one if two parameters were meant");
  }

  // Typing errors are short-sighted: names near this one, when the net is small enough to look at them all.
  std::string DidYouMean(Symbol name) {
    if (ssa_.blobs().size() > 5000 || asked_++ >= 10) return "";
    if (names_.empty())
      for (BlobId blob = 0; blob < ssa_.blobs().size(); ++blob)
        if (ssa_.declared_input(blob) || Written(blob)) names_.push_back(net_.Str(ssa_.blobs()[blob]));
    const auto near = NearestNames(net_.Str(name), names_, 1);
    return near.empty() ? "" : StrCat("; did you mean ", near[0], "?");
  }

  const Net& net_;
  const CheckOptions& options_;
  const std::string& path_;
  const int depth_;
  Findings& findings_;
  const Ssa ssa_;
  const NestingTypes nesting_;
  NetEffects effects_;
  std::vector<bool> used_;                   // by ValueId
  std::vector<ValueId> next_;                // the value that overwrote this one
  std::vector<Symbol> nested_writes_;        // blobs that nets inside operators write
  std::vector<Diagnostic> nested_findings_;  // theirs
  std::vector<bool> is_output_;              // by BlobId, once asked
  bool outputs_known_ = false;
  std::vector<std::string_view> names_;  // candidates for "did you mean"
  int asked_ = 0;
};

}  // namespace

namespace internal {
NetEffects CheckNetInto(const Net& net, const CheckOptions& options, const std::string& path, int depth,
                        Findings& findings) {
  return NetChecker(net, options, path, depth, findings).Run();
}
}  // namespace internal

std::vector<Diagnostic> CheckNet(const Net& net, const CheckOptions& options) {
  Findings findings(options.per_code);
  internal::CheckNetInto(net, options, "", 0, findings);
  return findings.Take();
}

}  // namespace weft
