// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Files as documents, nets and plans, and back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/check/diagnostic.h"
#include "core/ir/net.h"
#include "native/cli/command.h"
#include "native/io/file.h"
#include "proto/document.h"

namespace weft::cli {

/// Reads a file of any of the formats, with a line of progress for a large one.
Result<Document> Load(const std::string& path);
/// The same for a file that must hold one net; FILE#NAME is one of several nets of a file or of its plan. A
/// net without a name gets one from the file's.
Result<Net> LoadNet(const std::string& path);
/// The same for one net of several that a command reads: errors say which.
Result<Net> LoadNetOfSeveral(const std::string& path);
/// The one net of a document, or an error that says what it holds instead.
Result<Net> TakeNet(Document document);

/// What was read leniently, as findings.
std::vector<Diagnostic> NotesAsFindings(const Document& document);

/// True when a file of this name is written as text: .pbtxt, .prototxt, .txt, and - (standard output).
bool IsTextName(const std::string& path);
/// Adds a net, and behind its operators `more`, to the files to be written, in the format that the name asks
/// for; nothing when there is no name.
Result<void> SaveNet(FileSet& files, const std::string& path, const Net& net, std::span<const Op> more = {});

/// What clone and extract do with their result: write it to `output` when given; print {"net": text} with
/// --json; print its text when neither was asked for.
int EmitNet(Main& main, const Net& net, const std::string& output);

}  // namespace weft::cli
