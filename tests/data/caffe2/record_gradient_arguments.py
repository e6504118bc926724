# SPDX-FileCopyrightText: The Weft authors
# SPDX-License-Identifier: Apache-2.0
#
# Records gradient_arguments.jsonl with a real Caffe2: what each argument of a forward operator does to its gradient.
# Operators and their arguments are those of the other files here; rows are kept where the argument does more than be
# copied.
#   python3 record_gradient_arguments.py FOLDER OUTPUT
import hashlib
import json
import sys

from caffe2.proto import caffe2_pb2
from caffe2.python import core
from google.protobuf import text_format

SKIPPED = {"Do", "If", "While", "RecurrentNetwork", "ATen", "Direct", "UseOutput", "UseInput", "Nogradient"}
INTS, FLOATS, TEXTS = (0, 1, 2, -1), (0.0, 0.5, -1.0), (b"", b"NCHW", b"NHWC", b"float", b"mean")


def rows(name):
    with open("%s/%s.jsonl" % (sys.argv[1], name)) as lines:
        return [json.loads(line) for line in lines]


def read(text, kind):
    return text_format.Parse(text, kind())


def write(message):
    return text_format.MessageToString(message, as_one_line=True)


def gradient(op, outputs):
    """The generated operators and the gradients of the inputs, or the error."""
    try:
        ops, inputs = core.GradientRegistry._GetGradientForOpCC(op, outputs)
    except Exception as error:
        return {"error": str(error).split("\nframe #")[0]}
    net = caffe2_pb2.NetDef()
    net.op.extend(ops)
    names = [g if g is None else {"indices": str(g.indices), "values": str(g.values)} if isinstance(g, core.GradientSlice) else str(g) for g in inputs]
    return {"grad_ops": write(net), "g_input": names}


def only_copied(answer, plain, arg):
    """Whether the argument makes no other difference than standing once in each operator that copies arguments."""
    if "error" in answer or answer["g_input"] != plain["g_input"]:
        return "error" in answer and answer == plain
    left = [caffe2_pb2.NetDef(), caffe2_pb2.NetDef()]
    for net, text in zip(left, (answer["grad_ops"], plain["grad_ops"])):
        text_format.Parse(text, net)
    for op, other in zip(left[0].op, left[1].op):
        own = [a for a in op.arg if a == arg]
        if len(own) != 1 and any(a.name == "zz" for a in other.arg):
            return False
        kept = [a for a in op.arg if a != arg]
        del op.arg[:]
        op.arg.extend(kept)
    return left[0] == left[1]


arguments = {}  # by operator type: name -> field
for name in ("gradient_makers", "gradient_rules", "operators"):
    for row in rows(name):
        ops = [read(row["op"], caffe2_pb2.OperatorDef)] if "op" in row else read(row["net"], caffe2_pb2.NetDef).op
        made = read(row["grad_ops"], caffe2_pb2.NetDef).op if "grad_ops" in row else []
        for op in ops:
            known = arguments.setdefault(op.type, {})
            for arg in [a for other in [op, *made] for a in other.arg]:
                known.setdefault(arg.name, "f" if arg.HasField("f") else "s" if arg.HasField("s") else "i" if arg.HasField("i") else "")

seen = set()
with open(sys.argv[2], "w") as output:
    for row in rows("gradient_makers"):
        op = read(row["op"], caffe2_pb2.OperatorDef)
        if "error" in row or row["type"] in SKIPPED or any(not isinstance(g, str) for g in row["g_output"]):
            continue
        plain = gradient(op, row["g_output"])
        for name, field in sorted(arguments[op.type].items()):
            key = (op.type, len(op.input), len(op.output), name)
            if not field or name == "zz" or key in seen or any(a.name == name for a in op.arg):
                continue
            seen.add(key)
            for value in {"i": INTS, "f": FLOATS, "s": TEXTS}[field]:
                said = caffe2_pb2.OperatorDef()
                said.CopyFrom(op)
                arg = said.arg.add()
                arg.name = name
                setattr(arg, field, value)
                answer = gradient(said, row["g_output"])
                if only_copied(answer, plain, arg):
                    continue
                text = write(said)
                answer.update({"op": text, "g_output": row["g_output"], "type": op.type, "id": hashlib.sha1(text.encode()).hexdigest()[:16]})
                output.write(json.dumps(answer, sort_keys=True) + "\n")
