// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/window_args.h"

#include <utility>
#include <vector>

#include "core/base/str.h"

namespace weft {

namespace {

using Sizes = WindowArgs::Sizes;

struct Reader {
  const SymbolTable& table;
  const ArgList& args;
  size_t n;
  bool columns;

  bool Has(std::string_view name) const { return FindArg(table, args, name) != nullptr; }
  int64_t Int(std::string_view name, int64_t otherwise) const { return ArgInt(table, args, name, otherwise); }

  Sizes Each(const std::string& name, int64_t otherwise) const {
    const std::string h = name + "_h", w = name + "_w";
    const int64_t all = Int(name, otherwise);
    if (columns && n == 2) return {Int(h, all), Int(w, all)};
    if (const std::vector<int64_t> list = ArgInts(table, args, name + "s"); !list.empty())
      return Sizes(list.begin(), list.end());
    if (!Has(name) && Has(h) && Has(w)) return {Int(h, 0), Int(w, 0)};
    return Repeated(all, n);
  }
  // The beginnings of all dimensions, then the ends.
  Sizes Pads() const {
    if (!columns) {
      if (const std::vector<int64_t> list = ArgInts(table, args, "pads"); !list.empty())
        return Sizes(list.begin(), list.end());
      if (!Has("pad") && Has("pad_t") && Has("pad_l") && Has("pad_b") && Has("pad_r"))
        return {Int("pad_t", 0), Int("pad_l", 0), Int("pad_b", 0), Int("pad_r", 0)};
    }
    return Repeated(Int("pad", 0), 2 * n);
  }
  static Sizes Repeated(int64_t value, size_t count) {
    Sizes sizes;
    for (size_t i = 0; i < count; ++i) sizes.push_back(value);
    return sizes;
  }
};

std::optional<WrongWindow> Check(std::string_view name, const Sizes& sizes, size_t count) {
  if (sizes.size() != count)
    return WrongWindow{StrCat(count, " numbers for ", name), std::to_string(sizes.size())};
  for (const int64_t size : sizes)
    if (size < -kMostWindow || size > kMostWindow)
      return WrongWindow{StrCat("a ", name, " of at most ", kMostWindow), std::to_string(size)};
  return {};
}

}  // namespace

std::optional<WrongWindow> ReadWindowArgs(const SymbolTable& table, const ArgList& args, size_t n,
                                          bool columns, WindowArgs& out) {
  const Reader reader{table, args, n, columns};
  const std::pair<const char*, Sizes*> each[] = {
      {"kernel", &out.kernel}, {"stride", &out.stride}, {"dilation", &out.dilation}, {"adj", &out.adjust}};
  for (const auto& [name, sizes] : each) {
    *sizes = reader.Each(name, sizes == &out.stride || sizes == &out.dilation);
    if (auto wrong = Check(name, *sizes, n)) return wrong;
  }
  const Sizes pads = reader.Pads();
  if (auto wrong = Check("pad", pads, 2 * n)) return wrong;
  out.pad_head = Sizes(pads.begin(), pads.begin() + n);
  out.pad_tail = Sizes(pads.begin() + n, pads.end());
  return {};
}

}  // namespace weft
