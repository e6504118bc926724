// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/optimizer.h"

#include <algorithm>
#include <unordered_set>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr int64_t kInt64Type = 10;  // TensorProto.DataType.INT64
constexpr std::string_view kIteration = "optimizer_iteration";
constexpr std::string_view kPolicies[] = {"fixed",
                                          "step",
                                          "exp",
                                          "inv",
                                          "poly",
                                          "gate",
                                          "alter",
                                          "hill",
                                          "slope",
                                          "cyclical",
                                          "cosine",
                                          "linearWarmup",
                                          "constantWarmup",
                                          "constantThenLinearWarmup",
                                          "compositeCyclical",
                                          "compositeCosine",
                                          "composite"};

using Names = std::vector<BlobRef>;

// Where each blob is made: by the init net, else by the net.
SymbolMap<DevicePtr> MakerDevices(const Net& net, const Net& init) {
  static const DevicePtr kSaysNothing = std::make_shared<const DeviceOption>();
  SymbolMap<DevicePtr> devices(*net.symbols, net.ops.size() + init.ops.size(), nullptr);
  for (const Net* of : {&net, &init})
    for (const Op& op : of->ops)
      for (Symbol output : op.outputs) devices[output] = op.device ? op.device : kSaysNothing;
  return devices;
}

Result<DevicePtr> DeviceOf(const Net& net, const SymbolMap<DevicePtr>& devices, const TrainedParam& param) {
  for (Symbol blob : {param.blob, param.gradient.dense, param.gradient.values, param.gradient.indices})
    if (blob)
      if (DevicePtr device = devices.Get(blob)) return device;
  const std::string name(net.Str(param.blob));
  return Error{ErrorCode::kNotFound,
               StrCat("no operator makes the parameter ", name, " or its gradient: its device is unknown"),
               -1, name};
}

std::string DeviceWord(const DeviceOption& device) { return StrCat(device.type(), "_", device.id()); }

// Emits the update of one parameter after the other.
class Updates {
 public:
  Updates(NetBuilder& net, NetBuilder& init, std::string kind, int instance)
      : net_(net), init_(init), kind_(std::move(kind)), instance_(instance) {}

  Result<void> Start(const TrainedParam& param, DevicePtr device) {
    param_ = &param;
    scope_.device.device = std::move(device);
    if (param.gradient.none()) return Fail("has no gradient");
    return {};
  }

  Result<void> Update(const Sgd& sgd) {
    WEFT_TRY(const Symbol rate, Rate(sgd.rate, sgd.momentum > 0 ? 1 : -1));
    const Symbol one = One(/*with_node=*/true);
    const Symbol param = param_->blob;
    if (sgd.momentum <= 0) {
      if (!sparse()) return Emit("WeightedSum", {param, one, param_->gradient.dense, rate}, {param}, {});
      const Gradient rows = Merged(sgd.merge);
      return Emit("ScatterWeightedSum", {param, one, rows.indices, rows.values, rate}, {param}, {});
    }
    const Symbol momentum = State("_momentum");
    const OpArgs args = {{"momentum", sgd.momentum}, {"nesterov", sgd.nesterov}};
    if (!sparse()) {
      const Symbol gradient = param_->gradient.dense;
      return Emit("MomentumSGDUpdate", {gradient, momentum, rate, param}, {gradient, momentum, param}, args);
    }
    const Gradient rows = Merged(sgd.merge);
    return Emit("SparseMomentumSGDUpdate", {rows.values, momentum, rate, param, rows.indices},
                {rows.values, momentum, param}, args);
  }

  Result<void> Update(const Adagrad& adagrad) {
    if (adagrad.row_wise && !sparse())
      return Fail("has a dense gradient: row-wise Adagrad needs a sparse one");
    if (sparse() && adagrad.decay != 1) return Fail("has a sparse gradient: Adagrad's decay must be 1 then");
    WEFT_TRY(const Symbol rate, Rate(adagrad.rate, -1));
    Symbol sum;
    if (adagrad.row_wise) {
      sum = RowState("_avg_squared_sum");
    } else {
      sum = State("_squared_sum");
    }
    OpArgs args = {{"epsilon", adagrad.epsilon}};
    if (!sparse()) args.list.push_back({"decay", adagrad.decay});
    if (adagrad.weight_decay > 0) {
      const auto shape = Shape();
      if (!shape) return Fail("has no known shape: weight decay leaves out parameters of one dimension");
      if (shape->size() != 1) args.list.push_back({"weight_decay", adagrad.weight_decay});
    }
    const Symbol param = param_->blob;
    if (!sparse())
      return Emit("Adagrad", {param, sum, param_->gradient.dense, rate}, {param, sum}, args, adagrad.engine);
    const Gradient rows = Merged(adagrad.merge);
    return Emit(adagrad.row_wise ? "RowWiseSparseAdagrad" : "SparseAdagrad",
                {param, sum, rows.indices, rows.values, rate}, {param, sum}, args, adagrad.engine);
  }

  Result<void> Update(const Adam& adam) {
    if (adam.row_wise && !sparse()) return Fail("has a dense gradient: row-wise Adam needs a sparse one");
    if (adam.rectified && adam.row_wise)
      return Fail("can't be trained by rectified Adam row by row: SparseAdam alone has it");
    WEFT_TRY(const Symbol rate, Rate(adam.rate, -1));
    const Symbol first = State("_first_moment");
    Symbol second;
    if (adam.row_wise) {
      second = RowState("_avg_second_moment");
    } else {
      second = State("_second_moment");
    }
    const Symbol param = param_->blob, iteration = net_.Intern(kIteration);
    const Names outputs = {param, first, second};
    OpArgs args = {{"beta1", adam.beta1}, {"beta2", adam.beta2}, {"epsilon", adam.epsilon}};
    if (!sparse())
      return Emit("Adam", {param, first, second, param_->gradient.dense, rate, iteration}, outputs, args);
    const Gradient rows = Merged(adam.merge);
    if (!adam.row_wise) args.list.push_back({"enableRAdam", adam.rectified});
    return Emit(adam.row_wise ? "RowWiseSparseAdam" : "SparseAdam",
                {param, first, second, rows.indices, rows.values, rate, iteration}, outputs, args);
  }

  Result<void> Update(const RmsProp& rms) {
    if (sparse()) return Fail("has a sparse gradient, which RmsProp does not take");
    const Symbol one = One(/*with_node=*/false);
    WEFT_TRY(const Symbol rate, Rate(rms.rate, 1));
    // Caffe2 writes "values" where ConstantFill reads "value", whose default is the same 0.
    const Symbol step = State("_grad_o", "values"), squares = State("_mean_squares", "values"),
                 momentum = State("_momentum", "values");
    WEFT_TRY_VOID(Emit("RmsProp", {param_->gradient.dense, squares, momentum, one}, {step, squares, momentum},
                       {{"decay", rms.decay}, {"momentum", rms.momentum}, {"epsilon", rms.epsilon}},
                       rms.engine));
    return Emit("MomentumSGDUpdate", {step, momentum, rate, param_->blob}, {step, momentum, param_->blob},
                {});
  }

  Result<void> Update(const Adadelta& adadelta) {
    WEFT_TRY(const Symbol rate, Rate(adadelta.rate, -1));
    const Symbol moment = State("_squared_moment"), update = State("_squared_moment_update");
    const Symbol param = param_->blob;
    const Names outputs = {param, moment, update};
    const OpArgs args = {{"epsilon", adadelta.epsilon}, {"decay", adadelta.decay}};
    if (!sparse())
      return Emit("Adadelta", {param, moment, update, param_->gradient.dense, rate}, outputs, args,
                  adadelta.engine);
    const Gradient rows = Merged(adadelta.merge);
    return Emit("SparseAdadelta", {param, moment, update, rows.indices, rows.values, rate}, outputs, args,
                adadelta.engine);
  }

  Result<void> Update(const Ftrl& ftrl) {
    if (!(ftrl.alpha > 0)) return RateError(ftrl.alpha);
    const Symbol param = param_->blob;
    const Symbol state = init_.Add({.type = "ConstantFill",
                                    .inputs = {param},
                                    .outputs = Names{init_.Suffixed(param, "_ftrl_nz")},
                                    .args = {{"extra_shape", {2}}, {"value", 0.0f}}},
                                   scope_)[0];
    // Caffe2's default of the two penalties is the integer 0.
    const auto penalty = [](std::string_view name, float value) {
      return value == 0 ? OpArg(name, 0) : OpArg(name, value);
    };
    const OpArgs args = {{"alpha", ftrl.alpha},
                         {"beta", ftrl.beta},
                         penalty("lambda1", ftrl.lambda1),
                         penalty("lambda2", ftrl.lambda2)};
    if (!sparse())
      return Emit("Ftrl", {param, state, param_->gradient.dense}, {param, state}, args, ftrl.engine);
    const Gradient rows = Merged(ftrl.merge);
    return Emit("SparseFtrl", {param, state, rows.indices, rows.values}, {param, state}, args, ftrl.engine);
  }

  Result<void> Decay(float decay) {
    if (sparse()) {
      const Error error = Fail("has a sparse gradient, which weight decay does not take");
      return Error{ErrorCode::kUnsupported, error.message, -1, error.blob};
    }
    const Symbol one = One(/*with_node=*/false), gradient = param_->gradient.dense;
    const Symbol factor = Constant(StrCat("wd_", DeviceWord(*scope_.device.device)), decay);
    return Emit("WeightedSum", {gradient, one, param_->blob, factor}, {gradient}, {});
  }

 private:
  bool sparse() const { return param_->gradient.is_sparse(); }

  Error Fail(std::string_view what) const {
    const std::string name(net_.net().Str(param_->blob));
    return {ErrorCode::kInvalidArgument, StrCat("parameter ", name, " ", what), -1, name};
  }
  static Error RateError(float rate) {
    return {ErrorCode::kInvalidArgument, StrCat("a learning rate must be above zero, found ", rate)};
  }

  Result<void> Emit(std::string_view type, std::vector<BlobRef> inputs, Names outputs, OpArgs args,
                    std::optional<std::string> engine = {}) {
    net_.Add({.type = type,
              .inputs = std::move(inputs),
              .outputs = std::move(outputs),
              .args = std::move(args),
              .engine = std::move(engine)},
             scope_);
    return {};
  }

  // A constant of the init net, made once. (Caffe2 repeats the fill for each parameter.)
  Symbol Constant(std::string_view name, float value) {
    const Symbol blob = init_.Intern(name);
    if (!init_.BlobIsDefined(blob))
      init_.Add({.type = "ConstantFill", .outputs = Names{blob}, .args = {{"shape", {1}}, {"value", value}}},
                scope_);
    return blob;
  }
  Symbol One(bool with_node) {
    const DeviceOption& device = *scope_.device.device;
    return Constant(StrCat("ONE_", DeviceWord(device), with_node ? device.node_name.value_or("") : ""), 1);
  }

  // Zeros of the parameter's shape.
  Symbol State(std::string_view suffix, std::string_view value_arg = "value") {
    return init_.Add({.type = "ConstantFill",
                      .inputs = {param_->blob},
                      .outputs = Names{init_.Suffixed(param_->blob, suffix)},
                      .args = {{value_arg, 0.0f}}},
                     scope_)[0];
  }

  std::optional<std::vector<int64_t>> Shape() const {
    if (param_->shape) return param_->shape;
    for (const Op& op : init_.net().ops)
      if (!op.outputs.empty() && op.outputs[0] == param_->blob && op.inputs.empty())
        if (FindArg(*init_.net().symbols, op.args, "shape"))
          return ArgInts(*init_.net().symbols, op.args, "shape");
    return {};
  }

  // Zeros, one for each row of the parameter.
  Symbol RowState(std::string_view suffix) {
    const BlobRef name = init_.Suffixed(param_->blob, suffix);
    const auto shape = Shape();
    if (shape && !shape->empty())
      return init_.Add({.type = "ConstantFill",
                        .outputs = Names{name},
                        .args = {{"shape", {(*shape)[0]}}, {"value", 0.0f}}},
                       scope_)[0];
    const Symbol dims = init_.Add(
        {.type = "Shape", .inputs = {param_->blob}, .outputs = Names{init_.Suffixed(param_->blob, "_shape")}},
        scope_)[0];
    const Symbol rows =
        init_.Add({.type = "Slice",
                   .inputs = {dims},
                   .outputs = Names{init_.Suffixed(dims, "_numrows")},
                   .args = {{"starts", std::vector<int64_t>{0}}, {"ends", std::vector<int64_t>{1}}}},
                  scope_)[0];
    return init_.Add({.type = "ConstantFill",
                      .inputs = {rows},
                      .outputs = Names{name},
                      .args = {{"input_as_shape", 1}, {"value", 0.0f}}},
                     scope_)[0];
  }

  // The learning rate, and before it, once for the two nets, the iteration that it follows.
  Result<Symbol> Rate(const LearningRate& rate, float sign) {
    if (!(rate.base > 0)) return RateError(rate.base);
    if (std::find(std::begin(kPolicies), std::end(kPolicies), rate.policy) == std::end(kPolicies)) {
      const std::vector<std::string> known(std::begin(kPolicies), std::end(kPolicies));
      return Error{ErrorCode::kInvalidArgument, StrCat("there is no learning rate policy ", rate.policy,
                                                       "; there is ", StrJoin(known, ", "))};
    }
    const Symbol iteration = init_.Intern(kIteration);
    if (!init_.BlobIsDefined(iteration)) {
      DeviceOption cpu;
      cpu.device_type = kCpu;
      cpu.device_id = 0;
      cpu.extra_info = {"device_type_override:cpu"};
      const Scope on_cpu{{}, scope_.device.Enter(cpu)};
      const Symbol mutex = init_.Intern("iteration_mutex");
      init_.Add({.type = "ConstantFill",
                 .outputs = Names{iteration},
                 .args = {{"shape", {1}}, {"value", 0}, {"dtype", kInt64Type}}},
                on_cpu);
      init_.Add({.type = "CreateMutex", .outputs = Names{mutex}}, on_cpu);
      net_.Add({.type = "AtomicIter", .inputs = {mutex, iteration}, .outputs = Names{iteration}}, on_cpu);
    }
    const Symbol blob = net_.Intern(RateName());
    if (net_.BlobIsDefined(blob)) return blob;
    OpArgs args = {{"base_lr", sign * rate.base}, {"policy", rate.policy}};
    args.list.insert(args.list.end(), rate.args.begin(), rate.args.end());
    net_.Add({.type = "LearningRate", .inputs = {iteration}, .outputs = Names{blob}, .args = std::move(args)},
             scope_);
    return blob;
  }

  // One for each device.
  std::string RateName() const {
    const DeviceOption& device = *scope_.device.device;
    std::string name = StrCat(kind_, "_", instance_, "_lr", device.node_name.value_or(""));
    const bool gpu = device.type() == kCuda || device.type() == kHip;
    return gpu ? StrCat(name, "_gpu", device.id()) : StrCat(name, "_cpu");
  }

  Gradient Merged(RowMerge merge) {
    if (merge == RowMerge::kNone) return param_->gradient;
    const auto unique = net_.Add(
        {.type = "Unique", .inputs = {param_->gradient.indices}, .outputs = 2, .engine = "SparseHash"},
        scope_);
    const auto values =
        net_.Add({.type = merge == RowMerge::kSum ? "UnsortedSegmentSum" : "UnsortedSegmentMean",
                  .inputs = {param_->gradient.values, unique[1]},
                  .outputs = 1},
                 scope_);
    return Gradient::Sparse(unique[0], values[0]);
  }

  NetBuilder& net_;
  NetBuilder& init_;
  const std::string kind_;
  const int instance_;
  const TrainedParam* param_ = nullptr;
  Scope scope_;
};

constexpr std::string_view kKinds[] = {"SgdOptimizer",     "AdagradOptimizer",  "AdamOptimizer",
                                       "RmsPropOptimizer", "AdadeltaOptimizer", "FtrlOptimizer"};
static_assert(std::size(kKinds) == std::variant_size_v<Optimizer>);

// Calls `update` for each parameter, on its device.
template <typename F>
Result<void> ForEachParam(const NetBuilder& net, const NetBuilder& init, std::span<const TrainedParam> params,
                          Updates& updates, F&& update) {
  if (net.net().symbols != init.net().symbols)
    return Error{ErrorCode::kInvalidArgument, "the net and its init net must share one symbol table"};
  const SymbolMap<DevicePtr> devices = MakerDevices(net.net(), init.net());
  std::unordered_set<uint32_t> seen;
  for (const TrainedParam& param : params) {
    const std::string name(net.net().Str(param.blob));
    if (!seen.insert(param.blob.id).second)
      return Error{ErrorCode::kInvalidArgument, StrCat("the parameter ", name, " is given twice"), -1, name};
    WEFT_TRY(DevicePtr device, DeviceOf(net.net(), devices, param));
    WEFT_TRY_VOID(updates.Start(param, std::move(device)));
    WEFT_TRY_VOID(update());
  }
  return {};
}

}  // namespace

std::span<const std::string_view> LearningRatePolicies() { return kPolicies; }

Result<void> AddOptimizer(NameRegistry& registry, NetBuilder& net, NetBuilder& init,
                          const Optimizer& optimizer, std::span<const TrainedParam> params) {
  const std::string kind(kKinds[optimizer.index()]);
  const int instance = registry.NextInstance(kind);
  Updates updates(net, init, kind, instance);
  return ForEachParam(net, init, params, updates, [&] {
    return std::visit([&](const auto& options) { return updates.Update(options); }, optimizer);
  });
}

Result<void> AddWeightDecay(NetBuilder& net, NetBuilder& init, float decay,
                            std::span<const TrainedParam> params) {
  Updates updates(net, init, "WeightDecayBuilder", 0);
  return ForEachParam(net, init, params, updates, [&] { return updates.Decay(decay); });
}

}  // namespace weft
