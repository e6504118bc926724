// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Caffe2's TensorProto as a tensor. All of its types, each in the field that Caffe2 writes it to or as raw
// bytes; a large tensor may come as several messages, each a segment of the elements. Pure functions over
// bytes; what a message claims is checked against what is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/run/tensor.h"

namespace weft {

struct TensorHeader {
  std::string name;
  DataType type = DataType::kFloat;
  Dims dims;
  int64_t begin = 0, end = 0;  // the elements that the message holds: all of them, but for a segment
};

/// What a TensorProto says of itself. Errors: kParse, kUnsupported (a type that is none of Caffe2's).
Result<TensorHeader> ReadTensorHeader(std::string_view wire);

/// Puts the elements of a message into `tensor`, which becomes as large as the message says unless it has its
/// type and dimensions already. Errors: those of ReadTensorHeader; too few or too many elements.
Result<void> ReadTensorElements(std::string_view wire, Tensor& tensor);

}  // namespace weft
