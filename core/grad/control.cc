// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/grad/control.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/str.h"
#include "core/grad/complete.h"
#include "core/grad/do_parts.h"
#include "core/grad/repair.h"

namespace weft::internal {

namespace {

using Names = std::vector<Symbol>;
using NamePairs = std::vector<std::pair<Symbol, Symbol>>;

bool Has(std::span<const Symbol> names, Symbol name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
void AddOnce(Names& names, Symbol name) {
  if (!Has(names, name)) names.push_back(name);
}
Symbol Lookup(const NamePairs& pairs, Symbol key) {
  for (const auto& [first, second] : pairs)
    if (first == key) return second;
  return kNoSymbol;
}

// A planned nested net.
struct SubnetGradient {
  Net net;  // the gradient net
  std::vector<BlobGradient> gradients;
  NetPtr repaired_forward;  // null when the forward net stays as it is

  const BlobGradient* Find(Symbol blob) const {
    for (const BlobGradient& g : gradients)
      if (g.blob == blob) return &g;
    return nullptr;
  }
};

class ControlGradient {
 public:
  ControlGradient(GradientContext& context, const OpSet& ops, const GradientOptions& options,
                  std::optional<Op>* repaired)
      : context_(context), ops_(ops), options_(options), repaired_(repaired), op_(context.op()) {}

  Result<void> Run(std::string_view type) {
    if (op_.inputs.empty() || op_.outputs.empty())
      return Broken(StrCat("Expected at least one input and one output in ", type, " op"));
    if (type == "Do") return Do();
    if (type == "While") return caffe2() ? WhileCaffe2() : While();
    return If(type);
  }

 private:
  bool caffe2() const { return (options_.faults & kFaultControlFlow) != 0; }
  std::string_view Str(Symbol s) const { return context_.Str(s); }
  Symbol Name(std::string_view text) { return context_.Name(text); }
  static Error Broken(std::string message) { return {ErrorCode::kControlFlow, std::move(message)}; }

  // ---- names ----

  // A name for the gradient of an outer blob that is none of the operator's own names, so that renaming
  // afterwards can tell them apart.
  Symbol FreshGradName(Symbol blob) {
    const Symbol wanted = context_.GradName(blob);
    Symbol name = wanted;
    for (int k = 0; IsTaken(name); ++k) name = Name(StrCat(Str(wanted), "_auto_", k));
    taken_.push_back(name);
    return name;
  }
  Symbol Fresh(std::string_view wanted) {
    Symbol name = Name(wanted);
    for (int k = 0; IsTaken(name); ++k) name = Name(StrCat(wanted, "_auto_", k));
    taken_.push_back(name);
    return name;
  }
  bool IsTaken(Symbol name) const {
    if (Has(taken_, name) || Has(op_.inputs, name) || Has(op_.outputs, name)) return true;
    for (size_t k = 0; k < op_.outputs.size(); ++k)
      if (context_.output_gradient(k).dense == name || context_.output_gradient(k).values == name ||
          context_.output_gradient(k).indices == name)
        return true;
    return false;
  }

  // ---- seeds ----

  // The incoming gradients as dense blobs, each with a name of its own (semantics 1.3, dedupe): output ->
  // gradient.
  Result<NamePairs> Seeds(std::string_view type) {
    NamePairs seeds;
    Names used;
    for (size_t k = 0; k < op_.outputs.size(); ++k) {
      const Gradient& gradient = context_.output_gradient(k);
      if (gradient.none()) continue;
      Symbol name = gradient.dense;
      if (gradient.is_sparse()) {
        if (caffe2()) return Broken(StrCat("The gradient of ", Str(op_.outputs[k]), " is sparse"));
        name = Fresh(StrCat(Str(op_.outputs[k]), "_grad_dense"));
        AddPlain("SparseToDense", {gradient.indices, gradient.values, op_.outputs[k]}, {name});
      } else if (Has(used, name)) {
        const Symbol copy = Name(StrCat(Str(op_.outputs[k]), "_", Str(name), "_DEDUP"));
        AddPlain("Copy", {name}, {copy});
        name = copy;
      }
      used.push_back(name);
      seeds.push_back({op_.outputs[k], name});
    }
    if (seeds.empty()) return Broken(StrCat("Empty initial gradient map for ", type, " op"));
    return seeds;
  }

  Op& AddPlain(std::string_view type, std::initializer_list<Symbol> inputs,
               std::initializer_list<Symbol> outputs, std::initializer_list<Arg> args = {}) {
    Op& op = context_.Add(type, inputs, outputs, args, GradientContext::kNoArgsOrEngine);
    op.is_gradient_op.reset();
    if (caffe2()) op.device = {};
    return op;
  }

  Op PlainOp(std::string_view type, std::initializer_list<Symbol> inputs,
             std::initializer_list<Symbol> outputs, std::vector<Arg> args = {}) {
    Op op;
    op.type = Name(type);
    op.inputs = BlobList(inputs);
    op.outputs = BlobList(outputs);
    op.args = ArgList(std::move(args));
    if (!caffe2()) op.device = op_.device;
    return op;
  }
  Op ZeroFill(Symbol shaped_like, Symbol output) {
    return PlainOp("ConstantFill", {shaped_like}, {output}, {MakeArg(Name("value"), 0.0f)});
  }

  // ---- nested nets ----

  Result<SubnetGradient> PlanSubnet(const NetPtr& net, std::string_view arg, const NamePairs& seeds,
                                    const Names& reserved) {
    GradientOptions options;
    options.faults = options_.faults;
    options.mixed = options_.mixed;
    options.repair = options_.repair;
    options.nested = true;
    options.reserved = [&](Symbol name) { return Has(reserved, name); };
    for (const auto& [blob, gradient] : seeds) {
      if (!caffe2() && !Mentions(*net, blob)) continue;
      options.losses.push_back({blob, Gradient::Dense(gradient)});
    }
    SubnetGradient out;
    out.net = *net;
    out.net.ops.clear();
    out.net.external_inputs.clear();
    out.net.external_outputs.clear();
    if (!net->Str(net->name).empty()) out.net.name = Name(StrCat(Str(net->name), "_grad"));
    if (options.losses.empty()) return out;
    Result<RepairedPlan> planned = PlanWithRepair(*net, ops_, options);
    if (!planned) {  // the path to it; the outer operator's index is added outside
      Error error = std::move(planned).error();
      error.message = StrCat("in its ", arg, ": ", error.message);
      return error;
    }
    RepairedPlan plan = std::move(planned).value();
    if (plan.changed) out.repaired_forward = std::make_shared<const Net>(std::move(plan.forward));
    out.net.ops = std::move(plan.backward.ops);
    out.gradients = std::move(plan.backward.gradients);
    return out;
  }

  static bool Mentions(const Net& net, Symbol blob) {
    for (const Op& op : net.ops)
      if (Has(op.inputs, blob) || Has(op.outputs, blob)) return true;
    return false;
  }

  // What `ops` read before they write it, and what they write, by first appearance.
  static void ReadsAndWrites(std::span<const Op> ops, Names& reads, Names& writes) {
    for (const Op& op : ops) {
      for (Symbol name : op.inputs)
        if (!Has(writes, name)) AddOnce(reads, name);
      for (Symbol name : op.outputs) AddOnce(writes, name);
    }
  }

  // ---- Do (semantics 3.2) ----

  struct DoGradient {
    Op op;
    NamePairs gradients;  // outer input -> the blob its gradient is written to
  };

  // `seeds`: outer output -> its incoming gradient. `name_of` names the gradient of an outer input.
  // `in_loop`: the forward operator left copies of its bound blobs in the workspace it pushed, so nothing of
  // the outer forward blobs is read again.
  Result<DoGradient> MakeDoGradient(const Op& forward, DoParts& parts, const NamePairs& seeds, bool in_loop,
                                    const std::function<Symbol(Symbol)>& name_of) {
    const auto inner_name = [&](Symbol inner, std::string_view suffix) {
      return Name(StrCat(Str(inner), "/_DO_OPERATOR_INNER_GRAD_", suffix));
    };
    NamePairs inner_seeds, seed_of;  // inner blob -> seed; seed -> outer gradient
    for (const auto& [output, gradient] : seeds) {
      const Symbol inner = parts.InnerOf(output);
      if (!inner) continue;
      inner_seeds.push_back({inner, inner_name(inner, "")});
      seed_of.push_back({inner_seeds.back().second, gradient});
    }
    // What is bound exists before the net runs.
    Net inner_net = *parts.net;
    if (!caffe2()) inner_net.external_inputs = parts.inner;
    WEFT_TRY(SubnetGradient plan,
             PlanSubnet(std::make_shared<const Net>(std::move(inner_net)), "net", inner_seeds, parts.inner));
    if (plan.repaired_forward) parts.net = plan.repaired_forward;

    DoGradient out;
    if (caffe2() && plan.net.ops.empty()) return out;  // B3
    Names outer_inputs, outer_outputs, inner_blobs, bound_outer;
    const auto bind = [&](Symbol inner, Symbol outer) {
      inner_blobs.push_back(inner);
      bound_outer.push_back(outer);
    };
    for (Symbol input : parts.inputs) {
      const Symbol inner = parts.InnerOf(input);
      const BlobGradient* found = plan.Find(inner);
      // An output that the body leaves alone is what it was.
      const bool untouched = !caffe2() && !Mentions(*parts.net, inner) && Lookup(inner_seeds, inner);
      // A gradient of a later version says nothing of the value that came in.
      if (!untouched && (!found || (!caffe2() && found->version != 0))) continue;
      const Symbol copy = inner_name(inner, "COPY_");
      if (untouched) {
        plan.net.ops.push_back(PlainOp("Copy", {Lookup(inner_seeds, inner)}, {copy}));
      } else if (found->gradient.is_dense()) {
        plan.net.ops.push_back(PlainOp("Copy", {found->gradient.dense}, {copy}));
      } else if (caffe2()) {  // B54
        const Symbol text = Name(StrCat("GradientSlice(indices=", Str(found->gradient.indices),
                                        ", values=", Str(found->gradient.values), ")"));
        plan.net.ops.push_back(PlainOp("Copy", {text}, {copy}));
      } else {
        plan.net.ops.push_back(
            PlainOp("SparseToDense", {found->gradient.indices, found->gradient.values, inner}, {copy}));
      }
      const Symbol outer = name_of(input);
      bind(copy, outer);
      outer_outputs.push_back(outer);
      out.gradients.push_back({input, outer});
    }
    Names reads, writes, saved;
    ReadsAndWrites(plan.net.ops, reads, writes);
    for (Symbol name : reads) {
      const Symbol forward_blob = parts.OuterOf(name);
      const Symbol seed = Lookup(seed_of, name);
      if (forward_blob && !in_loop) {
        bind(name, forward_blob);
        AddOnce(outer_inputs, forward_blob);
      } else if (seed) {
        bind(name, seed);
        AddOnce(outer_inputs, seed);
      } else {
        saved.push_back(name);
      }
    }
    outer_inputs.push_back(parts.workspace);
    outer_outputs.push_back(parts.workspace);

    out.op = forward;
    out.op.inputs = BlobList(outer_inputs);
    out.op.outputs = BlobList(outer_outputs);
    out.op.control_inputs.clear();
    out.op.is_gradient_op = true;
    if (!Str(forward.name).empty()) out.op.name = Name(StrCat(Str(forward.name), "_grad"));
    std::vector<int64_t> indices;
    std::vector<std::string> inner_texts, saved_texts;
    for (size_t k = 0; k < bound_outer.size(); ++k) {
      inner_texts.emplace_back(Str(inner_blobs[k]));
      const auto input = std::find(outer_inputs.begin(), outer_inputs.end() - 1, bound_outer[k]);
      const auto output = std::find(outer_outputs.begin(), outer_outputs.end() - 1, bound_outer[k]);
      indices.push_back(input != outer_inputs.end() - 1 ? input - outer_inputs.begin()
                                                        : static_cast<int64_t>(outer_inputs.size()) - 1 +
                                                              (output - outer_outputs.begin()));
    }
    for (Symbol name : saved) saved_texts.emplace_back(Str(name));
    out.op.args = ArgList({MakeArg(Name("net"), std::make_shared<const Net>(std::move(plan.net))),
                           MakeArg(Name("inner_blobs"), std::move(inner_texts)),
                           MakeArg(Name("outer_blobs_idx"), std::move(indices)),
                           MakeArg(Name("saved_fwd_blobs"), std::move(saved_texts))});
    Names all(outer_inputs.begin(), outer_inputs.end() - 1);
    for (size_t k = 0; k + 1 < outer_outputs.size(); ++k)
      if (Has(all, outer_outputs[k]))  // B5
        return Broken(StrCat("Reusage of outer blob name ", Str(outer_outputs[k]), " in Do op"));
    return out;
  }

  Result<void> Do() {
    WEFT_TRY(DoParts parts, TakeApart(context_.net(), op_, caffe2() ? Aliases::kRefuse : Aliases::kMerge));
    WEFT_TRY(const NamePairs seeds, Seeds("Do"));
    const NetPtr before = parts.net;
    WEFT_TRY(DoGradient made, MakeDoGradient(op_, parts, seeds, false, NamerOfInputs()));
    if (parts.net != before) ReplaceNet(op_, "net", parts.net);
    if (!made.op.type) return {};
    context_.ops().push_back(std::move(made.op));
    SetInputGradients(made.gradients);
    return {};
  }

  std::function<Symbol(Symbol)> NamerOfInputs() {
    return [this](Symbol input) { return caffe2() ? context_.GradName(input) : FreshGradName(input); };
  }

  void SetInputGradients(const NamePairs& gradients) {
    for (size_t k = 0; k < op_.inputs.size(); ++k)
      if (const Symbol gradient = Lookup(gradients, op_.inputs[k])) context_.SetDense(k, gradient);
  }

  // With repair: the forward operator now holds another net.
  void ReplaceNet(const Op& op, std::string_view arg, const NetPtr& net) {
    if (!*repaired_) *repaired_ = op;
    (*repaired_)->args = WithArg((*repaired_)->args, MakeArg(Name(arg), net));
  }

  // ---- If (semantics 3.3) ----

  struct Branch {
    std::string_view arg;
    NetPtr forward;
    SubnetGradient plan;
    Names reads, writes;  // of the gradient net
  };

  // The name of `blob`'s gradient that a branch makes, or kNoSymbol. In the default mode only a gradient of
  // the value that the branch found counts.
  Result<Symbol> BranchGradient(Branch& branch, Symbol blob, const NamePairs& seeds) {
    const BlobGradient* found = branch.plan.Find(blob);
    if (!found) return caffe2() ? Lookup(seeds, blob) : kNoSymbol;
    if (!caffe2() && found->version != 0) return kNoSymbol;
    if (found->gradient.is_dense()) return found->gradient.dense;
    if (caffe2())
      return Name(StrCat("GradientSlice(indices=", Str(found->gradient.indices),
                         ", values=", Str(found->gradient.values), ")"));
    const Symbol dense = Name(StrCat(Str(blob), "_grad_dense"));
    branch.plan.net.ops.push_back(
        PlainOp("SparseToDense", {found->gradient.indices, found->gradient.values, blob}, {dense}));
    return dense;
  }

  Result<void> If(std::string_view type) {
    WEFT_TRY(const NamePairs seeds, Seeds("If"));
    std::vector<Branch> branches;
    for (std::string_view arg : {"then_net", "else_net"}) {
      NetPtr net = FindNetArg(context_.net(), op_, arg);
      if (!net && arg == "then_net") return Broken(StrCat("Expected then net in ", type, " op"));
      Branch& branch = branches.emplace_back();
      branch.arg = arg;
      branch.forward = net;
      if (!net) continue;
      Names reserved;
      for (const auto& [blob, gradient] : seeds) reserved.push_back(gradient);
      if (!caffe2()) {
        reserved.insert(reserved.end(), op_.inputs.begin(), op_.inputs.end());
        reserved.insert(reserved.end(), op_.outputs.begin(), op_.outputs.end());
      }
      Net visible = *net;  // a branch sees the blobs around it
      if (!caffe2()) {
        visible.external_inputs.assign(op_.inputs.begin(), op_.inputs.end());
        for (Symbol output : op_.outputs)
          if (!Has(op_.inputs, output)) visible.external_inputs.push_back(output);
      }
      WEFT_TRY(branch.plan,
               PlanSubnet(std::make_shared<const Net>(std::move(visible)), arg, seeds, reserved));
      if (branch.plan.repaired_forward) ReplaceNet(op_, arg, branch.plan.repaired_forward);
    }
    const bool has_else = branches[1].forward != nullptr;
    WEFT_TRY(const NamePairs gradients, caffe2() ? MergeCaffe2(branches, seeds) : Merge(branches, seeds));
    if (!has_else && !branches[1].plan.net.ops.empty()) {
      branches[1].plan.net.name = Name(StrCat(Str(branches[0].plan.net.name), "_auto_else_zero_blobs_"));
    }
    // Zeros shaped like a blob don't read its value; as in Caffe2, they don't make it an input.
    for (Branch& branch : branches) {
      std::vector<Op> ops = branch.plan.net.ops;
      for (Op& op : ops)
        if (op.type == Name("ConstantFill")) op.inputs.clear();
      ReadsAndWrites(ops, branch.reads, branch.writes);
    }

    Op made = op_;
    Names inputs, outputs;
    for (const Branch& branch : branches) {
      for (Symbol name : branch.reads)
        if (name != op_.inputs[0]) AddOnce(inputs, name);
      for (Symbol name : branch.writes) AddOnce(outputs, name);
    }
    inputs.insert(inputs.begin(), op_.inputs[0]);
    made.inputs = BlobList(inputs);
    made.outputs = BlobList(outputs);
    made.control_inputs.clear();
    made.is_gradient_op = true;
    if (!Str(op_.name).empty()) made.name = Name(StrCat(Str(op_.name), "_grad"));
    std::vector<Arg> args;
    for (Branch& branch : branches) {
      if (!branch.forward && branch.plan.net.ops.empty()) continue;
      args.push_back(MakeArg(Name(branch.arg), std::make_shared<const Net>(std::move(branch.plan.net))));
    }
    made.args = ArgList(std::move(args));
    context_.ops().push_back(std::move(made));
    SetInputGradients(gradients);
    return {};
  }

  // Every input's gradient gets one name, which both branches write: what the branch computes, the incoming
  // gradient where the branch leaves the blob alone, zero where the branch does not depend on it.
  Result<NamePairs> Merge(std::vector<Branch>& branches, const NamePairs& seeds) {
    if (!branches[1].forward) branches[1].plan.net = Net(context_.net().symbols);
    NamePairs gradients;
    for (size_t k = 1; k < op_.inputs.size(); ++k) {
      const Symbol blob = op_.inputs[k];
      if (Lookup(gradients, blob)) continue;
      const Symbol incoming = Lookup(seeds, blob);
      Symbol computed[2], passed[2];
      bool any = false;
      for (size_t b = 0; b < 2; ++b) {
        Branch& branch = branches[b];
        const bool writes = branch.forward && Writes(*branch.forward, blob);
        WEFT_TRY(computed[b], BranchGradient(branch, blob, seeds));
        if (!computed[b] && !writes) passed[b] = incoming;
        any |= computed[b] || passed[b];
      }
      if (!any) continue;
      // One branch's own name serves both, unless it means something else.
      const Symbol wanted = computed[0] ? computed[0] : computed[1];
      const bool free = wanted && !IsTaken(wanted) && wanted == context_.GradName(blob);
      const Symbol name = free ? wanted : FreshGradName(blob);
      if (free) taken_.push_back(name);
      for (size_t b = 0; b < 2; ++b) {
        std::vector<Op>& ops = branches[b].plan.net.ops;
        if (computed[b] && computed[b] != name) ops.push_back(PlainOp("Copy", {computed[b]}, {name}));
        if (passed[b]) ops.push_back(PlainOp("Copy", {passed[b]}, {name}));
        if (!computed[b] && !passed[b]) ops.push_back(ZeroFill(blob, name));
      }
      gradients.push_back({blob, name});
    }
    return gradients;
  }

  static bool Writes(const Net& net, Symbol blob) {
    for (const Op& op : net.ops)
      if (Has(op.outputs, blob)) return true;
    return false;
  }

  Result<NamePairs> MergeCaffe2(std::vector<Branch>& branches, const NamePairs& seeds) {
    NamePairs merged = seeds;
    for (size_t b = 0; b < 2; ++b) {
      if (!branches[b].forward) continue;
      for (const BlobGradient& found : branches[b].plan.gradients) {
        WEFT_TRY(const Symbol name, BranchGradient(branches[b], found.blob, seeds));
        auto known =
            std::find_if(merged.begin(), merged.end(), [&](const auto& p) { return p.first == found.blob; });
        if (known == merged.end()) {
          merged.push_back({found.blob, name});
        } else if (known->second != name) {
          const Symbol incoming = Lookup(seeds, found.blob);
          if (known->second == incoming)
            known->second = name;
          else if (name != incoming)  // B57
            return Broken(StrCat("Unexpected gradient names of ", Str(found.blob),
                                 " in the branches of If: ", Str(known->second), " and ", Str(name)));
        }
      }
    }
    // What only one branch makes is initialised in the other.
    Names made[2];
    for (size_t b = 0; b < 2; ++b) {
      Names reads;
      if (branches[b].forward) ReadsAndWrites(branches[b].plan.net.ops, reads, made[b]);
    }
    if (!branches[1].forward) branches[1].plan.net = Net(context_.net().symbols);
    for (size_t b = 0; b < 2; ++b) {
      for (Symbol name : made[b]) {
        if (Has(made[1 - b], name)) continue;
        for (const auto& [blob, gradient] : merged) {
          if (gradient != name) continue;
          std::vector<Op>& ops = branches[1 - b].plan.net.ops;
          const Symbol incoming = Lookup(seeds, blob);
          if (!incoming)
            ops.push_back(ZeroFill(blob, name));
          else if (incoming != name)
            ops.push_back(PlainOp("Copy", {incoming}, {name}));
          break;
        }
      }
    }
    return merged;
  }

  // ---- While (semantics 3.4) ----

  Result<Op> LoopBody(NetPtr& loop_net) {
    loop_net = FindNetArg(context_.net(), op_, "loop_net");
    if (!loop_net) return Broken("Expected loop net in While op");
    if (loop_net->ops.size() != 1 || Str(loop_net->ops[0].type) != "Do")
      return Broken(StrCat("Gradient While op requires single Do op as a loop body: its loop_net has ",
                           loop_net->ops.size(), loop_net->ops.size() == 1 ? " operator, " : " operators, ",
                           "not one Do"));
    const Op& body = loop_net->ops[0];
    if (ArgInt(*context_.net().symbols, body.args, "reuse_workspace", 0) != 0)
      return Broken("Gradient While op requires Do loop body op without reuse_workspace argument set");
    if (body.outputs.empty()) return Broken("Expected Do op with at least one output");
    return body;
  }

  // The reverse loop pops one workspace per iteration until none is left.
  Op HasScope(Symbol workspace, Symbol condition) { return PlainOp("HasScope", {workspace}, {condition}); }

  // Loop-carried blobs have a state that each reverse iteration replaces; inputs that stay the same have a
  // sum that each adds to. Both start before the loop, so zero iterations are right too.
  Result<void> While() {
    WEFT_TRY(const NamePairs seeds, Seeds("While"));
    NetPtr loop_net;
    WEFT_TRY(const Op listed, LoopBody(loop_net));
    const Op body = CompleteLoopBody(context_.net(), listed);
    WEFT_TRY(DoParts parts, TakeApart(context_.net(), body, Aliases::kMerge));
    const NetPtr before = parts.net;

    // Which loop-carried blobs need a gradient: those that have one after the loop, and those whose value
    // before an iteration has one when these do.
    NamePairs states;  // output of the body -> its state
    for (const auto& [output, gradient] : seeds)
      if (Has(parts.outputs, output)) states.push_back({output, FreshGradName(output)});
    DoGradient made;
    NamePairs results;  // outer input -> what an iteration gives
    for (;;) {
      results.clear();
      const size_t known = taken_.size();
      WEFT_TRY(made, MakeDoGradient(body, parts, states, true, [&](Symbol input) {
                 results.push_back({input, Fresh(StrCat("_", Str(context_.GradName(input)), "_step"))});
                 return results.back().second;
               }));
      bool grew = false;
      for (const auto& [input, gradient] : results) {
        if (!Has(parts.outputs, input) || Lookup(states, input)) continue;
        if (!grew) taken_.resize(known);
        grew = true;
        states.push_back({input, FreshGradName(input)});
      }
      if (!grew) break;
    }
    if (parts.net != before) {
      Net repaired = *loop_net;
      repaired.ops[0].args = WithArg(listed.args, MakeArg(Name("net"), parts.net));
      ReplaceNet(op_, "loop_net", std::make_shared<const Net>(std::move(repaired)));
    }

    NamePairs gradients;
    Net loop(context_.net().symbols), condition(context_.net().symbols);
    loop.name = Name(StrCat(Str(loop_net->name), "_grad"));
    condition.name = Name(StrCat(Str(loop_net->name), "_grad_cond"));
    loop.ops.push_back(std::move(made.op));
    for (const auto& [output, state] : states) {
      const Symbol incoming = Lookup(seeds, output);
      context_.ops().push_back(incoming ? PlainOp("Copy", {incoming}, {state}) : ZeroFill(output, state));
      const Symbol result = Lookup(results, output);
      loop.ops.push_back(result ? PlainOp("Copy", {result}, {state}) : ZeroFill(state, state));
      gradients.push_back({output, state});
    }
    for (const auto& [input, result] : results) {
      if (Lookup(states, input)) continue;
      const Symbol sum = FreshGradName(input);
      const Symbol incoming = Lookup(seeds, input);
      context_.ops().push_back(incoming ? PlainOp("Copy", {incoming}, {sum}) : ZeroFill(input, sum));
      loop.ops.push_back(PlainOp("Sum", {sum, result}, {sum}));
      gradients.push_back({input, sum});
    }
    // Outputs of the While that its body leaves alone pass their gradient on.
    for (const auto& [output, gradient] : seeds)
      if (!Lookup(gradients, output)) gradients.push_back({output, gradient});

    const Symbol cond = Fresh(StrCat(Str(loop_net->name), "_grad_cond/cond"));
    condition.ops.push_back(HasScope(parts.workspace, cond));
    context_.ops().push_back(HasScope(parts.workspace, cond));
    AddWhile(cond, std::move(loop), std::move(condition));
    SetInputGradients(gradients);
    return {};
  }

  void AddWhile(Symbol cond, Net loop, Net condition) {
    Names reads, writes, condition_reads;
    ReadsAndWrites(loop.ops, reads, writes);
    if (!caffe2()) ReadsAndWrites(condition.ops, condition_reads, writes);
    Op made = op_;
    Names inputs = {cond};
    for (Symbol name : reads) AddOnce(inputs, name);
    made.inputs = BlobList(inputs);
    made.outputs = BlobList(writes);
    made.control_inputs.clear();
    made.is_gradient_op = true;
    if (!Str(op_.name).empty()) made.name = Name(StrCat(Str(op_.name), "_grad"));
    made.args = ArgList({MakeArg(Name("loop_net"), std::make_shared<const Net>(std::move(loop))),
                         MakeArg(Name("cond_net"), std::make_shared<const Net>(std::move(condition)))});
    context_.ops().push_back(std::move(made));
  }

  Result<void> WhileCaffe2() {
    WEFT_TRY(const NamePairs seeds, Seeds("While"));
    NetPtr loop_net;
    WEFT_TRY(const Op body, LoopBody(loop_net));
    WEFT_TRY(SubnetGradient plan, PlanSubnet(loop_net, "loop_net", seeds, {}));
    const Symbol workspace = body.outputs.back();
    const Symbol cond = Name("gradient_loop_cond_net/cond");
    Net condition(context_.net().symbols);
    condition.name = Name("gradient_loop_cond_net");
    condition.ops.push_back(HasScope(workspace, cond));
    context_.ops().push_back(HasScope(workspace, cond));
    NamePairs gradients;
    for (const BlobGradient& found : plan.gradients) {
      if (!found.gradient.is_dense()) continue;
      gradients.push_back({found.blob, found.gradient.dense});
      const Symbol incoming = Lookup(seeds, found.blob);
      if (!Has(op_.outputs, found.blob) || !incoming || incoming == found.gradient.dense) continue;
      context_.ops().push_back(PlainOp("Copy", {incoming}, {found.gradient.dense}));
      condition.ops.push_back(PlainOp("Copy", {found.gradient.dense}, {incoming}));
    }
    AddWhile(cond, std::move(plan.net), std::move(condition));
    SetInputGradients(gradients);
    return {};
  }

  GradientContext& context_;
  const OpSet& ops_;
  const GradientOptions& options_;
  std::optional<Op>* repaired_;
  const Op& op_;
  Names taken_;  // names given out here
};

}  // namespace

bool IsControlFlow(const OpDef& def) {
  return def.name == "Do" || def.name == "If" || def.name == "AsyncIf" || def.name == "While";
}

Result<void> ControlFlowGradient(GradientContext& context, const OpDef& def, const OpSet& ops,
                                 const GradientOptions& options, std::optional<Op>* repaired) {
  return ControlGradient(context, ops, options, repaired).Run(def.name);
}

}  // namespace weft::internal
