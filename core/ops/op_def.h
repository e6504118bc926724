// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator IS: one constexpr row per operator, in its family's file beside its gradient operator.
// Rows are data. Their text columns are little languages: ops/op_columns.h reads arities, ports, args and
// in-place pairs straight from the row, ops/gradient_rule.h and ops/shape_rule.h compile their lines once for
// a net.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "core/base/result.h"

namespace weft {

class GradientContext;  // ops/gradient_context.h

inline constexpr int kAny = std::numeric_limits<int>::max();  // no upper bound

struct Arity {
  int min = 0;
  int max = 0;
  constexpr Arity() = default;
  constexpr Arity(int exactly) : min(exactly), max(exactly) {}  // NOLINT: implicit on purpose
  constexpr Arity(int least, int most) : min(least), max(most) {}
};

/// What happens when a gradient is asked for: five different answers to the user, and one for "nobody said".
/// Caffe2 gives the answers of kUnregistered, kForbidden and kNotImplemented before it looks at the
/// operator's schema, those of the others after it.
enum class GradientPolicy : uint8_t {
  kUnregistered,    // Caffe2 has no gradient for it and says nothing: an error naming the operator
  kRule,            // `gradient` or `gradient_fn` makes gradient operators
  kPassThrough,     // the incoming gradient is the answer: Sum, Alias, Gather, EnsureDense
  kNone,            // NO_GRADIENT: flow stops here, silently and rightly (StopGradient, labels, comparisons)
  kForbidden,       // SHOULD_NOT_DO_GRADIENT: asking is a mistake
  kNotImplemented,  // GRADIENT_NOT_IMPLEMENTED_YET: it has a gradient that nobody wrote
};

enum OpFlags : uint32_t {
  kHostOnly = 1,      // needs files, threads or a clock: its kernel lives in native/
  kGpuOnly = 2,       // exists in GPU builds only (copies to and from GPUs, NCCL)
  kRandom = 4,        // draws random numbers
  kStateful = 8,      // the result depends on more than its inputs (queues, mutexes, databases)
  kControlFlow = 16,  // holds nets that it runs: Do, If, AsyncIf, While, RecurrentNetwork
  kCollective = 32,   // all ranks must call it in the same order
};

struct OpDef {
  std::string_view name;
  std::string_view doc;  // our own words: one to three sentences

  Arity in;
  Arity out;
  std::string_view arities = {};  // allowed "in/out" pairs when not the whole range: "3/1 4/2 2n/1"
  std::string_view ports = {};    // names: "X W b? -> Y"; "?" optional, "..." repeated

  std::string_view args = {};      // "axis:int=1 shape:ints order:string=NCHW values:floats!"; "!" required
  std::string_view inplace = {};   // allowed "input>output" pairs: "0>0 1>1"; "*" any, "i>i" each onto itself
  std::string_view enforced = {};  // required pairs: "3>1 4>2"; "i>i" and "i+1>i" as in Caffe2

  std::string_view shape_only = {};  // inputs of which only the shape or the device is read: "1 2"

  GradientPolicy policy = GradientPolicy::kUnregistered;
  std::string_view gradient = {};                           // ops/gradient_rule.h says how to read it
  Result<void> (*gradient_fn)(GradientContext&) = nullptr;  // where one line can't say it

  std::string_view shape = {};         // ops/shape_rule.h says how to read it; empty: shape_reason says why
  std::string_view shape_reason = {};  // "needs a file", "what the Python function returns"
  std::string_view cost = {};          // floating point operations, as in shape: "2*|Y|*W[1:]"; empty: none

  uint8_t tier = 3;    // 1 what real nets use most .. 3 the rest; semantics.md section 4
  uint32_t flags = 0;  // OpFlags
};

/// One family: a file under ops/. The families are listed in ops/families.h.
using OpFamily = std::span<const OpDef>;

}  // namespace weft
