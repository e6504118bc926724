// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of data_parallel.jsonl and data_parallel_options.jsonl: the model, the request, and what came of it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "core/pass/data_parallel.h"
#include "tests/support/golden.h"

namespace weft::test {

SingleModel ReadModel(const Json& single);
ParallelOptions ReadOptions(const Json& row);
/// Does what a row asks for.
Result<ParallelNets> MakeNets(const SingleModel& model, const Json& row, const ParallelOptions& options);

/// The first difference of two nets, "" for none. Caffe2 repeats fills, and its order of Copy operators that
/// make replicas equal and of Free operators is that of a set: repeats are dropped, runs sorted.
std::string Differs(const Net& found, const Net& expected);
/// The first part of a row that is not as recorded, "" when all is.
std::string DiffersFromRow(const ParallelNets& nets, const ParallelOptions& options, const Json& row);

/// Rows that agree, that differ from Caffe2 for a listed reason and are right, and that are wrong.
class Tally {
 public:
  /// `difference` is from what is right: from the row, or with a `reason` from the mended one.
  void Count(const std::string& difference, const std::string& reason);
  void CountReason(const std::string& reason) { ++reasons_[reason]; }
  void Print(const std::string& what) const;

 private:
  int agree_ = 0, wrong_ = 0;
  std::map<std::string, int> reasons_;
};

/// Mends change a row into what is right; false when it is right as it is.
Json MendNet(const Json& text, const std::function<void(Net&)>& edit);
/// B40: the recorded devices start from different random parameters.
bool MendBmufStart(Json& row);
/// B52: a recorded Free has no device.
bool MendFreeDevice(Json& row);

/// An operator of `net` that the mended net has, with symbols made as they are met.
struct OpWords {
  std::string type;
  std::vector<std::string> inputs{}, outputs{};
  DevicePtr device{};
  std::string name{}, engine{};
  std::vector<std::string> control{};
};
Op MakeOp(Net& net, const OpWords& words);

}  // namespace weft::test
