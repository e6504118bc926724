// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Print. Operators that need files or databases have their kernels in native/.
#include <algorithm>

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

constexpr KernelRow kRows[] = {
    {"Print", Print, "B"},
};

}  // namespace
}  // namespace kernels

KernelFamily IoKernels() { return kernels::kRows; }

}  // namespace weft
