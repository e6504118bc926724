// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The inputs of a program as --shape and --fill say them (core/run/made_inputs.h makes them), and their
// listing.
#pragma once

#include <vector>

#include "core/run/made_inputs.h"
#include "native/cli/workbench.h"

namespace weft::cli {

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
