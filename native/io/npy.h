// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files as tensors, and back. Read: versions 1 to 3, either byte order, C and Fortran order,
// bool, float16/32/64, int8 to int64, uint8 to uint64 (uint32 and uint64 become int64, which Caffe2 has), and
// arrays of byte strings (S) and text (U, as UTF-8). Written: version 1, little-endian, C order. Pure
// functions over bytes; what a damaged header claims is checked against the bytes that are there before any
// memory is taken.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/run/tensor.h"

namespace weft {

/// The array in the bytes of a .npy file. Errors: kParse (no such file, cut off, bytes left over),
/// kUnsupported (objects, structures, complex numbers, dates; a uint64 above int64).
Result<Tensor> ReadNpy(std::string_view bytes);

/// The bytes of a .npy file. Errors: kInvalidArgument for a tensor without a type, or a string that ends with
/// a zero byte, which NumPy would drop.
Result<std::string> WriteNpy(const Tensor& tensor);

}  // namespace weft
