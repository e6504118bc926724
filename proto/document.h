// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening a file of Caffe2's: what it holds is told from its content, never from its name. A Document is a
// value; its nets and plans share one SymbolTable, and large payloads stay ranges of the file's bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/net.h"
#include "core/ir/plan.h"
#include "proto/codec.h"
#include "proto/fields.h"
#include "proto/minidb.h"

namespace weft {

struct Document {
  enum Form : uint8_t { kBinary, kText, kMiniDb };
  struct NamedNet {
    std::string key;  // of a MetaNetDef's map; empty otherwise
    Net net;
  };
  struct NamedPlan {
    std::string key;
    Plan plan;
  };

  MessageId message = MessageId::kNone;  // of a minidb: what its records hold, kNone when it is not known
  Form form = kBinary;
  SymbolTablePtr symbols;
  std::vector<NamedNet> nets;    // a NetDef's one net; an OperatorDef as a net of one; a MetaNetDef's nets
  std::vector<NamedPlan> plans;  // with nets of their own
  Bytes wire;                    // the encoded message, of those that are not read into nets alone
  std::vector<MiniDbRecord> records;  // of a minidb
  std::vector<Note> notes;            // what was read leniently
};

struct OpenOptions {
  SymbolTablePtr symbols;                // null: a new table
  MessageId message = MessageId::kNone;  // read as this, whatever it looks like
  std::string_view name;  // of the file: a note tells when it promises another form; may be empty
};

/// Reads a file's content. The Error says what it seems to be and, where nothing fits, why it is neither
/// binary (byte offset) nor text (line:column, with a caret).
Result<Document> Open(const Bytes& bytes, const OpenOptions& options = {});

/// The file that holds the document, in the given form. Errors: kInvalidArgument for a minidb, whose records
/// are documents of their own.
Result<std::string> Save(const Document& document, Document::Form form);

/// "NetDef, text": what the file is, in a few words.
std::string DescribeKind(const Document& document);

}  // namespace weft
