// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// NetModel: one net with all that has been worked out about it so far, each part once and when first needed.
// Owned by a Session; one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ir/net.h"
#include "core/ops/op_set.h"
#include "core/ssa/ssa.h"
#include "inspector/arrange/arrangement.h"
#include "inspector/layout/layered.h"
#include "inspector/session.h"

namespace weft {

/// Layouts by their whole input: scopes of one structure are laid out once, also from scene to scene.
class LayoutCache {
 public:
  /// The layout of `input`, made now if it is not there.
  std::shared_ptr<const LayeredResult> Get(const LayeredInput& input);
  uint64_t hits() const { return hits_; }

 private:
  struct Entry {
    std::vector<uint32_t> words;
    std::shared_ptr<const LayeredResult> result;
  };
  std::unordered_map<uint64_t, std::vector<Entry>> entries_;  // only looked up
  std::vector<uint32_t> words_;
  size_t size_ = 0;
  uint64_t hits_ = 0;
};

class NetModel {
 public:
  NetModel(std::shared_ptr<const Net> net, const OpSet& ops)
      : net_(std::move(net)), ops_(ops), lookup_(ops, *net_->symbols) {}

  /// A net drawn in an operator's box: flat, without device columns, its `ports` at the border.
  void SetPorts(NetPorts ports) {
    ports_ = ports;
    columns_.emplace();
    has_gradients_ = false;
  }
  const NetPorts& ports() const { return ports_; }

  const Net& net() const { return *net_; }
  const OpSet& ops() const { return ops_; }
  const Ssa& ssa();
  const Columns& columns();
  const Roles& roles();
  bool has_gradients();
  /// The operator's row, null when it is not known.
  const OpDef* op_def(OpId op) { return lookup_(net_->ops[op].type); }
  LayoutMode Resolve(LayoutMode mode);
  Arrangement& arrangement(LayoutMode mode);
  const std::vector<Diagnostic>& findings();
  /// The findings if they have been worked out, else none.
  const std::vector<Diagnostic>& known_findings() const;
  bool checked() const { return findings_.has_value(); }
  /// The version of the same blob that overwrites this one, kNoValue for none.
  ValueId next_version(ValueId value);
  /// The version that control input `k` of `op` waits for: the one that its blob has before the op. kNoValue
  /// when nobody writes it before.
  ValueId control_value(OpId op, size_t k);
  /// The ops that have control inputs, rising.
  const std::vector<OpId>& waiting_ops();
  /// The gradient, update and collective ops that serve a forward op, in op order.
  std::vector<OpId> served_by(OpId op);
  /// BlobId -> 1 when the net declares it as an output.
  const std::vector<uint8_t>& external_outputs();
  /// BlobId -> 1: from outside, and an update writes it or an init net fills it.
  const std::vector<uint8_t>& params();
  /// Blobs that another net (an init net) fills.
  void SetFilled(const std::vector<BlobId>& blobs);
  /// What the planner knows: per op the forward op that it was generated for.
  void SetOrigins(std::vector<OpId> origins);
  LayoutCache& layouts() { return layouts_; }

  /// Parts that the next scene needs and that are not there yet, one per call. False when there are none
  /// left.
  bool PrepareNext(LayoutMode mode);

 private:
  std::shared_ptr<const Net> net_;
  const OpSet& ops_;
  OpLookup lookup_;
  NetPorts ports_;
  std::optional<Ssa> ssa_;
  std::optional<Columns> columns_;
  std::optional<Roles> roles_;
  std::optional<bool> has_gradients_;
  std::array<std::unique_ptr<Arrangement>, 2> arrangements_;
  std::optional<std::vector<Diagnostic>> findings_;
  std::vector<uint8_t> external_outputs_, params_, filled_;
  std::vector<ValueId> next_version_;
  std::optional<std::vector<OpId>> waiting_;  // ops with control inputs
  std::vector<ValueId> control_values_;       // of waiting_, op by op, from control_begin_ on
  std::vector<size_t> control_begin_;
  std::vector<OpId> origins_;
  LayoutCache layouts_;
};

}  // namespace weft
