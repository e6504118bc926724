// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Workspace: named blobs and prepared nets (semantics 5.1). A blob is found first among the workspace's own,
// then among names bound to a blob of another workspace (resolved when asked, so that the other may be made
// later), then in the parent. A workspace owns its blobs and nets; its parent and the workspaces it is bound
// to must outlive it. A Blob stays at its address as long as its workspace lives, so prepared nets keep
// pointers. Not thread-safe while blobs or nets are created or removed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/run/blob.h"

namespace weft {

class KernelSet;
class OpSet;
class PreparedNet;

/// What nets run with: shared by a workspace, its children and everything that runs in them; must outlive
/// them.
struct RunContext {
  const KernelSet* kernels = nullptr;
  const OpSet* ops = nullptr;  // when given, operators are verified against their rows as nets are prepared
  uint64_t seed = 0;           // operators without a seed of their own draw from this and their number
  uint64_t unseeded = 0;       // how many have
  uint64_t ops_run = 0;        // operators run so far, those in nested nets too
  uint64_t op_limit = 0;       // stop with kLimit after so many operators; 0 = never
  int64_t element_limit = int64_t{1} << 31;  // no tensor and no table of a kernel may have more elements
  int depth = 0;                             // nested nets that are running now
  /// Counts one operator or loop; false when the limit is reached.
  bool Count() { return op_limit == 0 || ops_run < op_limit ? ++ops_run, true : false; }

  /// Called with each line that Print and friends would write; may be empty.
  std::function<void(std::string_view)> print;
};

class Workspace {
 public:
  explicit Workspace(RunContext& context);
  /// A child: names that it lacks are looked for in `parent`.
  explicit Workspace(Workspace& parent);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  RunContext& context() { return context_; }

  /// The blob of that name at any level, made here when there is none.
  Blob& CreateBlob(std::string_view name);
  /// The workspace's own blob of that name, made when there is none; it hides those of bound and parent ones.
  Blob& CreateLocalBlob(std::string_view name);
  /// The blob of that name at any level, or null.
  Blob* FindBlob(std::string_view name);
  const Blob* FindBlob(std::string_view name) const;
  /// The tensor in the blob of that name, or null when there is no such blob or it holds something else.
  const Tensor* FindTensor(std::string_view name) const;
  bool HasBlob(std::string_view name) const { return FindBlob(name) != nullptr; }
  /// Puts a tensor into the blob of that name, made when there is none.
  void Feed(std::string_view name, Tensor tensor);
  /// Empties and forgets an own blob; false when there is none. Nets that use it keep the empty place.
  bool RemoveBlob(std::string_view name);
  /// Renames an own blob. Errors: kNotFound, kNameConflict.
  Result<void> RenameBlob(std::string_view from, std::string_view to);
  /// Own blobs, sorted; and all that can be found here, sorted.
  std::vector<std::string> LocalBlobs() const;
  std::vector<std::string> Blobs() const;

  using Bindings = std::vector<std::pair<std::string, std::string>>;
  /// Binds names here (first) to blobs of `other` (second). Errors: kNotFound when `other` lacks the blob,
  /// kNameConflict when the name is bound to something else or exists here; with `skip_defined` existing
  /// names are left alone.
  Result<void> Bind(Workspace& other, const Bindings& bindings, bool skip_defined = false);
  /// Gives the bound names among `names` a copy of the tensor they are bound to. From now on, nets prepared
  /// here see the copy; those prepared before keep the bound blob. Errors: kInvalidArgument when it is not a
  /// tensor.
  Result<void> CopyBound(const Bindings& names);
  /// Undoes CopyBound: the names mean the bound blobs again. The copies stay for nets prepared on them.
  void UncopyBound();

  /// Prepares `net` under its name. Errors: kNameConflict when the name is taken and not `overwrite`, and
  /// those of PreparedNet::Create.
  Result<PreparedNet*> CreateNet(std::shared_ptr<const Net> net, bool overwrite = false);
  /// The prepared net of that name, here or in a parent; or null.
  PreparedNet* FindNet(std::string_view name);
  /// Runs the prepared net of that name `times` times; stops at the first failure.
  Result<void> RunNet(std::string_view name, int64_t times = 1);
  /// Prepares `net`, runs it once and forgets it.
  Result<void> RunNetOnce(const Net& net);

 private:
  struct Place {
    std::unique_ptr<Blob> own;
    Workspace* bound = nullptr;  // where `bound_name` is looked for unless `own` is in use
    std::string bound_name;
    bool use_own = false;
  };
  using Places = std::map<std::string, Place, std::less<>>;

  RunContext& context_;
  Workspace* parent_ = nullptr;
  Places places_;
  std::vector<std::unique_ptr<Blob>> removed_;
  std::map<std::string, std::unique_ptr<PreparedNet>, std::less<>> nets_;
};

}  // namespace weft
