// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ir/net_builder.h"

#include <algorithm>
#include <charconv>

#include "core/base/str.h"

namespace weft {

namespace {

constexpr int64_t kBoolType = 5;  // TensorProto.DataType.BOOL

size_t CountValues(const ConstValue& value) {
  return std::visit([](const auto& values) { return values.size(); }, value.values);
}

}  // namespace

NetBuilder::NetBuilder(NameRegistry& registry, std::string_view name, SymbolTablePtr table)
    : net_(std::move(table)), flags_(*net_.symbols, 0, 0), next_suffix_(*net_.symbols, 0, 0) {
  net_.name = Intern(registry.UniqueNet(name));
}

NetBuilder::NetBuilder(NameRegistry& registry, Net net)
    : net_(std::move(net)),
      flags_(*net_.symbols, net_.ops.size() * 2 + net_.external_inputs.size(), 0),
      next_suffix_(*net_.symbols, 0, 0) {
  const std::string auto_prefix = StrCat(name(), "_blob_");
  for (const Op& op : net_.ops) {
    Note(op);
    for (std::span<const Symbol> blobs :
         {std::span<const Symbol>(op.inputs), std::span<const Symbol>(op.outputs)}) {
      for (Symbol blob : blobs) {
        const std::string_view text = net_.Str(blob);
        if (!text.starts_with(auto_prefix)) continue;
        int64_t number = -1;
        const auto [end, error] =
            std::from_chars(text.data() + auto_prefix.size(), text.data() + text.size(), number);
        if (error == std::errc() && end == text.data() + text.size())
          next_blob_ = std::max(next_blob_, number + 1);
      }
    }
  }
  for (Symbol blob : net_.external_inputs) flags_[blob] |= kExternalInput;
  net_.name = Intern(registry.UniqueNet(name()));
}

void NetBuilder::Note(const Op& op) {
  for (Symbol blob : op.inputs) flags_[blob] |= kRead;
  for (Symbol blob : op.outputs) flags_[blob] |= kWritten;
}

Symbol NetBuilder::Resolve(const BlobRef& ref, const NameScope& scope) {
  return ref.symbol ? ref.symbol : Intern(scope.Scoped(ref.text));
}

Symbol NetBuilder::Reserve(Symbol name) {
  flags_[name] |= kReserved;
  return name;
}

Symbol NetBuilder::NextName(std::string_view prefix, std::optional<int> output, const NameScope& scope) {
  const std::string base = StrCat(scope.prefix, name(), "/", prefix);
  const std::string tail = output ? StrCat(":", *output) : std::string();
  const Symbol first = Intern(StrCat(base, tail));
  if (!has(first, kWritten | kExternalInput | kReserved)) return Reserve(first);
  uint32_t suffix = std::max(next_suffix_.Get(first), 2u);
  Symbol next;
  do {
    next = Intern(StrCat(base, "_", suffix++, tail));
  } while (has(next, kWritten | kExternalInput | kReserved));
  next_suffix_[first] = suffix;
  return Reserve(next);
}

Symbol NetBuilder::NextName(const NameScope& scope) {
  Symbol next;
  do {
    next = Intern(StrCat(scope.prefix, name(), "_blob_", next_blob_++));
  } while (has(next, kWritten | kExternalInput | kReserved));
  return Reserve(next);
}

Symbol NetBuilder::NextBlob(std::string_view prefix) {
  const Symbol first = Intern(prefix);
  if (!has(first, kWritten | kExternalInput | kReserved)) return Reserve(first);
  // The key differs from NextName's, which counts from 2 under its own names.
  const Symbol key = Intern(StrCat(prefix, "_auto_"));
  uint32_t suffix = next_suffix_.Get(key);
  Symbol next;
  do {
    next = Intern(StrCat(prefix, "_auto_", suffix++));
  } while (has(next, kWritten | kExternalInput | kReserved));
  next_suffix_[key] = suffix;
  return Reserve(next);
}

Result<void> NetBuilder::AddExternalInputs(std::span<const Symbol> blobs) {
  for (size_t i = 0; i < blobs.size(); ++i) {
    if (IsExternalInput(blobs[i])) {
      for (size_t k = 0; k < i; ++k) flags_[blobs[k]] &= static_cast<uint8_t>(~kExternalInput);
      const std::string_view text = net_.Str(blobs[i]);
      return Error{ErrorCode::kNameConflict,
                   StrCat("Net ", name(), " already contains an input named ", text), -1, std::string(text)};
    }
    flags_[blobs[i]] |= kExternalInput;
  }
  net_.external_inputs.insert(net_.external_inputs.end(), blobs.begin(), blobs.end());
  return {};
}

Result<void> NetBuilder::AddExternalOutputs(std::span<const Symbol> blobs) {
  for (Symbol blob : blobs) {
    if (BlobIsDefined(blob)) continue;
    const std::string_view text = net_.Str(blob);
    return Error{ErrorCode::kNotFound, StrCat(text, " is not defined in net ", name()), -1,
                 std::string(text)};
  }
  net_.external_outputs.insert(net_.external_outputs.end(), blobs.begin(), blobs.end());
  return {};
}

std::vector<Symbol> NetBuilder::Add(const OpSpec& spec, const Scope& scope) {
  Op op;
  op.type = Intern(spec.type);
  op.name = Intern(spec.name);
  if (spec.engine) op.engine = Intern(*spec.engine);
  op.device = spec.device ? spec.device : scope.device.device;
  op.args = spec.args.In(*net_.symbols);
  for (const BlobRef& input : spec.inputs) op.inputs.push_back(Resolve(input, scope.name));
  for (const BlobRef& input : spec.control_inputs) op.control_inputs.push_back(Resolve(input, scope.name));
  if (std::holds_alternative<std::monostate>(spec.outputs)) {
    op.outputs.push_back(NextName(spec.type, {}, scope.name));
  } else if (const int* count = std::get_if<int>(&spec.outputs)) {
    for (int i = 0; i < *count; ++i) op.outputs.push_back(NextName(spec.type, i, scope.name));
  } else {
    for (const BlobRef& output : std::get<std::vector<BlobRef>>(spec.outputs))
      op.outputs.push_back(Resolve(output, scope.name));
  }
  std::vector<Symbol> outputs(op.outputs.begin(), op.outputs.end());
  Append(std::move(op));
  return outputs;
}

void NetBuilder::Append(Op op) {
  for (Symbol blob : op.inputs) {
    if (BlobIsDefined(blob)) continue;
    flags_[blob] |= kExternalInput;
    net_.external_inputs.push_back(blob);
  }
  Note(op);
  net_.ops.push_back(std::move(op));
}

Result<Symbol> NetBuilder::Const(const ConstValue& value, std::optional<BlobRef> output, const Scope& scope) {
  int64_t room = 1;
  bool sound = true;
  for (int64_t extent : value.shape)
    sound = sound && extent >= 0 && !__builtin_mul_overflow(room, extent, &room);
  if (!sound || static_cast<uint64_t>(room) != CountValues(value))
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("Const: the shape holds ", sound ? std::to_string(room) : "no number of",
                        " values, but ", CountValues(value), " were given")};

  const Symbol values_name = Intern("values");
  OpSpec spec;
  Arg values;
  if (const auto* floats = std::get_if<std::vector<float>>(&value.values)) {
    spec.type = "GivenTensorFill";
    values = MakeArg(values_name, *floats);
  } else if (const auto* ints = std::get_if<std::vector<int32_t>>(&value.values)) {
    spec.type = "GivenTensorIntFill";
    values = MakeArg(values_name, std::vector<int64_t>(ints->begin(), ints->end()));
  } else if (const auto* longs = std::get_if<std::vector<int64_t>>(&value.values)) {
    spec.type = "GivenTensorInt64Fill";
    values = MakeArg(values_name, *longs);
  } else if (const auto* bools = std::get_if<std::vector<bool>>(&value.values)) {
    spec.type = "GivenTensorBoolFill";
    values = MakeArg(values_name, std::vector<int64_t>(bools->begin(), bools->end()));
  } else {
    spec.type = "GivenTensorStringFill";
    values = MakeArg(values_name, std::get<std::vector<std::string>>(value.values));
  }
  spec.args = {MakeArg(Intern("shape"), value.shape), std::move(values)};
  spec.outputs = 1;
  if (output) spec.outputs = std::vector<BlobRef>{*output};
  return Add(spec, scope)[0];
}

Symbol NetBuilder::ConstBool(bool value, std::optional<BlobRef> output, const Scope& scope) {
  OpSpec spec{.type = "ConstantFill"};
  spec.args = {MakeArg(Intern("dtype"), kBoolType), MakeArg(Intern("value"), static_cast<int64_t>(value))};
  spec.outputs = 1;
  if (output) spec.outputs = std::vector<BlobRef>{*output};
  return Add(spec, scope)[0];
}

void NetBuilder::LogInfo(std::span<const BlobRef> messages, const Scope& scope) {
  for (const BlobRef& message : messages) {
    Symbol blob = message.symbol;
    if (!blob)
      blob = Add(
          {.type = "GivenTensorStringFill",
           .outputs = std::vector<BlobRef>{NextName("log", {}, scope.name)},
           .args = {{"shape", std::vector<int64_t>()}, {"values", std::vector<std::string>{message.text}}}},
          scope)[0];
    Add({.type = "Print", .inputs = {blob}, .outputs = std::vector<BlobRef>{}}, scope);
  }
}

Symbol NetBuilder::Suffixed(Symbol blob, std::string_view suffix) {
  return Intern(StrCat(net_.Str(blob), suffix));
}

}  // namespace weft
