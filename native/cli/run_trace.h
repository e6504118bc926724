// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a net's run looks like from inside: after every operator the numbers of each blob that it wrote, of
// the last iteration; of all iterations the blobs that hold one number, and for each blob the first operator
// that made it something else than finite. A Trace is told of one run's operators; those of nets inside
// operators are not told, what they write shows at the operator around them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/run/tensor_stats.h"
#include "core/run/workspace.h"
#include "core/ssa/ssa.h"
#include "native/cli/workbench.h"

namespace weft::cli {

/// Writes members type and shape, elements, min, max, mean, std, nan, inf and zeros, and histogram: {low,
/// high, counts}.
void WriteTensorNumbers(JsonWriter& json, DataType type, std::span<const int64_t> dims,
                        const TensorStats& stats, const Histogram& histogram);
/// Elements [from, from + count) as JSON values: NaN and infinities as the texts "nan", "inf", "-inf".
void WriteElements(JsonWriter& json, const Tensor& tensor, int64_t from, int64_t count);
/// "min -1, mean 0.2, max 3", and how many are not finite.
std::string StatsText(const TensorStats& stats);

class Trace {
 public:
  struct Options {
    bool keep = false;         // the numbers of every operator, and blobs of one number
    bool stop_at_nan = false;  // an error ends the run; stopped() tells it from others
  };
  struct NotFinite {
    std::string blob, type;
    uint32_t version;
    size_t op;
    int64_t iteration;
    TensorStats stats;
  };

  /// Both must outlive the trace.
  Trace(const Net& net, const Workspace& workspace, Options options)
      : net_(net), workspace_(workspace), options_(options), ssa_(net) {}

  /// From 1 on; `last` says that its operators are to be kept.
  void BeginIteration(int64_t iteration, bool last);
  /// An operator has run.
  Result<void> AfterOp(size_t index);
  bool stopped() const { return stopped_; }

  /// First for each blob, in the order in which they came.
  const std::vector<NotFinite>& not_finite() const { return not_finite_; }
  /// "first NaN: op 12 Log writes y@1 in iteration 3".
  static std::string Text(const NotFinite& found);
  /// Blobs of one number, by first writer, with the number after each iteration.
  const std::vector<std::pair<std::string, std::vector<double>>>& scalars() const { return scalars_; }

  /// Members "trace" and "not_finite".
  void Write(JsonWriter& json) const;
  /// The same for people.
  void Show(Stream& out) const;

 private:
  struct Output {
    std::string blob, holds;  // what it holds when that is no tensor
    uint32_t version = 0;
    DataType type = DataType::kUndefined;
    Dims dims;
    Tensor head;  // the first elements
    TensorStats stats;
    Histogram histogram;
  };
  struct Step {
    std::string type;
    size_t op;
    std::vector<Output> outputs;
  };

  const Net& net_;
  const Workspace& workspace_;
  Options options_;
  Ssa ssa_;
  bool stopped_ = false;
  int64_t iteration_ = 0;
  bool last_ = false;
  std::vector<Step> steps_;
  std::vector<NotFinite> not_finite_;
  std::set<std::string, std::less<>> known_bad_;
  std::vector<std::pair<std::string, std::vector<double>>> scalars_;
  std::map<std::string, size_t, std::less<>> scalar_index_;
};

}  // namespace weft::cli
