// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft tensors: what init nets and files of weights hold, tensor by tensor.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/base/str.h"
#include "core/pass/shapes.h"
#include "core/run/tensor_text.h"
#include "native/cli/load.h"
#include "native/cli/run_trace.h"
#include "native/cli/workbench.h"
#include "native/io/file.h"
#include "native/io/npy.h"
#include "native/io/tensor_proto.h"
#include "proto/wire.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file, tensor, output;
  int64_t from = 0, count = 100;
  uint64_t seed = 1;
};

constexpr size_t kBins = 32;
constexpr int64_t kMostAtOnce = 100'000;

struct Item {
  std::string name;
  DataType type = DataType::kUndefined;
  std::optional<Dims> dims;
  std::string made_by;  // "XavierFill", "TensorProto"
  bool held = true;     // the file has the elements; else an operator makes them
  OpId op = kNoOp;      // of `net`
  const Net* net = nullptr;
  std::vector<std::string_view> parts;  // TensorProto messages

  std::optional<int64_t> bytes() const {
    if (!dims || type == DataType::kString) return std::nullopt;
    return NumElements(*dims) * static_cast<int64_t>(DataTypeSize(type));
  }
};

std::string_view FieldOf(std::string_view wire, uint32_t number) {
  WireCursor cursor(wire);
  for (WireField field; cursor.Next(field);)
    if (field.tag == Tag(number, WireType::kLength)) return field.bytes;
  return {};
}

class Tensors {
 public:
  explicit Tensors(const Words& words) : words_(words) {}

  Result<void> Find() {
    const size_t hash = words_.file.rfind('#');
    Result<Document> document = Load(words_.file);
    if (!document && hash != std::string::npos) {  // one net of several
      WEFT_TRY(Net net, LoadNet(words_.file));
      document_.nets.push_back({"", std::move(net)});
    } else if (!document) {
      return std::move(document).error();
    } else {
      document_ = std::move(document).value();
    }
    for (const Document::NamedNet& net : document_.nets) AddNet(net.net);
    for (const Document::NamedPlan& plan : document_.plans)
      for (const Net& net : plan.plan.networks) AddNet(net);
    if (document_.form == Document::kMiniDb) {
      for (const MiniDbRecord& record : document_.records) WEFT_TRY_VOID(AddRecord(record));
    } else if (document_.message == MessageId::kTensorProto) {
      WEFT_TRY_VOID(AddMessage("", document_.wire.view()));
    } else if (document_.message == MessageId::kTensorProtos) {
      WireCursor cursor(document_.wire.view());
      for (WireField field; cursor.Next(field);)
        if (field.number() == tensors_field::kProtos) WEFT_TRY_VOID(AddMessage("", field.bytes));
    } else if (document_.message == MessageId::kBlobProto) {
      WEFT_TRY_VOID(AddBlob("", document_.wire.view()));
    }
    return {};
  }

  std::span<const Item> items() const { return items_; }
  std::string Kind() const { return DescribeKind(document_); }

  /// The last tensor of that name, as a net leaves it.
  Result<const Item*> Named(std::string_view name) const {
    std::vector<std::string_view> known;
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      if (item->name == name) return &*item;
      known.push_back(item->name);
    }
    const auto near = NearestNames(name, known, 1);
    return Error{ErrorCode::kNotFound,
                 StrCat("--tensor: there is no tensor ", name,
                        near.empty() ? "" : StrCat("; did you mean ", near[0], "?")),
                 -1, std::string(name)};
  }

  Result<Tensor> Elements(const Item& item) const {
    if (item.net) return Made(item);
    if (item.parts.empty())
      return Error{ErrorCode::kUnsupported,
                   StrCat("--tensor ", item.name, ": ", item.made_by, " has no numbers"), -1, item.name};
    Tensor tensor;
    for (const std::string_view part : item.parts) WEFT_TRY_VOID(ReadTensorElements(part, tensor));
    return tensor;
  }

 private:
  void AddNet(const Net& net) {
    ShapeTable table;
    const NetShapes shapes = InferShapes(net, {}, table);
    for (size_t i = 0; i < net.ops.size(); ++i) {
      const Op& op = net.ops[i];
      if (!op.inputs.empty()) continue;
      const auto values = shapes.ssa.outputs(static_cast<OpId>(i));
      for (size_t o = 0; o < op.outputs.size() && o < values.size(); ++o) {
        const TensorInfo& info = shapes.values[values[o]];
        if (info.kind == TensorInfo::kObject) continue;
        Item item;
        item.name = net.Str(op.outputs[o]);
        item.made_by = net.Str(op.type);
        item.held = item.made_by.starts_with("GivenTensor");
        item.type = info.type;
        item.op = static_cast<OpId>(i);
        item.net = &net;
        if (info.tensor() &&
            std::all_of(info.dims.begin(), info.dims.end(), [](Dim d) { return d.known(); })) {
          item.dims.emplace();
          for (const Dim dim : info.dims) item.dims->push_back(dim.code);
        }
        items_.push_back(std::move(item));
      }
    }
  }

  // Segments of one tensor follow one another under one name.
  Result<void> AddMessage(std::string_view name, std::string_view wire) {
    Result<TensorHeader> header = ReadTensorHeader(wire);
    if (!header) {
      Error error = std::move(header).error();
      if (!name.empty()) error.message = StrCat(name, ": ", error.message);
      return error;
    }
    const std::string called = !name.empty() ? std::string(name) : header->name;
    if (header->begin > 0 && !items_.empty() && items_.back().name == called) {
      items_.back().parts.push_back(wire);
      return {};
    }
    Item item;
    item.name = called.empty() ? StrCat("tensor ", items_.size()) : called;
    item.type = header->type;
    item.dims = header->dims;
    item.made_by = "TensorProto";
    item.parts.push_back(wire);
    items_.push_back(std::move(item));
    return {};
  }
  Result<void> AddBlob(std::string_view name, std::string_view wire) {
    const std::string_view own = FieldOf(wire, blob_field::kName);
    if (name.empty()) name = own;
    if (const std::string_view tensor = FieldOf(wire, blob_field::kTensor); !tensor.empty())
      return AddMessage(name, tensor);
    Item item;
    item.name = name;
    item.made_by = FieldOf(wire, blob_field::kType);
    if (item.made_by.empty()) item.made_by = "BlobProto";
    items_.push_back(std::move(item));
    return {};
  }
  Result<void> AddRecord(const MiniDbRecord& record) {
    // "name#%3": the third part of a blob.
    const std::string_view key = std::string_view(record.key).substr(0, record.key.find("#%"));
    if (key.starts_with("!!")) return {};  // the exporter's own, its nets are listed
    const std::string_view wire = record.value.view();
    if (document_.message == MessageId::kBlobProto) return AddBlob(key, wire);
    if (document_.message == MessageId::kTensorProto) return AddMessage(key, wire);
    if (document_.message != MessageId::kTensorProtos) return {};
    WireCursor cursor(wire);
    for (WireField field; cursor.Next(field);)
      if (field.number() == tensors_field::kProtos)
        WEFT_TRY_VOID(AddMessage(FieldOf(field.bytes, 7).empty() ? key : "", field.bytes));
    return {};
  }

  // What the operator leaves. Random ones draw as they do when the whole net runs, so all before it runs too.
  Result<Tensor> Made(const Item& item) const {
    RunContext context = MakeRunContext(words_.seed);
    Workspace workspace(context);
    Net net = *item.net;
    const auto op = net.ops.begin() + item.op;
    net.external_inputs.clear();
    net.external_outputs.clear();
    if (item.held || item.made_by == "ConstantFill") {
      net.ops = std::vector<Op>(op, op + 1);
    } else {
      net.ops.erase(op + 1, net.ops.end());
    }
    WEFT_TRY_VOID(workspace.RunNetOnce(net));
    const Tensor* tensor = workspace.FindTensor(item.name);
    if (!tensor || !tensor->has_type())
      return Error{ErrorCode::kInvalidArgument, StrCat(item.made_by, " leaves no tensor in ", item.name),
                   item.op, item.name};
    return *tensor;
  }

  const Words& words_;
  Document document_;
  std::vector<Item> items_;
};

void WriteItem(JsonWriter& json, const Item& item) {
  json.Key("name").String(item.name).Key("type").String(DataTypeName(item.type)).Key("shape");
  if (item.dims) {
    json.BeginArray();
    for (const int64_t d : *item.dims) json.Int(d);
    json.EndArray();
  } else {
    json.Null();
  }
  json.Key("bytes");
  const std::optional<int64_t> bytes = item.bytes();
  bytes ? json.Int(*bytes) : json.Null();
  json.Key("made_by").String(item.made_by).Key("held").Bool(item.held).Key("op");
  item.op >= 0 ? json.Int(item.op) : json.Null();
  json.Key("net").String(item.net ? item.net->Str(item.net->name) : "");
}

int ShowList(Main& main, const Tensors& tensors) {
  int64_t held = 0, made = 0;
  for (const Item& item : tensors.items()) (item.held ? held : made) += item.bytes().value_or(0);
  if (main.json) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("file").String(tensors.Kind()).Key("tensors").BeginArray();
    for (const Item& item : tensors.items()) {
      json.BeginObject();
      WriteItem(json, item);
      json.EndObject();
    }
    json.EndArray().Key("held_bytes").Int(held).Key("made_bytes").Int(made).EndObject();
    return PrintJson(main, out);
  }
  Stream out(STDOUT_FILENO, main.color);
  out.Write(tensors.Kind(), TextClass::kHeading);
  out.Write(StrCat(
      ": ", tensors.items().size(), tensors.items().size() == 1 ? " tensor, " : " tensors, ",
      FormatBytes(static_cast<uint64_t>(held)), " in it",
      made > 0 ? StrCat(", ", FormatBytes(static_cast<uint64_t>(made)), " made when it runs") : "", "\n\n"));
  size_t width = 0;
  for (const Item& item : tensors.items()) width = std::max(width, std::min<size_t>(item.name.size(), 40));
  for (const Item& item : tensors.items()) {
    out.Write(StrCat("  ", item.name, std::string(width - std::min(width, item.name.size()), ' ')),
              TextClass::kOutput);
    out.Write(StrCat("  ", DataTypeName(item.type), " ",
                     item.dims ? DimsToString(*item.dims) : "of unknown shape"));
    if (const auto bytes = item.bytes()) out.Write(StrCat("  ", FormatBytes(static_cast<uint64_t>(*bytes))));
    out.Write(StrCat(item.held ? "  " : "  made by ", item.made_by, "\n"), TextClass::kMuted);
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

int ShowOne(Main& main, const Words& words, const Item& item, const Tensor& tensor) {
  const TensorStats stats = StatsOf(tensor);
  const Histogram histogram = HistogramOf(tensor, stats, kBins);
  if (main.json) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("tensor").BeginObject();
    WriteItem(json, item);
    json.EndObject().Key("numbers").BeginObject();
    WriteTensorNumbers(json, tensor.type(), tensor.dims(), stats, histogram);
    json.EndObject().Key("from").Int(words.from).Key("values");
    WriteElements(json, tensor, words.from, words.count);
    json.EndObject();
    return PrintJson(main, out);
  }
  Stream out(STDOUT_FILENO, main.color);
  out.Write(item.name, TextClass::kHeading);
  out.Write(StrCat("  ", DataTypeName(tensor.type()), " ", DimsToString(tensor.dims()), ", ",
                   FormatBytes(tensor.nbytes()), item.held ? ", " : ", made by ", item.made_by, "\n"));
  if (tensor.type() != DataType::kString) {
    out.Write(StrCat("  ", StatsText(stats), ", deviation ", FormatFloat(static_cast<float>(stats.std)), ", ",
                     stats.zeros, " zeros\n\n"));
    const int64_t most =
        histogram.counts.empty() ? 0 : *std::max_element(histogram.counts.begin(), histogram.counts.end());
    const double step = (histogram.high - histogram.low) / static_cast<double>(kBins);
    for (size_t i = 0; i < histogram.counts.size() && step > 0; ++i) {
      std::string low = FormatFloat(static_cast<float>(histogram.low + step * static_cast<double>(i)));
      low.insert(0, 14 - std::min<size_t>(14, low.size()), ' ');
      out.Write(
          StrCat(low, "  ", std::string(static_cast<size_t>(40 * histogram.counts[i] / most), '#'), " "));
      out.Write(StrCat(histogram.counts[i], "\n"), TextClass::kMuted);
    }
  }
  out.Write("\n ");
  const int64_t end = std::min(tensor.numel(), words.from + words.count);
  for (int64_t i = words.from; i < end; ++i) out.Write(StrCat(" ", ElementText(tensor, i)));
  out.Write(end < tensor.numel() ? " ...\n" : "\n");
  if (!words.output.empty()) out.Write(StrCat("\nwritten to ", words.output, "\n"), TextClass::kMuted);
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

int Run(Main& main, const Words& words) {
  Tensors tensors(words);
  if (const Result<void> found = tensors.Find(); !found) return main.Fail(found.error(), words.file);
  if (words.tensor.empty()) return ShowList(main, tensors);
  const Result<const Item*> item = tensors.Named(words.tensor);
  if (!item) return main.Fail(item.error(), words.file);
  const Result<Tensor> tensor = tensors.Elements(**item);
  if (!tensor) return main.Fail(tensor.error(), words.file);
  if (!words.output.empty()) {
    const Result<std::string> npy = WriteNpy(*tensor);
    if (!npy) return main.Fail(npy.error(), words.file);
    if (const Result<void> written = WriteFile(words.output, *npy); !written)
      return main.Fail(written.error());
    if (words.output == "-") return kOk;
  }
  return ShowOne(main, words, **item, *tensor);
}

}  // namespace

void AddTensors(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "tensors", "what init nets and files of weights hold",
                                    [&main, words] { return Run(main, *words); });
  command->add_option("FILE", words->file, "a net, TensorProtos, a BlobProto, a minidb; - is standard input")
      ->required()
      ->type_name("");
  command->add_option("--tensor", words->tensor, "this one: statistics, histogram, values")
      ->type_name("NAME");
  command->add_option("-o,--output", words->output, "write it as a .npy file")->type_name("X.npy");
  command->add_option("--from", words->from, "the first element that is told; 0")
      ->check(WholeNumber())
      ->type_name("I");
  command->add_option("--count", words->count, "how many are told; 100, at most 100000")
      ->check(CLI::Range(int64_t{0}, kMostAtOnce))
      ->type_name("N");
  OnlyBeside(*command, main, {"--tensor"}, {"--output", "--from", "--count"});
  command->add_option("--seed", words->seed, "of random operators that have no seed of their own; 1")
      ->check(WholeNumber())
      ->type_name("S");
  AddJson(
      *command, main,
      R"({"tensors":[{"name","type","shape","bytes","made_by","held","op","net"}],"held_bytes","made_bytes"})"
      R"( or {"tensor":{...},"numbers":{"min",...,"histogram"},"from","values"})");
  command->footer(
      "Of a net: what its operators without inputs make. Those that draw random numbers draw what weft run "
      "would "
      "start with.");
}

}  // namespace weft::cli
