// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of a net under other names: whole, in part, or bound to other inputs. All are linear in the net,
// share its SymbolTable (new names are interned there) and its argument lists, and never change it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ir/names.h"
#include "core/ir/net.h"
#include "core/ssa/rename.h"
#include "core/ssa/ssa.h"

namespace weft {

struct CloneOptions {
  std::string name;
  std::vector<BlobRename> rename{};        // blobs not named here keep their name
  std::optional<std::vector<OpId>> ops{};  // which ops, in this order; all when unset
  bool update_external_list = false;       // external lists from the ops kept; see UpdateExternalLists
  NameRegistry* registry = nullptr;  // when given, names of the clone and its nested nets are unique in it
};

/// Caffe2's Net.Clone. Nets inside If, AsyncIf, While and RecurrentNetwork(Gradient) are renamed with the
/// same map and cloned ("<name>_remapped", "cloned_sub_net"); a Do's net is private and stays. Control inputs
/// follow the map (B21). Errors: kInvalidArgument for an op number that the net does not have, kControlFlow
/// for an If or While whose net argument holds no net.
Result<Net> Clone(const Net& net, const CloneOptions& options);

/// External inputs become what the ops read before any op writes it, external outputs what the last write of
/// each blob leaves unread, each once and in order of appearance (B22). Nets inside If, AsyncIf and While
/// count with what they read.
void UpdateExternalLists(Net& net);

struct ClonePartialOptions {
  std::string name;
  std::vector<BlobRename>
      inputs{};  // blobs that will be given, and what the clone calls them (`to` may be `from`)
  std::vector<Symbol> outputs{};  // blobs wanted
  NameRegistry* registry = nullptr;
};

struct PartialClone {
  Net net;
  std::vector<Symbol> outputs;  // the wanted blobs under their new names
  std::vector<OpId> ops;        // the ops kept, as numbers in the original
};

/// Caffe2's ClonePartial: the ops needed for `outputs` when `inputs` are given. A blob made inside is renamed
/// "<name>/<blob>"; the external inputs are the given ones, then what the part reads from outside. Errors:
/// kNotFound for an output that the net does not define or an input that it does not know (B23);
/// kInvalidArgument when an op that is needed would also make a given input.
Result<PartialClone> ClonePartial(const Net& net, const ClonePartialOptions& options);

struct CloneAndBindOptions {
  std::string name;
  std::string prefix{};
  std::vector<BlobRename>
      rename{};  // takes precedence over the prefix; binding a record to inputs adds its pairs
  NameRegistry* registry = nullptr;
};

struct BoundClone {
  Net net;
  std::vector<BlobRename>
      rename;  // for every blob that get_ssa records (and those of the options), its new name
};

/// Caffe2's clone_and_bind_net without records: blobs read from outside keep their names, all others get the
/// prefix. Errors: those of Clone.
Result<BoundClone> CloneAndBind(const Net& net, const CloneAndBindOptions& options);

/// The net with each blob of `record` in its external inputs exactly once, those of the record in its order.
/// Binding again changes nothing. Errors: kInvalidArgument when an op of the net writes one of them.
Result<Net> BindInputs(Net net, std::span<const Symbol> record);

}  // namespace weft
