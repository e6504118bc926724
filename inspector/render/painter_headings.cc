// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Headings of bands, of the same size at every scale. They stay at the top of the view while their band is in
// it. Where a band is too narrow for "gpu_0 · Backward", devices have a row of their own over the bands that
// are theirs. Bands that lie one below the other have theirs in their own space, and from afar, where it is
// less high than letters, on a tag at their left end.
#include <algorithm>
#include <string>
#include <string_view>

#include "inspector/render/painter.h"
#include "inspector/render/text.h"

namespace weft::render {
namespace {

constexpr float kSize = 11, kPad = 10, kLeastPad = 2;  // CSS pixels
constexpr float kLaneRow = 26, kDeviceRow = 19, kLeastTag = 13;
// World units: a band's height for its heading, and before its boxes.
constexpr int32_t kBandHead = 26, kBandSpace = 44;
constexpr uint32_t kFlowMode = 1;
constexpr std::string_view kDot = " \u00b7 ";

struct Title {
  std::string_view device, lane;
};
/// "gpu_0 ×8 · Backward" has both parts, "Backward" none for a device.
Title Split(std::string_view title) {
  const size_t dot = title.rfind(kDot);
  return dot == std::string_view::npos ? Title{{}, title}
                                       : Title{title.substr(0, dot), title.substr(dot + kDot.size())};
}

float Width(std::string_view text, float size) { return render::TextWidth(text, size, Weight::kSemiBold); }

/// Narrow bands have less around their words.
float Pad(float w, float ratio) { return std::clamp(w * 0.12f, kLeastPad * ratio, kPad * ratio); }

/// As much of a text as fits: with an ellipsis where three letters are left, else bare, but no less than two.
/// Names of devices differ at their end.
std::string Shortened(std::string_view text, float size, float room, bool keep_end) {
  if (Width(text, size) <= room) return std::string(text);
  std::vector<size_t> letters;  // where each begins
  for (size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) letters.push_back(i);
  for (const bool dots : {true, false}) {
    for (size_t left = letters.size(); left-- > (dots ? 3u : 2u);) {
      std::string out(keep_end ? text.substr(letters[letters.size() - left]) : text.substr(0, letters[left]));
      if (dots) out = keep_end ? "\u2026" + out : out + "\u2026";
      if (Width(out, size) <= room) return out;
    }
  }
  return {};
}

/// Calls `each` with the bands of one device, in turn.
template <typename Each>
void ForEachDevice(std::span<const SceneBand> bands, const Each& each) {
  for (size_t i = 0, end; i < bands.size(); i = end) {
    for (end = i + 1; end < bands.size() && bands[end].device == bands[i].device;) ++end;
    each(bands.subspan(i, end - i));
  }
}

}  // namespace

/// Whether bands lie one below the other, without space for a heading as high as letters.
bool Painter::Tags(double scale) const {
  return (view_->header().flags & kSceneHorizontal) && scale * kBandSpace < kLaneRow;
}

Painter::HeadingRows Painter::RowsOfHeadings(double px) const {
  HeadingRows rows;
  const float size = kSize * ratio_;
  for (const SceneBand& band : view_->bands()) {
    const float w = static_cast<float>(band.w * px), room = w - 2 * Pad(w, ratio_);
    const std::string_view title = view_->text(band.title);
    if (!Split(title).device.empty() && Width(title, size) > room) rows.device = kDeviceRow * ratio_;
    if (!title.empty() && Width(Split(title).lane.substr(0, 2), size) <= room) rows.lane = kLaneRow * ratio_;
  }
  return rows;
}

Box2 Painter::HeadingRoom(double scale) const {
  if (!view_) return {};
  const double px = scale * ratio_;
  const float own = static_cast<float>(kBandHead * scale);
  if (!(view_->header().flags & kSceneHorizontal)) {
    const HeadingRows rows = RowsOfHeadings(px);
    return {0, 0, 0, std::max((rows.device + rows.lane) / ratio_ - own, 0.0f)};
  }
  if (!Tags(scale)) return {};
  float widest = 0;
  for (const SceneBand& band : view_->bands())
    widest = std::max(widest, Width(view_->text(band.title), kSize));
  return {0, 0, widest > 0 ? widest + 2 * kPad : 0, 0};
}

void Painter::PaintHeadings() {
  if (Tags(camera_.scale)) return PaintTags();
  const bool across = view_->header().flags & kSceneHorizontal;
  const HeadingRows rows = across ? HeadingRows{0, kLaneRow * ratio_} : RowsOfHeadings(px_);
  for (const SceneBand& band : view_->bands()) PaintLaneHeading(band, rows);
  if (rows.device > 0)
    ForEachDevice(view_->bands(), [&](std::span<const SceneBand> bands) { PaintDeviceHeading(bands, rows); });
}

void Painter::PaintLaneHeading(const SceneBand& band, const HeadingRows& rows) {
  const float size = kSize * ratio_, all = rows.device + rows.lane;
  const float x = X(band.x), y = Y(band.y), w = L(static_cast<float>(band.w)),
              h = L(static_cast<float>(band.h));
  if (rows.lane == 0 || x > width_ || y > height_ || x + w < 0 || y + h < all) return;
  const std::string_view title = view_->text(band.title);
  if (title.empty()) return;
  // The band's own space for it, which from afar is less high than the words: then above the band.
  const float top = std::max(y + std::min(L(kBandHead), all) - all, 0.0f) + rows.device;
  const Color color = RoleColor(static_cast<Role>(band.role));
  quads_.Fill(x, top, w, rows.lane, Mix(T(ThemeColor::kPaper), color, 0.05f));
  quads_.Fill(x, top + rows.lane - ratio_, w, ratio_, WithAlpha(color, 0.35f));
  const float pad = Pad(w, ratio_), left = std::max(x, 0.0f) + pad;
  const float room = std::min(x + w, static_cast<float>(width_)) - left - pad;
  const bool named = view_->header().mode == kFlowMode;  // for the device, which has but this band
  const bool whole = rows.device == 0 && Width(title, size) <= room;  // where it is in sight
  const std::string said = Shortened(whole ? title : Split(title).lane, size, room, named);
  DrawText(quads_, said, left, top + 17 * ratio_, size, Weight::kSemiBold, color);
}

void Painter::PaintDeviceHeading(std::span<const SceneBand> bands, const HeadingRows& rows) {
  const std::string_view device = Split(view_->text(bands[0].title)).device;
  const float size = kSize * ratio_, all = rows.device + rows.lane;
  const float x = X(bands.front().x), end = X(bands.back().x + bands.back().w), y = Y(bands[0].y);
  if (x > width_ || end < 0 || y > height_ || y + L(static_cast<float>(bands[0].h)) < all) return;
  const float top = std::max(y + std::min(L(kBandHead), all) - all, 0.0f), pad = Pad(end - x, ratio_);
  const float left = std::max(x, 0.0f) + pad, room = std::min(end, static_cast<float>(width_)) - left - pad;
  quads_.Fill(x, top, end - x, rows.device, T(ThemeColor::kPaper));
  quads_.Fill(x, top + rows.device - ratio_, end - x, ratio_, T(ThemeColor::kBoxBorder));
  DrawText(quads_, Shortened(device, size, room, true), left, top + 13 * ratio_, size, Weight::kSemiBold,
           T(ThemeColor::kInk2));
}

void Painter::PaintTags() {
  const float size = kSize * ratio_, pad = kPad * ratio_;
  const auto tag = [&](int32_t world_x, float y, float h, std::string_view text, Color color) {
    if (text.empty() || h < kLeastTag * ratio_ || y > height_ || y + h < 0) return;
    const float w = Width(text, size) + pad, x = std::max(X(world_x) - w - pad / 2, 0.0f);
    const float high = std::min(h, kLaneRow * ratio_), top = std::max(y + (h - high) / 2, 0.0f);
    quads_.Fill(x, top, w, high, Mix(T(ThemeColor::kPaper), color, 0.05f));
    quads_.Fill(x + w - ratio_, top, ratio_, high, WithAlpha(color, 0.35f));
    DrawText(quads_, text, x + pad / 2, top + high / 2 + size * 0.36f, size, Weight::kSemiBold, color);
  };
  ForEachDevice(view_->bands(), [&](std::span<const SceneBand> bands) {
    const std::string_view device = Split(view_->text(bands[0].title)).device;
    const auto high = [&](const SceneBand& band) {
      return L(static_cast<float>(band.h)) >= kLeastTag * ratio_;
    };
    if (device.empty() || std::all_of(bands.begin(), bands.end(), high)) {
      for (const SceneBand& band : bands)
        tag(band.x, Y(band.y), L(static_cast<float>(band.h)), view_->text(band.title),
            RoleColor(static_cast<Role>(band.role)));
    } else {
      const float y = Y(bands.front().y);
      tag(bands[0].x, y, Y(bands.back().y + bands.back().h) - y, device, T(ThemeColor::kInk2));
    }
  });
}

}  // namespace weft::render
