// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Findings about nets: one net with the nets inside it, or several that run one after the other in one
// workspace. Pure functions, linear in the nets.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/check/diagnostic.h"
#include "core/check/effects.h"
#include "core/ir/net.h"
#include "core/ops/op_set.h"

namespace weft {

struct CheckOptions {
  const OpSet* ops = nullptr;  // null: operators are not looked up
  size_t per_code = 1000;      // findings of one code beyond these are counted, not listed
};

/// Findings about `net` and the nets inside it, in op order; those about the net as a whole come first, those
/// of nested nets after all of the outer net's.
std::vector<Diagnostic> CheckNet(const Net& net, const CheckOptions& options);

/// A net and what findings call it. Several nets need not share a symbol table.
struct NamedNet {
  const Net* net;
  std::string name;
};

/// Findings about nets that run in this order in one workspace, such as init and predict: blobs nobody fills
/// or feeds, blobs that are filled too late, parameters nobody reads. `path` of a finding is the net's name.
/// `fed`: names of the blobs that the caller feeds.
std::vector<Diagnostic> CheckSequence(std::span<const NamedNet> nets, std::span<const std::string> fed,
                                      const CheckOptions& options);

/// True when `init` looks like the init net of `net`: it reads nothing and writes something that `net` reads.
bool Fills(const Net& init, const Net& net);

namespace internal {
/// CheckNet into an existing list, under `path`; `nested`: a net inside an operator, whose ends are the
/// operator's business. Returns what the net does to its workspace.
NetEffects CheckNetInto(const Net& net, const CheckOptions& options, const std::string& path, int depth,
                        Findings& findings);
}  // namespace internal

}  // namespace weft
