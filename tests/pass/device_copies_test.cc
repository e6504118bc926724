// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices against recorded ones (device_copies.jsonl: nets that write each blob once, where
// Caffe2 is right, and whose CPU operators name no device, since it repeats copies where some do and some do
// not), and among nets that run one after the other.
#include "core/pass/device_copies.h"

#include <gtest/gtest.h>

#include "core/base/str.h"
#include "proto/codec.h"
#include "tests/support/compact_net.h"
#include "tests/support/golden.h"

namespace weft::test {
namespace {

DevicePtr Cuda(int32_t id) {
  DeviceOption device;
  device.device_type = kCuda;
  device.device_id = id;
  return std::make_shared<const DeviceOption>(device);
}

// The same operators on the same devices, whether a device is spelled out or not.
std::string Differs(const Net& found, const Net& expected) {
  for (size_t i = 0; i < std::max(found.ops.size(), expected.ops.size()); ++i) {
    if (i >= found.ops.size() || i >= expected.ops.size()) return "another number of operators";
    Op a = found.ops[i], b = expected.ops[i];
    const bool same_device = SameDevice(a.device, b.device);
    a.device = b.device = nullptr;
    a.name = b.name = Symbol();
    if (!same_device || !SameOp(*found.symbols, a, *expected.symbols, b))
      return StrCat("op ", i, "\n", OpToText(*found.symbols, found.ops[i]), "expected\n",
                    OpToText(*expected.symbols, expected.ops[i]));
  }
  return "";
}

TEST(DeviceCopies, AreCaffe2s) {
  int rows = 0;
  for (const Json& row : ReadJsonl("caffe2/device_copies.jsonl")) {
    const Net net = NetFromText(row.at("net").get<std::string>());
    DeviceCopyOptions options;
    for (const auto& [name, id] : row.at("where").items())
      options.where.push_back({net.symbols->Find(name), Cuda(id.get<int32_t>())});
    const Result<Net> made = AddDeviceCopies(net, options);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(Differs(*made, NetFromText(row.at("made").get<std::string>())), "") << row.at("net");
    ++rows;
  }
  EXPECT_EQ(rows, 120);
}

TEST(DeviceCopies, AreSharedAmongNets) {
  Net first = testing::CompactNet("name a; in x; Relu(x) -> y; out y");
  Net second = testing::CompactNet("name b; in x y; Mul(x, y) -> z; out z", first.symbols);
  first.ops[0].device = Cuda(1);
  second.ops[0].device = Cuda(1);
  const Net nets[] = {first, second};
  const auto made = AddDeviceCopiesAmong(nets);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(testing::ToCompact((*made)[0]), "in x; CopyCPUToGPU(x) -> x_gpu_1; Relu(x_gpu_1) -> y; out y");
  EXPECT_EQ(testing::ToCompact((*made)[1]), "in x y x_gpu_1; Mul(x_gpu_1, y) -> z; out z");
}

}  // namespace
}  // namespace weft::test
