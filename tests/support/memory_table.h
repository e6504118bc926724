// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// How much memory real nets need, with blob sizes and Caffe2's own results recorded in caffe2/memory.jsonl:
// what the memory test checks and the memory bench prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/pass/memory_reuse.h"

namespace weft::test {

struct MemoryRow {
  std::string model, mode;  // "forward", "gradients", "both"
  int64_t before = 0;       // bytes, each blob in a place of its own
  int64_t caffe2 = 0;       // the best that Caffe2's memonger made of it, by any of its ways
  int64_t after = 0, bound = 0;
  int64_t whole = 0;         // the bound where blobs share places as a whole
  bool same_before = false;  // the recorded sum without sharing is ours too
  // After recomputing, by inferred shapes; of rows "both" only.
  int64_t recomputed = 0;  // bytes of the places
  double percent = 0;      // more operations
};

/// All nets of tests/data/models, forward part and training net.
std::vector<MemoryRow> MemoryTable();
/// A heading and a line for each row, in MB.
std::string MemoryTableText(const std::vector<MemoryRow>& rows);

/// A chain of Tanh with blobs of these sizes, the last of which is the output.
MemoryPlan PlanChain(const std::vector<int64_t>& sizes);

}  // namespace weft::test
