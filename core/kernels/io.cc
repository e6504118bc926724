// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Print and Summarize. Operators that need files or databases have their kernels in native/.
#include <algorithm>
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

struct Times {
  static constexpr std::string_view kBlobType = "Print";
  int64_t count = 0;
};

template <typename T>
void AppendValue(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, Half>) {
    StrAppend(out, HalfToFloat(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    StrAppend(out, value ? "1" : "0");
  } else {
    StrAppend(out, value);
  }
}

Result<void> Print(KernelContext& c) {
  const int64_t every = std::max<int64_t>(c.ArgI("every_n", 1), 1);
  if (c.State<Times>().count++ % every != 0 || !c.run().print) return {};
  const Tensor* t = c.InBlob(0).Get<Tensor>();
  if (!t || !t->has_type()) {
    c.run().print(StrCat("Blob ", c.InName(0), " of type ", c.InBlob(0).type_name()));
    return {};
  }
  const int64_t limit = c.ArgI("limit", 0);
  const int64_t shown = std::min<int64_t>(t->numel(), limit > 0 ? limit : 1000);
  std::string line = StrCat("Tensor ", c.InName(0), " of type ", DataTypeName(t->type()), ". Dims: (");
  for (int64_t d : t->dims()) StrAppend(line, d, ",");
  line += "): ";
  WEFT_TRY_VOID(SwitchAny(c, t->type(), [&](auto tag) -> Result<void> {
    for (int64_t i = 0; i < shown; ++i) {
      if (i) line += ",";
      AppendValue(line, t->data<typename decltype(tag)::type>()[i]);
    }
    return {};
  }));
  c.run().print(line);
  return {};
}

// Minimum, maximum, mean, standard deviation.
Result<void> Summarize(KernelContext& c) {
  WEFT_ENSURE(c, !c.ArgB("to_file", false), "to_file needs a file, so it runs only natively");
  const std::span<const float> x = c.In(0).values<float>();
  WEFT_ENSURE(c, !x.empty(), "nothing to summarize: the tensor is empty");
  const double n = static_cast<double>(x.size());
  double mean = 0, square = 0;
  for (float v : x) mean += v / n;
  for (float v : x) square += (v - mean) * (v - mean);
  const float stats[] = {*std::min_element(x.begin(), x.end()), *std::max_element(x.begin(), x.end()),
                         static_cast<float>(mean),
                         static_cast<float>(x.size() > 1 ? std::sqrt(square / (n - 1)) : 0)};
  if (c.run().print)
    c.run().print(StrCat("Tensor ", c.InName(0), ": min ", stats[0], " max ", stats[1], " mean ", stats[2],
                         " std ", stats[3]));
  if (!c.has_output(0)) return {};
  WEFT_TRY(float* out, c.Out<float>(0, {4}));
  std::copy(std::begin(stats), std::end(stats), out);
  return {};
}

constexpr KernelRow kRows[] = {
    {"Print", Print, "B"},
    {"Summarize", Summarize, "f"},
};

}  // namespace
}  // namespace kernels

KernelFamily IoKernels() { return kernels::kRows; }

}  // namespace weft
