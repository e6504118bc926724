// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/made_inputs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/str.h"
#include "core/ops/op_columns.h"
#include "core/ops/op_set.h"
#include "core/pass/shapes.h"
#include "core/run/kernel.h"
#include "core/run/random.h"

namespace weft {

namespace {

constexpr int64_t kBatch = 8;
// Sides of pictures that nets are made for. What fits first is taken: a larger one fits more seldom by
// chance.
constexpr int64_t kSides[] = {224, 227, 231, 299, 28, 32, 64, 96, 112, 128, 160, 192, 256, 384, 512, 16};
constexpr size_t kMostOpsToTry = 100'000;  // above, shapes are said

// What the kernel of the reader wants there; kUndefined when it takes more than numbers of one kind.
DataType TypeFor(const Net& net, const Op& op, size_t port) {
  const KernelRow* row = ReferenceKernels().Find(net.Str(op.type));
  const std::span<const DataType> types =
      row ? KernelInputTypes(row->letter(port)) : std::span<const DataType>();
  return types.empty() ? DataType::kUndefined : types[0];
}

std::string_view PortName(const Net& net, const Op& op, size_t port) {
  const OpDef* def = StandardOps().Find(net.Str(op.type));
  if (!def) return "";
  const Ports ports = ParsePorts(def->ports);
  return ports.inputs.empty() ? "" : ports.inputs[std::min(port, ports.inputs.size() - 1)].name;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - static_cast<ptrdiff_t>(end.size()),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
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
    const DimList& dims = blob.info.dims;
    if (!blob.info.tensor() || !std::all_of(dims.begin(), dims.end(), [](Dim d) { return d.known(); }))
      continue;
    left.dims.emplace();
    for (const Dim dim : dims) left.dims->push_back(dim.code);
  }
  return known;
}

bool IsFloating(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16;
}

InputFinder::InputFinder(const Net& net, const KnownBlobs& known)
    : net_(net), known_(known), ssa_(net, {.nested = NestedNets::kReads}) {}

std::vector<RunInput> InputFinder::Inputs(const Feeds& feeds) const {
  std::vector<RunInput> inputs;
  for (BlobId blob = 0; blob < ssa_.blobs().size(); ++blob) {
    if (!ssa_.starts_outside(blob)) continue;
    RunInput input;
    input.blob = net_.Str(ssa_.blobs()[blob]);
    const ValueId value = First(blob);
    const auto uses = value == kNoValue ? std::span<const OpId>() : ssa_.uses(value);
    const auto known = known_.find(input.blob);
    for (const auto& [name, fed] : feeds)
      if (name == input.blob) {
        input.from = RunInput::kFeed;
        input.type = fed.type();
        input.dims = Dims(fed.dims());
      }
    if (input.from == RunInput::kNothing && known != known_.end()) input.from = RunInput::kInit;
    if (input.from == RunInput::kNothing && uses.empty()) continue;  // declared, but nobody reads it
    if (!uses.empty()) {
      input.reader = uses[0];
      input.reader_type = net_.Str(OpAt(uses[0]).type);
    }
    if (input.from == RunInput::kInit) {
      input.type = known->second.type;
      input.dims = known->second.dims;
    } else if (input.from == RunInput::kNothing && input.reader != kNoOp) {
      Suit(value, input);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void InputFinder::FindShapes(std::vector<RunInput>& inputs) const {
  std::vector<size_t> open;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].from != RunInput::kInit && !inputs[i].dims) open.push_back(i);
  if (open.empty() || net_.ops.size() > kMostOpsToTry) return;
  const int64_t batch = BatchOf(inputs);
  for (const int64_t side : kSides) {
    bool depends = false;
    std::vector<std::pair<size_t, Dims>> tried;
    for (const size_t i : open)
      if (std::optional<Dims> dims = Try(inputs[i], batch, side, depends)) tried.emplace_back(i, *dims);
    if (Fits(inputs, tried)) {
      for (auto& [i, dims] : tried) {
        inputs[i].dims = dims;
        inputs[i].found = true;
      }
      return;
    }
    if (!depends) return;
  }
}

const Dims* InputFinder::DimsOf(Symbol blob) const {
  const auto found = known_.find(net_.Str(blob));
  return found != known_.end() && found->second.dims ? &*found->second.dims : nullptr;
}
size_t InputFinder::PortOf(const Op& op, std::string_view blob) const {
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (net_.Str(op.inputs[i]) == blob) return i;
  return 0;
}
ValueId InputFinder::First(BlobId blob) const {
  ValueId value = ssa_.latest(blob);
  while (ssa_.values()[value].previous != kNoValue) value = ssa_.values()[value].previous;
  return ssa_.values()[value].def == kNoOp ? value : kNoValue;
}

void InputFinder::Suit(ValueId value, RunInput& input) const {
  const Op& op = OpAt(input.reader);
  const size_t port = PortOf(op, input.blob);
  input.type = DataType::kUndefined;
  for (const OpId use : ssa_.uses(value)) {
    const DataType type = TypeFor(net_, OpAt(use), PortOf(OpAt(use), input.blob));
    // The least lenient reader decides.
    if (input.type == DataType::kUndefined ||
        (input.type == DataType::kFloat && type != DataType::kUndefined))
      input.type = type;
  }
  const std::string_view name = PortName(net_, op, port);
  const bool counts = EndsWith(name, "label") || EndsWith(name, "labels") || EndsWith(name, "lengths");
  if (input.type == DataType::kUndefined) input.type = counts ? DataType::kInt32 : DataType::kFloat;
  input.fill = EndsWith(name, "lengths") ? "ones" : "";
  if (EndsWith(name, "indices") && !op.inputs.empty())
    if (const Dims* table = DimsOf(op.inputs[0]); table && !table->empty())
      input.fill = StrCat("below:", (*table)[0]);
}

// Follows what keeps a shape up to the operator that says one.
std::optional<Dims> InputFinder::Try(const RunInput& input, int64_t batch, int64_t side,
                                     bool& depends) const {
  if (input.reader == kNoOp) return std::nullopt;
  OpId at = input.reader;
  size_t port = PortOf(OpAt(at), input.blob);
  for (int hop = 0; hop < 6; ++hop) {
    const Op& op = OpAt(at);
    const std::string_view type = net_.Str(op.type);
    const Dims* weight = op.inputs.size() > 1 ? DimsOf(op.inputs[1]) : nullptr;
    if (port == 0 && weight && type.starts_with("Conv") && weight->size() == 4) {
      depends = true;
      const bool last = ArgString(*net_.symbols, op.args, "order", "NCHW") == "NHWC";
      const int64_t channels = (*weight)[last ? 3 : 1] * ArgInt(*net_.symbols, op.args, "group", 1);
      return last ? Dims{batch, side, side, channels} : Dims{batch, channels, side, side};
    }
    if (port == 0 && weight && type.starts_with("FC") && weight->size() == 2)
      return Dims{batch, (*weight)[type == "FCTransposed" ? 0 : 1]};
    if (op.inputs.size() != 1 || op.outputs.empty()) break;
    const auto uses = ssa_.uses(ssa_.outputs(at)[0]);
    if (uses.empty()) break;
    const Symbol made = op.outputs[0];
    at = uses[0];
    port = PortOf(OpAt(at), net_.Str(made));
  }
  return Dims{batch};
}

bool InputFinder::Fits(const std::vector<RunInput>& inputs,
                       const std::vector<std::pair<size_t, Dims>>& tried) const {
  ShapeTable table;
  std::vector<GivenBlob> given;
  const auto give = [&](const std::string& blob, DataType type, std::span<const int64_t> dims) {
    given.push_back({net_.symbols->Intern(blob), TensorInfo::Of(type, DimList(dims.begin(), dims.end()))});
  };
  for (const RunInput& input : inputs)
    if (input.dims) give(input.blob, input.type, *input.dims);
  for (const auto& [i, dims] : tried) give(inputs[i].blob, inputs[i].type, dims);
  const NetShapes shapes = InferShapes(net_, given, table);
  return std::none_of(shapes.findings.begin(), shapes.findings.end(),
                      [](const Diagnostic& finding) { return finding.severity == Severity::kError; });
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
