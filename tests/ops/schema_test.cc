// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/schema.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "tests/support/compact_net.h"

namespace weft::test {
namespace {

std::vector<std::string> Wrong(std::string_view text, std::vector<Arg> (*args)(SymbolTable&) = nullptr) {
  Net net = testing::CompactNet(text);
  if (args) net.ops[0].args = ArgList(args(*net.symbols));
  const OpDef& def = *StandardOps().Find(net.Str(net.ops[0].type));
  std::vector<std::string> messages;
  for (const Error& error : SchemaErrors(def, net, net.ops[0])) messages.push_back(error.message);
  const Result<void> first = VerifySchema(def, net, net.ops[0]);
  EXPECT_EQ(first.has_value(), messages.empty());
  if (!first && !messages.empty()) {
    EXPECT_EQ(first.error().message, messages[0]);
  }
  return messages;
}

using Messages = std::vector<std::string>;

std::vector<Arg> IsTest(SymbolTable& table) { return {MakeArg(table.Intern("is_test"), int64_t{0})}; }

TEST(Schema, Counts) {
  EXPECT_EQ(Wrong("Relu(x) -> y"), Messages());
  EXPECT_EQ(Wrong("Relu(x, z) -> y"), Messages({"Input size 2 not in range [min=1, max=1]."}));
  EXPECT_EQ(Wrong("Relu(x, z) -> y, w"), Messages({"Input size 2 not in range [min=1, max=1].",
                                                   "Output size 2 not in range [min=1, max=1]."}));
  EXPECT_EQ(Wrong("WeightedSum(a, b, c) -> y"), Messages({"Input size 3 not in allowed input sizes."}));
  EXPECT_EQ(Wrong("SoftmaxWithLoss(a, b) -> y"), Messages({"Output size 1 not in allowed output sizes."}));
  EXPECT_EQ(Wrong("SpatialBN(x, s, b, m, v, p, q) -> y, m, v", IsTest),
            Messages({"Output size 3 not in allowed output sizes."}));
  EXPECT_EQ(Wrong("DequeueBlobs(q, r) -> a"), Messages({"Input size 2 not in allowed input sizes."}));
  EXPECT_EQ(Wrong("Partition(a, b, c) -> x, y"),
            Messages({"Combination of input size 3 and output size 2 not in allowed."}));
}

TEST(Schema, InPlace) {
  EXPECT_EQ(Wrong("Relu(x) -> x"), Messages());
  EXPECT_EQ(Wrong("Conv(x, w) -> x"),
            Messages({"Input index 0 and output idx 0 (x) are set to be in-place but this "
                      "is actually not supported by op Conv"}));
  EXPECT_EQ(
      Wrong("Iter(i) -> j"),
      Messages(
          {"Input index 0 (i) and output idx 0 (j) are not in-place but should be as required by op Iter"}));
  EXPECT_EQ(Wrong("SpatialBN(x, s, b, m, v) -> y, m, v, sm, sv", IsTest), Messages());
  EXPECT_EQ(Wrong("SpatialBN(x, s, b, m, v) -> y, m2, v2, sm, sv", IsTest).size(), 2u);
  EXPECT_EQ(Wrong("Allreduce(w, a, b) -> a, b"), Messages());
  for (const char* type :
       {"DequeueBlobs", "SafeDequeueBlobs", "DequeueRebatchingQueue", "WeightedSampleDequeueBlobs"})
    EXPECT_EQ(Wrong(StrCat(type, "(q) -> q, b")).size(), 1u) << type;
}

TEST(Schema, RequiredArguments) {
  EXPECT_EQ(Wrong("Dropout(x) -> y, m", IsTest), Messages());
  EXPECT_EQ(Wrong("Dropout(x) -> y, m"),
            Messages({"Argument 'is_test' is required for Operator 'Dropout'."}));
}

}  // namespace
}  // namespace weft::test
