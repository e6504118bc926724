// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a gradient rule made of one operator, written down by places instead of names. Few of a million
// operators differ in more than their names: the rule runs for the first of those that are alike, and for the
// rest the planner follows its recipe. Operators are alike when all agrees that a rule can look at: type,
// arguments, engine, device, counts, which gradients are there and which are wanted, which names are equal.
#pragma once

#include <vector>

#include "core/grad/naming.h"
#include "core/ops/gradient_context.h"

namespace weft::internal {

// What a name means to the forward operator whose rule is looked at.
struct Role {
  enum Kind : uint8_t { kNothing, kInput, kOutput, kOutputGradient };
  Kind kind = kNothing;
  uint32_t index = 0;  // of the input or output
};

inline constexpr Symbol Gradient::*kHalves[] = {&Gradient::dense, &Gradient::indices, &Gradient::values};

struct Recipe {
  // Operators are alike when they agree in these. Places are the names of one operator in a row: inputs,
  // outputs, the halves of the outputs' gradients that are there, "X_grad" of the inputs in `gradients_of`,
  // names that the rule made up.
  Symbol type, engine;
  ArgList args;
  DevicePtr device;
  uint32_t inputs = 0, outputs = 0;
  uint64_t halves = 0;           // a bit for each half of each output's gradient: whether it is there
  uint64_t wanted = 0;           // a bit for each input
  std::vector<uint32_t> equals;  // per place, the first place with the same name
  bool reusable = false;

  // What was made. A definition that the rule's operators made is counted from their first.
  struct Source {
    uint32_t place = UINT32_MAX;  // UINT32_MAX: there is no name
    DefId local = kNoDef;         // made by the rule
    Role role;                    // what the name means to the forward operator
  };
  struct Read {
    Source source;
    bool may_be_stale = false;  // made by the rule, or any version will do
    int overwritten = -1;       // the input, overwritten by the operator itself, whose value is needed
  };
  struct Taken {  // the gradient of an input
    Source dense, indices, values;
  };
  struct Share {  // a Contribution; operators are counted from the rule's first
    uint32_t input;
    int32_t op = -1, values_op = -1;  // -1: passed through
    uint32_t output = 0, values_output = 0;
    DefId local = kNoDef;  // of a dense gradient that the rule made
    bool is_twin = false;  // it went by a name of its own inside the rule
  };
  std::vector<uint32_t> gradients_of;
  std::vector<Op> ops;  // whose names come from `reads` and `writes`
  std::vector<Read> reads;
  std::vector<uint32_t> writes;  // places
  std::vector<Taken> taken;      // per input
  std::vector<Share> shares;
};

}  // namespace weft::internal
