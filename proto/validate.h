// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The check that runs before anything is built from encoded bytes: every length, varint, group and nesting is
// looked at once, without allocating, so that a refused file has cost nothing. What passes can be read
// without further errors.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "core/base/result.h"
#include "proto/fields.h"

namespace weft {

/// How well bytes fit a message; for telling messages apart.
struct WireFit {
  uint64_t known = 0;     // fields of the table
  uint64_t unknown = 0;   // fields that it does not have, or with another wire type
  uint64_t odd_text = 0;  // strings that are no UTF-8 text or hold control characters
};

/// Errors (kParse; kLimit for nesting and size) name the byte offset, counted from the start of `bytes` plus
/// `offset`, and the path: "op[3].arg[1]". Stops early, with success, after `most_fields` fields.
Result<void> Validate(MessageId message, std::string_view bytes, WireFit* fit = nullptr, size_t offset = 0,
                      uint64_t most_fields = std::numeric_limits<uint64_t>::max());

/// True for well-formed UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace weft
