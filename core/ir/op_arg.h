// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments as a builder's user writes them: {"kernel", 5}, {"scales", {1, 2.5}}, {"order", "NCHW"}. The C++
// type decides the field (semantics.md 1.2): integers and bools go to i, floating numbers to f, text to s,
// lists to theirs. A list with any floating number is a list of floats; an empty list needs a typed vector
// (B58: Caffe2 refuses the first, and loses the type of the second). Values; names are interned when added.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ir/net.h"

namespace weft {

/// One number of a list, which remembers whether it was written as an integer.
struct Number {
  template <std::integral T>
  Number(T value) : integer(static_cast<int64_t>(value)), real(static_cast<float>(value)) {}  // NOLINT
  template <std::floating_point T>
  Number(T value) : real(static_cast<float>(value)), is_real(true) {}  // NOLINT
  int64_t integer = 0;
  float real = 0;
  bool is_real = false;
};

class OpArg {
 public:
  OpArg(Arg made) : arg_(std::move(made)) {}  // NOLINT: implicit on purpose
  template <std::integral T>
  OpArg(std::string_view name, T value) : name_(name), arg_(MakeArg(Symbol(), static_cast<int64_t>(value))) {}
  template <std::floating_point T>
  OpArg(std::string_view name, T value) : name_(name), arg_(MakeArg(Symbol(), static_cast<float>(value))) {}
  OpArg(std::string_view name, std::string_view text)
      : name_(name), arg_(MakeArg(Symbol(), std::string(text))) {}
  /// A template, or {0} would be a null pointer to text instead of a list.
  template <std::same_as<const char*> T>
  OpArg(std::string_view name, T text) : OpArg(name, std::string_view(text)) {}
  OpArg(std::string_view name, const std::string& text) : OpArg(name, std::string_view(text)) {}
  /// Floats when any is written as one, else ints. REQUIRES: not empty, since nothing tells the type.
  OpArg(std::string_view name, std::initializer_list<Number> numbers);
  OpArg(std::string_view name, std::vector<int64_t> values)
      : name_(name), arg_(MakeArg(Symbol(), std::move(values))) {}
  OpArg(std::string_view name, std::vector<float> values)
      : name_(name), arg_(MakeArg(Symbol(), std::move(values))) {}
  OpArg(std::string_view name, std::vector<std::string> values)
      : name_(name), arg_(MakeArg(Symbol(), std::move(values))) {}
  OpArg(std::string_view name, NetPtr net) : name_(name), arg_(MakeArg(Symbol(), std::move(net))) {}
  OpArg(std::string_view name, std::vector<NetPtr> nets);

  std::string_view name() const { return name_; }
  /// The argument with its name in `table`.
  Arg In(SymbolTable& table) const;

 private:
  std::string name_;  // empty: the name is in arg_
  Arg arg_;
};

/// A list of them, also from ready-made arguments.
struct OpArgs {
  OpArgs() = default;
  OpArgs(std::initializer_list<OpArg> args) : list(args) {}                 // NOLINT: implicit on purpose
  OpArgs(std::vector<OpArg> args) : list(std::move(args)) {}                // NOLINT
  OpArgs(const std::vector<Arg>& args) : list(args.begin(), args.end()) {}  // NOLINT
  ArgList In(SymbolTable& table) const;
  std::vector<OpArg> list;
};

}  // namespace weft
