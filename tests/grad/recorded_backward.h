// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded backward passes (tests/data/caffe2/README.md) and their comparison with planned ones. Compared as
// sets where Caffe2 walks a Python set: sums for different inputs of one operator, inputs and outputs of
// gradient If, While and Do.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/grad/gradient.h"
#include "core/ops/op_set.h"

namespace weft::test {

using OrderedJson = nlohmann::ordered_json;  // losses come in the order recorded

struct RecordedBackward {
  std::string id;
  std::string forward;    // protobuf text
  OrderedJson losses;     // name -> given gradient or null; or a list of names
  std::string backward;   // protobuf text of the generated operators
  OrderedJson gradients;  // name -> gradient; what is not named is not compared when `only_named`
  bool only_named = false;
  std::string error;  // instead of backward
};

/// Rows of backward_*.jsonl; of gradient_rules.jsonl that hold control flow; of control.jsonl with a recorded
/// net.
std::vector<RecordedBackward> ReadRecordedBackward(std::string_view file);

/// Empty when the backward pass planned with `faults` agrees, else the first difference. `caffe2`: errors are
/// worded as Caffe2 words them, with its version numbers.
std::string CompareBackward(const RecordedBackward& row, const OpSet& ops, uint32_t faults, bool caffe2);

/// Empty when the operators agree, else the first difference. Sorts both as said above. Both share one symbol
/// table.
std::string CompareOps(Net& got, Net& expected);

}  // namespace weft::test
