// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a net reads from outside, where each blob comes from, and tensors made for those that nothing gives:
// zeros, random numbers, pictures of digits with their labels. A shape that is not said is looked for among
// the usual ones, by what the net's shapes allow. What reads a blob inside nested nets counts as well.
// Values; the same seed makes the same tensors.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/pass/shapes.h"
#include "core/run/workspace.h"

namespace weft {

/// Blobs and the tensors that they are given.
using Feeds = std::vector<std::pair<std::string, Tensor>>;

struct RunInput {
  enum From { kInit, kFeed, kMade, kNothing };

  std::string blob;
  From from = kNothing;
  DataType type = DataType::kFloat;
  std::optional<Dims> dims;  // when it is known, said or found
  bool found = false;        // `dims` is what fits, not what was said
  std::string fill;          // of a made one, and what would do for one that nothing gives: "zeros"
  OpId reader = kNoOp;       // the first operator that reads it, and its type
  std::string reader_type;
};

/// What is there before a net runs: a type and, of tensors whose shape is known, dimensions.
struct KnownBlob {
  DataType type = DataType::kUndefined;
  std::optional<Dims> dims;
};
using KnownBlobs = std::map<std::string, KnownBlob, std::less<>>;

KnownBlobs KnownIn(const Workspace& workspace);
/// What an init net's shapes say that it will leave, without running it.
KnownBlobs KnownAfter(const Net& init);

/// Looks at one net's inputs. The net, what is known and the feeds outlive it.
class InputFinder {
 public:
  InputFinder(const Net& net, const KnownBlobs& known, const Feeds& feeds);

  /// The blobs that the net reads from outside, in its order; a fed one has its tensor's type and shape.
  std::vector<RunInput> Inputs() const;
  /// Shapes for the inputs that have none: all at once, the first try that contradicts nothing in the net.
  /// Some stay without one when no try fits, or the net is too large to try.
  void FindShapes(std::vector<RunInput>& inputs);
  /// How the shapes that are there contradict the net; empty when they don't.
  std::string WhyNot(const std::vector<RunInput>& inputs);

 private:
  // A place where an input is read, in the net itself or in one inside an operator.
  struct Reading {
    const Net* net;
    const NetShapes* shapes;
    OpId op;
    size_t port;
    const Op& Reader() const { return net->ops[static_cast<size_t>(op)]; }
    const TensorInfo& Input(size_t i) const { return shapes->values[shapes->ssa.inputs(op)[i]]; }
  };

  using Tried = std::vector<std::pair<size_t, Dims>>;  // by the input's place

  std::vector<Reading> Readings(const NetShapes& shapes, Symbol blob) const;
  static const TensorInfo* Other(const Reading& reading);
  static DataType TypeFor(const Reading& reading);
  void Suit(RunInput& input) const;
  static std::optional<Dims> Try(const Reading& reading, int64_t batch, int64_t side, bool& depends);
  NetShapes Infer(const std::vector<RunInput>& inputs, const Tried& tried);
  bool Fits(const std::vector<RunInput>& inputs, const Tried& tried);

  const Net& net_;
  const KnownBlobs& known_;
  const Feeds& feeds_;
  ShapeTable table_;
  NetShapes shapes_;  // of what is known; of a net that is too large to try the SSA form only
};

/// Error unless `fill` is zeros, ones, uniform, normal, digits or below:N.
Result<void> CheckFill(std::string_view fill);
/// The tensor for an input whose `dims` and valid `fill` are there. Errors: it would be too large.
Result<Tensor> MakeInput(const RunInput& input, uint64_t seed);

}  // namespace weft
