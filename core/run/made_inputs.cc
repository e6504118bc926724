// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/made_inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/str.h"
#include "core/grad/do_parts.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/run/kernel.h"
#include "core/run/random.h"
#include "core/ssa/versions.h"

namespace weft {

namespace {

constexpr int64_t kBatch = 8;
// Sides of pictures that nets are made for. What fits first is taken: a larger one fits more seldom by
// chance.
constexpr int64_t kSides[] = {224, 227, 231, 299, 28, 32, 64, 96, 112, 128, 160, 192, 256, 384, 512, 16};
constexpr size_t kMostOpsToTry = 100'000;  // above, shapes are said

std::string_view PortName(const Net& net, const Op& op, size_t port) {
  const OpDef* def = StandardOps().Find(net.Str(op.type));
  if (!def) return "";
  const Ports ports = ParsePorts(def->ports);
  return ports.inputs.empty() ? "" : ports.inputs[std::min(port, ports.inputs.size() - 1)].name;
}

// An operator of control flow, whose input 0 tells which way.
bool IsCondition(const Net& net, const Op& op, size_t port) {
  const OpDef* def = StandardOps().Find(net.Str(op.type));
  return def && (def->flags & kControlFlow) && PortName(net, op, port) == "condition";
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

std::optional<Dims> NumbersOf(const TensorInfo& info) {
  Dims dims;
  for (const Dim dim : info.dims) {
    if (!dim.known()) return std::nullopt;
    dims.push_back(dim.code);
  }
  return info.tensor() ? std::optional(std::move(dims)) : std::nullopt;
}

// Rows of what is said of other inputs.
int64_t BatchOf(const std::vector<RunInput>& inputs) {
  for (const RunInput& input : inputs)
    if (input.from != RunInput::kInit && input.dims && !input.dims->empty()) return (*input.dims)[0];
  return kBatch;
}

Result<std::optional<int64_t>> Below(std::string_view how) {
  if (!how.starts_with("below:")) return std::optional<int64_t>();
  int64_t limit = 0;
  const std::string_view digits = how.substr(6);
  const auto [at, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error != std::errc() || at != digits.data() + digits.size() || limit < 1)
    return Error{ErrorCode::kInvalidArgument, StrCat(how, ": expected below:N, N from 1 on")};
  return std::optional<int64_t>(limit);
}

// The largest whole number that SetNumber sets.
int64_t Largest(DataType type) {
  switch (type) {
    case DataType::kInt32:
      return std::numeric_limits<int32_t>::max();
    case DataType::kUint8:
      return std::numeric_limits<uint8_t>::max();
    case DataType::kInt8:
      return std::numeric_limits<int8_t>::max();
    case DataType::kUint16:
      return std::numeric_limits<uint16_t>::max();
    case DataType::kInt16:
      return std::numeric_limits<int16_t>::max();
    default:
      return int64_t{1} << 53;  // as a double
  }
}

// Sets element i of any numeric tensor.
void SetNumber(Tensor& t, int64_t i, double value) {
  switch (t.type()) {
    case DataType::kFloat:
      t.mutable_data<float>()[i] = static_cast<float>(value);
      return;
    case DataType::kDouble:
      t.mutable_data<double>()[i] = value;
      return;
    case DataType::kFloat16:
      t.mutable_data<Half>()[i] = FloatToHalf(static_cast<float>(value));
      return;
    case DataType::kInt32:
      t.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
      return;
    case DataType::kInt64:
      t.mutable_data<int64_t>()[i] = static_cast<int64_t>(value);
      return;
    case DataType::kUint8:
      t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(value);
      return;
    case DataType::kInt8:
      t.mutable_data<int8_t>()[i] = static_cast<int8_t>(value);
      return;
    case DataType::kUint16:
      t.mutable_data<uint16_t>()[i] = static_cast<uint16_t>(value);
      return;
    case DataType::kInt16:
      t.mutable_data<int16_t>()[i] = static_cast<int16_t>(value);
      return;
    case DataType::kBool:
      t.mutable_data<bool>()[i] = value != 0;
      return;
    default:
      return;
  }
}

// Picture n shows digit n % 10: five rows of three cells, somewhere in the middle, over a little noise.
void PaintDigits(Tensor& t, int64_t height, int64_t width, RandomGenerator& random) {
  constexpr uint16_t kDigits[] = {075557, 026227, 071747, 071717, 055711,
                                  074717, 074757, 071222, 075757, 075717};
  const int64_t cell = std::max<int64_t>(1, std::min(height / 7, width / 5));
  const int64_t rows = t.dim(0), planes = t.SizeFrom(1) / std::max<int64_t>(1, height * width);
  int64_t at = 0;
  for (int64_t n = 0; n < rows; ++n) {
    const auto place = [&](int64_t room) { return room > 0 ? random.UniformInt(0, room) : room / 2; };
    const int64_t top = place(height - 5 * cell), left = place(width - 3 * cell);
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x, ++at) {
          const int64_t row = y < top ? -1 : (y - top) / cell, column = x < left ? -1 : (x - left) / cell;
          const bool ink = row >= 0 && row < 5 && column >= 0 && column < 3 &&
                           (kDigits[n % 10] >> (14 - 3 * row - column) & 1) != 0;
          const float noise = random.Uniform(0, 0.1f);
          SetNumber(t, at, ink ? 1 - noise : noise);
        }
  }
}

}  // namespace

KnownBlobs KnownIn(const Workspace& workspace) {
  KnownBlobs known;
  for (const std::string& blob : workspace.Blobs()) {
    const Tensor* tensor = workspace.FindTensor(blob);
    known[blob] =
        tensor && tensor->has_type() ? KnownBlob{tensor->type(), Dims(tensor->dims())} : KnownBlob{};
  }
  return known;
}

KnownBlobs KnownAfter(const Net& init) {
  KnownBlobs known;
  if (init.ops.empty()) return known;
  ShapeTable table;
  const NetShapes shapes = InferShapes(init, {}, table);
  for (const GivenBlob& blob : FinalShapes(shapes)) {
    KnownBlob& left = known[std::string(init.Str(blob.blob))];
    left.type = blob.info.type;
    left.dims = NumbersOf(blob.info);
  }
  return known;
}

InputFinder::InputFinder(const Net& net, const KnownBlobs& known, const Feeds& feeds)
    : net_(net), known_(known), feeds_(feeds), shapes_(net) {
  shapes_.values.resize(shapes_.ssa.values().size());
  if (net.ops.size() > kMostOpsToTry) return;
  std::vector<GivenBlob> given;
  const auto give = [&](std::string_view name, DataType type, const std::optional<Dims>& dims) {
    const Symbol blob = net.symbols->Find(name);
    if (!blob || type == DataType::kUndefined) return;
    given.push_back({blob, dims ? TensorInfo::Of(type, DimList(dims->begin(), dims->end()))
                                : TensorInfo::DataRank(type)});
  };
  for (const auto& [name, blob] : known) give(name, blob.type, blob.dims);
  for (const auto& [name, fed] : feeds) give(name, fed.type(), Dims(fed.dims()));
  shapes_ = InferShapes(net, given, table_);
}

std::vector<RunInput> InputFinder::Inputs() const {
  std::vector<RunInput> inputs;
  const Ssa& ssa = shapes_.ssa;
  for (BlobId blob = 0; blob < ssa.blobs().size(); ++blob) {
    if (!ssa.starts_outside(blob)) continue;
    RunInput input;
    input.blob = net_.Str(ssa.blobs()[blob]);
    const auto uses = ssa.uses(FirstValue(ssa, blob));
    const auto known = known_.find(input.blob);
    for (const auto& [name, fed] : feeds_)
      if (name == input.blob) {
        input.from = RunInput::kFeed;
        input.type = fed.type();
        input.dims = Dims(fed.dims());
      }
    if (input.from == RunInput::kNothing && known != known_.end()) input.from = RunInput::kInit;
    if (input.from == RunInput::kNothing && uses.empty()) continue;  // declared, but nobody reads it
    if (!uses.empty()) {
      input.reader = uses[0];
      input.reader_type = net_.Str(net_.ops[static_cast<size_t>(uses[0])].type);
    }
    if (input.from == RunInput::kInit) {
      input.type = known->second.type;
      input.dims = known->second.dims;
    } else if (input.from == RunInput::kNothing && input.reader != kNoOp) {
      Suit(input);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void InputFinder::FindShapes(std::vector<RunInput>& inputs) {
  struct Open {
    size_t input;
    std::optional<Reading> reading;
  };
  std::vector<Open> open;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].from == RunInput::kInit || inputs[i].dims) continue;
    const std::vector<Reading> readings = Readings(shapes_, net_.symbols->Find(inputs[i].blob));
    open.push_back({i, readings.empty() ? std::nullopt : std::optional(readings[0])});
  }
  if (open.empty() || net_.ops.size() > kMostOpsToTry) return;
  const int64_t batch = BatchOf(inputs);
  for (const int64_t side : kSides) {
    bool depends = false;
    Tried tried;
    std::vector<size_t> unsure;
    for (const Open& at : open) {
      if (!at.reading) continue;
      if (const std::optional<Dims> dims = Try(*at.reading, batch, side, depends))
        tried.emplace_back(at.input, *dims);
      else
        unsure.push_back(at.input);
    }
    const auto fits = [&](const Tried& all) {
      if (!Fits(inputs, all)) return false;
      for (const auto& [i, dims] : all) {
        inputs[i].dims = dims;
        inputs[i].found = true;
      }
      return true;
    };
    // What meets one tensor of its type in an operator has that one's shape, if that fits, or is a row long.
    Tried rows = tried, alike = tried;
    if (!unsure.empty()) {
      const NetShapes shapes = Infer(inputs, tried);
      for (const size_t i : unsure) {
        const std::vector<Reading> readings = Readings(shapes, net_.symbols->Find(inputs[i].blob));
        const TensorInfo* other = readings.empty() ? nullptr : Other(readings[0]);
        const bool same = other && other->type == inputs[i].type;
        alike.emplace_back(i, (same ? NumbersOf(*other) : std::nullopt).value_or(Dims{batch}));
        rows.emplace_back(i, Dims{batch});
      }
    }
    if (fits(alike) || (alike != rows && fits(rows)) || !depends) return;
  }
}

// All places where the net of `shapes`, or one inside it, reads what `blob` held before it ran.
std::vector<InputFinder::Reading> InputFinder::Readings(const NetShapes& shapes, Symbol blob) const {
  std::vector<Reading> found;
  // Nets are nested at most as deep as shapes are inferred.
  const auto walk = [&](const auto& self, const Net& net, const NetShapes& in, Symbol name) -> void {
    const BlobId id = in.ssa.FindBlob(name);
    if (id == kNoBlob || !in.ssa.starts_outside(id)) return;
    OpId last = kNoOp;
    for (const OpId use : in.ssa.uses(FirstValue(in.ssa, id))) {
      if (use == last) continue;
      last = use;
      const Op& op = net.ops[static_cast<size_t>(use)];
      for (size_t port = 0; port < op.inputs.size(); ++port)
        if (op.inputs[port] == name && IsCondition(net, op, port)) found.push_back({&net, &in, use, port});
      const size_t before = found.size();
      auto nested = std::lower_bound(in.nested.begin(), in.nested.end(), use,
                                     [](const NetShapes::Nested& n, OpId at) { return n.op < at; });
      for (; nested != in.nested.end() && nested->op == use; ++nested) {
        Symbol inner = name;
        if (nested->arg == "net") {
          const auto parts = internal::TakeApart(net, op);
          inner = parts ? parts->InnerOf(name) : kNoSymbol;
        }
        if (inner) self(self, *nested->net, *nested->shapes, inner);
      }
      if (found.size() > before) continue;  // handed on to those
      for (size_t port = 0; port < op.inputs.size(); ++port)
        if (op.inputs[port] == name) found.push_back({&net, &in, use, port});
    }
  };
  if (blob) walk(walk, net_, shapes, blob);
  return found;
}

// The other of two inputs, or null.
const TensorInfo* InputFinder::Other(const Reading& reading) {
  const std::span<const ValueId> inputs = reading.shapes->ssa.inputs(reading.op);
  if (reading.Reader().inputs.size() != 2 || inputs[0] == inputs[1]) return nullptr;
  return &reading.shapes->values[inputs[1 - reading.port]];
}

// What the kernel of the reader wants there; kUndefined when it takes more than numbers of one kind.
DataType InputFinder::TypeFor(const Reading& reading) {
  const Op& op = reading.Reader();
  if (IsCondition(*reading.net, op, reading.port)) return DataType::kBool;
  const KernelRow* row = ReferenceKernels().Find(reading.net->Str(op.type));
  if (!row) return DataType::kUndefined;
  const std::span<const DataType> types = KernelInputTypes(row->letter(reading.port));
  // Of two inputs that may have the same types one follows the other.
  const TensorInfo* other = row->letter(0) == row->letter(1) ? Other(reading) : nullptr;
  if (other && other->type != DataType::kUndefined &&
      (types.empty() || std::find(types.begin(), types.end(), other->type) != types.end()))
    return other->type;
  return types.empty() ? DataType::kUndefined : types[0];
}

void InputFinder::Suit(RunInput& input) const {
  const std::vector<Reading> readings = Readings(shapes_, net_.symbols->Find(input.blob));
  input.type = DataType::kUndefined;
  for (const Reading& reading : readings) {
    const DataType type = TypeFor(reading);
    // The least lenient reader decides.
    if (input.type == DataType::kUndefined ||
        (input.type == DataType::kFloat && type != DataType::kUndefined))
      input.type = type;
  }
  const std::string_view name =
      readings.empty() ? "" : PortName(*readings[0].net, readings[0].Reader(), readings[0].port);
  const bool counts = EndsWith(name, "label") || EndsWith(name, "labels") || EndsWith(name, "lengths");
  if (input.type == DataType::kUndefined) input.type = counts ? DataType::kInt32 : DataType::kFloat;
  input.fill = EndsWith(name, "lengths") ? "ones" : "";
  if (EndsWith(name, "indices")) {
    const std::optional<Dims> table = NumbersOf(readings[0].Input(0));
    if (table && !table->empty()) input.fill = StrCat("below:", (*table)[0]);
  }
}

// Follows what keeps a shape up to the operator that says one; none when that does not.
std::optional<Dims> InputFinder::Try(const Reading& reading, int64_t batch, int64_t side, bool& depends) {
  const Net& net = *reading.net;
  const Ssa& ssa = reading.shapes->ssa;
  if (IsCondition(net, reading.Reader(), reading.port)) return Dims{1};
  Reading at = reading;
  for (int hop = 0; hop < 6; ++hop) {
    const Op& op = at.Reader();
    const std::string_view type = net.Str(op.type);
    const std::optional<Dims> weight = op.inputs.size() > 1 ? NumbersOf(at.Input(1)) : std::nullopt;
    if (at.port == 0 && weight && type.starts_with("Conv") && weight->size() == 4) {
      depends = true;
      const bool last = ArgString(*net.symbols, op.args, "order", "NCHW") == "NHWC";
      const int64_t channels = (*weight)[last ? 3 : 1] * ArgInt(*net.symbols, op.args, "group", 1);
      return last ? Dims{batch, side, side, channels} : Dims{batch, channels, side, side};
    }
    if (at.port == 0 && weight && type.starts_with("FC") && weight->size() == 2) {
      const int64_t axis = ArgInt(*net.symbols, op.args, "axis", 1);
      Dims dims;
      for (int64_t i = 0; i < std::min<int64_t>(axis, 8); ++i) dims.push_back(batch);
      dims.push_back((*weight)[type == "FCTransposed" ? 0 : 1]);
      return dims;
    }
    if (op.inputs.size() != 1 || op.outputs.empty()) break;
    const auto uses = ssa.uses(ssa.outputs(at.op)[0]);
    if (uses.empty()) break;
    const Symbol made = op.outputs[0];
    at.op = uses[0];
    const BlobList& inputs = at.Reader().inputs;
    at.port = static_cast<size_t>(std::find(inputs.begin(), inputs.end(), made) - inputs.begin());
    if (at.port == inputs.size()) break;  // read by a net inside
  }
  return std::nullopt;
}

NetShapes InputFinder::Infer(const std::vector<RunInput>& inputs, const Tried& tried) {
  std::vector<GivenBlob> given;
  const auto give = [&](const RunInput& input, const Dims& dims) {
    given.push_back(
        {net_.symbols->Intern(input.blob), TensorInfo::Of(input.type, DimList(dims.begin(), dims.end()))});
  };
  for (const RunInput& input : inputs)
    if (input.dims) give(input, *input.dims);
  for (const auto& [i, dims] : tried) give(inputs[i], dims);
  return InferShapes(net_, given, table_);
}

std::string InputFinder::WhyNot(const std::vector<RunInput>& inputs) {
  if (net_.ops.size() > kMostOpsToTry) return "";
  const NetShapes shapes = Infer(inputs, {});
  const Diagnostic* wrong = FirstError(shapes);
  return wrong ? wrong->message : "";
}

bool InputFinder::Fits(const std::vector<RunInput>& inputs, const Tried& tried) {
  return !FirstError(Infer(inputs, tried));
}

Result<void> CheckFill(std::string_view fill) {
  WEFT_TRY(const std::optional<int64_t> below, Below(fill));
  for (const std::string_view known : {"zeros", "ones", "uniform", "normal", "digits"})
    if (fill == known) return {};
  if (below) return {};
  return Error{ErrorCode::kInvalidArgument,
               StrCat(fill, ": expected zeros, ones, uniform, normal, digits or below:N")};
}

Result<Tensor> MakeInput(const RunInput& input, uint64_t seed) {
  Tensor t;
  if (!t.Allocate(input.type, *input.dims))
    return Error{ErrorCode::kLimit, StrCat(input.blob, ": ", DimsToString(*input.dims), " is too large"), -1,
                 input.blob};
  RandomGenerator random(static_cast<uint32_t>(seed));
  const auto all = [&](auto next) {
    for (int64_t i = 0; i < t.numel(); ++i) SetNumber(t, i, next());
  };
  WEFT_TRY(const std::optional<int64_t> below, Below(input.fill));
  if (below && *below - 1 > Largest(input.type))
    return Error{ErrorCode::kInvalidArgument,
                 StrCat(input.blob, ": ", DataTypeName(input.type), " holds whole numbers up to ",
                        Largest(input.type), ", found ", input.fill),
                 -1, input.blob};
  if (below) {
    all([&] { return static_cast<double>(random.UniformInt(0, *below - 1)); });
  } else if (input.fill == "ones") {
    all([] { return 1.0; });
  } else if (input.fill == "uniform") {
    all([&] { return random.Uniform(0, 1); });
  } else if (input.fill == "normal") {
    NormalDistribution normal(0, 1);
    all([&] { return normal(random); });
  } else if (input.fill == "digits" && IsFloating(input.type) && t.ndim() >= 3) {
    PaintDigits(t, t.dim(t.ndim() - 2), t.dim(t.ndim() - 1), random);
  } else if (input.fill == "digits" && IsFloating(input.type) && t.ndim() == 2) {
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(t.dim(1))));
    PaintDigits(t, side, side > 0 ? t.dim(1) / side : 0, random);
  } else if (input.fill == "digits") {
    for (int64_t i = 0; i < t.numel(); ++i) SetNumber(t, i, static_cast<double>(i % 10));
  }
  return t;
}

}  // namespace weft
