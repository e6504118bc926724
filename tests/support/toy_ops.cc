// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/toy_ops.h"

#include <vector>

#include "core/base/str.h"
#include "core/ops/families.h"
#include "core/ops/gradient_context.h"

namespace weft::test {

namespace {

// Caffe2 registers them in Python, so arguments and engine are not copied and is_gradient_op is not set.
Result<void> ToyGradient(GradientContext& c, const BlobList& also) {
  BlobList inputs = also, outputs;
  for (size_t i = 0; i < c.num_outputs(); ++i) inputs.push_back(c.GO(i));
  for (size_t i = 0; i < c.num_inputs(); ++i) outputs.push_back(c.GI(i));
  Op& made =
      c.Add(StrCat(c.Str(c.op().type), "Gradient"), inputs, outputs, {}, GradientContext::kNoArgsOrEngine);
  made.is_gradient_op.reset();
  return {};
}
Result<void> DirectGradient(GradientContext& c) { return ToyGradient(c, {}); }
Result<void> UseOutputGradient(GradientContext& c) { return ToyGradient(c, c.op().outputs); }
Result<void> UseInputGradient(GradientContext& c) { return ToyGradient(c, c.op().inputs); }

constexpr Arity kSome = {0, kAny};
constexpr GradientPolicy kRule = GradientPolicy::kRule;
constexpr OpDef kToys[] = {
    {.name = "Direct",
     .in = kSome,
     .out = kSome,
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = DirectGradient},
    {.name = "DirectGradient", .in = kSome, .out = kSome, .inplace = "*"},
    {.name = "UseInput",
     .in = kSome,
     .out = kSome,
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = UseInputGradient},
    {.name = "UseInputGradient", .in = kSome, .out = kSome, .inplace = "*"},
    {.name = "UseOutput",
     .in = kSome,
     .out = kSome,
     .inplace = "*",
     .policy = kRule,
     .gradient_fn = UseOutputGradient},
    {.name = "UseOutputGradient", .in = kSome, .out = kSome, .inplace = "*"},
    {.name = "Nogradient", .in = kSome, .out = kSome, .inplace = "*", .policy = GradientPolicy::kNone},
};

}  // namespace

OpFamily ToyFamily() { return kToys; }

const OpSet& ToyOps() {
  static const OpSet ops(std::vector<OpFamily>{ToyFamily()});
  return ops;
}

const OpSet& StandardAndToyOps() {
  static const OpSet ops([] {
    std::vector<OpFamily> families = StandardFamilies();
    families.push_back(ToyFamily());
    return families;
  }());
  return ops;
}

}  // namespace weft::test
