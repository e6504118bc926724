# SPDX-FileCopyrightText: The Weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Records backward_types.jsonl with a real Caffe2: backward passes of small random nets of the operators in
# gradient_rules.jsonl, all types alike, with overwritten blobs, devices, given and sparse gradients.
#   python3 record_backward_types.py FOLDER OUTPUT [FIRST_SEED END_SEED MOST_OPERATORS]
import json
import random
import sys

from caffe2.proto import caffe2_pb2
from caffe2.python import core
from google.protobuf import text_format

MADE_ELSEWHERE = {"If", "While", "Do", "RecurrentNetwork", "Direct", "UseOutput", "UseInput", "Nogradient"}


def write(ops):
    net = caffe2_pb2.NetDef()
    net.op.extend(ops)
    return text_format.MessageToString(net)


def read_operators(path):
    """By type: those with a gradient, those without."""
    fine, refused = {}, {}
    with open(path) as lines:
        for row in map(json.loads, lines):
            if row["type"] not in MADE_ELSEWHERE:
                op = text_format.Parse(row["op"], caffe2_pb2.OperatorDef())
                (refused if "error" in row else fine).setdefault(row["type"], []).append(op)
    return fine, refused


class Maker:
    def __init__(self, seed, fine, refused, most):
        self.random = random.Random(seed)
        self.fine, self.refused, self.most = fine, refused, most
        self.blobs = ["x%d" % i for i in range(4)]
        self.made = 0

    def maybe(self, share):
        return self.random.random() < share

    def new(self):
        self.made += 1
        return "b%d" % (self.made - 1)

    def input(self):
        if self.maybe(0.6):
            return self.random.choice(self.blobs[-6:])
        return self.random.choice(self.blobs) if self.maybe(0.7) else "e%d" % self.random.randint(0, 30)

    def net(self):
        """Operators and what is differentiated, with given gradients."""
        choice = self.random.choice
        overwrites = 0 if self.maybe(0.45) else choice([0.05, 0.15, 0.3])
        devices, tags, refusals = choice([0, 0, 0, 0.3, 0.9]), choice([0, 0, 0.2]), choice([0, 0, 0, 0, 0.05])
        types = sorted(self.fine)
        if self.maybe(0.5):
            types = self.random.sample(types, self.random.randint(1, 8))
        ops = []
        for _ in range(self.random.randint(1, self.most)):
            kinds = self.refused[choice(sorted(self.refused))] if self.maybe(refusals) else self.fine[choice(types)]
            op = caffe2_pb2.OperatorDef()
            op.CopyFrom(choice(kinds))
            twice, names = self.maybe(0.1), {}
            for blob in op.input:
                if blob not in names:
                    names[blob] = self.input()
                    for _ in range(8):
                        if twice or list(names.values()).count(names[blob]) == 1:
                            break
                        names[blob] = self.input()
            inputs, outputs = [names[blob] for blob in op.input], []
            for blob in op.output:
                name = names[blob] if blob in names and self.maybe(0.7) else choice(self.blobs + inputs) if self.maybe(overwrites) else self.new()
                outputs.append(self.new() if name in outputs else name)
            del op.input[:], op.output[:]
            op.input.extend(inputs)
            op.output.extend(outputs)
            if self.maybe(devices):
                op.device_option.Clear()
                op.device_option.device_type = choice([0, 1, 1])
                op.device_option.device_id = self.random.randint(0, 1)
                if self.maybe(tags):
                    op.device_option.extra_info.append(choice(["t:1", "is_x:2"]))
                if self.maybe(tags):
                    op.device_option.node_name = "node%d" % self.random.randint(0, 1)
            if self.maybe(0.05):
                op.engine = choice(["CUDNN", "NNPACK", "BLOCK"])
            if self.maybe(0.1):
                op.name = choice(["n1", "scope/op"])
            ops.append(op)
            self.blobs += outputs
        outputs = [blob for op in ops for blob in op.output]
        ys = {}
        for _ in range(choice([1, 1, 1, 2, 3]) if outputs else 0):
            y = choice(outputs[-4:] if self.maybe(0.7) else outputs)
            ys[y] = choice([None] * 12 + ["given_" + y] * 5 + [{"indices": "gi_" + y, "values": "gv_" + y}] * 2 + [choice(outputs) + "_grad"])
        return ops, ys


def gradient(g):
    if isinstance(g, dict):
        return core.GradientSlice(indices=g["indices"], values=g["values"])
    return g and core.BlobReference(g)


def text(g):
    return {"indices": str(g.indices), "values": str(g.values)} if isinstance(g, core.GradientSlice) else str(g)


first, end, most = (int(v) for v in sys.argv[3:6]) if len(sys.argv) > 3 else (0, 700, 6)
fine, refused = read_operators(sys.argv[1] + "/gradient_rules.jsonl")
with open(sys.argv[2], "w") as output:
    for seed in range(first, end):
        ops, ys = Maker(seed, fine, refused, most).net()
        if not ys:
            continue
        row = {"id": "types_%d" % seed, "forward": write(ops), "ys": ys}
        try:
            made, grads = core.GradientRegistry.GetBackwardPass(ops, {core.BlobReference(y): gradient(g) for y, g in ys.items()})
            row.update(backward=write(made), grads={str(blob): text(g) for blob, g in grads.items()})
        except Exception as error:
            row["error"] = "%s: %s" % (type(error).__name__, str(error).split("\nframe #")[0])
            if "same device option" in row["error"]:
                continue  # of several blobs a set's order says which is told
        output.write(json.dumps(row, sort_keys=True) + "\n")
