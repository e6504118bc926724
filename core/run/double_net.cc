// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/double_net.h"

#include <algorithm>
#include <memory>

#include "core/ir/type_arg.h"

namespace weft {

namespace {

// ConstantFill and Cast make floats unless told otherwise.
void ChooseDouble(const Net& net, Op& op) {
  const bool fill = net.Str(op.type) == "ConstantFill";
  if (!fill && net.Str(op.type) != "Cast") return;
  const std::string_view name = fill ? "dtype" : "to";
  if (ArgDataType(*net.symbols, op.args, name, DataType::kFloat) != DataType::kFloat) return;
  op.args = WithArg(op.args, MakeArg(net.symbols->Intern(name), static_cast<int64_t>(DataType::kDouble)));
}

}  // namespace

Net DoubleNet(const Net& net) {
  Net out = net;
  for (Op& op : out.ops) {
    ChooseDouble(net, op);
    for (const Arg& arg : op.args.Copy())
      if (arg.has & Arg::kHasN)
        op.args = WithArg(op.args, MakeArg(arg.name, std::make_shared<const Net>(DoubleNet(*arg.Load()->n))));
  }
  return out;
}

Tensor DoubleTensor(const Tensor& tensor) {
  if (tensor.type() != DataType::kFloat) return tensor.Clone();
  Tensor out;
  WEFT_CHECK(out.Allocate(DataType::kDouble, tensor.dims()));
  std::copy_n(tensor.data<float>(), tensor.numel(), out.mutable_data<double>());
  return out;
}

}  // namespace weft
