// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What recomputing goes by: which operators of a training net may run a second time, when they would have to,
// and how many bytes are live at each moment when some of them do. Made once for a net; trying a choice is
// linear in the net and changes nothing. Refers to the net and its shapes, which must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ops/op_set.h"
#include "core/pass/live_bytes.h"
#include "core/pass/shapes.h"

namespace weft::internal {

/// True for the running statistics that a SpatialBN in training updates in place: inputs 3 and 4. Their
/// contents reach none of its other outputs.
bool IsRunningStatistic(const Net& net, const Op& op, size_t input);

class RecomputeModel {
 public:
  RecomputeModel(const Net& net, const NetShapes& shapes, const LiveBytes& live, ShapeTable& table,
                 const OpSet& ops, std::span<const Symbol> keep);

  /// Where the backward pass begins; the number of operators when there is none.
  OpId turn() const { return turn_; }
  OpId end() const { return end_; }
  /// Operator `op`, before the turn, may run again. `again` below asks nothing of others.
  bool may(OpId op) const { return may_[Index(op)]; }
  int64_t flops(OpId op) const { return flops_[Index(op)]; }
  /// Operations for each byte that is not kept, with those of operators that must run again with it.
  double price(OpId op) const { return price_[Index(op)]; }
  /// Bytes that `op` makes for the backward pass.
  int64_t stored(OpId op) const { return stored_[Index(op)]; }

  /// What an operator before the turn makes.
  struct Made {
    ValueId value;
    OpId def;
    int64_t bytes;
    OpId last_forward_use;       // before the turn; `def` when there is none
    OpId forward_end;            // the last operator before the turn that needs its bytes
    OpId first_back, last_back;  // users from the turn on; end() and kNoOp when there are none
    OpId taken_by;  // the operator before the turn that overwrites it in place and alone reads it, or kNoOp
    bool gone;      // overwritten before it could be read for recomputing
  };
  const std::vector<Made>& made() const { return made_; }
  /// Indices into made(): what an operator before the turn makes.
  std::span<const uint32_t> Makes(OpId op) const {
    return {makes_.data() + make_begin_[Index(op)], make_begin_[Index(op) + 1] - make_begin_[Index(op)]};
  }

  struct Trial {
    int64_t peak = 0, flops = 0;  // flops: of what runs again
    std::vector<OpId> before;     // by operator before the turn: in front of which one it runs again; end():
                                  // it does not
    // Moments: the operators with those that run again between them.
    std::vector<int64_t> live;  // by moment
    std::vector<int32_t> at;    // by operator before the turn that runs again: its moment
    std::vector<int32_t>
        last_read;  // by index into made(): the last moment when one that runs again reads it
  };
  /// `again`: by operator before the turn. One that nobody needs again does not run; one whose result was
  /// overwritten and is needed does, whatever `again` says.
  Trial Try(std::vector<uint8_t> again) const;

 private:
  static size_t Index(OpId op) { return static_cast<size_t>(op); }
  std::span<const uint32_t> Reads(OpId op) const {
    return {reads_.data() + read_begin_[Index(op)], read_begin_[Index(op) + 1] - read_begin_[Index(op)]};
  }
  void FindMade(const Net& net, const NetShapes& shapes, const LiveBytes& live, ShapeTable& table);
  void FindWhatMayRun(const Net& net, const NetShapes& shapes, const OpSet& ops,
                      std::span<const Symbol> keep);
  void FindPrices();
  void FindBase(const LiveBytes& live, const NetShapes& shapes, ShapeTable& table);

  OpId turn_ = 0, end_ = 0;
  std::vector<uint8_t> may_;
  std::vector<int64_t> flops_, stored_;
  std::vector<double> price_;
  std::vector<Made> made_;
  std::vector<uint8_t> is_made_;              // by value
  std::vector<OpId> overwritten_at_;          // by value: who writes the blob's next one; end() for none
  std::vector<uint32_t> read_begin_, reads_;  // by operator before the turn: indices into made_
  std::vector<uint32_t> make_begin_, makes_;  // likewise
  std::vector<int64_t> base_;                 // by operator: live bytes besides those of made_
  std::vector<int64_t> between_;              // the same in front of the operator
};

}  // namespace weft::internal
