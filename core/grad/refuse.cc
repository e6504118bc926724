// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What the planner refuses, and how it says so: before the walk, and at operators that have no gradient.
#include "core/base/str.h"
#include "core/grad/messages.h"
#include "core/grad/planner.h"
#include "core/ops/schema.h"

namespace weft::internal {

// Rule 3.
Result<void> Planner::CheckStopGradients() {
  const Symbol stop_gradient = net_.symbols->Find("StopGradient");
  if (!stop_gradient) return {};
  for (OpId i = 0; i < next_; ++i) {
    const Op& op = forward(i);
    if (op.type != stop_gradient || op.outputs.empty()) continue;
    bool read = false;
    for (ValueId v = ssa_.latest(ssa_.FindBlob(op.outputs[0])); v != kNoValue && !read; v = value(v).previous)
      read = !ssa_.uses(v).empty();
    if (read) continue;
    return Error{
        ErrorCode::kOrphanStopGradient,
        StrCat("StopGradient's output '", net_.Str(op.outputs[0]),
               "' is orphan: nobody reads it, so it stops nothing. You typically want the same input and "
               "output for StopGradient, or the readers to read its output. Found at ",
               DescribeOp(net_, static_cast<size_t>(NetIndex(i))), "."),
        NetIndex(i), Name(op.outputs[0])};
  }
  return {};
}

// B55: a second pass would differentiate what the first one added, and find its names taken.
Result<void> Planner::CheckFirstBackward() const {
  if (Keeps(kFaultTwice) || options_.skip > 0) return {};
  for (const Loss& loss : options_.losses) {
    const OpId begin = FindBackwardOf(loss);
    if (begin == kNoOp) continue;
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("The net has a backward pass of loss ", Name(loss.blob), " already: it begins with ",
                        DescribeOp(net_, static_cast<size_t>(begin)),
                        ". Remedy: plan on the forward net, without its gradient operators."),
                 begin, Name(loss.blob)};
  }
  return {};
}

// The first operator of an earlier backward pass: the start gradient that a planner makes, or, when the
// gradient is given, the gradient operator of what writes the loss, which reads that and writes
// "<input>_grad".
OpId Planner::FindBackwardOf(const Loss& loss) const {
  const BlobId blob = ssa_.FindBlob(loss.blob);
  if (blob == kNoBlob) return kNoOp;
  if (loss.given.none()) {
    const Symbol seed = net_.symbols->Find(StrCat(net_.Str(loss.blob), "_autogen_grad"));
    const BlobId made = seed ? ssa_.FindBlob(seed) : kNoBlob;
    return made == kNoBlob ? kNoOp : value(ssa_.latest(made)).def;
  }
  const OpId maker = value(ssa_.latest(blob)).def;
  const BlobId given = ssa_.FindBlob(loss.given.is_dense() ? loss.given.dense : loss.given.values);
  if (maker == kNoOp || given == kNoBlob) return kNoOp;
  for (OpId reader : ssa_.uses(ssa_.latest(given))) {
    const Op& op = forward(reader);
    if (!op.is_gradient_op.value_or(false) || !net_.Str(op.type).starts_with(net_.Str(forward(maker).type)))
      continue;
    for (Symbol input : forward(maker).inputs)
      for (Symbol output : op.outputs)
        if (net_.Str(output).find(StrCat(net_.Str(input), "_grad")) != std::string_view::npos) return reader;
  }
  return kNoOp;
}

Error Planner::RuleError(OpId i, ErrorCode code, std::string_view why) const {
  const Op& op = forward(i);
  return {
      code,
      StrCat("The gradient of ", DescribeOp(net_, static_cast<size_t>(NetIndex(i))), " can't be made: ", why),
      NetIndex(i), op.outputs.empty() ? std::string() : Name(op.outputs[0])};
}

// How the gradient comes to operator i: "It arrives from loss l by l <- z <- y." The nearest later reader
// that has one passed it on.
std::string Planner::GradientPath(OpId i) const {
  const auto carrier = [&](OpId op) {
    for (ValueId v : ssa_.outputs(op))
      if (!slots_[Keeps(kFaultByName) ? value(v).blob : v].gradient.none()) return v;
    return kNoValue;
  };
  std::vector<ValueId> path;
  for (ValueId v = carrier(i); v != kNoValue;) {
    path.push_back(v);
    ValueId next = kNoValue;
    for (OpId reader : ssa_.uses(v))
      if (next == kNoValue && !is_loss_[v]) next = carrier(reader);
    v = next;
  }
  if (path.empty() || !is_loss_[path.back()]) return "";
  std::string text = StrCat("\nIt arrives from loss ", ValueName(net_, ssa_, path.back()));
  if (path.size() == 1) return text + ".";
  text += " by ";
  constexpr size_t kMostSteps = 8;
  for (size_t n = 0; n < path.size(); ++n) {
    if (path.size() > kMostSteps && n == kMostSteps / 2) {
      StrAppend(text, " <- ... ", path.size() - kMostSteps, " more");
      n = path.size() - kMostSteps / 2;
    }
    StrAppend(text, n == 0 ? "" : " <- ", net_.Str(BlobOf(path[path.size() - 1 - n])));
  }
  return text + ".";
}

Result<void> Planner::CheckPolicy(OpId i, const Op& op, const OpDef* def) {
  if (!def) {
    std::string why = StrCat("no operator is called ", net_.Str(op.type), ".");
    const auto nearest = ops_.Nearest(net_.Str(op.type));
    for (size_t k = 0; k < nearest.size(); ++k) StrAppend(why, k == 0 ? " Did you mean " : ", ", nearest[k]);
    if (!nearest.empty()) why += '?';
    return RuleError(i, ErrorCode::kUnknownOperator, why);
  }
  std::string why;
  switch (def->policy) {
    case GradientPolicy::kForbidden:
      why = StrCat("One should not call gradient for operator ", def->name, ".");
      break;
    case GradientPolicy::kNotImplemented:
      why = StrCat("Operator ", def->name, " should have a gradient but is not implemented yet.");
      break;
    case GradientPolicy::kUnregistered:
      why = StrCat("No gradient is registered for operator ", def->name, ".");
      break;
    case GradientPolicy::kRule:
    case GradientPolicy::kPassThrough:
    case GradientPolicy::kNone:
      break;
  }
  if (!why.empty()) {
    StrAppend(why, GradientPath(i), "\nRemedy: where the gradient may end here, let the readers of ",
              op.outputs.empty() ? "it" : net_.Str(op.outputs[0]),
              " read a StopGradient of it, or stop at it (--stop ",
              op.outputs.empty() ? "it" : net_.Str(op.outputs[0]), "); else compute it by other operators.");
    return RuleError(i, ErrorCode::kNoGradient, why);
  }
  auto valid = VerifySchema(*def, net_, op);
  if (!valid)
    return RuleError(i, ErrorCode::kSchema,
                     StrCat("it did not pass schema checking. ", valid.error().message,
                            def->ports.empty() ? "" : StrCat(" Its inputs and outputs: ", def->ports, ".")));
  return {};
}

}  // namespace weft::internal
