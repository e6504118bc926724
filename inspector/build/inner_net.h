// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net inside an operator as it is drawn in that operator's box: its ops between ops that stand for the
// blobs which come in from the net around (the first ones) and leave into it (the last ones). Those are laid
// out like any other op and drawn as ports. An InnerNet is kept by the session; a ShownNet is its part in one
// scene.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/ssa/captured.h"
#include "inspector/build/net_model.h"

namespace weft {

struct InnerNet {
  NetId id;
  OpId op;            // in the net around
  std::string label;  // the argument that holds it
  NetModel* plain;    // the net itself
  std::unique_ptr<NetModel> framed;
  std::vector<ValueId> port_values;  // by port, the in ones first: the value around; kNoValue when unknown

  OpId num_ops() const { return static_cast<OpId>(plain->net().ops.size()); }
};

/// `captured`: what the net takes from the one around, which is `around`.
std::unique_ptr<InnerNet> FrameNet(NetId id, OpId op, std::string label, NetModel& plain, NetModel& around,
                                   std::span<const CapturedBlob> captured);

/// How the ops and values of one net are numbered in a scene that may hold several.
struct ShownNet {
  InnerNet* inner = nullptr;  // null: the outermost
  uint32_t around = UINT32_MAX;
  std::string path;  // as in Diagnostic
  uint32_t first_op = 0, first_value = 0;
  uint32_t holder = 0;           // the number of the op that holds it
  std::vector<uint32_t> value;   // plain net's ValueId -> number
  std::vector<uint32_t> framed;  // framed net's ValueId -> number
  std::vector<uint32_t> port;    // port -> number of the value around, kNoValue when unknown

  bool is_port(OpId op) const {
    return inner != nullptr &&
           static_cast<uint32_t>(op) - inner->framed->ports().in >= static_cast<uint32_t>(inner->num_ops());
  }
  /// REQUIRES: not a port.
  uint32_t NumberOf(OpId op) const {
    return first_op + static_cast<uint32_t>(op) - (inner != nullptr ? inner->framed->ports().in : 0);
  }
  /// What a scope of it goes by: those of nets in boxes stand for the op around.
  uint32_t NumberOfScope(ScopeId scope) const { return inner != nullptr ? holder | kFrameOfOp : scope; }
  uint32_t NumberOfValue(ValueId v) const { return inner != nullptr && v != kNoValue ? framed[v] : v; }
};

/// Numbers `inner` on from the last of `shown`, whose element `around` it is in, and adds it.
void AddShownNet(InnerNet& inner, uint32_t around, NetModel& outermost, std::vector<ShownNet>& shown);

}  // namespace weft
