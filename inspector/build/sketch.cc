// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/sketch.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/roles/roles.h"
#include "inspector/arrange/stretches.h"
#include "inspector/build/op_box.h"
#include "inspector/build/scene_writer.h"
#include "inspector/layout/layered.h"
#include "proto/fields.h"
#include "proto/wire.h"

namespace weft {

namespace {

constexpr uint32_t kFewest = 5000;     // ops; what is smaller is soon read
constexpr uint32_t kMostRows = 660;    // with three bands about as many boxes as a net first shows
constexpr size_t kHeadTypes = 20'000;  // ops in which a period is sought

constexpr uint32_t Text(uint32_t field) { return Tag(field, WireType::kLength); }
// As gradients are usually called; LooksLikeGradient knows more, and takes longer.
bool IsGradient(std::string_view name) { return name.ends_with("_grad"); }

}  // namespace

void Sketch::Add(std::string_view op) {
  std::string_view type, name, output;
  bool marked = false, reads_gradient = false;
  WireCursor cursor(op);
  for (WireField field; cursor.Next(field);) {
    if (field.tag == Text(op_field::kInput)) {
      reads_gradient |= IsGradient(field.bytes);
    } else if (field.tag == Text(op_field::kOutput)) {
      output = field.bytes;
      if (name.empty()) name = output;  // the first one files the op
    } else if (field.tag == Text(op_field::kName)) {
      if (field.bytes.find('/') != std::string_view::npos) name = field.bytes;
    } else if (field.tag == Text(op_field::kType)) {
      type = field.bytes;
    } else if (field.tag == Tag(op_field::kIsGradientOp, WireType::kVarint)) {
      marked = field.value != 0;
    }
  }
  sound_ &= !cursor.malformed() && !type.empty();
  if (!sound_) return;
  const Symbol symbol = types_.Intern(type);
  const Role role = RoleOf(symbol, marked, reads_gradient, IsGradient(output));
  const uint32_t index = count_[0] + count_[1] + count_[2] + count_[3];
  ++count_[static_cast<uint32_t>(role)];
  if (role != Role::kForward) return;
  FileUnder(name);
  forward_.push_back(index);
  if (head_types_.size() < kHeadTypes) head_types_.push_back(symbol.id);
}

// What an update writes last is the parameter.
Role Sketch::RoleOf(Symbol type, bool marked, bool reads_gradient, bool writes_gradient) {
  if (type.id >= role_of_type_.size()) role_of_type_.resize(type.id + 1, 0);
  uint8_t& known = role_of_type_[type.id];
  if (known == 0) {
    const std::string_view text = types_.Str(type);
    known = static_cast<uint8_t>(static_cast<uint32_t>(RoleOfType(text, ops_.Find(text))) + 1);
  }
  const Role role = static_cast<Role>(known - 1);
  if (role != Role::kForward) return role;
  if (marked || writes_gradient) return Role::kBackward;
  return reads_gradient ? Role::kUpdate : Role::kForward;
}

void Sketch::FileUnder(std::string_view name) {
  if (paths_.size() > kMostRows) return;
  const uint32_t at = static_cast<uint32_t>(forward_.size());
  const size_t slash = name.find('/', 1);
  const std::string_view path = slash == std::string_view::npos ? "" : name.substr(0, slash);
  if (!paths_.empty() && paths_.back().title == path) {
    paths_.back().end = at + 1;
  } else {
    paths_.push_back({at, at + 1, std::string(path)});
  }
}

// The stretches below one name each where there are a few, else equal ones of whole periods.
std::vector<Sketch::Stretch> Sketch::Stretches() const {
  std::vector<Stretch> stretches;
  const auto title = [&](uint32_t begin, uint32_t end) {
    return StrCat("ops ", forward_[begin], "-", forward_[end - 1]);
  };
  if (paths_.size() > 1 && paths_.size() <= kMostRows) {
    stretches = paths_;
    for (Stretch& stretch : stretches)
      if (stretch.title.empty()) stretch.title = title(stretch.begin, stretch.end);
    return stretches;
  }
  const uint32_t size = static_cast<uint32_t>(forward_.size());
  const Period period = FindPeriod(head_types_);
  uint32_t length = std::max<uint32_t>(period.length, 1);
  while (size / length >= kMostRows) length *= 10;
  for (uint32_t begin = 0, end = period.start; begin < size; begin = end, end += length) {
    if (end == begin) end += length;
    end = std::min(end, size);
    stretches.push_back({begin, end, title(begin, end)});
  }
  return stretches;
}

std::vector<uint32_t> Sketch::Draw() const {
  const uint64_t total = uint64_t{count_[0]} + count_[1] + count_[2] + count_[3];
  if (!sound_ || total < kFewest || forward_.empty()) return {};
  const bool mirror = count_[static_cast<uint32_t>(Role::kBackward)] > 0;
  const std::vector<Stretch> stretches = Stretches();
  SceneWriter writer;
  const auto words = [](uint64_t ops, bool about) {
    return StrCat(about ? "about " : "", ops, ops == 1 ? " op" : " ops");
  };
  int32_t x = 0;
  for (const Role role : {Role::kForward, Role::kBackward, Role::kCollective, Role::kUpdate}) {
    const uint32_t band = static_cast<uint32_t>(role), first = static_cast<uint32_t>(writer.nodes.size());
    if (count_[band] == 0) continue;
    SceneNode node{};
    node.style = NodeStyle(NodeKind::kScope, role, kNodeSynthetic);
    node.id = node.group = kNone;
    int32_t width = 0;
    for (const Stretch& stretch : stretches) {
      // Of the others nobody knows yet which forward op they serve: as many as if each served one.
      const uint64_t size = forward_.size(), count = count_[band];
      node.count = static_cast<uint32_t>(count * stretch.end / size - count * stretch.begin / size);
      const std::string subtitle = words(node.count, role != Role::kForward);
      const BoxSize box = MeasureScope(stretch.title, subtitle, false);
      node.w = box.w;
      node.h = box.h;
      node.title = writer.Text(stretch.title);
      node.subtitle = writer.Text(subtitle);
      if (node.count > 0) writer.nodes.push_back(node);
      node.y += box.h + kRowGap;
      width = std::max(width, box.w);
    }
    for (size_t k = first; k < writer.nodes.size(); ++k)
      writer.nodes[k].x = x + (width - writer.nodes[k].w) / 2;
    SceneBand strip{};
    strip.x = x - kStripPad;
    strip.y = -kStripHead;
    strip.w = width + 2 * kStripPad;
    strip.h = node.y - kRowGap + kStripHead + kStripPad;
    strip.role = band;
    strip.device = kNone;
    strip.title = writer.Text(mirror ? kBandNames[band] : "");
    strip.count = count_[band];
    writer.bands.push_back(strip);
    x += width + 2 * kStripPad + kBandGap;
  }
  writer.header.net = kNone;
  writer.header.mode = mirror ? 2 : 1;
  writer.SetFocus(false);
  return writer.Finish();
}

}  // namespace weft
