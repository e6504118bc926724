// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What bytes are, from their content: which message, text or binary, or something else that people take for a
// model. Internal to proto/. No state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proto/fields.h"

namespace weft::internal {

/// What the file is when it is certainly no message: "a Git LFS pointer, ...". Empty when it may be one.
std::optional<std::string> KnownStranger(std::string_view bytes);

/// True when the bytes are text: no control characters other than white space near the beginning.
bool LooksLikeText(std::string_view bytes);

/// The message that the fields of a text fit best; kNone when no message has any of them.
MessageId GuessTextMessage(std::string_view text);

/// The message that the bytes fit best; NetDef when none fits. Bytes that look like text are taken for nets
/// and plans alone: letters make sound, if senseless, messages of numbers.
MessageId GuessBinaryMessage(std::string_view bytes);

/// A guess at what happened to a binary file that cannot be read, to be appended to an error; may be empty.
std::string DamageHint(std::string_view bytes);

}  // namespace weft::internal
