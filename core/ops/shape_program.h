// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The compiled form of a one-line shape rule or cost (shape_rule.h has the grammar): statements over nodes of
// expressions. It refers to ports by place and to arguments by name, belongs to no net, and is immutable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_def.h"
#include "core/ops/shape_context.h"

namespace weft {

/// What a function of the language is given: a shape, or a number (which may be negative) and its Dim.
struct ShapeOperand {
  const TensorInfo* shape = nullptr;
  int64_t number = 0;
  Dim dim;
};
/// A function in an expression: "broadcast(A, B)".
using ShapeFunction = TensorInfo (*)(ShapeContext&, std::span<const ShapeOperand>);
/// A rule in one word, which sets the outputs itself: "conv".
using ShapeWord = void (*)(ShapeContext&);

ShapeFunction FindShapeFunction(std::string_view name);
ShapeWord FindShapeWord(std::string_view name);

/// A named port of the operator's row, or an input or output by number.
struct PortRef {
  bool output = false;
  bool repeated = false;
  bool numbered = false;  // I3, O1
  int32_t port = 0;       // its place among the ports, or the number
};

struct ShapeNode {
  enum Kind : uint8_t {
    // Extents.
    kNumber,   // number
    kIntArg,   // @name; number is the default
    kData,     // ?
    kExtent,   // X.1, by the number of node `a`
    kCount,    // |X|: elements of the shape `a`
    kRank,     // #X
    kLength,   // #@mask: of a list argument
    kInputs,   // nin
    kOutputs,  // nout
    kSum,      // sum(X): of the elements; max(X); value(X, i): one element
    kMax,
    kValue,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    // Shapes.
    kPort,      // X
    kRange,     // X[a:b]
    kIntsArg,   // @shape
    kList,      // [..., ...]
    kCall,      // f(...)
    kDataRank,  // ??
    kObject,    // object
  };
  Kind kind = kNumber;
  bool shape = false;
  PortRef port;
  int64_t number = 0;
  std::string_view name;
  int32_t a = -1, b = -1;      // nodes
  std::vector<int32_t> items;  // of a list or call
  ShapeFunction call = nullptr;
};

struct ShapeCondition {
  enum Compare : uint8_t { kTrue, kEqual, kNotEqual, kLess, kMore };
  bool negated = false;
  Compare compare = kTrue;
  int32_t node = -1;  // a number; -1: the presence of `port`, or the text of argument `name`
  bool has_port = false;
  PortRef port;
  std::string_view name, text;  // order=NHWC
  std::string_view fallback;    // when the operator does not say
  int64_t value = 0;
};

struct ShapeType {
  enum Kind : uint8_t { kDefault, kFixed, kOfPort, kOfArg };
  Kind kind = kDefault;
  DataType type = DataType::kUndefined;  // fixed, or the argument's default
  PortRef port;
  std::string_view name;
};

struct ShapeStatement {
  enum Kind : uint8_t { kAssign, kCheck, kCheckSame, kWord };
  Kind kind = kAssign;
  std::vector<ShapeCondition> when;
  std::vector<PortRef> targets;
  int32_t node = -1, other = -1;  // kCheck: node = other
  ShapeType type;
  ShapeWord word = nullptr;
  std::string_view left, right;  // of a check, as written
};

struct ShapeProgram {
  std::vector<PortSpec> inputs, outputs;
  bool plain_inputs = true,
       plain_outputs = true;  // ports are places: nothing optional or repeated but at the end
  std::vector<ShapeNode> nodes;
  std::vector<ShapeStatement> statements;
  int32_t cost = -1;                           // node, -1 for none
  bool has_reads = false, has_writes = false;  // the cost says what is read or written
  std::vector<int32_t> reads, writes;          // shapes
};

/// Compiles def.shape and def.cost. Errors: kParse, naming operator and column.
Result<ShapeProgram> CompileShapeRule(const OpDef& def);

}  // namespace weft
