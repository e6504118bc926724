// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/load.h"

#include "core/base/str.h"
#include "native/io/file.h"

namespace weft::cli {

Result<Document> Load(const std::string& path) {
  const ProgressLine progress(StrCat("reading ", FileLabel(path)));
  WEFT_TRY(const Bytes bytes, ReadFile(path));
  OpenOptions options;
  if (path != "-") options.name = path;
  return Open(bytes, options);
}

Result<Net> TakeNet(Document document) {
  if (document.nets.size() == 1) return std::move(document.nets[0].net);
  const std::string what = DescribeKind(document);
  if (document.nets.size() > 1) {
    std::vector<std::string> keys;
    for (const Document::NamedNet& net : document.nets)
      keys.emplace_back(net.key.empty() ? net.net.Str(net.net.name) : std::string_view(net.key));
    return Error{ErrorCode::kInvalidArgument, StrCat("holds ", document.nets.size(), " nets (",
                                                     ListNames(keys), "), expected one; it is a ", what)};
  }
  return Error{ErrorCode::kInvalidArgument, StrCat("expected a net, found a ", what)};
}

Result<Net> LoadNet(const std::string& path) {
  WEFT_TRY(Document document, Load(path));
  return TakeNet(std::move(document));
}

std::vector<Diagnostic> NotesAsFindings(const Document& document) {
  std::vector<Diagnostic> findings;
  for (const Note& note : document.notes) {
    std::string message;
    if (note.line > 0) StrAppend(message, "line ", note.line, ":", note.column, ": ");
    StrAppend(message, note.message);
    if (note.times > 1) StrAppend(message, " (", note.times, " times)");
    findings.push_back(
        {.code = FindingCode::kLenient, .severity = Severity::kNote, .message = std::move(message)});
  }
  return findings;
}

bool IsTextName(const std::string& path) {
  return path == "-" || path.ends_with(".pbtxt") || path.ends_with(".prototxt") || path.ends_with(".txt");
}

Result<void> SaveNet(const std::string& path, const Net& net) {
  const ProgressLine progress(StrCat("writing ", path));
  return WriteFile(path, IsTextName(path) ? NetToText(net) : SerializeNet(net));
}

int EmitNet(Main& main, const Net& net, const std::string& output) {
  if (!output.empty()) {
    const Result<void> saved = SaveNet(output, net);
    if (!saved) return main.Fail(saved.error());
  }
  if (main.json) {
    std::string json;
    JsonWriter(json).BeginObject().Key("net").String(NetToText(net)).EndObject();
    return PrintJson(main, json);
  }
  if (!output.empty()) return kOk;
  const Result<void> printed = WriteFile("-", NetToText(net));
  return printed ? kOk : main.Fail(printed.error());
}

}  // namespace weft::cli
