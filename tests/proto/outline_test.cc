// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "proto/outline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/base/str.h"
#include "core/ir/net_builder.h"
#include "proto/codec.h"

namespace weft {
namespace {

// A file in memory that counts what is read of it.
struct CountedFile {
  std::string bytes;
  uint64_t read = 0;

  std::shared_ptr<const FileSource> Source() {
    return std::make_shared<const FileSource>(
        FileSource{bytes.size(), [this](uint64_t offset, uint64_t size) {
                     read += size;
                     return bytes.substr(std::min<uint64_t>(offset, bytes.size()), size);
                   }});
  }
};

Result<Document> OpenInSteps(CountedFile& file, uint64_t units, std::string_view name = "net.pb") {
  OpenOptions options;
  options.name = name;
  FileOpener opener(file.Source(), options);
  while (!opener.Step(units)) {
  }
  return opener.Take();
}

Net NetWithWeights(size_t count) {
  Net net;
  net.name = net.Intern("init");
  for (const char* blob : {"w", "b", "w2"}) {
    Op op;
    op.type = net.Intern("GivenTensorFill");
    op.outputs.push_back(net.Intern(blob));
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i) / 8;
    op.args = ArgList({MakeArg(net.Intern("shape"), std::vector<int64_t>{static_cast<int64_t>(count)}),
                       MakeArg(net.Intern("values"), std::move(values)),
                       MakeArg(net.Intern("note"), std::string("small"))});
    net.ops.push_back(std::move(op));
  }
  return net;
}

TEST(Outline, OperatorsAreSeenInOrderBeforeTheyAreDecoded) {
  Net net = NetWithWeights(50'000);
  for (int i = 0; i < 200'000; ++i) {
    Op op;
    op.type = net.Intern("Relu");
    op.inputs.push_back(net.Intern(StrCat("blob_", i)));
    op.outputs.push_back(net.Intern(StrCat("blob_", i + 1)));
    net.ops.push_back(std::move(op));
  }
  CountedFile file{SerializeNet(net)};
  FileOpener opener(file.Source(), {});
  size_t seen = 0;
  opener.OnOp([&](std::string_view op) {
    EXPECT_NE(op.find(net.Str(net.ops[seen].outputs[0])), std::string_view::npos) << seen;
    ++seen;
  });
  while (!opener.walked()) ASSERT_FALSE(opener.Step(1 << 18));
  EXPECT_EQ(seen, net.ops.size());
  while (!opener.Step(1 << 20)) {
  }
  EXPECT_FALSE(opener.walked());
  EXPECT_EQ(opener.Take()->nets[0].net.ops.size(), net.ops.size());
}

TEST(Outline, WeightsStayInTheFileUntilTheyAreLookedAt) {
  const Net net = NetWithWeights(500000);
  CountedFile file{SerializeNet(net)};
  ASSERT_GT(file.bytes.size(), 7'000'000u);
  const Result<Document> document = OpenInSteps(file, 1 << 16);
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_LT(file.read, file.bytes.size() / 2 + (1 << 20));
  const Net& got = document->nets[0].net;
  ASSERT_EQ(got.ops.size(), 3u);
  const Arg* values = FindArg(*got.symbols, got.ops[1].args, "values");
  ASSERT_TRUE(values->encoded && values->encoded->file);
  EXPECT_EQ(values->has, Arg::kHasFloats);
  EXPECT_EQ(values->Load()->floats.size(), 500000u);
  EXPECT_EQ(values->Load()->floats[4], 0.5f);
  EXPECT_TRUE(SameNet(got, net));
  EXPECT_EQ(SerializeNet(got), file.bytes);
}

TEST(Outline, SmallArgumentsAreReadAtOnce) {
  CountedFile file{SerializeNet(NetWithWeights(100))};
  const Result<Document> document = OpenInSteps(file, 1);
  ASSERT_TRUE(document);
  EXPECT_FALSE(FindArg(*document->symbols, document->nets[0].net.ops[0].args, "values")->encoded);
  EXPECT_EQ(SerializeNet(document->nets[0].net), file.bytes);
}

TEST(Outline, WhatIsNoNetIsReadAsOpenReadsIt) {
  std::string cut = SerializeNet(NetWithWeights(500000));
  cut.resize(cut.size() / 2);
  const Net net = NetWithWeights(40000);
  for (const std::string& bytes : {cut, NetToText(net), std::string("<!doctype html>"), std::string()}) {
    CountedFile file{bytes};
    const Result<Document> got = OpenInSteps(file, 1000, "x");
    OpenOptions options;
    options.name = "x";
    const Result<Document> want = Open(Bytes(bytes), options);
    ASSERT_EQ(got.has_value(), want.has_value());
    if (want) {
      EXPECT_TRUE(SameNet(got->nets[0].net, want->nets[0].net));
    } else {
      EXPECT_EQ(got.error().message, want.error().message);
    }
  }
}

TEST(Outline, PlansAndArgumentsWithNetsAreReadWhole) {
  Net inner = NetWithWeights(40000);
  Net net(inner.symbols);
  Op op;
  op.type = net.Intern("While");
  op.args = ArgList({MakeArg(net.Intern("loop_net"), std::make_shared<const Net>(inner))});
  net.ops.push_back(op);
  CountedFile file{SerializeNet(net)};
  const Result<Document> document = OpenInSteps(file, 1 << 20);
  ASSERT_TRUE(document);
  EXPECT_TRUE(SameNet(document->nets[0].net, net));

  Plan plan;
  plan.symbols = inner.symbols;
  plan.networks.push_back(inner);
  CountedFile plan_file{SerializePlan(plan)};
  const Result<Document> with_plan = OpenInSteps(plan_file, 1 << 20);
  ASSERT_TRUE(with_plan);
  ASSERT_EQ(with_plan->plans.size(), 1u);
  EXPECT_TRUE(SameNet(with_plan->plans[0].plan.networks[0], inner));
}

TEST(Outline, AFileOfOtherThingsThatIsTooLargeIsRefused) {
  FileSource file{uint64_t{3} << 30, [](uint64_t, uint64_t size) { return std::string(size, '\xff'); }};
  FileOpener opener(std::make_shared<const FileSource>(file), {});
  Finish(opener);
  const Result<Document> document = opener.Take();
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, ErrorCode::kLimit);
}

}  // namespace
}  // namespace weft
