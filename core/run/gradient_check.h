// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Planned gradients against central differences: the net runs again and again in fresh workspaces with one
// element of one fed blob moved a little up and down, by several widths: one that agrees will do. Where none
// does and the widths contradict each other, or the slopes to both sides do, the loss has a kink; such
// elements are counted, not judged. In double precision the check sees what float's rounding hides; it needs
// kernels that know doubles. Stateless.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/run/tensor.h"

namespace weft {

class KernelSet;
class OpSet;

/// Where the planned gradient of a fed blob is: a dense blob, or rows and their values. With neither, the
/// blob has none, which stands for zeros.
struct GradientPlace {
  std::string blob;
  std::string dense;
  std::string indices, values;
};

struct GradientCheck {
  const KernelSet* kernels = nullptr;
  const OpSet* ops = nullptr;
  const Net* init = nullptr;      // runs before the feeds when given
  const Net* forward = nullptr;   // computes the loss
  const Net* backward = nullptr;  // computes the loss and the gradients
  std::vector<std::pair<std::string, Tensor>> feeds;
  std::vector<std::string> losses;  // the sum of all of their elements is differentiated
  std::vector<GradientPlace> gradients;
  uint64_t seed = 1;
  uint64_t op_limit = 0;                    // per run, as in RunContext
  bool in_double = false;                   // nets (DoubleNet) and feeds compute in double
  int64_t samples = 0;                      // elements checked per blob, evenly spread; 0: all
  double step = 1e-2;                       // times the element where that is larger than 1
  double absolute = 3e-4, relative = 1e-3;  // allowed
  double floor = 1e-3;  // relative errors are relative to the larger of the two gradients, and at least this
  std::function<void(int64_t done, int64_t total)> progress;  // elements; may be empty
};

struct BlobGradientReport {
  std::string blob;
  int64_t elements = 0;  // checked
  int64_t kinks = 0;     // elements beside a kink or on one, where no difference agrees
  int64_t wrong = 0;     // elements beyond what is allowed
  double worst_absolute = 0, worst_relative = 0;  // over elements without kinks
  int64_t worst = -1;                             // the element with the largest excess
  double numeric = 0, planned = 0;                // there
};

/// One report per place in `gradients`, in order. Errors: a net that fails, a loss or gradient that is not
/// there, a blob that is not fed or does not hold floats or doubles.
Result<std::vector<BlobGradientReport>> CheckGradients(const GradientCheck& check);

/// The loss where the feeds are. Errors: as CheckGradients.
Result<double> LossAtRest(const GradientCheck& check);

/// The derivative of the loss by each element of the fed blob, as doubles in its shape.
Result<Tensor> NumericGradient(const GradientCheck& check, std::string_view blob);

}  // namespace weft
