# SPDX-FileCopyrightText: The Weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Records data_parallel_options.jsonl with a real Caffe2: what its data_parallel_model makes when the options are
# set that no row of data_parallel.jsonl sets. Nets are built, never run, so GPUs are not needed.
#   python3 record_parallel_options.py OUTPUT
import json
import sys

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import brew, core, model_helper, optimizer, workspace
from caffe2.python import data_parallel_model as dpm

ARGS = {"order": "NCHW", "use_cudnn": 1, "cudnn_exhaustive_search": 0}
GLOO = {"kv_handler": "store_handler", "num_shards": 2, "shard_id": 0, "engine": "GLOO"}
MPI = {"kv_handler": None, "num_shards": 2, "shard_id": 0, "engine": "MPI", "mpi_rendezvous": True}
# Nobody reaches a peer but its neighbour in a pair.
PAIRS = [[int(i // 2 == j // 2) for j in range(8)] for i in range(8)]


def mlp(model, loss_scale):
    fc1 = brew.fc(model, "data", "fc1", 4, 8)
    fc2 = brew.fc(model, brew.relu(model, fc1, "relu1"), "fc2", 8, 3)
    softmax, loss = model.SoftmaxWithLoss([fc2, "label"], ["softmax", "loss"])
    return [model.Scale(loss, loss, scale=loss_scale)]


def made(model, loss_scale):  # the net makes its input itself
    model.net.GaussianFill([], "data", shape=[5, 4])
    return mlp(model, loss_scale)


def frozen(model, loss_scale):  # no gradient reaches fc1's parameters
    fc1 = model.net.StopGradient(brew.fc(model, "data", "fc1", 4, 8), "still")
    softmax, loss = model.SoftmaxWithLoss([brew.fc(model, fc1, "fc2", 8, 3), "label"], ["softmax", "loss"])
    return [model.Scale(loss, loss, scale=loss_scale)]


def conv(model, loss_scale, order="NCHW"):
    conv1 = brew.conv(model, "data", "conv1", 3, 4, kernel=3, pad=1, order=order)
    bn = brew.spatial_bn(model, conv1, "conv1_bn", 4, epsilon=1e-3, momentum=0.9, is_test=False, order=order)
    pool = model.AveragePool(brew.relu(model, bn, "relu1"), "pool", kernel=4)
    softmax, loss = model.SoftmaxWithLoss([brew.fc(model, pool, "fc", 4, 3), "label"], ["softmax", "loss"])
    return [model.Scale(loss, loss, scale=loss_scale)]


def nhwc(model, loss_scale):
    return conv(model, loss_scale, "NHWC")


def table(model, loss_scale, tables=1):
    sums = []
    for i in range(tables):
        vecs = model.param_init_net.UniformFill([], "vecs%d" % i, shape=[10, 4])
        model.AddParameter(vecs)
        sums.append(model.net.Gather([vecs, "indices"], "rows%d" % i))
    all_rows = model.net.Sum(sums, "rows") if tables > 1 else sums[0]
    dist = model.SquaredL2Distance(["label", brew.fc(model, all_rows, "fc", 4, 1)], "dist")
    loss = model.AveragedLoss(dist, "loss")
    return [model.Scale(loss, loss, scale=loss_scale)]


def tables(model, loss_scale):  # two at the same indices
    return table(model, loss_scale, 2)


def shared(model, loss_scale):  # one layer of all replicas
    fc1 = model.net.FC(["data", core.BlobReference("shared_w"), core.BlobReference("shared_b")], "fc1")
    softmax, loss = model.SoftmaxWithLoss([brew.fc(model, fc1, "fc2", 8, 3), "label"], ["softmax", "loss"])
    return [model.Scale(loss, loss, scale=loss_scale)]


MODELS = {f.__name__: f for f in (mlp, made, frozen, conv, nhwc, table, tables, shared)}


def new_model():
    workspace.ResetWorkspace()
    core.Net._net_names_used.clear()
    return model_helper.ModelHelper(name="m", arg_scope=ARGS)


def param_update(model):
    it = brew.iter(model, "ITER")
    lr = model.net.LearningRate([it], "LR", base_lr=-0.1, policy="fixed")
    one = model.param_init_net.ConstantFill([], "ONE", shape=[1], value=1.0)
    for param in model.GetParams():
        if param not in model.param_to_grad:
            continue
        grad = model.param_to_grad[param]
        if isinstance(grad, core.GradientSlice):
            model.ScatterWeightedSum([param, one, grad.indices, grad.values, lr], param)
        else:
            model.WeightedSum([param, one, grad, lr], param)


def momentum_update(model):
    it = brew.iter(model, "ITER")
    lr = model.net.LearningRate([it], "LR", base_lr=-0.1, policy="fixed")
    for param in model.GetParams():
        grad, moment = model.param_to_grad[param], str(param) + "_m"
        with core.NameScope("", reset=True):
            moment = model.param_init_net.ConstantFill(param, moment, value=0.0)
            model.net.MomentumSGDUpdate([grad, moment, lr, param], [grad, moment, param], momentum=0.9)


OPTIMIZERS = {
    "sgd": lambda m: optimizer.build_sgd(m, base_learning_rate=0.1, policy="fixed"),
    "momentum": lambda m: optimizer.build_sgd(m, base_learning_rate=0.1, momentum=0.9, policy="step", stepsize=10,
                                              gamma=0.5),
    "adagrad": lambda m: optimizer.build_adagrad(m, base_learning_rate=0.1),
    "adam": lambda m: optimizer.build_adam(m, base_learning_rate=0.1),
}


# The callbacks that a row names.
def copy_params(model):
    for param in model.GetParams():
        model.param_init_net.Copy(param, "post_" + str(param).split("/")[-1])


def look_before(model):
    for device in model._devices:
        with core.DeviceScope(core.DeviceOption(model._device_type, device)):
            name = "{}_{}/loss".format(model._device_prefix, device)
            model.net.Copy(name, name + "_before")


def look_after(model, devices, prefix, device_type):
    with core.DeviceScope(core.DeviceOption(device_type, model._devices[0])):
        name = "{}_{}/loss".format(prefix, model._devices[0])
        model.net.Scale(name, name + "_after", scale=float(devices))


def text(net):
    return str(net.Proto() if hasattr(net, "Proto") else net)


def gradient(g):
    return [str(g.indices), str(g.values)] if isinstance(g, core.GradientSlice) else str(g)


def single_of(kind):
    model = new_model()
    losses = MODELS[kind](model, 1.0)
    return {"init": text(model.param_init_net), "net": text(model.net), "losses": [str(b) for b in losses],
            "params": [str(b) for b in model.params], "computed": [str(b) for b in model.GetComputedParams("")]}


def attempt(row, key, work):
    try:
        row[key] = work()
    except Exception as error:
        row[key + "_error"] = "{}: {}".format(type(error).__name__, str(error).split("\n")[0])


# What is the same for IDEEP as for the CPU is not recorded twice.
IDEEP = ("callbacks", "conv", "no_computed", "shared_layer", "gloo_conv", "mpi", "checkpoint", "checkpoint_gloo",
         "bn_combined", "bn_combined_gloo", "shared_model", "shared_model_conv", "predict_fc2", "devices_none")


def record(out, name, kind, opt, options, device_type="cpu", bmuf=False, callbacks=(), peers=None, more=None):
    if device_type == "ideep" and name[len("ideep_"):] not in IDEEP:
        return
    row = {"name": name, "model": kind, "opt": opt, "bmuf": bmuf, "options": dict(options), "device_type": device_type,
           "single": single_of(kind)}
    if callbacks:
        row["callbacks"] = list(callbacks)
    if peers:
        row["peers"] = peers
    model = new_model()
    if kind == "shared":
        for blob, shape in (("shared_w", [8, 4]), ("shared_b", [8])):
            model.AddParameter(model.param_init_net.ConstantFill([], blob, shape=shape, value=0.5))
    arguments = dict(options)
    arguments["cpu_device"] = device_type == "cpu"
    if not bmuf:
        arguments["ideep"] = device_type == "ideep"
    if opt in ("param_update", "momentum_update"):
        arguments["param_update_builder_fun"] = globals()[opt]
    elif opt:
        arguments["optimizer_builder_fun"] = OPTIMIZERS[opt]
    for option, call in (("post_sync_builder_fun", copy_params), ("pre_grad_net_transformer_fun", look_before),
                         ("net_transformer_fun", look_after)):
        if option in callbacks:
            arguments[option] = call
    workspace.GpuDeviceType = caffe2_pb2.HIP if device_type == "hip" else caffe2_pb2.CUDA
    workspace.GetGpuPeerAccessPattern = lambda: np.array(peers or [], dtype=bool)
    try:
        (dpm.Parallelize_BMUF if bmuf else dpm.Parallelize)(model, lambda m: None, MODELS[kind], **arguments)
    except Exception as error:
        row["error"] = "{}: {}".format(type(error).__name__, str(error).split("\n")[0])
        out.append(row)
        return
    row.update({
        "init": text(model.param_init_net), "net": text(model.net), "params": [str(p) for p in model.params],
        "param_to_grad": {str(p): gradient(g) for p, g in model.param_to_grad.items()},
        "groups": {key: {str(d): gradient(b) for d, b in group.items()}
                   for key, group in model._device_grouped_blobs.items()},
        "checkpoint_params": sorted(str(b) for b in dpm.GetCheckpointParams(model))})
    for key, field in (("_barrier_net", "barrier"), ("_barrier_init_net", "barrier_init"),
                       ("_global_model_init_net", "global_init"), ("_warmup_broadcast", "warmup"),
                       ("_global_model_param_updates_net", "global_update")):
        if hasattr(model, key):
            row[field] = text(getattr(model, key))
    attempt(row, "lr_blobs", lambda: [str(b) for b in dpm.GetLearningRateBlobNames(model)])
    if more:
        more(row, model)
    out.append(row)


def predictor(inputs, outputs, device):
    def add(row, model):
        row["predict"] = {"inputs": inputs, "outputs": outputs,
                          "device": None if device is None else [device.device_type, device.device_id]}
        attempt(row, "predictor", lambda: text(dpm.ExtractPredictorNet(model, inputs, outputs, device)[0]))
    return add


def checkpoint(blobs, cpu_mode):
    def add(row, model):
        seen, run, create = [], workspace.RunNetOnce, workspace.CreateNet
        run_net = workspace.RunNet
        workspace.RunNetOnce = lambda net: seen.append(text(net))
        workspace.CreateNet = workspace.RunNet = lambda net: None
        try:
            dpm.FinalizeAfterCheckpoint(model, blobs, cpu_mode)
        finally:
            workspace.RunNetOnce, workspace.CreateNet, workspace.RunNet = run, create, run_net
        row["checkpoint"] = {"blobs": blobs, "cpu_mode": cpu_mode, "sync": text(model._checkpoint_net)}
        if seen:
            row["checkpoint"]["init"] = seen[0]
    return add


def convert(out, name, device, external_output=False, recurrent=False):
    net = core.Net("n")
    net.Proto().CopyFrom(caffe2_pb2.NetDef())
    net.Proto().name = "n"
    net.Proto().external_input.extend(["x", "w"])
    op = net.Proto().op.add()
    op.CopyFrom(core.CreateOperator("MatMul", ["x", "w"], ["y"], control_input=["z"]))
    net.Proto().op.add().CopyFrom(core.CreateOperator("Relu", ["y"], ["y"], device_option=core.DeviceOption(1, 7)))
    if external_output:
        net.Proto().external_output.append("y")
    if recurrent:
        net.Proto().op.add().CopyFrom(core.CreateOperator("RecurrentNetwork", ["y"], ["h"]))
    row = {"name": name, "convert": text(net), "device": [device.device_type, device.device_id]}
    attempt(row, "converted", lambda: text(dpm.ConvertNetForDevice(net, device)))
    out.append(row)


def main():
    is_operator = core.IsOperator
    core.IsOperator = lambda op_type: op_type.startswith(("NCCL", "Copy")) or is_operator(op_type)  # a build for CPUs has none
    out = []
    two, four = [0, 1], [0, 1, 2, 3]
    cpu0, gpu0 = core.DeviceOption(caffe2_pb2.CPU), core.DeviceOption(caffe2_pb2.CUDA, 1)
    gloo = lambda **more: dict(GLOO, **more)

    dpm.cpu_count = lambda: 3
    for kind in ("cpu", "ideep"):
        record(out, kind + "_devices_none", "mlp", "sgd", {}, kind)
    for device_type in ("cpu", "gpu", "ideep"):
        more = dict(devices=two)
        record(out, device_type + "_callbacks", "mlp", "sgd", more, device_type,
               callbacks=("post_sync_builder_fun", "pre_grad_net_transformer_fun", "net_transformer_fun"))
        record(out, device_type + "_net_type", "mlp", "momentum", dict(devices=two, net_type="async_scheduling"),
               device_type)
        record(out, device_type + "_threads", "mlp", "sgd", dict(devices=two, num_threads_per_device=1), device_type)
        record(out, device_type + "_no_computed", "conv", "sgd", dict(devices=two, broadcast_computed_params=False),
               device_type)
        record(out, device_type + "_input_in_net", "made", "sgd", more, device_type)
        record(out, device_type + "_frozen", "frozen", "sgd", more, device_type)
        record(out, device_type + "_shared_layer", "shared", "sgd", more, device_type)
        record(out, device_type + "_conv", "conv", "momentum", dict(devices=[0, 1, 2]), device_type)
        record(out, device_type + "_conv_forward", "conv", None, more, device_type,
               callbacks=("net_transformer_fun",))
        record(out, device_type + "_gloo_timeout", "mlp", "sgd",
               dict(devices=two, rendezvous=gloo(shard_id=1), barrier_net_timeout_sec=30), device_type)
        record(out, device_type + "_gloo_conv", "conv", "momentum",
               dict(devices=two, rendezvous=gloo(num_shards=3, shard_id=2), max_concurrent_distributed_ops=1),
               device_type)
        record(out, device_type + "_gloo_one_shard", "mlp", "sgd", dict(devices=two, rendezvous=gloo(num_shards=1)),
               device_type)
        record(out, device_type + "_gloo_ibverbs", "mlp", "sgd",
               dict(devices=two, rendezvous=gloo(transport="ibverbs", interface="ib0")), device_type)
        record(out, device_type + "_gloo_free", "mlp", "sgd",
               dict(devices=two, rendezvous=dict(GLOO), dynamic_memory_management=True, blobs_to_keep=["softmax"]),
               device_type)
        record(out, device_type + "_gloo_one_worker", "mlp", "sgd",
               dict(devices=[0], num_threads_per_device=1, rendezvous=dict(GLOO)), device_type)
        record(out, device_type + "_mpi", "mlp", "sgd", dict(devices=two, rendezvous=dict(MPI)), device_type)
        record(out, device_type + "_mpi_param_update", "mlp", "param_update",
               dict(devices=two, rendezvous=dict(MPI)), device_type)
        record(out, device_type + "_gloo_sparse", "table", "param_update", dict(devices=two, rendezvous=dict(GLOO)),
               device_type)
        record(out, device_type + "_gloo_forward", "mlp", None, dict(devices=two, rendezvous=dict(GLOO)), device_type)
        record(out, device_type + "_memonger_conv", "conv", "sgd", dict(devices=two, optimize_gradient_memory=True),
               device_type)
        record(out, device_type + "_both_memory", "mlp", "sgd",
               dict(devices=two, optimize_gradient_memory=True, dynamic_memory_management=True), device_type)
        record(out, device_type + "_predict_fc2", "mlp", "sgd", more, device_type,
               more=predictor(["data"], ["fc2", "relu1"], gpu0 if device_type == "gpu" else cpu0))
        record(out, device_type + "_predict_middle", "mlp", "sgd", more, device_type,
               more=predictor(["relu1"], ["fc2"], None))
        record(out, device_type + "_checkpoint", "mlp", "momentum", more, device_type,
               more=checkpoint(None, device_type != "gpu"))
        record(out, device_type + "_checkpoint_two", "mlp", "momentum", more, device_type,
               more=checkpoint(["%s_0/fc1_w" % device_type, "%s_0/fc2_b" % device_type], True))
        record(out, device_type + "_checkpoint_gloo", "mlp", "momentum", dict(devices=two, rendezvous=dict(GLOO)),
               device_type, more=checkpoint(None, device_type != "gpu"))
        record(out, device_type + "_bn_combined", "conv", "sgd", dict(devices=[0, 1, 2], combine_spatial_bn=True),
               device_type)
        record(out, device_type + "_bn_combined_nhwc", "nhwc", "sgd", dict(devices=two, combine_spatial_bn=True),
               device_type)
        record(out, device_type + "_bn_combined_ids", "conv", "sgd", dict(devices=[2, 3], combine_spatial_bn=True),
               device_type)
        record(out, device_type + "_bn_combined_gloo", "conv", "sgd",
               dict(devices=two, combine_spatial_bn=True, rendezvous=dict(GLOO)), device_type)
        record(out, device_type + "_shared_model", "mlp", "param_update", dict(devices=four, shared_model=True),
               device_type)
        record(out, device_type + "_shared_model_conv", "conv", "momentum", dict(devices=two, shared_model=True),
               device_type)
    for device_type in ("gpu", "hip"):
        record(out, device_type + "_conv_nccl", "conv", "sgd", dict(devices=four, use_nccl=True), device_type)
        record(out, device_type + "_two_tables", "tables", "param_update", dict(devices=two, use_nccl=True), device_type)
        record(out, device_type + "_peers", "mlp", "sgd", dict(devices=four), device_type, peers=PAIRS)
        record(out, device_type + "_peers_3", "mlp", "sgd", dict(devices=[2, 0, 5]), device_type, peers=PAIRS)
        record(out, device_type + "_peers_8", "mlp", "sgd", dict(devices=list(range(8))), device_type, peers=PAIRS)
        record(out, device_type + "_gloo_nccl", "mlp", "adam", dict(devices=two, use_nccl=True, rendezvous=dict(GLOO)),
               device_type)
        record(out, device_type + "_mpi_3", "conv", "sgd", dict(devices=[0, 1, 2], rendezvous=dict(MPI)), device_type)
    record(out, "gpu_bn_combined_nccl", "conv", "sgd", dict(devices=two, combine_spatial_bn=True, use_nccl=True), "gpu")
    record(out, "gpu_shared_layer_nccl", "shared", "adagrad", dict(devices=two, use_nccl=True), "gpu")

    for device_type in ("cpu", "gpu"):
        b = lambda name, kind="mlp", opt="param_update", peers=None, more=None, **options: record(
            out, "bmuf_{}_{}".format(device_type, name), kind, opt, dict(options), device_type, True, peers=peers, more=more)
        b("rates", devices=two, block_learning_rate=0.5, block_momentum=0.25, nesterov=True)
        b("warmup", devices=two, warmup_iterations=3)
        b("warmup_gloo", devices=two, warmup_iterations=3, rendezvous=dict(GLOO), nesterov=True)
        b("master", devices=[0, 1, 2], master_device=1)
        b("reset", "mlp", "momentum_update", devices=two, reset_momentum_sgd=True)
        b("sync_blobs", "mlp", "momentum_update", devices=two, add_blobs_to_sync=["fc1_w_m", "fc2_b_m"])
        b("gloo", devices=two, rendezvous=gloo(shard_id=1), max_concurrent_distributed_ops=2,
          barrier_net_timeout_sec=60)
        b("gloo_sync_blobs", "mlp", "momentum_update", devices=two, rendezvous=dict(GLOO),
          add_blobs_to_sync=["fc1_w_m", "fc2_b_m"])
        b("type", devices=two, net_type="simple", num_threads_per_device=2)
        b("memonger", devices=two, optimize_gradient_memory=True)
        b("conv", "conv", devices=two)
        b("one", devices=[0])
    record(out, "bmuf_cpu_devices_none", "mlp", "param_update", {}, "cpu", True)
    record(out, "bmuf_gpu_mpi", "mlp", "param_update", dict(devices=two, rendezvous=dict(MPI)), "gpu", True)
    record(out, "bmuf_gpu_nccl", "mlp", "param_update", dict(devices=two, use_nccl=True), "gpu", True)
    record(out, "bmuf_gpu_peers", "mlp", "param_update", dict(devices=four), "gpu", True, peers=PAIRS)

    convert(out, "convert_cpu", core.DeviceOption(caffe2_pb2.CPU, 2))
    convert(out, "convert_gpu", core.DeviceOption(caffe2_pb2.CUDA, 1), True)
    convert(out, "convert_hip", core.DeviceOption(caffe2_pb2.HIP, 1))
    convert(out, "convert_ideep", core.DeviceOption(caffe2_pb2.IDEEP, 0))
    convert(out, "convert_recurrent", core.DeviceOption(caffe2_pb2.CUDA, 0), recurrent=True)

    with open(sys.argv[1], "w") as file:
        for row in out:
            file.write(json.dumps(row) + "\n")
    print(len(out), "rows,", sum("error" in row for row in out), "of them errors")


main()
