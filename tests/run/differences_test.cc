// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Every differentiable operator of tiers 1 and 2 against central differences: the recorded calls of the
// operator (tests/data/caffe2/operators.jsonl) with weights on its outputs, the planned gradient, the
// reference kernels. Prints the elements checked per type; a type that disagrees or can't be checked for no
// listed reason fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/grad/gradient.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/gradient_check.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

constexpr int kRowsPerType = 4;
constexpr int64_t kLargest = 20000;  // elements of one tensor

struct Reason {
  std::string_view type, reason;
};
// Types that disagree with differences on purpose, or whose recorded calls cannot be checked.
constexpr Reason kReasons[] = {
    {"FloatToHalf", "halves are too coarse for differences"},
    {"HalfToFloat", "as FloatToHalf"},
    {"CopyRowsToTensor", "works in place on its table: the gradient is that of the overwritten blob"},
    {"Do", "grad/control_gradients_test.cc checks control flow against recorded differences"},
    {"If", "as Do"},
    {"While", "as Do"},
    {"Python", "has no kernel of its own"},
    {"ZeroGradient", "has no output to differentiate"},
};

// Types of whose outputs only the first is weighed. The gradient makers of the norms read the gradient of Y
// and leave those of mean, deviation and running statistics out, given or not (and say "Gradient of output o0
// is not provided!" when Y has none): caffe2/gradient_makers.jsonl holds those calls. A fault for who takes a
// loss of the mean, which Weft shares, as its operators are the same. RecurrentNetwork takes the gradients of
// the outputs that its argument outputs_with_grads lists: here the first, which the last states say again.
constexpr std::string_view kFirstOutputOnly[] = {"GroupNorm", "LayerNorm", "SpatialBN", "RecurrentNetwork"};

// Calls of types that have no recorded call with a gradient. Feeds: floats "X:2,3", integers "i=1,0".
struct Call {
  std::string_view op, feeds;
};
constexpr Call kCalls[] = {
    {"type: 'AveragePool1D' input: 'X' output: 'Y' arg { name: 'kernel' i: 2 } arg { name: 'stride' i: 2 }",
     "X:2,2,6"},
    {"type: 'MaxPool1D' input: 'X' output: 'Y' arg { name: 'kernel' i: 2 } arg { name: 'stride' i: 2 }",
     "X:2,2,6"},
    {"type: 'BatchPermutation' input: 'X' input: 'i' output: 'Y'", "X:3,2 i=2,0,1"},
    {"type: 'Cast' input: 'X' output: 'Y' arg { name: 'to' i: 1 } arg { name: 'from_type' i: 1 }", "X:3,2"},
    {"type: 'Copy' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'DepthSplit' input: 'X' input: 'i' output: 'Y' output: 'Z'", "X:2,5,1,1 i=2,3"},
    {"type: 'FlattenToVec' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'LabelCrossEntropy' input: 'X' input: 'i' output: 'Y'", "X:3,4 i=2,0,3"},
    {"type: 'LengthsTile' input: 'X' input: 'i' output: 'Y'", "X:3,2 i=2,0,3"},
    {"type: 'LengthsWeightedSum' input: 'X' input: 'W' input: 'i' output: 'Y'", "X:5,2 W:5 i=2,0,3"},
    {"type: 'ReduceSum' input: 'X' output: 'Y' arg { name: 'axes' ints: 1 } arg { name: 'keepdims' i: 0 }",
     "X:2,3,2"},
    {"type: 'RemovePadding' input: 'X' input: 'i' output: 'Y' output: 'lengths' arg { name: 'padding_width' "
     "i: 1 }",
     "X:7,2 i=3,4"},
    {"type: 'SparseToDense' input: 'i' input: 'X' input: 'D' output: 'Y'", "X:3,2 D:5,2 i=4,0,4"},
    {"type: 'NanCheck' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'Sqr' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'Sqrt' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'Swish' input: 'X' output: 'Y'", "X:3,2"},
    {"type: 'UnsortedSegmentWeightedSum' input: 'X' input: 'W' input: 'i' output: 'Y'",
     "X:4,2 W:4 i=1,0,1,3"},
    {"type: 'RoIAlignRotated' input: 'X' input: 'R' output: 'Y' arg { name: 'pooled_h' i: 2 } arg { name: "
     "'pooled_w' i: 2 }",
     "X:1,2,6,6 R:2,5"},
};

// Positive, different everywhere, in no order.
Tensor FloatFeed(const std::vector<int64_t>& dims) {
  std::vector<float> values;
  const int64_t n = NumElements(dims);
  for (int64_t i = 0; i < n; ++i)
    values.push_back(0.15f + 0.8f * static_cast<float>((i * 37 + 11) % 101) / 101);
  return Tensor::Of<float>(dims, values);
}

std::vector<int64_t> Integers(std::string_view text) {
  std::vector<int64_t> out;
  for (std::string_view word : StrSplit(text, ',')) out.push_back(std::stoll(std::string(word)));
  return out;
}

std::string_view FindReason(std::string_view type) {
  for (const Reason& reason : kReasons)
    if (reason.type == type) return reason.reason;
  return "";
}

bool IsFloat(const Tensor& tensor) {
  return tensor.type() == DataType::kFloat || tensor.type() == DataType::kDouble;
}

// Different everywhere, of either sign, never small.
Tensor Weights(const Tensor& like) {
  Tensor out = like.Clone();
  for (int64_t i = 0; i < out.numel(); ++i) {
    const float value = (i % 3 == 1 ? -1.0f : 1.0f) * (0.5f + 0.1f * static_cast<float>(i * 7 % 11));
    if (out.type() == DataType::kFloat) out.mutable_data<float>()[i] = value;
    if (out.type() == DataType::kDouble) out.mutable_data<double>()[i] = value;
  }
  return out;
}

struct Tally {
  int rows = 0;  // checked
  int64_t elements = 0, kinks = 0, wrong = 0;
  std::string note;  // the first disagreement, or why a row was not checked
};

using Feeds = std::vector<std::pair<std::string, Tensor>>;

// The gradient of one fed blob alone: "" when it is what it is beside others, bit by bit, or the net runs in
// double only.
std::string CheckAlone(const Net& forward, GradientOptions options, const Net& whole,
                       const GradientCheck& check, const GradientPlace& place) {
  Net net = forward;
  options.wrt = {net.Intern(place.blob)};
  const Result<Backward> plan = PlanGradients(net, StandardOps(), options);
  if (!plan) return plan.error().message;
  if (plan->gradients.size() != 1) return "no gradient alone";
  const Gradient& alone = plan->gradients[0].gradient;
  const auto run = [&](Workspace& workspace, const Net& with) {
    for (const auto& [name, value] : check.feeds) workspace.Feed(name, value.Clone());
    return workspace.RunNetOnce(with);
  };
  RunContext contexts[2];
  for (RunContext& context : contexts) {
    context.kernels = check.kernels;
    context.ops = check.ops;
  }
  Workspace beside(contexts[0]), apart(contexts[1]);
  if (!run(beside, whole)) return "";
  if (const Result<void> ran = run(apart, AppendBackward(net, *plan)); !ran) return ran.error().message;
  for (const auto& [name, own] :
       {std::pair(place.dense, alone.dense), std::pair(place.indices, alone.indices),
        std::pair(place.values, alone.values)}) {
    if (name.empty()) continue;
    const Tensor *a = beside.FindTensor(name), *b = apart.FindTensor(net.Str(own));
    if (!a || !b) return StrCat(name, " is not there");
    const std::string difference = Difference(*b, *a, 0, 0);
    if (!difference.empty()) return difference;
  }
  return "";
}

// Checks the operator with these outputs weighed. False: the plan has no gradient for them.
bool CheckOutputs(const Net& net, const Feeds& feeds,
                  const std::vector<std::pair<std::string, Tensor>>& outputs, const std::string& id,
                  Tally& tally) {
  Net forward = net;
  GradientCheck check;
  check.kernels = &ReferenceKernels();
  check.ops = &StandardOps();
  check.feeds = feeds;
  GradientOptions options;
  for (const auto& [name, value] : outputs) {
    const std::string weights = StrCat(name, "_weights"), loss = StrCat(name, "_weighed");
    check.feeds.emplace_back(weights, Weights(value));
    check.losses.push_back(loss);
    forward.ops.push_back(
        OpFromText(StrCat("type: 'Mul' input: '", name, "' input: '", weights, "' output: '", loss, "'"),
                   forward.symbols));
    options.losses.push_back({forward.Intern(loss), {}});
  }
  const Result<Backward> plan = PlanGradients(forward, StandardOps(), options);
  if (!plan) {
    if (tally.note.empty()) tally.note = StrCat(id, ": ", plan.error().message);
    return false;
  }
  for (const auto& [name, value] : feeds) {
    if (!IsFloat(value) || value.empty()) continue;
    for (const BlobGradient& of : plan->gradients) {
      if (forward.Str(of.blob) != name) continue;
      const auto text = [&](Symbol symbol) { return std::string(forward.Str(symbol)); };
      if (of.gradient.is_dense())
        check.gradients.push_back({name, text(of.gradient.dense), "", ""});
      else
        check.gradients.push_back({name, "", text(of.gradient.indices), text(of.gradient.values)});
    }
  }
  if (check.gradients.empty()) {
    if (tally.note.empty()) tally.note = StrCat(id, ": no fed blob has a gradient");
    return false;
  }
  const Net whole = AppendBackward(forward, *plan);
  check.forward = &forward;
  check.backward = &whole;
  check.samples = 8;
  check.absolute = 2e-3;
  check.relative = 1e-2;
  Result<std::vector<BlobGradientReport>> reports = CheckGradients(check);
  check.in_double = true;
  check.step = 1e-4;
  if (Result<std::vector<BlobGradientReport>> precise = CheckGradients(check)) reports = std::move(precise);
  if (!reports) {
    if (tally.note.empty()) tally.note = StrCat(id, ": ", reports.error().message);
    return false;
  }
  ++tally.rows;
  for (const GradientPlace& place : check.gradients)
    if (const std::string difference = CheckAlone(forward, options, whole, check, place);
        !difference.empty()) {
      ++tally.wrong;
      tally.note = StrCat(id, ": the gradient of ", place.blob, " alone: ", difference);
    }
  for (const BlobGradientReport& report : *reports) {
    tally.elements += report.elements;
    tally.kinks += report.kinks;
    if (report.wrong && !tally.wrong)
      tally.note = StrCat(id, ": ", report.blob, "[", report.worst, "]: numeric ", report.numeric,
                          ", planned ", report.planned);
    tally.wrong += report.wrong;
  }
  return true;
}

void CheckCall(const Net& net, const Feeds& feeds, const std::string& id, Tally& tally) {
  const std::string_view type = net.Str(net.ops[0].type);
  // In place, the feed is overwritten. The running statistics of batch normalization must be.
  const auto is_input = [&](Symbol output) {
    const auto& inputs = net.ops[0].inputs;
    return std::find(inputs.begin(), inputs.end(), output) != inputs.end();
  };
  if (type != "SpatialBN" && std::any_of(net.ops[0].outputs.begin(), net.ops[0].outputs.end(), is_input))
    return;
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  Workspace workspace(context);
  for (const auto& [name, value] : feeds) {
    if (value.numel() > kLargest) return;
    workspace.Feed(name, value.Clone());
  }
  if (!workspace.RunNetOnce(net)) return;
  std::vector<std::pair<std::string, Tensor>> outputs;
  for (Symbol output : net.ops[0].outputs) {
    const std::string name(net.Str(output));
    const Tensor* value = workspace.FindTensor(name);
    if (!value || is_input(output) || !IsFloat(*value) || value->empty() || value->numel() > kLargest)
      continue;
    outputs.emplace_back(name, value->Clone());
    if (std::find(std::begin(kFirstOutputOnly), std::end(kFirstOutputOnly), type) !=
        std::end(kFirstOutputOnly))
      break;
  }
  if (outputs.empty() || CheckOutputs(net, feeds, outputs, id, tally) || outputs.size() == 1) return;
  for (const auto& output : outputs) CheckOutputs(net, feeds, {output}, id, tally);
}

void CheckRow(const Json& row, Tally& tally) {
  const Net net = NetFromText(row.at("net").get<std::string>());
  if (net.ops.size() != 1 || row.contains("error")) return;
  Feeds feeds;
  for (const auto& [name, array] : row.at("inputs").items()) feeds.emplace_back(name, TensorFromJson(array));
  CheckCall(net, feeds, row.at("id"), tally);
}

void CheckOwnCalls(std::string_view type, Tally& tally) {
  for (const Call& call : kCalls) {
    const Net net = NetFromText(StrCat("op { ", call.op, " }"));
    if (net.Str(net.ops[0].type) != type) continue;
    Feeds feeds;
    for (std::string_view feed : StrSplit(call.feeds, ' ')) {
      const size_t at = feed.find_first_of(":=");
      if (at == std::string_view::npos) continue;
      const std::vector<int64_t> numbers = Integers(feed.substr(at + 1));
      if (feed[at] == ':') {
        feeds.emplace_back(std::string(feed.substr(0, at)), FloatFeed(numbers));
        continue;
      }
      const int64_t size = static_cast<int64_t>(numbers.size());
      feeds.emplace_back(
          std::string(feed.substr(0, at)),
          Tensor::Of<int32_t>(std::span(&size, 1), std::vector<int32_t>(numbers.begin(), numbers.end())));
    }
    CheckCall(net, feeds, "own call", tally);
  }
}

TEST(Differences, EveryDifferentiableOperatorAgrees) {
  std::map<std::string, std::vector<Json>> rows;
  for (const char* file : {"caffe2/operators.jsonl", "caffe2/regions.jsonl", "caffe2/more_operators.jsonl"})
    for (Json& row : ReadJsonl(file)) rows[row.at("type")].push_back(std::move(row));
  int checked = 0, all = 0, with_reason = 0;
  int64_t elements = 0;
  for (const OpDef* op : StandardOps().all()) {
    const std::string type(op->name);
    if (op->tier > 2 || (op->policy != GradientPolicy::kRule && op->policy != GradientPolicy::kPassThrough) ||
        !ReferenceKernels().Find(type))
      continue;
    ++all;
    Tally tally;
    for (const Json& row : rows[type])
      if (tally.rows < kRowsPerType) CheckRow(row, tally);
    CheckOwnCalls(type, tally);
    const std::string_view reason = FindReason(type);
    std::puts(StrCat(type, ": ", tally.elements, " elements of ", tally.rows, " calls, ", tally.kinks,
                     " kinks, ", tally.wrong, " wrong", tally.note.empty() ? "" : "; ", tally.note)
                  .c_str());
    const bool good = tally.rows > 0 && tally.wrong == 0 && tally.elements > tally.kinks;
    if (reason.empty())
      EXPECT_TRUE(good) << type << ": " << tally.note;
    else
      EXPECT_FALSE(good) << type << " agrees, but is listed: " << reason;
    if (!reason.empty()) ++with_reason;
    if (good) ++checked;
    elements += tally.elements;
  }
  std::puts(StrCat("types: ", checked, " of ", all, " agree (", elements, " elements), ", with_reason,
                   " have a listed reason")
                .c_str());
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace weft::test
