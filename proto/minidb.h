// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// minidb, Caffe2's simplest database: records of two little-endian int32 lengths, a key and a value, one
// after the other. Records are ranges of the file's bytes. No state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/bytes.h"

namespace weft {

struct MiniDbRecord {
  std::string key;
  Bytes value;
};

/// True when the bytes begin like a minidb: lengths that fit into the file and a key of printable characters.
bool LooksLikeMiniDb(std::string_view bytes);
/// All records. Errors (kParse) name the byte and the record; an empty key or value is one, as in Caffe2.
Result<std::vector<MiniDbRecord>> ParseMiniDb(const Bytes& bytes);
/// Appends one record. REQUIRES: key and value are not empty and shorter than 2 GB.
void AppendMiniDbRecord(std::string& out, std::string_view key, std::string_view value);

}  // namespace weft
