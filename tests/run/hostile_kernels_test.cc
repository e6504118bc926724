// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference kernels on what nobody recorded: the rows of tests/data/caffe2/operators.jsonl and
// more_operators.jsonl with inputs of other shapes, types and values, and operators with other arguments,
// inputs and outputs. Nothing is compared: each run must end with values or an error, within its limits. What
// reads or writes outside a tensor is for the sanitizers to see. The same mutations every time;
// WEFT_HOSTILE_TRACE=1 tells each before it runs, and WEFT_HOSTILE_FIRST and _ROUNDS begin later and go on
// longer.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/run/interpreter.h"
#include "tests/run/arrays.h"

namespace weft::test {
namespace {

// A small generator of our own: the same numbers from every library.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t Next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du >> 11;
  }
  size_t Below(size_t n) { return Next() % n; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[Below(values.size())];
  }

 private:
  uint64_t state_;
};

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
const std::vector<int64_t> kIntegers = {-1,        0,         1,        2,       3,         -2,
                                        7,         100,       -100,     1 << 20, INT32_MAX, INT32_MIN,
                                        1LL << 32, 1LL << 40, kMax / 2, kMax,    kMin,      kMin + 1};
const std::vector<double> kReals = {0, -1, 0.5, 2, 1e9, -1e9, 1e38, -1e38, 1e-38, NAN, INFINITY, -INFINITY};
const std::vector<DataType> kTypes = {DataType::kFloat, DataType::kDouble,  DataType::kInt32,
                                      DataType::kInt64, DataType::kBool,    DataType::kUint8,
                                      DataType::kInt8,  DataType::kFloat16, DataType::kUint16,
                                      DataType::kInt16, DataType::kString};

void SetNumber(Tensor& tensor, int64_t i, double value, int64_t exact) {
  switch (tensor.type()) {
    case DataType::kFloat:
      tensor.mutable_data<float>()[i] = static_cast<float>(value);
      break;
    case DataType::kDouble:
      tensor.mutable_data<double>()[i] = value;
      break;
    case DataType::kFloat16:
      tensor.mutable_data<Half>()[i] = FloatToHalf(static_cast<float>(value));
      break;
    case DataType::kInt32:
      tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(static_cast<uint64_t>(exact));
      break;
    case DataType::kInt64:
      tensor.mutable_data<int64_t>()[i] = exact;
      break;
    case DataType::kInt16:
      tensor.mutable_data<int16_t>()[i] = static_cast<int16_t>(static_cast<uint64_t>(exact));
      break;
    case DataType::kUint16:
      tensor.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(static_cast<uint64_t>(exact));
      break;
    case DataType::kInt8:
      tensor.mutable_data<int8_t>()[i] = static_cast<int8_t>(static_cast<uint64_t>(exact));
      break;
    case DataType::kUint8:
      tensor.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(static_cast<uint64_t>(exact));
      break;
    case DataType::kBool:
      tensor.mutable_data<bool>()[i] = (exact & 1) != 0;
      break;
    case DataType::kString:
      tensor.mutable_data<std::string>()[i] = exact % 3 == 0   ? ""
                                              : exact % 3 == 1 ? "-1"
                                                               : std::string(40, 'x');
      break;
    default:
      break;
  }
}

// The values of `from`, repeated or cut, in other dimensions or of another type.
Tensor Reshaped(const Tensor& from, DataType type, const std::vector<int64_t>& dims) {
  Tensor out;
  WEFT_CHECK(out.Allocate(type, dims));
  for (int64_t i = 0; i < out.numel(); ++i) {
    if (type == from.type() && type == DataType::kString && from.numel() > 0) {
      out.mutable_data<std::string>()[i] = from.data<std::string>()[i % from.numel()];
      continue;
    }
    double value = from.numel() > 0 ? NumberAt(from, i % from.numel()) : 1;
    if (!(value > -1e9 && value < 1e9)) value = 1;
    SetNumber(out, i, value, static_cast<int64_t>(value));
  }
  return out;
}

using Inputs = std::vector<std::pair<std::string, Tensor>>;

struct Case {
  Net net;
  Inputs inputs;
  std::string what;
};

void MutateShape(Case& c, Dice& dice) {
  auto& [name, tensor] = c.inputs[dice.Below(c.inputs.size())];
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  switch (dice.Below(8)) {
    case 0:
      dims.insert(dims.begin() + static_cast<ptrdiff_t>(dice.Below(dims.size() + 1)), 1 + dice.Below(3));
      break;
    case 1:
      if (!dims.empty()) dims.erase(dims.begin() + static_cast<ptrdiff_t>(dice.Below(dims.size())));
      break;
    case 2:
      if (!dims.empty()) dims[dice.Below(dims.size())] = 0;
      break;
    case 3:
      if (!dims.empty()) ++dims[dice.Below(dims.size())];
      break;
    case 4:
      if (!dims.empty()) --dims[dice.Below(dims.size())];
      break;
    case 5:
      dims = {tensor.numel()};
      break;
    case 6:
      dims.clear();
      break;
    default:
      if (dims.size() > 1) std::swap(dims[dice.Below(dims.size())], dims[dice.Below(dims.size())]);
      break;
  }
  for (int64_t& d : dims) d = std::max<int64_t>(d, 0);
  StrAppend(c.what, " ", name, " ", DimsToString(tensor.dims()), " becomes ", DimsToString(dims), ";");
  tensor = Reshaped(tensor, tensor.type(), dims);
}

void MutateInput(Case& c, Dice& dice) {
  const size_t at = dice.Below(c.inputs.size());
  auto& [name, tensor] = c.inputs[at];
  switch (dice.Below(6)) {
    case 0: {
      const DataType type = dice.Of(kTypes);
      StrAppend(c.what, " ", name, " becomes ", DataTypeName(type), ";");
      tensor = Reshaped(tensor, type, {tensor.dims().begin(), tensor.dims().end()});
      break;
    }
    case 1:
      StrAppend(c.what, " ", name, " becomes a tensor without a type;");
      tensor = Tensor();
      break;
    default:
      if (tensor.empty()) break;
      const int64_t i = static_cast<int64_t>(dice.Below(static_cast<size_t>(tensor.numel())));
      const int64_t exact = dice.Of(kIntegers);
      const double value = dice.Of(kReals);
      tensor = tensor.Clone();
      StrAppend(c.what, " ", name, "[", i, "] becomes ", value, " or ", exact, ";");
      SetNumber(tensor, i, value, exact);
  }
}

void MutateArg(Case& c, Op& op, Dice& dice) {
  std::vector<Arg> args = op.args.Copy();
  if (args.empty()) return;
  Arg& arg = args[dice.Below(args.size())];
  const Symbol name = arg.name;
  const ArgDataPtr data = arg.Load();
  StrAppend(c.what, " ", c.net.Str(op.type), ".", c.net.Str(name));
  const auto integer = [&] {
    const int64_t value = dice.Of(kIntegers);
    StrAppend(c.what, " becomes ", value, ";");
    return value;
  };
  const size_t way = dice.Below(8);
  if (way == 0) {
    StrAppend(c.what, " is left out;");
    args.erase(args.begin() + (&arg - args.data()));
  } else if (way == 1) {
    StrAppend(c.what, " becomes text;");
    arg = MakeArg(name, std::string(dice.Below(2) ? "" : "What?"));
  } else if (!data->ints.empty()) {
    std::vector<int64_t> ints = data->ints;
    if (way == 2) {
      ints.pop_back();
      StrAppend(c.what, " loses its last;");
    } else if (way == 3) {
      ints.push_back(integer());
    } else {
      const size_t at = dice.Below(ints.size());
      StrAppend(c.what, "[", at, "]");
      ints[at] = integer();
    }
    arg = MakeArg(name, std::move(ints));
  } else if (!data->floats.empty()) {
    std::vector<float> floats = data->floats;
    if (way == 2) {
      floats.pop_back();
    } else {
      floats[dice.Below(floats.size())] = static_cast<float>(dice.Of(kReals));
    }
    StrAppend(c.what, " changes a float;");
    arg = MakeArg(name, std::move(floats));
  } else if (!data->strings.empty()) {
    std::vector<std::string> strings = data->strings;
    if (way < 5) {
      strings.pop_back();
    } else {
      strings[dice.Below(strings.size())] = "What?";
    }
    StrAppend(c.what, " changes a string;");
    arg = MakeArg(name, std::move(strings));
  } else if (arg.has & Arg::kHasF) {
    const float value = static_cast<float>(dice.Of(kReals));
    StrAppend(c.what, " becomes ", value, ";");
    arg = MakeArg(name, value);
  } else {
    arg = MakeArg(name, integer());
  }
  op.args = ArgList(std::move(args));
}

// An argument that the row lacks, of those that its operator has.
void AddArg(Case& c, Op& op, Dice& dice) {
  const OpDef* def = StandardOps().Find(c.net.Str(op.type));
  const std::vector<ArgSpec> specs = def ? ParseArgs(def->args) : std::vector<ArgSpec>();
  if (specs.empty()) return;
  const std::string_view name = dice.Of(specs).name;
  const int64_t value = dice.Of(kIntegers);
  StrAppend(c.what, " ", c.net.Str(op.type), ".", name, " is set to ", value, ";");
  op.args = WithArg(op.args, dice.Below(4) ? MakeArg(c.net.Intern(name), value)
                                           : MakeArg(c.net.Intern(name), std::vector<int64_t>{value, value}));
}

void MutateBlobs(Case& c, Op& op, Dice& dice) {
  if (op.inputs.empty()) return;
  const size_t at = dice.Below(op.inputs.size());
  switch (dice.Below(4)) {
    case 0:
      StrAppend(c.what, " one input less;");
      op.inputs.erase(op.inputs.end() - 1);
      break;
    case 1:
      StrAppend(c.what, " input ", at, " twice;");
      op.inputs[dice.Below(op.inputs.size())] = op.inputs[at];
      break;
    case 2:
      if (op.outputs.empty()) break;
      StrAppend(c.what, " output over input ", at, ";");
      op.outputs[dice.Below(op.outputs.size())] = op.inputs[at];
      break;
    default:
      StrAppend(c.what, " input ", at, " once more;");
      op.inputs.push_back(op.inputs[at]);
      break;
  }
}

void Mutate(Case& c, Dice& dice) {
  Op& op = c.net.ops[dice.Below(c.net.ops.size())];
  const size_t way = dice.Below(12);
  if (way < 4 && !c.inputs.empty()) {
    MutateShape(c, dice);
  } else if (way < 7 && !c.inputs.empty()) {
    MutateInput(c, dice);
  } else if (way < 10) {
    MutateArg(c, op, dice);
  } else if (way < 11) {
    AddArg(c, op, dice);
  } else {
    MutateBlobs(c, op, dice);
  }
}

uint64_t Number(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// True when it ran to its end; an error must have a message.
bool RunCase(const Case& c) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  context.op_limit = 1000;
  context.element_limit = 1 << 20;
  Workspace workspace(context);
  for (const auto& [name, tensor] : c.inputs) workspace.Feed(name, tensor.Clone());
  const Result<void> ran = workspace.RunNetOnce(c.net);
  EXPECT_TRUE(ran || !ran.error().message.empty()) << c.what;
  return ran.has_value();
}

TEST(HostileKernels, EndWithValuesOrAnError) {
  const bool trace = Number("WEFT_HOSTILE_TRACE", 0) != 0;
  const uint64_t first = Number("WEFT_HOSTILE_FIRST", 0), rounds = Number("WEFT_HOSTILE_ROUNDS", 6);
  uint64_t number = 0, errors = 0;
  std::vector<Json> rows = ReadJsonl("caffe2/operators.jsonl");
  for (Json& row : ReadJsonl("caffe2/more_operators.jsonl")) rows.push_back(std::move(row));
  for (const Json& row : rows) {
    Case recorded;
    recorded.net = NetFromText(row.at("net").get<std::string>());
    for (const auto& [name, array] : row.at("inputs").items())
      recorded.inputs.emplace_back(name, TensorFromJson(array));
    for (uint64_t round = 0; round < rounds; ++round) {
      if (++number <= first) continue;
      Dice dice(number);
      for (int i = 0; i < 5; ++i) dice.Next();
      Case c = recorded;
      c.what =
          StrCat(number, " ", row.at("type").get<std::string>(), " ", row.at("id").get<std::string>(), ":");
      for (size_t times = 1 + dice.Below(3); times > 0; --times) Mutate(c, dice);
      if (trace) std::fprintf(stderr, "%s\n", c.what.c_str());
      errors += !RunCase(c);
    }
  }
  std::puts(StrCat(number, " mutated operators, ", errors, " refused").c_str());
}

DataType TypeFor(char letter, Dice& dice) {
  const std::span<const DataType> types = KernelInputTypes(letter);
  return types.empty() ? dice.Of(kTypes) : types[dice.Below(types.size())];
}

// Operators without a recorded row, too: tensors of the types that the kernel asks for, but of any shape.
TEST(HostileKernels, EveryKernelOnPlainTensors) {
  const bool trace = Number("WEFT_HOSTILE_TRACE", 0) != 0;
  const uint64_t first = Number("WEFT_HOSTILE_FIRST", 0), rounds = Number("WEFT_HOSTILE_ROUNDS", 6);
  const std::vector<std::vector<int64_t>> shapes = {{},     {0},       {1},          {3},   {2, 3},
                                                    {3, 3}, {2, 3, 4}, {1, 4, 4, 3}, {2, 0}};
  uint64_t number = 1'000'000, ran_well = 0;
  for (const KernelRow* row : ReferenceKernels().all()) {
    for (size_t inputs = 0; inputs < 8; ++inputs) {
      for (uint64_t round = 0; round < rounds; ++round) {
        if (++number <= first) continue;
        Dice dice(number);
        for (int i = 0; i < 5; ++i) dice.Next();
        Case c;
        Op op;
        op.type = c.net.Intern(row->type);
        const std::vector<int64_t> shape = dice.Of(shapes);
        c.what = StrCat(number, " ", row->type, ":");
        for (size_t i = 0; i < inputs; ++i) {
          const char letter = row->letter(i);
          Tensor tensor;
          WEFT_CHECK(tensor.Allocate(TypeFor(letter, dice), dice.Below(3) ? shape : dice.Of(shapes)));
          for (int64_t k = 0; k < tensor.numel(); ++k)
            SetNumber(tensor, k, static_cast<double>(k % 3), k % 3);
          StrAppend(c.what, " ", DataTypeName(tensor.type()), DimsToString(tensor.dims()));
          c.inputs.emplace_back(StrCat("in", i), std::move(tensor));
          op.inputs.push_back(c.net.Intern(c.inputs.back().first));
        }
        const size_t outputs = dice.Below(4);
        StrAppend(c.what, " -> ", outputs);
        for (size_t i = 0; i < outputs; ++i) op.outputs.push_back(c.net.Intern(StrCat("out", i)));
        c.net.ops.push_back(std::move(op));
        if (dice.Below(2)) AddArg(c, c.net.ops[0], dice);
        if (trace) std::fprintf(stderr, "%s\n", c.what.c_str());
        ran_well += RunCase(c);
      }
    }
  }
  std::puts(StrCat(number - 1'000'000, " plain operators, ", ran_well, " gave values").c_str());
}

}  // namespace
}  // namespace weft::test
