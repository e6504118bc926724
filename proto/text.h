// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Protobuf's text form <-> its binary form, for any message of the field table. The text reader is lenient
// where the meaning is clear, and says so in notes. No state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "proto/codec.h"
#include "proto/fields.h"

namespace weft {

/// The text of an encoded message as protobuf's TextFormat prints it. Bytes that are no such message give the
/// text of the fields before the fault. With `most` above 0 only so many values of a list are printed, and a
/// comment says how many more there are: for looking at weights.
std::string WireToText(MessageId message, std::string_view wire, size_t most = 0);

/// The encoded message: fields by number, lists packed where the table says so. Errors begin "line:column: "
/// and end with the line and a caret.
Result<std::string> TextToWire(MessageId message, std::string_view text, std::vector<Note>* notes = nullptr);

/// `wire` with its own fields (not those of messages within) in order of number and packed lists joined.
std::string SortedWire(MessageId message, std::string_view wire);

}  // namespace weft
