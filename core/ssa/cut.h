// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Cutting a piece out of a net: the operators between some blobs and others, all names kept. Unlike
// ClonePartial it does not reach behind the given blobs: what the piece reads from there becomes an input.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ssa/ssa.h"

namespace weft {

struct BlobAt {
  BlobAt(Symbol name, std::optional<uint32_t> at = {})
      : blob(name), version(at) {}  // NOLINT: implicit on purpose
  Symbol blob;
  std::optional<uint32_t> version;  // the latest when unset
};

struct CutOptions {
  std::string name{};            // the original's when empty
  std::vector<BlobAt> inputs{};  // where to cut in; when empty nothing is cut off in front
  std::vector<BlobAt> outputs{};
};

struct CutNet {
  Net net;
  std::vector<Symbol> added;  // external inputs that the original computes, beyond those asked for
  std::vector<OpId> ops;      // the ops kept, as numbers in the original
};

/// The ops that lie on a way from an input to an output. External inputs: the given ones, then whatever else
/// the ops read from outside. Errors: kNotFound for a blob or version that the net does not have and for an
/// output that no input leads to, naming the first; kVersionConflict when the piece would need two versions
/// of one blob from outside.
Result<CutNet> Cut(const Net& net, const CutOptions& options);

/// What is left of an init net when only `net` is to run: the ops needed for the external inputs of `net`.
Result<Net> TrimInit(const Net& init, const Net& net);

}  // namespace weft
