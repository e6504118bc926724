// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensors as text for people: element values, and a summary of one line. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "core/run/tensor.h"

namespace weft {

/// Element i as a number: bools are 0 and 1. Strings and tensors without a type have none (NaN).
double NumberAt(const Tensor& tensor, int64_t i);
/// Element i as text: shortest digits that read back as the same value, true/false, strings in quotes.
std::string ElementText(const Tensor& tensor, int64_t i);
/// "float [2, 3]  0.1 0.2 0.3 ..." with at most `most` elements; where elements are left out, the least, mean
/// and largest of them all, and how many are not finite.
std::string TensorSummary(const Tensor& tensor, int64_t most = 8);

}  // namespace weft
