// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Where blobs are, and copies between devices where an operator needs a blob that is elsewhere: Caffe2's
// InferBlobDevices and InjectCrossDeviceCopies (semantics.md 1.2). A blob is at home on the device where it
// is first made, under its own name; on another device its copy is "<blob>_cpu" or "<blob>_gpu_<id>". Pure,
// linear in the nets.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"

namespace weft {

struct BlobDevice {
  Symbol blob;
  DevicePtr device;  // null: the CPU
};

/// Which device each input and output of `op` must be on: the operator's own (its net's when it says
/// nothing), but for the few operators whose blobs are elsewhere (copies, EnsureCPUOutput, the index of a
/// Concat, the iteration of LearningRate and Adam).
struct OpDevices {
  DevicePtr device;
  std::vector<DevicePtr> inputs, outputs;
};
OpDevices InferOpDevices(const Net& net, const Op& op);

/// The device of every blob that the net names, by first appearance: where its last writer puts it; an
/// external input is where its first reader needs it.
std::vector<BlobDevice> InferBlobDevices(const Net& net);

struct DeviceCopyOptions {
  std::vector<BlobDevice> where{};          // of external inputs; unset: the net's device
  std::vector<std::string> placeholders{};  // operator types all of whose blobs are on their own device
};

/// The net with copies put in front of operators that need them: CopyCPUToGPU on the target, CopyGPUToCPU on
/// the source, Copy on the target between GPUs; a copy is made once and used until the blob is written again
/// (B16: Caffe2 goes on using the old one). An operator that writes a blob on another device than its home
/// writes the copy there, in place or not, and whoever reads the blob next gets that value (B17: Caffe2 gives
/// them the old one, or refuses). External outputs, and external inputs that the net updates, are home again
/// at the end. Nets inside operators follow their operator. Errors: kNotFound for a blob that nobody makes in
/// a net that declares external inputs; kUnsupported for copies from or to a device that is neither CPU nor
/// GPU, and for an operator whose nets are on several devices.
Result<Net> AddDeviceCopies(const Net& net, const DeviceCopyOptions& options = {});

/// The same for nets that run one after the other in one workspace and share a symbol table: copies that one
/// makes serve the next, which lists them as external inputs.
Result<std::vector<Net>> AddDeviceCopiesAmong(std::span<const Net> nets,
                                              const DeviceCopyOptions& options = {});

}  // namespace weft
