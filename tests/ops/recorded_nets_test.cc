// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Nets that real Caffe2 built or ran, against the table: it must know every operator, find nothing wrong with
// it, and know its arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/ops/schema.h"
#include "tests/support/golden.h"
#include "tests/support/toy_ops.h"

namespace weft::test {
namespace {

// Arguments that builders put on any operator.
const std::set<std::string_view> kAnywhere = {"order", "use_cudnn", "cudnn_exhaustive_search"};
// Arguments of recorded test nets that no kernel reads, and the numbered ones of composite learning rates.
bool IsIdle(std::string_view type, std::string_view arg) {
  static const std::set<std::pair<std::string_view, std::string_view>> kIdle = {
      {"Add", "use_grad_hack"},
      {"ConstantFill", "values"},
      {"CreateMap", "valued_dtype"},
      {"CreateMutex", "shape"},
      {"FC", "freeze_bias"},
      {"GaussianFill", "run_once"},
      {"GivenTensorDoubleFill", "dtype"},
      {"LongIndexCreate", "shape"},
      {"PRelu", "alpha"},
      {"GivenTensorByteStringToUInt8Fill", "dtype"},
      {"PiecewiseLinearTransform", "pieces"},
      {"SelfBinningHistogram", "logspacing_start"}};
  return kIdle.count({type, arg}) != 0 ||
         (type == "LearningRate" && (arg.substr(0, 11) == "sub_policy_" || arg.substr(0, 9) == "num_iter_"));
}

class Walk {
 public:
  void Net(const weft::Net& net, const std::string& where) {
    for (const Op& op : net.ops) One(net, op, where);
  }
  size_t ops = 0;
  std::set<std::string_view> types;

 private:
  void One(const weft::Net& net, const Op& op, const std::string& where) {
    ++ops;
    const std::string_view type = net.Str(op.type);
    const OpDef* def = StandardAndToyOps().Find(type);
    ASSERT_TRUE(def) << where << ": " << type;
    types.insert(def->name);
    const Result<void> verified = VerifySchema(*def, net, op);
    EXPECT_TRUE(verified) << where << ": " << type << ": " << verified.error().message;
    std::set<std::string_view> known;
    for (const ArgSpec& spec : ParseArgs(def->args)) known.insert(spec.name);
    for (const Arg& arg : op.args) {
      const std::string_view name = net.Str(arg.name);
      // Gradient operators carry all arguments of the forward ones.
      const bool copied =
          op.is_gradient_op.value_or(false) || type.find("Gradient") != std::string_view::npos;
      EXPECT_TRUE(copied || known.count(name) || kAnywhere.count(name) || IsIdle(type, name))
          << where << ": " << type << " has the argument " << name;
      const ArgDataPtr data = arg.Load();
      if (data->n) Net(*data->n, where);
      for (const NetPtr& nested : data->nets) Net(*nested, where);
    }
  }
};

TEST(RecordedNets, OfModelBuildersFitTheTable) {
  Walk walk;
  for (const char* name :
       {"alexnet_train", "char_rnn_2", "dlrm_26", "inception_train", "overfeat_train", "resnet50_train",
        "resnet50_train_2gpu", "resnet50_train_2gpu_4shards_gloo", "resnet50_train_8gpu", "vgga_train"}) {
    walk.Net(NetFromFile(StrCat("models/", name, ".pb")), name);
    walk.Net(NetFromFile(StrCat("models/", name, "_init.pb")), name);
  }
  std::printf("%zu operators of %zu types\n", walk.ops, walk.types.size());
}

TEST(RecordedNets, OfOperatorTestsFitTheTable) {
  Walk walk;
  for (const Json& row : ReadJsonl("caffe2/operators.jsonl")) {
    if (row.contains("error")) continue;
    walk.Net(NetFromText(row["net"].get<std::string>()), row[row.contains("id") ? "id" : "name"]);
  }
  std::printf("%zu operators of %zu types\n", walk.ops, walk.types.size());
}

TEST(RecordedNets, OfTrainingFitTheTable) {
  Walk walk;
  for (const Json& row : ReadJsonl("caffe2/train.jsonl"))
    for (const char* part : {"init_net", "train_net"})
      walk.Net(NetFromText(row[part].get<std::string>()), row[row.contains("id") ? "id" : "name"]);
  for (const Json& row : ReadJsonl("caffe2/data_parallel.jsonl"))
    for (const char* part : {"init", "net"})
      if (row.contains(part) && row[part].is_string())
        walk.Net(NetFromText(row[part].get<std::string>()), row[row.contains("id") ? "id" : "name"]);
  std::printf("%zu operators of %zu types\n", walk.ops, walk.types.size());
}

}  // namespace
}  // namespace weft::test
