// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The steps that Parallelize and ParallelizeBmuf share: replicas built by the callbacks, gradients, groups of
// the same blob on each device. One object for one plan.
#pragma once

#include <string>
#include <vector>

#include "core/pass/collectives.h"
#include "core/pass/data_parallel.h"

namespace weft::internal {

class Replicas {
 public:
  /// `callbacks` and `options` must outlive this.
  Replicas(ModelBuilder model, const OpSet& ops, const ParallelCallbacks& callbacks,
           const ParallelOptions& options);

  /// What is wrong with the request, before anything is built.
  static Result<void> Check(const ParallelCallbacks& callbacks, const ParallelOptions& options);

  /// Steps 3-6: net type and workers, then the replicas, and their parameters grouped.
  Result<void> Build();
  /// Step 7: the backward pass of all losses at once.
  Result<void> AddGradients();
  /// Step 10: the gradients of the parameters, grouped, behind the other groups. Errors: kNotFound.
  Result<void> GroupGradients();
  /// Step 14.
  Result<void> Update();
  /// Step 15: what init makes in the scopes of the devices. `add_groups`: of what has none yet, by name.
  /// Errors: kNotFound for a parameter that init does not make.
  Result<void> FindInitialBlobs(bool add_groups);
  Result<void> PostSync();
  /// B50: an operator of one device that reads a blob of another, collectives excepted.
  Result<void> CheckForeignBlobs() const;

  /// Groups of blobs named without scope. Errors: kInvalidArgument for a name with a device's scope;
  /// kNotFound when no operator makes or reads one.
  Result<std::vector<BlobGroup>> GroupsNamed(std::span<const std::string> names) const;
  /// Step 18.
  void ShareGradientMemory();

  bool training() const { return callbacks_.param_update || callbacks_.optimizer; }
  const BlobGroup* FindGroup(std::string_view name) const;
  BlobDevices Devices() const { return BlobDevices(model.init.net(), model.net.net()); }
  int num_workers() const;
  /// Sets net type and workers of a net that runs beside the training net.
  void Configure(NetBuilder& net) const;
  /// All groups by number: [0, params), [params, computed) ..., see below.
  std::vector<const BlobGroup*> Groups(size_t begin, size_t end) const;
  /// Everything but the nets that only some plans have. Moves the model out.
  ParallelNets Finish() &&;

  ModelBuilder model;
  const ReplicaScopes scopes;
  Collectives collectives;
  std::vector<BlobGroup> groups;
  // Where the kinds end in `groups`: parameters, then computed ones, then gradients, then the rest.
  size_t params_end = 0, computed_end = 0, gradients_end = 0;
  std::vector<std::string> initial;  // names, without scope, of what init makes; sorted
  std::vector<Symbol> own_state;     // see ParallelNets

 private:
  Result<void> Group(std::span<const Symbol> blobs);
  std::string Ungrouped(Symbol blob) const;
  void AddToGroup(const std::string& name, size_t replica, Gradient blob);

  const OpSet& ops_;
  const ParallelCallbacks& callbacks_;
  const ParallelOptions& options_;
  std::vector<Symbol> losses_, initial_first_;       // what init makes on the first device
  size_t not_parallel_ = 0;                          // parameters that the model had before
  std::unordered_map<std::string, size_t> by_name_;  // looked up, never walked
};

}  // namespace weft::internal
