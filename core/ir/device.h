// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// DeviceOption: where an operator runs. Shared between operators (DevicePtr), null when the operator says
// nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum DeviceType : int32_t {
  kCpu = 0,
  kCuda = 1,
  kMkldnn = 2,
  kOpenGl = 3,
  kOpenCl = 4,
  kIdeep = 5,
  kHip = 6,
  kFpga = 7,
  kMsnpu = 8,
  kXla = 9,
};

struct DeviceOption {
  std::optional<int32_t> device_type;   // unset reads as CPU
  std::optional<int32_t> device_id;     // unset reads as 0
  std::optional<uint32_t> random_seed;  // 0 is a valid seed
  std::optional<std::string> node_name;
  std::optional<int32_t> numa_node_id;
  std::vector<std::string> extra_info;
  std::string unknown;  // fields we do not know, as they came

  int32_t type() const { return device_type.value_or(kCpu); }
  int32_t id() const { return device_id.value_or(0); }
  friend bool operator==(const DeviceOption&, const DeviceOption&) = default;
};

using DevicePtr = std::shared_ptr<const DeviceOption>;

/// "CPU", "CUDA", ... or the number when it has no name.
std::string DeviceTypeName(int32_t type);
/// The number of "CUDA", "cuda", "gpu", "1", ...; empty when it is none.
std::optional<int32_t> ParseDeviceType(std::string_view name);
/// "cpu", "cuda:1", "cuda:1 seed=3": short, for listings and messages. "" for null.
std::string DeviceToString(const DevicePtr& device);
/// Same place to run (null is CPU): same type, and same id unless both are CPUs. Tags, seeds and node names
/// do not count. This is Caffe2's device_option_equal with B15 mended (it did not compare the type of two
/// accelerators).
bool SameDevice(const DevicePtr& a, const DevicePtr& b);

}  // namespace weft
