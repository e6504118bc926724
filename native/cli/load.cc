// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/load.h"

#include "core/base/str.h"
#include "native/cli/progress.h"

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

namespace {

Result<Net> TakeNet(Document document, std::string_view name) {
  std::vector<std::string_view> names;
  const auto is_it = [&](std::string_view key, const Net& net) {
    names.push_back(key.empty() ? net.Str(net.name) : key);
    return names.back() == name;
  };
  for (auto& [key, net] : document.nets)
    if (is_it(key, net)) return std::move(net);
  for (auto& [key, plan] : document.plans)
    for (Net& net : plan.networks)
      if (is_it("", net)) return std::move(net);
  const auto near = NearestNames(name, names, 1);
  return Error{ErrorCode::kNotFound,
               StrCat("holds no net ", name, near.empty() ? "" : StrCat("; did you mean ", near[0], "?"))};
}

}  // namespace

Result<Net> LoadNet(const std::string& path) {
  Result<Document> document = Load(path);
  const size_t hash = path.rfind('#');
  if (!document && document.error().code == ErrorCode::kNotFound && hash != std::string::npos) {
    WEFT_TRY(Document outer, Load(path.substr(0, hash)));
    return TakeNet(std::move(outer), std::string_view(path).substr(hash + 1));
  }
  if (!document) return std::move(document).error();
  return TakeNet(std::move(*document));
}

Result<Net> LoadNetOfSeveral(const std::string& path) {
  Result<Net> net = LoadNet(path);
  if (net || net.error().message.find(FileLabel(path)) != std::string::npos) return net;
  Error error = net.error();
  error.message = StrCat(FileLabel(path), ": ", error.message);
  return error;
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

Result<void> SaveNet(FileSet& files, const std::string& path, const Net& net, std::span<const Op> more) {
  if (path.empty()) return {};
  const ProgressLine progress(StrCat("writing ", path));
  return files.Add(path, IsTextName(path) ? NetToText(net, more) : SerializeNet(net, more));
}

int EmitNet(Main& main, const Net& net, const std::string& output) {
  FileSet files;
  Result<void> saved = SaveNet(files, output, net);
  if (saved) saved = files.Commit();
  if (!saved) return main.Fail(saved.error());
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
