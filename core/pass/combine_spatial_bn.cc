// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/combine_spatial_bn.h"

#include "core/base/str.h"

namespace weft::internal {

namespace {

struct Interleaver {
  const ParallelOptions& options;
  const ReplicaScopes& scopes;
  Net net;
  size_t n;  // replicas

  Op Make(std::string_view type, std::initializer_list<Symbol> inputs, std::initializer_list<Symbol> outputs,
          DevicePtr device) {
    Op op;
    op.type = net.Intern(type);
    op.name = net.Intern("");
    for (Symbol blob : inputs) op.inputs.push_back(blob);
    for (Symbol blob : outputs) op.outputs.push_back(blob);
    op.device = std::move(device);
    return op;
  }
  Symbol Suffixed(Symbol blob, std::string_view suffix) { return net.Intern(StrCat(net.Str(blob), suffix)); }
  // NHWC must be said (B48); Caffe2 leaves NCHW, the default, out.
  ArgList Order(const Op& bn) {
    const std::string order = ArgString(*net.symbols, bn.args, "order", "NCHW");
    return order == "NCHW" ? ArgList() : ArgList({MakeArg(net.Intern("order"), order)});
  }

  // Adds one blob per replica up on the CPU, or, between GPUs, on the CPU for them. Returns the sum that each
  // replica reads. `back_suffix`: names the copy on a GPU after its addend.
  std::vector<Symbol> SumOver(const std::vector<Symbol>& blobs, std::string_view back_suffix) {
    if (!options.is_gpu()) {
      const Symbol sum = Suffixed(blobs[0], "_combined");
      Op op = Make("Sum", {}, {sum}, nullptr);
      for (Symbol blob : blobs) op.inputs.push_back(blob);
      net.ops.push_back(std::move(op));
      if (!back_suffix.empty()) return std::vector<Symbol>(n, sum);
      for (Symbol blob : blobs) net.ops.push_back(Make("Copy", {sum}, {blob}, nullptr));
      return blobs;
    }
    std::vector<Symbol> copies, back;
    const std::string host = StrCat("cpu_0/", net.Str(blobs[0]).substr(scopes.of[0].name.prefix.size()));
    for (size_t i = 0; i < n; ++i) {
      copies.push_back(net.Intern(StrCat(host, "_", options.prefix(), "_", options.devices[i], "_copy")));
      net.ops.push_back(Make("CopyGPUToCPU", {blobs[i]}, {copies[i]}, scopes.device(i)));
    }
    const Symbol sum = net.Intern(StrCat(host, "_combined"));
    Op op = Make("Sum", {}, {sum}, scopes.cpu);
    for (Symbol blob : copies) op.inputs.push_back(blob);
    net.ops.push_back(std::move(op));
    for (size_t i = 0; i < n; ++i) {
      back.push_back(back_suffix.empty() ? blobs[i] : Suffixed(blobs[i], back_suffix));
      net.ops.push_back(Make("CopyCPUToGPU", {sum}, {back[i]}, scopes.device(i)));
    }
    return back;
  }

  DevicePtr StatsDevice(size_t i) const { return options.is_gpu() ? scopes.device(i) : nullptr; }

  void Use(Op op, Symbol first, Symbol second) {
    op.inputs.push_back(first);
    op.inputs.push_back(second);
    op.args = WithArg(op.args, MakeArg(net.Intern("num_batches"), static_cast<int64_t>(n)));
    net.ops.push_back(std::move(op));
  }

  void Forward(const std::vector<Op>& bns) {
    std::vector<Symbol> sums, squares;
    for (size_t i = 0; i < n; ++i) {
      const Symbol x = bns[i].inputs[0];
      sums.push_back(Suffixed(x, "_sums"));
      squares.push_back(Suffixed(x, "_sumsq"));
      Op stats = Make("ChannelStats", {x}, {sums[i], squares[i]}, StatsDevice(i));
      stats.args = Order(bns[i]);
      net.ops.push_back(std::move(stats));
    }
    const std::vector<Symbol> all_sums = SumOver(sums, "_combined");
    const std::vector<Symbol> all_squares = SumOver(squares, "_combined");
    for (size_t i = 0; i < n; ++i) Use(bns[i], all_sums[i], all_squares[i]);
  }

  void Backward(const std::vector<Op>& bns) {
    std::vector<Symbol> scales, biases;
    for (size_t i = 0; i < n; ++i) {
      const Op& bn = bns[i];  // reads X, scale, dY, mean, 1/std; makes dX, dscale, dbias
      scales.push_back(bn.outputs[1]);
      biases.push_back(bn.outputs[2]);
      Op stats = Make("ChannelBackpropStats", {bn.inputs[0], bn.inputs[3], bn.inputs[4], bn.inputs[2]},
                      {scales[i], biases[i]}, StatsDevice(i));
      stats.args = Order(bn);
      net.ops.push_back(std::move(stats));
    }
    SumOver(scales, "");
    SumOver(biases, "");
    for (size_t i = 0; i < n; ++i) Use(bns[i], scales[i], biases[i]);
  }
};

// The replica that an operator belongs to, -1 when none does.
int ReplicaOf(const Net& net, const Op& op, const ReplicaScopes& scopes) {
  for (const BlobList* blobs : {&op.outputs, &op.inputs})
    for (Symbol blob : *blobs)
      if (const int replica = scopes.ReplicaOf(net.Str(blob)); replica >= 0) return replica;
  return -1;
}

}  // namespace

Result<Net> CombineSpatialBn(Net net, const ParallelOptions& options, const ReplicaScopes& scopes) {
  const size_t n = scopes.of.size();
  const Symbol forward = net.symbols->Find("SpatialBN"), backward = net.symbols->Find("SpatialBNGradient");
  std::vector<std::vector<Op>> replicas(n);
  Interleaver out{options, scopes, WithoutOps(net), n};
  for (size_t i = 0; i < net.ops.size(); ++i) {
    const int replica = ReplicaOf(net, net.ops[i], scopes);
    if (replica < 0)
      return Error{
          ErrorCode::kInvalidArgument,
          StrCat("combine_spatial_bn: the operator ", net.Str(net.ops[i].type),
                 " belongs to no device: none of its blobs is in a scope such as ", scopes.of[0].name.prefix),
          static_cast<int64_t>(i)};
    replicas[static_cast<size_t>(replica)].push_back(std::move(net.ops[i]));
  }
  for (size_t i = 1; i < n; ++i)
    if (replicas[i].size() != replicas[0].size())
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("combine_spatial_bn: ", scopes.of[i].name.prefix, " has ", replicas[i].size(),
                          " operators, ", scopes.of[0].name.prefix, " has ", replicas[0].size())};
  for (size_t k = 0; k < replicas[0].size(); ++k) {
    std::vector<Op> ops;
    const Symbol type = replicas[0][k].type;
    for (size_t i = 0; i < n; ++i) {
      if (replicas[i][k].type != type)
        return Error{ErrorCode::kInvalidArgument,
                     StrCat("combine_spatial_bn: operator ", k, " is ", net.Str(type), " in ",
                            scopes.of[0].name.prefix, " and ", net.Str(replicas[i][k].type), " in ",
                            scopes.of[i].name.prefix)};
      ops.push_back(std::move(replicas[i][k]));
    }
    const bool trains = ArgInt(*net.symbols, ops[0].args, "is_test", 0) == 0;
    if (type && type == forward && trains) {
      out.Forward(ops);
    } else if (type && type == backward) {
      out.Backward(ops);
    } else {
      for (Op& op : ops) out.net.ops.push_back(std::move(op));
    }
  }
  return std::move(out.net);
}

}  // namespace weft::internal
