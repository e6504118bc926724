// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Errors are values. Result<T> holds a T or an Error; it is shaped like std::expected so that it can become
// one. Bad input gives an Error that says what, where, expected, found. Nothing in core, proto or inspector
// throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/check.h"

namespace weft {

enum class ErrorCode : uint8_t {
  kInvalidArgument,     // the caller's request makes no sense
  kParse,               // bytes or text that are not what they should be
  kLimit,               // larger or deeper than a stated limit
  kNotFound,            // a blob, op, field or file that is not there
  kUnknownOperator,     // no such operator in the operator set
  kSchema,              // operator breaks its own schema
  kNameConflict,        // a name that must be free is taken
  kVersionConflict,     // a gradient needs a version of a blob that was overwritten
  kMixedGradients,      // dense and sparse gradients meet on one blob
  kDeviceMismatch,      // contributions to one gradient live on different devices
  kNoGradient,          // the operator has no gradient, or must not be differentiated
  kMissingGradient,     // an output gradient that the rule needs was not provided, or has the wrong kind
  kOrphanStopGradient,  // a StopGradient whose output nobody reads
  kControlFlow,         // Do, If, While or RecurrentNetwork that breaks its contract
  kUnsupported,         // understood, but not possible here
  kIo,                  // the operating system said no (native only)
};

/// The stable spelling of a code in JSON: "version_conflict".
std::string_view ErrorCodeName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  int64_t op = -1;     // index of the operator at fault in its net, -1 when there is none
  std::string blob{};  // blob at fault, empty when there is none
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & {
    WEFT_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    WEFT_CHECK(has_value());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    WEFT_CHECK(has_value());
    return std::move(*std::get_if<0>(&state_));
  }
  Error& error() & {
    WEFT_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    WEFT_CHECK(!has_value());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    WEFT_CHECK(!has_value());
    return std::move(*std::get_if<1>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() {}  // not defaulted, or Result{} would be filled with zeros first
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit on purpose

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { WEFT_CHECK(has_value()); }
  Error& error() & {
    WEFT_CHECK(!has_value());
    return *error_;
  }
  const Error& error() const& {
    WEFT_CHECK(!has_value());
    return *error_;
  }
  Error&& error() && {
    WEFT_CHECK(!has_value());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

}  // namespace weft

#define WEFT_CONCAT_INNER(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_INNER(a, b)

/// WEFT_TRY(auto x, Compute()): x is the value, or the enclosing function returns the Error.
#define WEFT_TRY(declaration, expression) \
  WEFT_TRY_INNER(WEFT_CONCAT(weft_result_, __LINE__), declaration, expression)
#define WEFT_TRY_INNER(result, declaration, expression)      \
  auto result = (expression);                                \
  if (!result.has_value()) return std::move(result).error(); \
  declaration = std::move(result).value()

/// WEFT_TRY_VOID(Compute()): go on, or the enclosing function returns the Error.
#define WEFT_TRY_VOID(expression)                                        \
  do {                                                                   \
    auto weft_result = (expression);                                     \
    if (!weft_result.has_value()) return std::move(weft_result).error(); \
  } while (false)
