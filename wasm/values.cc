// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "wasm/values.h"

#include <algorithm>

namespace weft::wasm {
namespace {

/// Pieces of a listing's line that a page is given: no screen has room for more.
constexpr size_t kMaxPieces = 1000;

/// An id as JavaScript sees it: -1 for none.
val Id(uint32_t id) { return id == kNone ? val(-1) : val(id); }

/// Names and messages hold whatever a file held; JavaScript's decoder wants UTF-8.
std::string Utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const size_t size = c < 0x80                ? 1
                        : c >= 0xC2 && c < 0xE0 ? 2
                        : c >= 0xE0 && c < 0xF0 ? 3
                        : c >= 0xF0 && c < 0xF5 ? 4
                                                : 0;
    bool good = size > 0 && i + size <= text.size();
    for (size_t j = 1; good && j < size; ++j) good = (static_cast<unsigned char>(text[i + j]) & 0xC0) == 0x80;
    if (good) {
      out.append(text.substr(i, size));
      i += size;
    } else {
      out += "\xEF\xBF\xBD";
      ++i;
    }
  }
  return out;
}

/// The length in UTF-16 of what Utf8() makes of `text`.
int32_t Utf16Length(std::string_view text) {
  int32_t length = 0;
  for (const char c : Utf8(text)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    length += (byte & 0xC0) != 0x80 ? 1 : 0;
    length += byte >= 0xF0 ? 1 : 0;
  }
  return length;
}

val Text(std::string_view text) { return val(Utf8(text)); }

}  // namespace

val Ok(val value) {
  val out = val::object();
  out.set("ok", true);
  out.set("value", value);
  return out;
}

val Fail(const Error& error) {
  val what = val::object();
  what.set("code", Text(ErrorCodeName(error.code)));
  what.set("message", Text(error.message));
  what.set("op", static_cast<double>(error.op));
  what.set("blob", Text(error.blob));
  val out = val::object();
  out.set("ok", false);
  out.set("error", what);
  return out;
}

val Copy(std::span<const uint32_t> values) {
  return val(emscripten::typed_memory_view(values.size(), values.data())).call<val>("slice");
}
val Copy(std::span<const int32_t> values) {
  return val(emscripten::typed_memory_view(values.size(), values.data())).call<val>("slice");
}
val Copy(std::string_view bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  return val(emscripten::typed_memory_view(bytes.size(), data)).call<val>("slice");
}

val ToValue(uint32_t value) { return Id(value); }
val ToValue(const std::string& text) { return Text(text); }

val ToValue(const DocumentInfo& info) {
  val out = val::object();
  out.set("id", info.id);
  out.set("name", Text(info.name));
  out.set("format", Text(info.format));
  out.set("bytes", static_cast<double>(info.bytes));
  out.set("nets", ToValue(info.nets));
  return out;
}

val ToValue(const NetInfo& info) {
  val out = val::object();
  out.set("id", info.id);
  out.set("document", Id(info.document));
  out.set("name", Text(info.name));
  out.set("type", Text(info.type));
  out.set("numOps", info.num_ops);
  out.set("parent", Id(info.parent));
  out.set("parentOp", info.parent_op);
  out.set("parentArg", Text(info.parent_arg));
  out.set("hasGradients", info.has_gradients);
  return out;
}

val ToValue(const NetPair& pair) {
  val out = val::object();
  out.set("init", pair.init);
  out.set("net", pair.net);
  out.set("matched", pair.matched);
  out.set("missing", pair.missing);
  out.set("chosen", pair.chosen);
  return out;
}

val ToValue(const SceneNet& net) {
  val out = val::object();
  out.set("net", net.net);
  out.set("around", Id(net.around));
  out.set("op", net.op);
  out.set("firstOp", net.first_op);
  out.set("numOps", net.num_ops);
  out.set("firstValue", net.first_value);
  out.set("numValues", net.num_values);
  out.set("taken", ToValue(net.taken));
  return out;
}

val ToValue(const ScopeInfo& info) {
  val out = val::object();
  out.set("id", info.id);
  out.set("parent", Id(info.parent));
  out.set("label", Text(info.label));
  out.set("path", Text(info.path));
  out.set("depth", info.depth);
  out.set("numOps", info.num_ops);
  out.set("numScopes", info.num_scopes);
  out.set("numDirect", info.num_direct);
  out.set("synthetic", info.synthetic);
  out.set("user", info.user);
  out.set("repeats", info.repeats);
  out.set("repeatOf", info.repeat_of);
  return out;
}

val ToValue(const ScopeChildren& children) {
  val out = val::object();
  out.set("scopes", ListOf(children.scopes));
  out.set("ops", ToValue(children.ops));
  return out;
}

val ToValue(const Port& port) {
  val out = val::object();
  out.set("name", Text(port.name));
  out.set("label", Text(port.label));
  out.set("port", Text(port.port));
  out.set("blob", Id(port.blob));
  out.set("value", Id(port.value));
  out.set("version", port.version);
  out.set("external", port.external);
  out.set("param", port.param);
  out.set("inPlace", port.in_place);
  out.set("writer", port.writer);
  out.set("readers", ToValue(port.readers));
  out.set("numReaders", port.num_readers);
  out.set("overwrittenBy", port.overwritten_by);
  return out;
}

val ToValue(const GradientLine& line) {
  val out = val::object();
  out.set("when", Text(line.when));
  out.set("text", Text(line.text));
  out.set("sentence", line.sentence);
  return out;
}

val ToValue(const ArgInfo& arg) {
  val out = val::object();
  out.set("name", Text(arg.name));
  out.set("type", Text(arg.type));
  out.set("value", Text(arg.value));
  out.set("otherwise", Text(arg.otherwise));
  out.set("given", arg.given);
  out.set("declared", arg.declared);
  out.set("required", arg.required);
  out.set("mismatch", arg.mismatch);
  out.set("nets", ToValue(arg.nets));
  return out;
}

template <typename T>
std::span<const T> First(const std::vector<T>& items) {
  return std::span<const T>(items).first(std::min<size_t>(items.size(), kMaxListed));
}

val ToValue(const OpDetails& details) {
  val out = val::object();
  out.set("op", details.op);
  out.set("type", Text(details.type));
  out.set("name", Text(details.name));
  out.set("engine", Text(details.engine));
  out.set("device", Text(details.device));
  out.set("debugInfo", Text(details.debug_info));
  out.set("domain", Text(details.domain));
  out.set("opVersion", Text(details.op_version));
  out.set("doc", Text(details.doc));
  out.set("known", details.known);
  out.set("nearest", ListOf(details.nearest));
  out.set("role", Text(RoleName(details.role)));
  out.set("isGradientOp", details.is_gradient_op ? val(*details.is_gradient_op) : val::null());
  out.set("gradient", ListOf(details.gradient));
  out.set("gradientRule", Text(details.gradient_rule));
  // An operator may read a million blobs; a page shows some of them and how many there are.
  out.set("inputs", ListOf(First(details.inputs)));
  out.set("numInputs", static_cast<uint32_t>(details.inputs.size()));
  out.set("outputs", ListOf(First(details.outputs)));
  out.set("numOutputs", static_cast<uint32_t>(details.outputs.size()));
  out.set("controlInputs", ListOf(details.control_inputs));
  out.set("args", ListOf(details.args));
  out.set("unknownBytes", details.unknown_bytes);
  out.set("forward", details.forward);
  out.set("servedBy", ToValue(details.served_by));
  out.set("replicas", ToValue(details.replicas));
  out.set("scopes", ToValue(details.scopes));
  out.set("findings", ToValue(details.findings));
  return out;
}

val ToValue(const BlobVersionDetails& version) {
  val out = val::object();
  out.set("value", version.value);
  out.set("version", version.version);
  out.set("writer", version.writer);
  out.set("output", version.output);
  out.set("readers", ToValue(version.readers));
  out.set("numReaders", version.num_readers);
  out.set("lastReader", version.last_reader);
  return out;
}

val ToValue(const BlobDetails& details) {
  val out = val::object();
  out.set("blob", details.blob);
  out.set("name", Text(details.name));
  out.set("externalInput", details.external_input);
  out.set("externalOutput", details.external_output);
  out.set("param", details.param);
  out.set("gradient", Text(details.gradient));
  out.set("versions", ListOf(details.versions));
  return out;
}

val ToValue(const Diagnostic& finding) {
  val out = val::object();
  out.set("severity", Text(SeverityName(finding.severity)));
  out.set("code", Text(FindingCodeName(finding.code)));
  out.set("message", Text(finding.message));
  out.set("remedy", Text(finding.remedy));
  out.set("path", Text(finding.path));
  out.set("op", finding.op);
  out.set("blob", Text(finding.blob));
  return out;
}

val ToValue(const ListingLine& line) {
  val out = val::object();
  out.set("op", line.op);
  // Four numbers a piece, places counted as JavaScript counts them.
  std::vector<int32_t> spans;
  spans.reserve(line.pieces.size() * 4);
  uint32_t byte = 0;
  int32_t unit = 0;
  const auto advance = [&](uint32_t to) {
    unit += Utf16Length(std::string_view(line.text).substr(byte, to - byte));
    byte = to;
    return unit;
  };
  std::string_view text = line.text;
  const bool cut = line.pieces.size() > kMaxPieces;
  if (cut) text = text.substr(0, line.pieces[kMaxPieces].begin);
  out.set("text", Text(cut ? std::string(text) + "..." : std::string(text)));
  for (const ListingPiece& piece :
       std::span(line.pieces).first(std::min<size_t>(line.pieces.size(), kMaxPieces))) {
    spans.push_back(advance(piece.begin));
    spans.push_back(advance(piece.end));
    spans.push_back(static_cast<int32_t>(piece.text_class));
    spans.push_back(piece.value == kNoValue ? -1 : static_cast<int32_t>(piece.value));
  }
  out.set("spans", ToValue(spans));
  return out;
}

ViewOptions OptionsFrom(const val& options) {
  ViewOptions out;
  const auto has = [&](const char* name) { return !options[name].isUndefined() && !options[name].isNull(); };
  if (has("mode")) out.mode = static_cast<LayoutMode>(options["mode"].as<uint32_t>());
  if (has("expanded")) out.expanded = emscripten::convertJSArrayToNumberVector<ScopeId>(options["expanded"]);
  if (has("expandAll")) out.expand_all = options["expandAll"].as<bool>();
  if (has("budget")) out.budget = options["budget"].as<uint32_t>();
  if (has("bands")) out.bands = options["bands"].as<uint32_t>();
  if (has("foldReplicas")) out.fold_replicas = options["foldReplicas"].as<bool>();
  if (has("showNames")) out.show_names = options["showNames"].as<bool>();
  if (has("showArguments")) out.show_arguments = options["showArguments"].as<bool>();
  if (has("showParams")) out.show_params = options["showParams"].as<bool>();
  if (has("showReferences")) out.show_references = options["showReferences"].as<bool>();
  if (has("opened")) out.opened = emscripten::convertJSArrayToNumberVector<NetId>(options["opened"]);
  if (has("horizontal")) out.horizontal = options["horizontal"].as<bool>();
  return out;
}

}  // namespace weft::wasm
