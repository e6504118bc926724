// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/shapes.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ops/shape_rule.h"
#include "core/pass/shapes_nested.h"
#include "core/ssa/versions.h"

namespace weft {

namespace internal {

const ShapeProgram* ShapePrograms::Find(Symbol type, const OpDef*& def) {
  def = lookup_(type);
  if (!def) return nullptr;
  if (type.id >= programs_.size()) programs_.resize(type.id + 1);
  std::unique_ptr<ShapeProgram>& program = programs_[type.id];
  if (!program) {
    Result<ShapeProgram> compiled = CompileShapeRule(*def);
    program = std::make_unique<ShapeProgram>(compiled ? std::move(compiled).value() : ShapeProgram());
  }
  return program.get();
}

namespace {

class Walker {
 public:
  Walker(Inference& inference, const Net& net, std::span<const GivenBlob> given, std::string path,
         NetShapes& out)
      : inference_(inference), net_(net), path_(std::move(path)), out_(out) {
    const size_t n = out_.ssa.values().size();
    out_.values.resize(n);
    out_.costs.resize(net.ops.size());
    for (const GivenBlob& blob : given) {
      const BlobId id = out_.ssa.FindBlob(blob.blob);
      if (id == kNoBlob || !out_.ssa.starts_outside(id)) continue;
      out_.values[FirstValue(out_.ssa, id)] = blob.info;
    }
  }

  void Run() {
    for (size_t i = 0; i < net_.ops.size(); ++i) Visit(static_cast<OpId>(i));
    // Inputs that something reads and that nobody gave.
    const Ssa& ssa = out_.ssa;
    for (ValueId v = 0; v < out_.values.size(); ++v) {
      if (ssa.values()[v].def != kNoOp || inference_.table.Whole(out_.values[v])) continue;
      if (!ssa.uses(v).empty()) out_.missing_inputs.push_back(ssa.blobs()[ssa.values()[v].blob]);
    }
  }

 private:
  void Visit(OpId id) {
    const Op& op = net_.ops[static_cast<size_t>(id)];
    const Ssa& ssa = out_.ssa;
    const std::span<const ValueId> inputs = ssa.inputs(id), outputs = ssa.outputs(id);
    bool inputs_known = true;
    inputs_.clear();
    for (size_t i = 0; i < op.inputs.size(); ++i) inputs_.push_back(out_.values[inputs[i]]);
    for (const ValueId v : inputs) inputs_known &= inference_.table.Whole(out_.values[v]);
    outputs_.assign(op.outputs.size(), TensorInfo());

    const OpDef* def = nullptr;
    const ShapeProgram* program = inference_.programs.Find(op.type, def);
    const bool nested = def && (def->flags & kControlFlow);
    problems_.clear();
    out_.costs[static_cast<size_t>(id)] = OpCost{Dim(), Dim(), Dim()};
    if (program) {
      ShapeContext context(inference_.table, net_, op, *def, inputs_, outputs_, problems_);
      if (!nested) RunShapeRule(*program, context);
      for (const ShapeProblem& problem : problems_) Report(id, problem);
      if (!nested) FillGradients(id);
      out_.costs[static_cast<size_t>(id)] = RunCost(*program, context);
    } else {
      FillGradients(id);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      // A negative element that was used as an extent.
      for (Dim& dim : outputs_[i].dims)
        if (inference_.table.NumberOf(dim).value_or(0) < 0) dim = {};
      out_.values[outputs[i]] = outputs_[i];
    }
    if (nested) InferNested(inference_, net_, id, path_, out_);

    bool known = true;
    for (const ValueId v : outputs) {
      if (inference_.table.Whole(out_.values[v])) continue;
      known = false;
      ++out_.unknown_values;
    }
    if (known || !inputs_known || !problems_.empty()) return;
    std::string reason = !def                         ? "unknown operator"
                         : !def->shape_reason.empty() ? std::string(def->shape_reason)
                         : nested                     ? "the nets inside it"
                                                      : "its arguments do not say";
    if (nested && out_.nested.size() > 0 && out_.nested.back().op == id) {
      // What is missing inside says more.
      bool inside = false;
      for (const NetShapes::Nested& n : out_.nested) inside |= n.op == id && !n.shapes->silent_ops.empty();
      if (inside) return;
    }
    out_.silent_ops.push_back({id, op.type, path_, std::move(reason)});
  }

  // A gradient of which the operator says nothing has the shape of the blob that it is the gradient of: the
  // name without its last "_grad" (B38: not the first).
  void FillGradients(OpId id) {
    const Op& op = net_.ops[static_cast<size_t>(id)];
    if (!op.is_gradient_op.value_or(false)) return;
    constexpr std::string_view kSuffix = "_grad";
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].kind != TensorInfo::kUnknown) continue;
      const std::string_view name = net_.Str(op.outputs[i]);
      if (!name.ends_with(kSuffix)) continue;
      const Symbol forward = net_.symbols->Find(name.substr(0, name.size() - kSuffix.size()));
      const BlobId blob = forward ? out_.ssa.FindBlob(forward) : kNoBlob;
      if (blob == kNoBlob) continue;
      const TensorInfo& info = out_.values[out_.ssa.latest(blob)];
      if (!info.tensor()) continue;
      outputs_[i] = info;
      outputs_[i].content = TensorInfo::kNoContent;
    }
  }

  void Report(OpId id, const ShapeProblem& problem) {
    if (!inference_.findings.Wants(FindingCode::kWrongShape)) return;
    const Op& op = net_.ops[static_cast<size_t>(id)];
    Diagnostic d{.code = FindingCode::kWrongShape, .severity = Severity::kError, .op = id, .path = path_};
    std::string where = OpLabel(net_, id);
    if (problem.input >= 0 && problem.input < static_cast<int32_t>(op.inputs.size())) {
      d.blob = net_.Str(op.inputs[static_cast<size_t>(problem.input)]);
      StrAppend(where, ", input ", problem.input, " ", d.blob);
    }
    d.message = StrCat(where, ": expected ", problem.expected, ", given ", problem.given);
    inference_.findings.Add(std::move(d));
  }

  Inference& inference_;
  const Net& net_;
  const std::string path_;
  NetShapes& out_;
  std::vector<TensorInfo> inputs_, outputs_;
  std::vector<ShapeProblem> problems_;
};

}  // namespace

NetShapes Inference::Walk(const Net& net, std::span<const GivenBlob> given, std::string path) {
  NetShapes shapes(net);
  Walker(*this, net, given, std::move(path), shapes).Run();
  return shapes;
}

// What is missing, as notes: nothing is wrong with a net whose inputs nobody described.
void ReportMissing(const Net& net, const NetShapes& shapes, Findings& findings) {
  const auto add = [&](Diagnostic finding) {
    if (!findings.Wants(FindingCode::kShapeUnknown)) return;
    finding.code = FindingCode::kShapeUnknown;
    finding.severity = Severity::kNote;
    findings.Add(std::move(finding));
  };
  for (const Symbol blob : shapes.missing_inputs) {
    const Ssa& ssa = shapes.ssa;
    const OpId reader = ssa.uses(FirstValue(ssa, ssa.FindBlob(blob))).front();
    add({.op = reader,
         .blob = std::string(net.Str(blob)),
         .message = StrCat("the shape of input ", net.Str(blob), ", first read by ", OpLabel(net, reader),
                           ", is not known")});
  }
  for (const SilentOp& op : shapes.silent_ops)
    add({.op = op.op,
         .message = StrCat("op ", op.op, " ", net.Str(op.type), " does not say what it makes: ", op.reason),
         .path = op.path});
}

}  // namespace internal

NetShapes InferShapes(const Net& net, std::span<const GivenBlob> given, ShapeTable& table,
                      const ShapeOptions& options) {
  internal::Inference inference(table, *options.ops, *net.symbols, options.per_code);
  NetShapes shapes = inference.Walk(net, given, "");
  internal::ReportMissing(net, shapes, inference.findings);
  shapes.findings = inference.findings.Take();
  return shapes;
}

const Diagnostic* FirstError(const NetShapes& shapes) {
  for (const Diagnostic& finding : shapes.findings)
    if (finding.severity == Severity::kError) return &finding;
  return nullptr;
}

Result<GivenBlob> ParseGivenBlob(std::string_view text, SymbolTable& symbols, ShapeTable& table) {
  const auto bad = [&](std::string_view why) {
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("\"", text, "\": ", why, ", as in data=8,3,224,224:float")};
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return bad("expected a blob, = and its extents");
  GivenBlob given{symbols.Intern(text.substr(0, equals)), TensorInfo::Object()};
  std::string_view extents = text.substr(equals + 1);
  if (extents == "object") return given;
  given.info = TensorInfo::Of(DataType::kFloat, {});
  if (const size_t colon = extents.find(':'); colon != std::string_view::npos) {
    const auto type = ParseDataType(extents.substr(colon + 1));
    if (!type) return bad(StrCat("no type is called ", extents.substr(colon + 1)));
    given.info.type = *type;
    extents = extents.substr(0, colon);
  }
  for (const std::string_view extent : StrSplit(extents, ',')) {
    int64_t number = 0;
    bool digits = !extent.empty() && extent.size() < 16;
    for (const char c : extent) {
      digits &= c >= '0' && c <= '9';
      if (digits) number = number * 10 + (c - '0');
    }
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const bool name = !extent.empty() && letter(extent[0]) &&
                      std::all_of(extent.begin(), extent.end(),
                                  [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
    if (!digits && !name) return bad(StrCat("\"", extent, "\" is no extent"));
    given.info.dims.push_back(digits ? Dim(number) : table.Named(extent));
  }
  return given;
}

std::vector<GivenBlob> FinalShapes(const NetShapes& shapes) {
  std::vector<GivenBlob> out;
  const Ssa& ssa = shapes.ssa;
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob)
    if (ssa.written(blob)) out.push_back({ssa.blobs()[blob], shapes.values[ssa.latest(blob)]});
  return out;
}

}  // namespace weft
