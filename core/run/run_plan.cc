// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/run_plan.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/run/interpreter.h"

namespace weft {

namespace {

struct CompiledStep;

// A step in the workspace of the step around it. A step with a workspace of its own is compiled for every
// execution.
struct StepPlace {
  const Step* step = nullptr;
  Workspace* workspace = nullptr;
  std::unique_ptr<CompiledStep> compiled;
};

struct CompiledStep {
  std::unique_ptr<Workspace> own;  // outlives what is prepared in it
  std::vector<PreparedNet*> nets;
  std::vector<StepPlace> substeps, reporters;
  PreparedNet* report_net = nullptr;
  const Blob* should_stop = nullptr;
};

class PlanRunner {
 public:
  PlanRunner(const Plan& plan, Workspace& workspace)
      : plan_(plan), workspace_(workspace), index_(*plan.symbols, plan.networks.size(), -1) {}

  Result<void> Run() {
    for (const Net& net : plan_.networks) {
      int32_t& index = index_[net.name];
      if (index >= 0)
        return Error{ErrorCode::kNameConflict, StrCat("the plan has two nets called ", plan_.Str(net.name))};
      index = static_cast<int32_t>(nets_.size());
      nets_.push_back({std::make_shared<const Net>(net), workspace_.FindNet(plan_.Str(net.name)) != nullptr});
    }
    for (const Step& step : plan_.steps) {
      StepPlace place;
      WEFT_TRY_VOID(Prepare(step, workspace_, 0, place));
      WEFT_TRY_VOID(Execute(place, 0));
    }
    return {};
  }

 private:
  struct PlanNet {
    std::shared_ptr<const Net> net;
    bool stale;  // the workspace has another net of that name, from before
  };

  Error In(const Step& step, Error error) const {
    error.message = StrCat("step ", plan_.Str(step.name), ": ", error.message);
    return error;
  }
  Error Contradiction(const Step& step, std::string message) const {
    return In(step, Error{ErrorCode::kInvalidArgument, std::move(message)});
  }

  Result<PreparedNet*> TakeNet(const Step& step, Symbol name, Workspace& workspace) {
    const int32_t index = index_.Get(name);
    if (index < 0)
      return In(step, Error{ErrorCode::kNotFound,
                            StrCat("it runs the net ", plan_.Str(name), ", which the plan does not have")});
    PlanNet& net = nets_[static_cast<size_t>(index)];
    PreparedNet* prepared = workspace.FindNet(plan_.Str(name));
    if (prepared && !net.stale) return prepared;
    net.stale = false;
    Result<PreparedNet*> made = workspace.CreateNet(net.net, /*overwrite=*/true);
    if (!made) return InNet(step, name, std::move(made).error());
    return made;
  }

  Error InNet(const Step& step, Symbol net, Error error) const {
    error.message = StrCat("net ", plan_.Str(net), ": ", error.message);
    return In(step, std::move(error));
  }

  Result<void> Prepare(const Step& step, Workspace& workspace, int depth, StepPlace& place) {
    if (depth > kMaxRunDepth)
      return In(step, Error{ErrorCode::kLimit, StrCat("steps nested deeper than ", kMaxRunDepth)});
    place.step = &step;
    place.workspace = &workspace;
    if (step.create_workspace.value_or(false)) return {};
    WEFT_TRY(place.compiled, Compile(place, depth));
    return {};
  }

  Result<std::unique_ptr<CompiledStep>> Compile(const StepPlace& place, int depth) {
    const Step& step = *place.step;
    auto out = std::make_unique<CompiledStep>();
    Workspace* workspace = place.workspace;
    if (step.create_workspace.value_or(false)) {
      out->own = std::make_unique<Workspace>(*workspace);
      workspace = out->own.get();
      WEFT_TRY_VOID(NumberWorkspace(step, *workspace));
    }
    if (!step.substeps.empty() && !step.networks.empty())
      return Contradiction(step, "it has substeps and networks, expected one of the two");
    for (const Step& substep : step.substeps) {
      StepPlace inner;
      if (Result<void> prepared = Prepare(substep, *workspace, depth + 1, inner); !prepared)
        return In(step, std::move(prepared).error());
      (substep.run_every_ms ? out->reporters : out->substeps).push_back(std::move(inner));
    }
    for (Symbol name : step.networks) {
      WEFT_TRY(PreparedNet * net, TakeNet(step, name, *workspace));
      out->nets.push_back(net);
    }
    if (step.should_stop_blob) {
      out->should_stop = workspace->FindBlob(plan_.Str(step.should_stop_blob));
      if (!out->should_stop)
        return In(step,
                  Error{ErrorCode::kNotFound,
                        StrCat("its should_stop_blob ", plan_.Str(step.should_stop_blob), " does not exist"),
                        -1, std::string(plan_.Str(step.should_stop_blob))});
      if (step.num_iter)
        return Contradiction(step, "it has num_iter and should_stop_blob, expected one of the two");
    } else if (step.only_once.value_or(false)) {  // an explicit false is as good as nothing (B29)
      return Contradiction(step, "only_once without should_stop_blob is not supported");
    }
    if (step.report_net) {
      if (!step.report_interval) return Contradiction(step, "it has a report_net without report_interval");
      WEFT_TRY(out->report_net, TakeNet(step, step.report_net, *workspace));
    }
    return out;
  }

  // Caffe2 tells workspaces of several nodes apart by this blob.
  Result<void> NumberWorkspace(const Step& step, Workspace& workspace) {
    const Tensor* node = workspace.FindTensor("NODE_ID");
    if (!node) return {};
    if (node->type() != DataType::kInt32 || node->numel() != 1)
      return Contradiction(step, StrCat("the blob NODE_ID is ", DataTypeName(node->type()), " ",
                                        DimsToString(node->dims()), ", expected one int32"));
    const int64_t id = made_workspaces_++ + (int64_t{node->data<int32_t>()[0]} << 16);
    const int64_t one[] = {1};
    const int32_t narrow = static_cast<int32_t>(id);
    workspace.CreateLocalBlob("GLOBAL_WORKSPACE_ID").Set(Tensor::Of<int32_t>(one, {&narrow, 1}));
    return {};
  }

  Result<bool> ShouldStop(const Step& step, const CompiledStep& compiled) const {
    const Blob* blob = compiled.should_stop;
    if (!blob || blob->empty()) return false;
    const Tensor* tensor = blob->Get<Tensor>();
    if (tensor && !tensor->has_type()) return false;
    if (!tensor || tensor->type() != DataType::kBool || tensor->numel() != 1)
      return In(
          step,
          Error{ErrorCode::kInvalidArgument,
                StrCat("its should_stop_blob ", plan_.Str(step.should_stop_blob), " is ",
                       !tensor ? std::string(blob->type_name())
                               : StrCat(DataTypeName(tensor->type()), " ", DimsToString(tensor->dims())),
                       ", expected one bool"),
                -1, std::string(plan_.Str(step.should_stop_blob))});
    return tensor->data<bool>()[0];
  }

  Result<void> Execute(StepPlace& place, int depth) {
    const Step& step = *place.step;
    std::unique_ptr<CompiledStep> fresh;
    CompiledStep* compiled = place.compiled.get();
    if (!compiled) {
      WEFT_TRY(fresh, Compile(place, depth));
      compiled = fresh.get();
    }
    WEFT_TRY_VOID(Iterate(step, *compiled, depth));
    for (StepPlace& reporter : compiled->reporters)
      if (Result<void> ran = Execute(reporter, depth + 1); !ran) return In(step, std::move(ran).error());
    if (compiled->report_net)
      if (Result<void> ran = compiled->report_net->Run(); !ran)
        return InNet(step, step.report_net, std::move(ran).error());
    return {};
  }

  Result<void> Iterate(const Step& step, CompiledStep& compiled, int depth) {
    const bool by_blob = compiled.should_stop != nullptr;
    const int64_t iterations =
        by_blob ? (step.only_once.value_or(false) ? 1 : -1) : std::max<int64_t>(0, step.num_iter.value_or(1));
    const int32_t instances = std::max(1, step.num_concurrent_instances.value_or(1));
    const bool together =
        (step.concurrent_substeps.value_or(false) && step.substeps.size() > 1) || instances > 1;
    RunContext& context = workspace_.context();
    for (int64_t i = 0; iterations < 0 || i < iterations; ++i) {
      if (!context.Count())
        return In(step, Error{ErrorCode::kLimit, StrCat("stopped after ", context.op_limit, " operators")});
      for (size_t k = 0; k < compiled.nets.size(); ++k) {
        if (Result<void> ran = compiled.nets[k]->Run(); !ran)
          return InNet(step, step.networks[k], std::move(ran).error());
        WEFT_TRY(const bool stop, ShouldStop(step, compiled));
        if (stop) return {};
      }
      for (int32_t instance = 0; instance < instances && !compiled.substeps.empty(); ++instance) {
        for (StepPlace& substep : compiled.substeps) {
          if (Result<void> ran = Execute(substep, depth + 1); !ran) return In(step, std::move(ran).error());
          if (together) continue;  // the whole group runs
          WEFT_TRY(const bool stop, ShouldStop(step, compiled));
          if (stop) return {};
        }
      }
      WEFT_TRY(const bool stop, ShouldStop(step, compiled));
      if (stop) return {};
    }
    return {};
  }

  const Plan& plan_;
  Workspace& workspace_;
  SymbolMap<int32_t> index_;
  std::vector<PlanNet> nets_;
  int64_t made_workspaces_ = 0;
};

}  // namespace

Result<void> RunPlan(const Plan& plan, Workspace& workspace) { return PlanRunner(plan, workspace).Run(); }

}  // namespace weft
