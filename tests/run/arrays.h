// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors in the recorded .jsonl files, and how close two tensors are.
#pragma once

#include <string>

#include "core/run/tensor.h"
#include "core/run/tensor_text.h"
#include "tests/support/golden.h"

namespace weft::test {

/// The tensor of {"dtype", "shape", "b64"} or {"dtype": "string", "shape", "data"}.
Tensor TensorFromJson(const Json& array);

/// "" when `found` has the type, dimensions and values of `expected`, else what is different. Floats may
/// differ by `absolute` + `relative` * |expected|; not-a-numbers and infinities must be the same.
std::string Difference(const Tensor& found, const Tensor& expected, double absolute, double relative);

using weft::NumberAt;

}  // namespace weft::test
