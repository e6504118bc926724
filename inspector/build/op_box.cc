// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/op_box.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ssa/print.h"

namespace weft {

namespace {

constexpr int32_t kMinWidth = 96, kMaxWidth = 224, kWidthStep = 32;
constexpr int32_t kTitleHeight = 27, kSubtitleHeight = 14, kBottomPad = 5;
constexpr int32_t kChipGap = 4, kMaxChipWidth = 92;
constexpr size_t kMostChips = 6;
constexpr int32_t kPortHeight = 20;
constexpr int32_t kFrameGap = 10;  // between and around the nets in a box

int32_t RoundWidth(int32_t w) {
  return std::clamp((w + kWidthStep - 1) / kWidthStep * kWidthStep, kMinWidth, kMaxWidth);
}

}  // namespace

std::span<const OpenNet> OpenNetsOf(std::span<const OpenNet> open, OpId op) {
  const auto [first, last] = std::equal_range(open.begin(), open.end(), OpenNet{op, 0, 0, 0, {}},
                                              [](const OpenNet& a, const OpenNet& b) { return a.op < b.op; });
  return {first, last};
}

std::vector<SceneRect> PlaceFrames(std::span<const OpenNet> nets, int32_t head, int32_t& w, int32_t& h) {
  std::vector<SceneRect> frames;
  int32_t x = kFrameGap, below = 0;
  for (const OpenNet& net : nets) {
    frames.push_back({x, head + kFrameGap, net.w, net.h});
    x += net.w + kFrameGap;
    below = std::max(below, net.h);
  }
  w = std::max(w, x);
  h = head + below + 2 * kFrameGap;
  return frames;
}

OpBoxer::OpBoxer(NetModel& model, Arrangement& arrangement, const ViewOptions& options,
                 const std::vector<OpenNet>& open)
    : model_(model), a_(arrangement), options_(options), drawn_op_(arrangement.drawn_op()), open_(open) {
  title_width_.resize(model.net().symbols->size(), 0);
}

std::string_view OpBoxer::ShortName(std::string_view name, ScopeId scope) const {
  const ScopeTree& tree = a_.tree();
  if (!a_.columns().names.empty()) {
    const std::string_view device = DevicePrefix(name);
    if (!device.empty()) name.remove_prefix(device.size() + 1 + (name[0] == '_'));
  }
  const size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && slash + 1 < name.size()) name.remove_prefix(slash + 1);
  const std::string_view bare = name.starts_with('_') ? name.substr(1) : name;
  for (ScopeId s = scope; s != UINT32_MAX; s = tree.scopes[s].parent) {
    const std::string& label = tree.scopes[s].label;
    if (tree.scopes[s].kind == ScopeKind::kNamed && bare.size() > label.size() + 1 &&
        bare.starts_with(label) && !(bare[label.size()] >= 'a' && bare[label.size()] <= 'z') &&
        !(bare[label.size()] >= '0' && bare[label.size()] <= '9'))
      return bare.substr(label.size() + 1);
  }
  return name;
}

bool OpBoxer::SameRow(OpId a, OpId b) {
  const OpId x = a_.anchor(a), y = a_.anchor(b);
  return x == y || (!drawn_op_.empty() && drawn_op_[x] == drawn_op_[y]);
}

// What the op is about: the parameter that an update writes, else what others file it by.
std::string_view OpBoxer::NameOf(OpId op) {
  const BlobId trained = model_.roles().trains[op];
  if (trained != kNoBlob) return model_.net().Str(model_.ssa().blobs()[trained]);
  return FilingName(model_.net(), model_.net().ops[op]);
}

void OpBoxer::AddArguments(OpId op, std::vector<BoxChip>& chips) {
  const Net& net = model_.net();
  const auto& args = net.ops[op].args;
  const size_t shown = std::min<size_t>(args.size(), kMostChips);
  for (size_t k = 0; k < shown; ++k) {
    const std::string& text =
        texts_.emplace_back(StrCat(net.Str(args[k].name), " ", ArgListing(*net.symbols, args[k], false)));
    chips.push_back({ChipKind::kArgument, Role::kForward, kNoValue, 0, text});
  }
  if (shown < args.size())
    chips.push_back(
        {ChipKind::kMore, Role::kForward, kNoValue, static_cast<uint32_t>(args.size() - shown), {}});
}

void OpBoxer::FindChips(OpId op, ScopeId scope, std::vector<BoxChip>& chips) {
  const Ssa& ssa = model_.ssa();
  const Roles& roles = model_.roles();
  const Role role = roles.role[op];
  const auto name_of = [&](ValueId v) { return model_.net().Str(ssa.blobs()[ssa.values()[v].blob]); };
  const size_t first = chips.size();
  uint32_t left_out = 0;
  // A long name that only goes on from the one that the box bears says how it goes on.
  const std::string_view own = ShortName(NameOf(op), scope);
  const auto fit = [&](std::string_view text) {
    const bool goes_on = text.size() > own.size() + 1 && text.starts_with(own) && text[own.size()] == '_';
    if (goes_on && TextWidth(text.substr(0, 40), kChipSize) + 2 * kChipPad > kMaxChipWidth)
      text.remove_prefix(own.size());
    return text;
  };
  const auto add = [&](ChipKind kind, Role writer, ValueId v, bool shorten) {
    for (size_t i = first; i < chips.size(); ++i)
      if (chips[i].value == v && chips[i].kind == kind) return;
    if (chips.size() - first >= kMostChips) {
      ++left_out;
      return;
    }
    const std::string_view name = name_of(v);
    chips.push_back({kind, writer, v, 0, fit(shorten ? ShortName(name, scope) : name)});
  };
  const std::span<const ValueId> inputs = ssa.inputs(op);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const OpId def = ssa.values()[inputs[k]].def;
    if (def == kNoOp) {
      // The forward op shows its parameters; the ops that serve it need not repeat them.
      if (options_.show_params && role == Role::kForward)
        add(model_.params()[ssa.values()[inputs[k]].blob] ? ChipKind::kParam : ChipKind::kInput, role,
            inputs[k], true);
      continue;
    }
    // Updates would all repeat that they read the learning rate.
    if (!options_.show_references || role == Role::kUpdate) continue;
    const bool same_band = a_.band(def) == a_.band(op);
    const bool stash = a_.band(def) == Role::kForward && a_.band(op) == Role::kBackward;
    if (same_band ? a_.input_is_far(op, k) : !stash && !SameRow(def, op))
      add(ChipKind::kRefIn, roles.role[def], inputs[k], false);
  }
  const auto& controls = model_.net().ops[op].control_inputs;
  for (size_t k = 0; k < controls.size(); ++k) {
    if (!options_.show_references || chips.size() - first >= kMostChips) break;
    chips.push_back(
        {ChipKind::kControl, role, model_.control_value(op, k), 0, model_.net().Str(controls[k])});
  }
  for (ValueId v : ssa.outputs(op)) {
    const BlobId blob = ssa.values()[v].blob;
    if (model_.external_outputs()[blob] && ssa.latest(blob) == v) add(ChipKind::kOutput, role, v, true);
    if (options_.show_references && a_.value_is_far(v)) add(ChipKind::kRefOut, role, v, true);
  }
  if (left_out > 0) chips.push_back({ChipKind::kMore, role, kNoValue, left_out, {}});
}

OpBox OpBoxer::Measure(OpId op, ScopeId scope, std::vector<BoxChip>& chips) {
  OpBox box = model_.ports().any() && (a_.is_port_in(op) || a_.is_port_out(op))
                  ? MeasurePort(op)
                  : MeasureAsDrawn(op, scope, chips);
  const std::span<const OpenNet> nets = OpenNetsOf(open_, op);
  if (!nets.empty()) {
    box.head = box.h;
    PlaceFrames(nets, box.head, box.w, box.h);
  }
  if (options_.horizontal) std::swap(box.w, box.h);
  return box;
}

OpBox OpBoxer::MeasurePort(OpId op) const {
  const Op& o = model_.net().ops[op];
  const int32_t text = TextWidth(model_.net().Str(o.type).substr(0, 64), kSubtitleSize) +
                       (o.name ? TextWidth(StrCat("  ", model_.net().Str(o.name)), kChipSize) : 0);
  return {op, std::min(text + 3 * kTextPad, kMaxWidth), kPortHeight, 0, 0, 1, model_.net().Str(o.name)};
}

OpBox OpBoxer::MeasureAsDrawn(OpId op, ScopeId scope, std::vector<BoxChip>& chips) {
  const Net& net = model_.net();
  const Op& o = net.ops[op];
  OpBox box{op, 0, 0, static_cast<uint32_t>(chips.size()), 0, 1, {}};
  int32_t& title = title_width_[o.type.id];
  if (title == 0) title = TextWidth(net.Str(o.type), kTitleSize) + 1;
  const std::string_view own = net.Str(o.name);
  if (options_.show_names) box.subtitle = ShortName(own.empty() ? NameOf(op) : own, scope);
  int32_t inner = std::max(title, TextWidth(box.subtitle.substr(0, 64), kSubtitleSize));
  box.w = RoundWidth(inner + 2 * kTextPad);
  box.h = kTitleHeight + (box.subtitle.empty() ? 0 : kSubtitleHeight);

  // A gradient op beside its forward op has the same arguments.
  if (options_.show_arguments && a_.is_item(op)) AddArguments(op, chips);
  FindChips(op, scope, chips);
  box.num_chips = static_cast<uint32_t>(chips.size()) - box.first_chip;
  if (box.num_chips == 0) return box;
  int32_t total = 2 * kTextPad - kChipGap;
  for (uint32_t i = box.first_chip; i < chips.size(); ++i) {
    const int32_t text = chips[i].kind == ChipKind::kMore ? TextWidth(StrCat("+", chips[i].more), kChipSize)
                                                          : TextWidth(chips[i].text.substr(0, 40), kChipSize);
    chips[i].w = std::min(text + 2 * kChipPad, kMaxChipWidth);
    total += chips[i].w + kChipGap;
  }
  box.w = std::max(box.w, RoundWidth(std::min(total, kMaxWidth)));
  int32_t x = kTextPad, y = box.h;
  for (uint32_t i = box.first_chip; i < chips.size(); ++i) {
    if (x > kTextPad && x + chips[i].w > box.w - kTextPad) {
      x = kTextPad;
      y += kChipHeight + kChipGap;
    }
    chips[i].x = x;
    chips[i].y = y;
    x += chips[i].w + kChipGap;
  }
  box.h = y + kChipHeight + kBottomPad;
  return box;
}

OpBox OpBoxer::MeasureBundle(OpId op, uint32_t count) const {
  OpBox box{op, 128, kTitleHeight, 0, 0, count, {}};
  if (options_.horizontal) std::swap(box.w, box.h);
  return box;
}

BoxSize MeasureScope(std::string_view label, std::string_view subtitle, bool horizontal) {
  const int32_t inner = std::max(TextWidth(label, kTitleSize), TextWidth(subtitle, kSubtitleSize));
  BoxSize size{RoundWidth(inner + 2 * kTextPad), kTitleHeight + kSubtitleHeight + kBottomPad};
  if (horizontal) std::swap(size.w, size.h);
  return size;
}

}  // namespace weft
