// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What a shape rule sees: one operator, what is known of its inputs, and a place for what it says about its
// outputs. TensorInfo is what is known of one value of a net; ShapeTable holds the formulas of its extents
// and the contents of small integer tensors (shapes and indices that a net computes with). A context lives
// for one operator; whoever infers owns the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/small_vec.h"
#include "core/ir/data_type.h"
#include "core/ir/net.h"
#include "core/ops/dim.h"
#include "core/ops/op_def.h"

namespace weft {

using DimList = SmallVec<Dim, 5>;

struct TensorInfo {
  enum Kind : uint8_t {
    kUnknown,   // nothing is known, but perhaps the type
    kTensor,    // `dims` holds, each perhaps unknown
    kDataRank,  // a tensor whose number of dimensions depends on data
    kObject,    // no tensor: a queue, a mutex, a cursor
  };
  static constexpr uint32_t kNoContent = UINT32_MAX;

  Kind kind = kUnknown;
  DataType type = DataType::kUndefined;
  uint32_t content = kNoContent;  // the elements, in the table
  DimList dims;

  bool tensor() const { return kind == kTensor; }
  size_t rank() const { return dims.size(); }

  static TensorInfo Of(DataType type, DimList dims) {
    TensorInfo info;
    info.kind = kTensor;
    info.type = type;
    info.dims = std::move(dims);
    return info;
  }
  static TensorInfo DataRank(DataType type) {
    TensorInfo info;
    info.kind = kDataRank;
    info.type = type;
    return info;
  }
  static TensorInfo Object() {
    TensorInfo info;
    info.kind = kObject;
    return info;
  }
};

class ShapeTable : public DimTable {
 public:
  static constexpr size_t kMostContent = 1024;  // larger tensors are data, not shapes

  /// The elements of an integer tensor, or an empty span when they are not known.
  std::span<const Dim> Content(const TensorInfo& info) const {
    if (info.content == TensorInfo::kNoContent) return {};
    return contents_[info.content];
  }
  bool HasContent(const TensorInfo& info) const { return info.content != TensorInfo::kNoContent; }
  /// Remembers the elements of `info`; too many, or as many as its dimensions do not say, are forgotten.
  void SetContent(TensorInfo& info, std::vector<Dim> elements);

  /// The number of elements of some dimensions.
  Dim Product(std::span<const Dim> dims);
  /// Nothing about it is unknown: an answer that depends on data counts, a missing type does not.
  bool Whole(const TensorInfo& info) const;
  /// Some part of it depends on data.
  bool DependsOnData(const TensorInfo& info) const;
  using DimTable::DependsOnData;

  /// "float [N, 3, 224, 224]", "object", "unknown".
  std::string Text(const TensorInfo& info) const;
  /// "[N, 3]".
  std::string Text(std::span<const Dim> dims) const;
  using DimTable::Text;

 private:
  std::vector<std::vector<Dim>> contents_;
};

/// A dimension, or a shape, that does not fit.
struct ShapeProblem {
  int32_t input = -1;  // which input is at fault, -1 for none
  std::string expected, given;
};

class ShapeContext {
 public:
  ShapeContext(ShapeTable& shapes, const Net& net, const Op& op, const OpDef& def,
               std::span<const TensorInfo> inputs, std::span<TensorInfo> outputs,
               std::vector<ShapeProblem>& problems)
      : table(shapes),
        net_(net),
        op_(op),
        def_(def),
        inputs_(inputs),
        outputs_(outputs),
        problems_(problems) {}

  ShapeTable& table;

  const Net& net() const { return net_; }
  const Op& op() const { return op_; }
  const OpDef& def() const { return def_; }

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const { return outputs_.size(); }
  /// Input i, or one of which nothing is known when there are fewer.
  const TensorInfo& In(size_t i) const { return i < inputs_.size() ? inputs_[i] : kNothing; }
  const TensorInfo& Out(size_t i) const { return i < outputs_.size() ? outputs_[i] : kNothing; }
  /// Sets output i, if there is one.
  void Set(size_t i, TensorInfo info) {
    if (i < outputs_.size()) outputs_[i] = std::move(info);
  }
  void Set(size_t i, DataType type, DimList dims) { Set(i, TensorInfo::Of(type, std::move(dims))); }

  // Arguments. A list or text that the operator lacks is empty.
  const Arg* FindArg(std::string_view name) const;
  bool HasArg(std::string_view name) const { return FindArg(name) != nullptr; }
  /// What the operator says, else `otherwise`.
  int64_t Int(std::string_view name, int64_t otherwise) const;
  float Float(std::string_view name, float otherwise) const;
  std::vector<int64_t> Ints(std::string_view name) const;
  std::string String(std::string_view name, std::string_view otherwise = "") const;
  /// True when the text of the argument is `text`; an absent one is `otherwise`.
  bool StringIs(std::string_view name, std::string_view text, std::string_view otherwise) const;
  /// What the operator says, else what its row of the table says, else 0.
  int64_t IntOrDefault(std::string_view name) const;
  /// An element type, as number or name; `otherwise` when absent.
  DataType Type(std::string_view name, DataType otherwise) const;
  /// Channels come last: order is NHWC.
  bool channels_last() const { return StringIs("order", "NHWC", "NCHW"); }

  /// `axis` counted from the front; negative ones count from the end. -1, and a problem, when out of range.
  int Axis(int64_t axis, size_t rank, int input = 0);
  /// Reports that input `input` is not what it should be. Pieces are evaluated by the caller: say both.
  void Mismatch(int input, std::string expected, std::string given);
  /// Reports a mismatch unless the extents can be equal; the better known of the two.
  Dim Same(Dim expected, Dim given, int input, std::string_view what);
  /// Reports a mismatch unless the shape can be that of input `input`.
  void SameDims(const TensorInfo& expected, int input);

 private:
  static const TensorInfo kNothing;

  const Net& net_;
  const Op& op_;
  const OpDef& def_;
  std::span<const TensorInfo> inputs_;
  std::span<TensorInfo> outputs_;
  std::vector<ShapeProblem>& problems_;
};

}  // namespace weft
