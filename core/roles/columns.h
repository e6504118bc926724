// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns: what a net says about devices and gradients by the names of its blobs. "gpu_1/fc_w_grad" belongs
// to device column gpu_1 and is a gradient of "gpu_1/fc_w". Names are looked at once per blob; everything
// after that works on ids. A value, owned by the net's analysis.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft {

inline constexpr uint8_t kNoColumn = 255;

struct Columns {
  std::vector<std::string_view> names;  // "gpu_0", in order of appearance; empty unless there are two or more
  std::vector<uint8_t> of_blob;         // BlobId -> column, kNoColumn for none; empty when `names` is
  std::vector<uint8_t> of_op;           // OpId -> column; kNoColumn: none, or several; empty when `names` is
  std::vector<uint8_t> spans;           // OpId -> 1 when its blobs lie in two columns or more; likewise
};

/// Device columns by prefix; an op without a prefixed blob belongs to the column that runs on its device.
Columns FindColumns(const Net& net, const Ssa& ssa);

/// The "gpu_0" of "gpu_0/x" or "_gpu_0/x"; empty when the name starts otherwise.
std::string_view DevicePrefix(std::string_view name);

/// True for "x_grad", "x_grad_values", "_x_grad_autosplit_0"; not for "x_gradient".
bool LooksLikeGradient(std::string_view name);
/// The blob that `blob` is a gradient of by its name, "_autogen" taken out; kNoBlob when it is none, or when
/// the net has no such blob.
BlobId GradientBase(const Net& net, const Ssa& ssa, BlobId blob);

/// `name` with its device taken out, so that replicas compare equal: "gpu_3/x", "lr_gpu3" and "ONE_1_3"
/// become
/// "/x", "lr_" and "ONE_1_". Views into `name` or `scratch`.
std::string_view WithoutDevice(std::string_view name, std::string_view device, std::string& scratch);

}  // namespace weft
