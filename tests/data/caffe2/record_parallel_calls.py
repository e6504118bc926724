# SPDX-FileCopyrightText: The Weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Records parallel_calls.jsonl with a real Caffe2: what its calls on a data parallel model make. Nets that it would
# run are kept instead, so no machine has to meet another.
#   python3 record_parallel_calls.py OUTPUT
import json
import sys

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import brew, core, data_parallel_model as dpm, model_helper, optimizer, workspace


def inputs(model):
    pass


def forward(model, loss_scale):
    brew.fc(model, "data", "fc1", 4, 8)
    brew.relu(model, "fc1", "relu1")
    brew.fc(model, "relu1", "fc2", 8, 8)
    brew.relu(model, "fc2", "relu2")
    brew.fc(model, "relu2", "fc3", 8, 3)
    _, loss = model.net.SoftmaxWithLoss(["fc3", "label"], ["softmax", "loss"])
    return [model.net.Scale(loss, loss, scale=loss_scale)]


def sgd(model):
    optimizer.build_sgd(model, base_learning_rate=0.1, policy="fixed")


def new_model():
    workspace.ResetWorkspace()
    return model_helper.ModelHelper(name="m", arg_scope={"order": "NCHW"})


def single():
    model = new_model()
    losses = forward(model, 1.0)
    return {"init": str(model.param_init_net.Proto()), "net": str(model.net.Proto()),
            "losses": [str(b) for b in losses], "params": [str(b) for b in model.params], "computed": []}


def meeting(engine, shards=2, shard=1):
    meet = {"kv_handler": "store_handler", "num_shards": shards, "shard_id": shard, "engine": engine,
            "exit_nets": None}
    if engine == "MPI":
        meet.update(kv_handler=None, mpi_rendezvous=True)
    else:
        meet.update(transport="tcp", interface="")
    return meet


class Kept:
    """Stands in for what would run a net."""

    def __init__(self):
        self.nets = []
        self.real = {name: getattr(workspace, name)
                     for name in ("RunNetOnce", "CreateNet", "RunNet", "FeedBlob", "FetchBlob")}

    def __enter__(self):
        def keep(net, *args, **kwargs):
            if hasattr(net, "Proto"):
                self.nets.append(str(net.Proto()))
        workspace.RunNetOnce = workspace.CreateNet = keep
        workspace.RunNet = lambda *args, **kwargs: None
        workspace.FeedBlob = lambda *args, **kwargs: None
        workspace.FetchBlob = lambda *args, **kwargs: np.zeros(16)
        return self.nets

    def __exit__(self, *args):
        for name, real in self.real.items():
            setattr(workspace, name, real)


# Operators of builds with GPUs, which these nets only name.
core._REGISTERED_OPERATORS |= {"NCCLAllreduce", "CopyGPUToCPU", "CopyCPUToGPU"}


def appended(net, count):
    part = caffe2_pb2.NetDef()
    part.op.extend(net.op[count:])
    return str(part)


def row(name, options, calls):
    model = new_model()
    dpm.Parallelize(model, inputs, forward, optimizer_builder_fun=sgd, **options)
    out = {"name": name, "options": options, "opt": "sgd", "bmuf": False, "calls": calls}
    init, net = model.param_init_net.Proto(), model.net.Proto()
    counts = len(init.op), len(net.op)
    with Kept() as kept:
        try:
            for call, args in calls:
                getattr(dpm, call)(model, **args)
        except Exception as error:
            out["error"] = repr(error)
    if calls[0][0] == "OptimizeGradientMemory":
        out["made"] = str(model.net.Proto())
    else:
        out["init"], out["net"] = appended(init, counts[0]), appended(net, counts[1])
        out["kept"] = kept
    return out


def main(path):
    places = {"cpu": {"devices": [0, 1], "cpu_device": True}, "gpu": {"devices": [0, 1]}}
    rows = [dict(single(), name="single")]
    for place, options in places.items():
        for engine in (None, "GLOO", "MPI"):
            many = dict(options, rendezvous=meeting(engine)) if engine else options
            name = place + ("_" + engine if engine else "")
            first = place + "_0/"
            rows.append(row(name + "_sync", many, [["AddBlobSync", {"blobs": ["fc1"]}]]))
            rows.append(row(name + "_sync_two", many, [["AddBlobSync", {"blobs": ["relu1"]}],
                                                       ["AddBlobSync", {"blobs": ["fc1"]}]]))
            rows.append(row(name + "_sum", many, [["AddDistributedBlobSync",
                                                   {"blobs": [first + "fc1", first + "relu1"]}]]))
            rows.append(row(name + "_meet", many, [["Synchronize", {}], ["Synchronize", {}]]))
            rows.append(row(name + "_meet_100", many, [["Synchronize", {"timeout_sec": 100}]]))
            rows.append(row(name + "_compare", many, [["_RunComparison", {"blob_name": first + "fc1_w"}]]))
        for shapes in (None, {"data": [32, 4], "label": [32]}):
            for activations in (False, True):
                rows.append(row("%s_memory%s%s" % (place, "_shapes" if shapes else "", "_act" if activations else ""),
                                options, [["OptimizeGradientMemory",
                                           {"input_shapes": shapes, "excluded_blobs": ["relu2_grad"],
                                            "recycle_activations": activations}]]))
    with open(path, "w") as out:
        for of in rows:
            out.write(json.dumps(of) + "\n")


main(sys.argv[1])
