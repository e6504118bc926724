// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/device.h"

#include <algorithm>
#include <charconv>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr std::string_view kTypeNames[] = {"CPU",   "CUDA", "MKLDNN", "OPENGL", "OPENCL",
                                           "IDEEP", "HIP",  "FPGA",   "MSNPU",  "XLA"};

std::string Cased(std::string_view text, char first, int shift) {
  std::string out(text);
  for (char& c : out)
    if (c >= first && c < first + 26) c = static_cast<char>(c + shift);
  return out;
}

}  // namespace

std::string DeviceTypeName(int32_t type) {
  if (type >= 0 && type < static_cast<int32_t>(std::size(kTypeNames))) return std::string(kTypeNames[type]);
  return std::to_string(type);
}

std::optional<int32_t> ParseDeviceType(std::string_view name) {
  std::string upper = Cased(name, 'a', 'A' - 'a');
  if (upper.starts_with("PROTO_")) upper.erase(0, 6);
  if (upper == "GPU") return kCuda;
  const auto found = std::find(std::begin(kTypeNames), std::end(kTypeNames), upper);
  if (found != std::end(kTypeNames)) return static_cast<int32_t>(found - std::begin(kTypeNames));
  int32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::string DeviceToString(const DevicePtr& device) {
  if (!device) return "";
  std::string out = Cased(DeviceTypeName(device->type()), 'A', 'a' - 'A');
  if (device->type() != kCpu || device->id() != 0) StrAppend(out, ":", device->id());
  if (device->random_seed) StrAppend(out, " seed=", *device->random_seed);
  if (device->node_name) StrAppend(out, " node=", *device->node_name);
  if (device->numa_node_id) StrAppend(out, " numa=", *device->numa_node_id);
  for (const std::string& tag : device->extra_info) StrAppend(out, " ", tag);
  return out;
}

bool SameDevice(const DevicePtr& a, const DevicePtr& b) {
  const int32_t type_a = a ? a->type() : kCpu;
  const int32_t type_b = b ? b->type() : kCpu;
  if (type_a != type_b) return false;
  return type_a == kCpu || (a ? a->id() : 0) == (b ? b->id() : 0);
}

}  // namespace weft
