// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a net reads from outside, where each blob comes from, and tensors made for those that nothing gives:
// zeros, random numbers, pictures of digits with their labels. A shape that is not said is looked for among
// the usual ones, by what the net's shapes allow. Values; the same seed makes the same tensors.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ssa/ssa.h"
#include "native/cli/workbench.h"

namespace weft::cli {

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
/// What an init net's shapes say that it will leave, without running it. Errors: it is no net.
Result<KnownBlobs> KnownAfter(const std::string& init);

/// The blobs that `program` reads from outside, in the order of the net; of a plan those that --shape names.
/// `known` is what the init net leaves. Errors: --shape or --fill that can't be read or name a blob twice.
Result<std::vector<RunInput>> FindInputs(Program& program, const Setup& setup, const Feeds& feeds,
                                         const KnownBlobs& known);

/// Makes those that are to be made, adds them to `feeds` and puts them into the workspace. Errors: a shape is
/// neither said nor found; the fill does not suit the type.
Result<void> MakeInputs(const std::vector<RunInput>& inputs, uint64_t seed, Feeds& feeds,
                        Workspace& workspace);

/// `weft run --inputs`.
int ShowInputs(Main& main, const std::vector<RunInput>& inputs);

}  // namespace weft::cli
