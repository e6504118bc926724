// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/shapes_nested.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/grad/do_parts.h"

namespace weft::internal {

namespace {

constexpr int kMostDepth = 100;
constexpr int kMostRounds = 4;  // of a loop, until its shapes stay; those that don't depend on data

class NestedInference {
 public:
  NestedInference(Inference& inference, const Net& net, OpId op, const std::string& path, NetShapes& out)
      : inference_(inference),
        net_(net),
        id_(op),
        op_(net.ops[static_cast<size_t>(op)]),
        path_(path),
        out_(out) {
    const std::span<const ValueId> inputs = out.ssa.inputs(op);
    for (const ValueId v : inputs)
      around_.push_back({out.ssa.blobs()[out.ssa.values()[v].blob], out.values[v]});
  }

  void Run() {
    const std::string_view type = net_.Str(op_.type);
    if (type == "If" || type == "AsyncIf") {
      If();
    } else if (type == "While") {
      While();
    } else if (type == "Do") {
      Do();
    } else if (type == "RecurrentNetwork") {
      Recurrent();
    } else if (type == "RecurrentNetworkGradient") {
      RecurrentGradient();
    } else if (type == "ONNXWhile") {
      Onnx();
    }
  }

 private:
  ShapeTable& table() { return inference_.table; }

  // Walks the net of an argument and keeps the result; null when there is no such net.
  NetShapes* Walk(std::string_view arg, const std::vector<GivenBlob>& given) {
    return WalkNet(arg, FindNetArg(net_, op_, arg), given);
  }
  NetShapes* WalkNet(std::string_view arg, const NetPtr& nested, const std::vector<GivenBlob>& given) {
    if (!nested || nested->symbols != net_.symbols || inference_.depth >= kMostDepth) return nullptr;
    ++inference_.depth;
    auto shapes = std::make_unique<NetShapes>(
        inference_.Walk(*nested, given, StrCat(path_, path_.empty() ? "" : "/", id_, ".", arg)));
    --inference_.depth;
    NetShapes* walked = shapes.get();
    out_.nested.push_back({id_, arg, nested, std::move(shapes)});
    return walked;
  }
  // Counts what nested nets lack, once their shapes stay.
  void Account() {
    for (const NetShapes::Nested& n : out_.nested) {
      if (n.op != id_) continue;
      out_.unknown_values += n.shapes->unknown_values;
      out_.silent_ops.insert(out_.silent_ops.end(), n.shapes->silent_ops.begin(), n.shapes->silent_ops.end());
    }
  }

  static const TensorInfo* Final(const NetShapes* shapes, Symbol blob) {
    if (!shapes) return nullptr;
    const BlobId id = shapes->ssa.FindBlob(blob);
    return id == kNoBlob || !shapes->ssa.written(id) ? nullptr : &shapes->values[shapes->ssa.latest(id)];
  }
  // The blob's value before this operator, or null.
  const TensorInfo* Before(ValueId written) const {
    const ValueId previous = out_.ssa.values()[written].previous;
    return previous == kNoValue ? nullptr : &out_.values[previous];
  }

  // What a blob is that has one value or the other.
  TensorInfo Merge(const TensorInfo& a, const TensorInfo& b) {
    TensorInfo out = a;
    out.content = TensorInfo::kNoContent;
    if (a.type != b.type) out.type = a.type == DataType::kUndefined ? b.type : DataType::kUndefined;
    if (a.kind == TensorInfo::kUnknown || b.kind == TensorInfo::kUnknown) {
      out.kind = TensorInfo::kUnknown;
      out.dims.clear();
      return out;
    }
    if (a.kind == TensorInfo::kObject || b.kind == TensorInfo::kObject) return out;
    if (!a.tensor() || !b.tensor() || a.rank() != b.rank()) return TensorInfo::DataRank(out.type);
    for (size_t i = 0; i < a.rank(); ++i) {
      if (a.dims[i] == b.dims[i] || table().DependsOnData(a.dims[i])) continue;
      out.dims[i] = a.dims[i].unknown() || b.dims[i].unknown() ? Dim() : table().FromData();
    }
    return out;
  }
  static bool Equal(const TensorInfo& a, const TensorInfo& b) {
    return a.kind == b.kind && a.type == b.type && a.dims == b.dims;
  }

  void If() {
    const NetShapes* yes = Walk("then_net", around_);
    const NetShapes* no = Walk("else_net", around_);
    for (const ValueId v : out_.ssa.outputs(id_)) {
      const Symbol blob = out_.ssa.blobs()[out_.ssa.values()[v].blob];
      const TensorInfo *a = Final(yes, blob), *b = Final(no, blob);
      // A branch that does not write it leaves what was there, if anything was.
      if (!a) a = Before(v);
      if (!b) b = Before(v);
      if (!a) a = b;
      if (!b) b = a;
      if (a) out_.values[v] = Equal(*a, *b) ? *a : Merge(*a, *b);
    }
    Account();
  }

  void While() {
    std::vector<GivenBlob> given = around_;
    const auto find = [&](Symbol blob) {
      return std::find_if(given.begin(), given.end(), [&](const GivenBlob& g) { return g.blob == blob; });
    };
    const size_t kept = out_.nested.size();
    for (int round = 0;; ++round) {
      out_.nested.erase(out_.nested.begin() + static_cast<std::ptrdiff_t>(kept), out_.nested.end());
      const size_t findings = inference_.findings.size();
      const NetShapes* test = Walk("cond_net", given);
      std::vector<GivenBlob> inside = given;
      if (test)
        for (GivenBlob& blob : FinalShapes(*test)) inside.push_back(std::move(blob));
      const NetShapes* body = Walk("loop_net", inside);
      bool stays = true;
      for (const ValueId v : out_.ssa.outputs(id_)) {
        const Symbol blob = out_.ssa.blobs()[out_.ssa.values()[v].blob];
        const TensorInfo* after = Final(body, blob);
        if (!after) after = Final(test, blob);
        const TensorInfo* before = Before(v);
        if (!after) after = before;
        if (!after) continue;
        const auto known = find(blob);
        if (known == given.end()) {
          out_.values[v] = *after;
          continue;
        }
        out_.values[v] = Equal(known->info, *after) ? *after : Merge(known->info, *after);
        if (!Equal(known->info, out_.values[v])) {
          known->info = out_.values[v];
          stays = false;
        }
      }
      if (stays || round + 1 == kMostRounds) break;
      std::vector<Diagnostic> dropped;  // the next round says them again
      inference_.findings.MoveFrom(findings, dropped);
    }
    Account();
  }

  void Do() {
    const Result<DoParts> parts = TakeApart(net_, op_);
    if (!parts) return;
    std::vector<GivenBlob> given;
    for (size_t i = 0; i < parts.value().inner.size(); ++i)
      for (const GivenBlob& blob : around_)
        if (blob.blob == parts.value().outer[i]) given.push_back({parts.value().inner[i], blob.info});
    const NetShapes* body = WalkNet("net", parts.value().net, given);
    const std::span<const ValueId> outputs = out_.ssa.outputs(id_);
    for (size_t i = 0; i < op_.outputs.size(); ++i) {
      if (op_.outputs[i] == parts.value().workspace) {
        out_.values[outputs[i]] = TensorInfo::Object();
        continue;
      }
      const Symbol inner = parts.value().InnerOf(op_.outputs[i]);
      const TensorInfo* after = inner ? Final(body, inner) : nullptr;
      if (!after) after = Before(outputs[i]);
      if (after) out_.values[outputs[i]] = *after;
    }
    Account();
  }

  // RecurrentNetwork: a state has a step more than the sequence; links show the step net a step of it.
  struct States {
    std::vector<GivenBlob> blobs;
    Dim steps, batch;
  };

  std::vector<std::string> Strings(std::string_view name) {
    return ArgStrings(*net_.symbols, op_.args, name);
  }
  std::vector<int64_t> Ints(std::string_view name) { return ArgInts(*net_.symbols, op_.args, name); }

  // `first`: where the forward operator's inputs begin.
  States FindStates(size_t first) {
    States s;
    if (first >= op_.inputs.size()) return s;
    const TensorInfo& sequence = around_[first].info;
    if (sequence.tensor() && sequence.rank() >= 2) {
      s.steps = sequence.dims[0];
      s.batch = sequence.dims[1];
    }
    const std::vector<std::string> names = Strings("recurrent_states");
    const std::vector<int64_t> initial = Ints("initial_recurrent_state_ids");
    for (size_t i = 0; i < names.size() && i < initial.size(); ++i) {
      const size_t input = first + static_cast<size_t>(std::max<int64_t>(0, initial[i]));
      const Symbol blob = net_.symbols->Intern(names[i]);
      if (input >= op_.inputs.size() || !around_[input].info.tensor() || around_[input].info.rank() == 0) {
        s.blobs.push_back({blob, {}});
        continue;
      }
      const TensorInfo& start = around_[input].info;
      const Dim length = start.rank() == 3 ? start.dims[0] : Dim(1);
      s.blobs.push_back({blob, TensorInfo::Of(start.type, {table().Add(s.steps, length), s.batch,
                                                           start.dims[start.rank() - 1]})});
    }
    return s;
  }

  // What the links of `prefix` make of these blobs for one step.
  void AddLinks(const std::string& prefix, std::vector<GivenBlob>& given) {
    const std::vector<std::string> inner = Strings(prefix + "_internal"),
                                   outer = Strings(prefix + "_external");
    const std::vector<int64_t> window = Ints(prefix + "_window");
    std::vector<GivenBlob> linked;
    for (size_t i = 0; i < inner.size() && i < outer.size(); ++i) {
      const Symbol from = net_.symbols->Find(outer[i]);
      const auto found =
          std::find_if(given.begin(), given.end(), [&](const GivenBlob& g) { return g.blob == from; });
      if (found == given.end() || !found->info.tensor() || found->info.rank() == 0) continue;
      TensorInfo info = found->info;
      info.content = TensorInfo::kNoContent;
      info.dims[0] = i < window.size() ? window[i] : 1;
      linked.push_back({net_.symbols->Intern(inner[i]), std::move(info)});
    }
    given.insert(given.end(), linked.begin(), linked.end());
  }

  GivenBlob Timestep() {
    return {net_.symbols->Intern(ArgString(*net_.symbols, op_.args, "timestep", "timestep")),
            TensorInfo::Of(DataType::kInt32, {1})};
  }

  void Recurrent() {
    const States states = FindStates(0);
    std::vector<GivenBlob> given = around_;
    given.insert(given.end(), states.blobs.begin(), states.blobs.end());
    AddLinks("link", given);
    given.push_back(Timestep());
    Walk("step_net", given);
    const std::vector<std::string> source = Strings("alias_src"), target = Strings("alias_dst");
    const std::vector<int64_t> offset = Ints("alias_offset");
    const std::span<const ValueId> outputs = out_.ssa.outputs(id_);
    for (size_t i = 0; i < source.size() && i < target.size() && i < offset.size(); ++i) {
      const Symbol from = net_.symbols->Find(source[i]), to = net_.symbols->Find(target[i]);
      for (const GivenBlob& state : states.blobs) {
        if (state.blob != from || !state.info.tensor()) continue;
        TensorInfo shown = state.info;
        shown.dims[0] = offset[i] < 0 ? Dim(-offset[i]) : table().Subtract(shown.dims[0], offset[i]);
        for (size_t o = 0; o < op_.outputs.size(); ++o)
          if (op_.outputs[o] == to) out_.values[outputs[o]] = shown;
      }
    }
    // The last output keeps the workspaces of the steps.
    if (!outputs.empty()) out_.values[outputs[op_.outputs.size() - 1]] = TensorInfo::Object();
    Account();
    Repeat(states.steps);
  }

  // The step net runs once for each step.
  void Repeat(Dim steps) {
    for (NetShapes::Nested& n : out_.nested)
      if (n.op == id_) n.times = steps;
  }

  void RecurrentGradient() {
    const size_t first = Ints("outputs_with_grads").size();
    const States states = FindStates(first);
    const std::span<const ValueId> outputs = out_.ssa.outputs(id_);
    const std::vector<int64_t> params = Ints("param"), initial = Ints("initial_recurrent_state_ids");
    const auto set = [&](size_t output, int64_t input) {
      const size_t from = first + static_cast<size_t>(std::max<int64_t>(0, input));
      if (output >= op_.outputs.size() || from >= op_.inputs.size()) return;
      out_.values[outputs[output]] = around_[from].info;
      out_.values[outputs[output]].content = TensorInfo::kNoContent;
    };
    // The gradients of the sequence, of the parameters, of the starting states.
    set(0, 0);
    for (size_t p = 0; p < params.size(); ++p) set(1 + p, params[p]);
    for (size_t s = 0; s < initial.size(); ++s) set(1 + params.size() + s, initial[s]);
    // Inside, the forward step's blobs are there, and gradients of states and of outer inputs.
    std::vector<GivenBlob> given = around_;
    const auto add_gradient = [&](Symbol blob, const TensorInfo& info) {
      given.push_back({net_.symbols->Intern(StrCat(net_.Str(blob), "_grad")), info});
    };
    for (const GivenBlob& state : states.blobs) {
      given.push_back(state);
      add_gradient(state.blob, state.info);
    }
    for (size_t i = first; i < op_.inputs.size(); ++i) add_gradient(op_.inputs[i], around_[i].info);
    for (size_t o = 0; o < op_.outputs.size(); ++o)
      given.push_back({op_.outputs[o], out_.values[outputs[o]]});
    AddLinks("link", given);
    AddLinks("backward_link", given);
    given.push_back(Timestep());
    // What the forward step computed stays in its workspaces.
    if (const NetPtr forward = FindNetArg(net_, op_, "step_net");
        forward && forward->symbols == net_.symbols) {
      const size_t findings = inference_.findings.size();
      const NetShapes step = inference_.Walk(*forward, given, path_);
      std::vector<Diagnostic> dropped;  // they are the forward operator's
      inference_.findings.MoveFrom(findings, dropped);
      for (GivenBlob& blob : FinalShapes(step)) given.push_back(std::move(blob));
    }
    Walk("backward_step_net", given);
    Account();
    Repeat(states.steps);
  }

  void Onnx() {
    // The body's inputs are the trip number, the condition and the loop's values.
    const NetPtr body_net = FindNetArg(net_, op_, "body");
    if (!body_net) return;
    std::vector<GivenBlob> given = around_;
    const std::vector<Symbol>& inner = body_net->external_inputs;
    if (inner.size() > 0) given.push_back({inner[0], TensorInfo::Of(DataType::kInt64, {})});
    if (inner.size() > 1) given.push_back({inner[1], TensorInfo::Of(DataType::kBool, {})});
    for (size_t i = 2; i < inner.size() && i < op_.inputs.size(); ++i)
      given.push_back({inner[i], around_[i].info});
    const NetShapes* body = Walk("body", given);
    const std::span<const ValueId> outputs = out_.ssa.outputs(id_);
    for (size_t i = 0; i < op_.outputs.size() && i + 1 < body_net->external_outputs.size(); ++i)
      if (const TensorInfo* after = Final(body, body_net->external_outputs[i + 1])) {
        // A loop's value; then what each trip says, one after the other: without a trip nothing, of no type.
        const bool loops = i + 2 < op_.inputs.size();
        out_.values[outputs[i]] =
            loops ? Merge(around_[i + 2].info, *after) : TensorInfo::DataRank(DataType::kUndefined);
      }
    Account();
  }

  Inference& inference_;
  const Net& net_;
  const OpId id_;
  const Op& op_;
  const std::string& path_;
  NetShapes& out_;
  std::vector<GivenBlob> around_;  // what the operator reads: its inputs, then what only the nets read
};

}  // namespace

void InferNested(Inference& inference, const Net& net, OpId op, const std::string& path, NetShapes& out) {
  NestedInference(inference, net, op, path, out).Run();
}

}  // namespace weft::internal
