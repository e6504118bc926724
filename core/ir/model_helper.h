// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// A net and the init net that fills its parameters, built side by side over one symbol table: Caffe2's
// ModelHelper without its layers. A class because it guards that every parameter has one fill. One owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net_builder.h"

namespace weft {

/// The operator that fills a parameter: XavierFill, ConstantFill, GaussianFill, MSRAFill, UniformFill...
struct Filler {
  std::string type = "XavierFill";
  OpArgs args{};  // besides the shape
};

enum class ParamKind : uint8_t {
  kWeight,    // trained, and what weight decay applies to
  kBias,      // trained
  kComputed,  // kept up by an operator (running statistics), not by an optimizer
};

struct ModelParam {
  Symbol blob;
  std::vector<int64_t> shape;
  ParamKind kind;
};

class ModelHelper {
 public:
  /// Nets "<name>" and "<name>_init".
  ModelHelper(NameRegistry& registry, std::string_view name);

  NetBuilder& net() { return net_; }
  NetBuilder& init() { return init_; }
  const std::vector<ModelParam>& params() const { return params_; }

  /// A parameter with its fill in the init net, on the device of the scope; an external input of the net.
  /// Errors: kNameConflict when there is one of that name; kInvalidArgument for a negative extent.
  Result<Symbol> AddParam(const BlobRef& name, std::vector<int64_t> shape, const Filler& filler = {},
                          ParamKind kind = ParamKind::kWeight, const Scope& scope = {});

 private:
  NetBuilder init_, net_;
  std::vector<ModelParam> params_;
};

}  // namespace weft
