// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A sketch: a large net collapsed as far as a look at each operator by itself tells, drawn while the file is
// still being decoded. It knows how many ops there are, which are forward, backward, updates and collectives
// (by type and by "_grad" names), and the outermost parts of names; not who reads what. Owned by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/symbol.h"
#include "core/ops/op_set.h"
#include "core/roles/role.h"
#include "inspector/scene.h"

namespace weft {

class Sketch {
 public:
  /// `ops` must outlive it.
  explicit Sketch(const OpSet& ops) : ops_(ops) {}

  /// The next op: the bytes of an OperatorDef, which need not last. About 100 ns.
  void Add(std::string_view op);
  /// The words of a scene: a box for each stretch of forward ops, whole periods or the ops below one name,
  /// and in its row about as many of the others. Empty for fewer than some thousand ops, and when some bytes
  /// were no op. Its op and scope ids mean nothing.
  std::vector<uint32_t> Draw() const;

 private:
  struct Stretch {
    uint32_t begin, end;  // into forward_
    std::string title;
  };
  Role RoleOf(Symbol type, bool marked, bool reads_gradient, bool writes_gradient);
  void FileUnder(std::string_view name);
  std::vector<Stretch> Stretches() const;

  const OpSet& ops_;
  SymbolTable types_;
  std::vector<uint8_t> role_of_type_;  // role + 1 of types that have one, 0: not looked at
  std::vector<uint32_t> forward_;      // op indices
  std::vector<uint32_t> head_types_;   // of the first forward ops, to find what repeats
  std::vector<Stretch> paths_;         // of forward ops, while there are few
  uint32_t count_[kNumRoles] = {};
  bool sound_ = true;
};

}  // namespace weft
