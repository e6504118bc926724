// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/roles/columns.h"

#include <algorithm>

namespace weft {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr std::string_view kDeviceWords[] = {"gpu", "cpu", "cuda", "hip", "ideep", "mkldnn", "xla", "device"};
constexpr size_t kMaxColumns = 200;

}  // namespace

std::string_view DevicePrefix(std::string_view name) {
  if (name.substr(0, 16).find('/') == std::string_view::npos) return {};
  if (name[0] == '_') name.remove_prefix(1);
  for (std::string_view word : kDeviceWords) {
    if (!name.starts_with(word) || name.size() < word.size() + 3 || name[word.size()] != '_') continue;
    size_t end = word.size() + 1;
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end > word.size() + 1 && end < name.size() && name[end] == '/') return name.substr(0, end);
  }
  return {};
}

Columns FindColumns(const Net& net, const Ssa& ssa) {
  Columns columns;
  std::vector<uint8_t> of_blob(ssa.blobs().size(), kNoColumn);
  for (size_t b = 0; b < of_blob.size(); ++b) {
    const std::string_view prefix = DevicePrefix(net.Str(ssa.blobs()[b]));
    if (prefix.empty()) continue;
    // Blobs of one device come in long runs, so the last column is the likely one.
    const uint8_t last = b > 0 ? of_blob[b - 1] : kNoColumn;
    if (last != kNoColumn && columns.names[last] == prefix) {
      of_blob[b] = last;
      continue;
    }
    const auto found = std::find(columns.names.begin(), columns.names.end(), prefix);
    if (found == columns.names.end() && columns.names.size() >= kMaxColumns) continue;
    of_blob[b] = static_cast<uint8_t>(found - columns.names.begin());
    if (found == columns.names.end()) columns.names.push_back(prefix);
  }
  if (columns.names.size() < 2) return {};

  // Order by name, numbers as numbers: backward passes and external inputs may name the last device first.
  std::vector<uint8_t> order(columns.names.size()), rank(columns.names.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint8_t>(i);
  std::sort(order.begin(), order.end(), [&](uint8_t a, uint8_t b) {
    const std::string_view x = columns.names[a], y = columns.names[b];
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  std::vector<std::string_view> sorted;
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<uint8_t>(i);
    sorted.push_back(columns.names[order[i]]);
  }
  columns.names = std::move(sorted);
  for (uint8_t& column : of_blob)
    if (column != kNoColumn) column = rank[column];

  columns.of_op.assign(net.ops.size(), kNoColumn);
  columns.spans.assign(net.ops.size(), 0);
  std::vector<DevicePtr> devices(columns.names.size());
  for (size_t i = 0; i < net.ops.size(); ++i) {
    uint8_t column = kNoColumn;
    const auto look = [&](std::span<const ValueId> values) {
      for (ValueId v : values) {
        const uint8_t c = of_blob[ssa.values()[v].blob];
        if (c == kNoColumn || c == column) continue;
        if (column != kNoColumn) columns.spans[i] = 1;
        column = std::min(c, column);
      }
    };
    look(ssa.outputs(static_cast<OpId>(i)));
    look(ssa.inputs(static_cast<OpId>(i)));
    if (columns.spans[i] || column == kNoColumn) continue;
    columns.of_op[i] = column;
    if (!devices[column]) devices[column] = net.ops[i].device;
  }
  for (size_t i = 0; i < net.ops.size(); ++i) {
    if (columns.spans[i] || columns.of_op[i] != kNoColumn || !net.ops[i].device) continue;
    uint8_t match = kNoColumn;
    bool unique = true;
    for (size_t c = 0; c < devices.size(); ++c) {
      if (!devices[c] || !SameDevice(devices[c], net.ops[i].device)) continue;
      unique = match == kNoColumn;
      match = static_cast<uint8_t>(c);
    }
    if (unique) columns.of_op[i] = match;
  }
  columns.of_blob = std::move(of_blob);
  return columns;
}

bool LooksLikeGradient(std::string_view name) {
  const size_t at = name.rfind("_grad");
  return at != std::string_view::npos && at > 0 && (at + 5 == name.size() || name[at + 5] == '_');
}

BlobId GradientBase(const Net& net, const Ssa& ssa, BlobId blob) {
  const std::string_view name = net.Str(ssa.blobs()[blob]);
  if (!LooksLikeGradient(name)) return kNoBlob;
  std::string_view base = name.substr(0, name.rfind("_grad"));
  if (base.ends_with("_autogen")) base.remove_suffix(8);
  const auto find = [&](std::string_view text) {
    const Symbol symbol = net.symbols->Find(text);
    return symbol ? ssa.FindBlob(symbol) : kNoBlob;
  };
  const BlobId found = find(base);
  if (found != kNoBlob || base.size() < 2 || base[0] != '_') return found;
  return find(base.substr(1));
}

std::string_view WithoutDevice(std::string_view name, std::string_view device, std::string& scratch) {
  const size_t at = name.starts_with('_') ? 1 : 0;
  if (name.substr(at).starts_with(device) && name.size() > at + device.size() &&
      name[at + device.size()] == '/') {
    if (at == 0) return name.substr(device.size());
    scratch.assign(1, '_');
    scratch.append(name.substr(1 + device.size()));
    return scratch;
  }
  // "lr_gpu1" of "gpu_1".
  const size_t underscore = device.find('_');
  if (underscore == std::string_view::npos) return name;
  scratch.assign(device.substr(0, underscore));
  scratch.append(device.substr(underscore + 1));
  if (name.size() > scratch.size() && name.ends_with(scratch) &&
      name[name.size() - scratch.size() - 1] == '_')
    return name.substr(0, name.size() - scratch.size());
  // "ONE_1_3" of "gpu_3": the number of the kind of device, then the device's.
  static constexpr std::pair<std::string_view, std::string_view> kNumbers[] = {
      {"cpu", "_0"}, {"gpu", "_1"}, {"gpu", "_6"}, {"ideep", "_5"}};
  for (const auto& [kind, number] : kNumbers) {
    if (device.substr(0, underscore) != kind) continue;
    scratch.assign(number);
    scratch.append(device.substr(underscore));
    if (name.size() > scratch.size() && name.ends_with(scratch))
      return name.substr(0, name.size() - (device.size() - underscore - 1));
  }
  return name;
}

}  // namespace weft
