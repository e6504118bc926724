// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The session's structs as JavaScript values: field for field, names in camelCase, ids that mean "none" as
// -1. Strings are UTF-8 made valid: a byte that is none becomes U+FFFD.
#pragma once

#include <emscripten/val.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/check/diagnostic.h"
#include "inspector/session.h"

namespace weft::wasm {

using emscripten::val;

val Ok(val value);
val Fail(const Error& error);
/// A typed array of its own: Uint32Array, Int32Array or Uint8Array.
val Copy(std::span<const uint32_t> values);
val Copy(std::span<const int32_t> values);
val Copy(std::string_view bytes);

val ToValue(uint32_t value);
val ToValue(const std::string& text);
val ToValue(const DocumentInfo& info);
val ToValue(const NetInfo& info);
val ToValue(const NetPair& pair);
val ToValue(const SceneNet& net);
val ToValue(const ScopeInfo& info);
val ToValue(const ScopeChildren& children);
val ToValue(const Port& port);
val ToValue(const GradientLine& line);
val ToValue(const ArgInfo& arg);
val ToValue(const OpDetails& details);
val ToValue(const BlobVersionDetails& version);
val ToValue(const BlobDetails& details);
val ToValue(const Diagnostic& finding);
val ToValue(const ListingLine& line);
inline val ToValue(const std::vector<uint32_t>& ids) { return Copy(std::span<const uint32_t>(ids)); }
inline val ToValue(const std::vector<int32_t>& ids) { return Copy(std::span<const int32_t>(ids)); }

template <typename T>
val ListOf(std::span<const T> items) {
  val out = val::array();
  for (size_t i = 0; i < items.size(); ++i) out.set(static_cast<uint32_t>(i), ToValue(items[i]));
  return out;
}
template <typename T>
val ListOf(const std::vector<T>& items) {
  return ListOf(std::span<const T>(items));
}
template <typename T>
val ToValue(const std::vector<T>& items) {
  return ListOf(items);
}

template <typename T>
val Answer(const Result<T>& result) {
  return result.has_value() ? Ok(ToValue(result.value())) : Fail(result.error());
}

/// Absent fields keep their defaults.
ViewOptions OptionsFrom(const val& options);

}  // namespace weft::wasm
