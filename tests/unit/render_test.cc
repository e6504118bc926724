// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "inspector/font_metrics.h"
#include "inspector/render/painter.h"
#include "inspector/render/text.h"

namespace weft {
namespace {

using render::DrawText;
using render::QuadList;
using render::Weight;

TEST(RenderText, FitsTheWidthThatTheLayoutReserved) {
  for (uint32_t code = kFontFirst; code <= kFontLast; ++code) {
    const std::string text(1, static_cast<char>(code));
    for (Weight weight : {Weight::kRegular, Weight::kSemiBold}) {
      const float drawn = render::TextWidth(text, 1000, weight);
      EXPECT_LE(drawn, static_cast<float>(GlyphAdvance(code)) + 0.01f) << text;
      EXPECT_GE(drawn, static_cast<float>(GlyphAdvance(code)) * 0.85f) << text;
    }
  }
}

TEST(RenderText, EndsInAnEllipsisWhereItDoesNotFit) {
  const std::string name = "gpu_0/res4_22_branch2b_bn_riv";
  const float full = render::TextWidth(name, 11, Weight::kRegular);
  for (float most = 0; most < full + 5; most += 3) {
    QuadList quads;
    const float width = DrawText(quads, name, 0, 0, 11, Weight::kRegular, 0xffffffff, most);
    quads.EndLayer();
    EXPECT_LE(width, most + 0.01f);
    EXPECT_EQ(quads.size() == name.size(), full <= most) << most;
  }
}

TEST(RenderText, TakesAnyBytes) {
  QuadList quads;
  for (std::string_view text : {"\xff\xfe", "\xc3", "\xe2\x82", "a\nb", "\xf0\x9f\x98\x80", "\xc0\x80"}) {
    EXPECT_GT(DrawText(quads, text, 0, 0, 12, Weight::kRegular, 0xffffffff), 0);
  }
}

struct Lane {
  uint32_t device;
  std::string title;
};
/// A scene of `count` boxes in a column and an edge between neighbours, in one tile of the index; with a
/// frame around all when `framed`. Lanes are 200 wide and 40 apart, and lie below each other when `across`.
std::vector<uint32_t> ColumnScene(uint32_t count, bool framed = false, const std::vector<Lane>& lanes = {},
                                  bool across = false) {
  SceneHeader header{};
  header.magic = kSceneMagic;
  header.version = 1;
  header.w = 200;
  header.h = static_cast<int32_t>(count * 60);
  header.num_ops = count;
  header.mode = lanes.empty() ? 1 : 2;
  header.flags = across ? uint32_t{kSceneHorizontal} : 0;
  header.overview_cols = 1;
  header.overview_rows = count;
  header.overview_cell_w = 200;
  header.overview_cell_h = 60;
  std::vector<uint32_t> words(64);
  const auto section = [&](SceneSection which, uint32_t records, const auto& fill) {
    header.sections[static_cast<uint32_t>(which)] = {static_cast<uint32_t>(words.size()), records};
    fill();
    while (words.size() % 4 != 0) words.push_back(0);
  };
  const auto none = [] {};
  section(SceneSection::kBands, static_cast<uint32_t>(lanes.size()), [&] {
    for (uint32_t i = 0; i < lanes.size(); ++i) {
      const uint32_t x = across ? 0 : i * 240, y = across ? i * 240 : 0;
      for (uint32_t word :
           {x, y, across ? count * 60 : 200, across ? 200 : count * 60, i % 3, lanes[i].device, 2 + i, 1u})
        words.push_back(word);
    }
  });
  section(SceneSection::kGroups, framed, [&] {
    if (!framed) return;
    for (uint32_t word : {0u, 0u, 200u, count * 60, 2u, 0u, 1u, 0u, kNone, 0u, 0u, count})
      words.push_back(word);
  });
  section(SceneSection::kNodes, count, [&] {
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t word : {20u, i * 60, 160u, 40u, 0u, i, 1u, 1u, kNone, 0u, 0u, 1u}) words.push_back(word);
    }
  });
  section(SceneSection::kChips, 0, none);
  section(SceneSection::kEdges, count - 1, [&] {
    for (uint32_t i = 0; i + 1 < count; ++i) {
      const uint32_t arrow = static_cast<uint32_t>(kEdgeArrow) << 16;
      for (uint32_t word : {100u, i * 60 + 40, 100u, i * 60 + 60, i * 60 + 50, i, arrow, 1u})
        words.push_back(word);
    }
  });
  section(SceneSection::kValues, 0, none);
  section(SceneSection::kOpNodes, count, [&] {
    for (uint32_t i = 0; i < count; ++i) words.push_back(i);
  });
  section(SceneSection::kGrids, 2, [&] {
    for (uint32_t word : {uint32_t(SceneSection::kNodes), 24u, 0u, 0u, 1u, 1u, 0u, 0u}) words.push_back(word);
    for (uint32_t word : {uint32_t(SceneSection::kEdges), 24u, 0u, 0u, 1u, 1u, 2u, 0u}) words.push_back(word);
  });
  section(SceneSection::kGridCells, 4, [&] {
    for (uint32_t word : {0u, count, 0u, count - 1}) words.push_back(word);
  });
  section(SceneSection::kOverview, count, [&] {
    for (uint32_t i = 0; i < count; ++i) words.push_back(200);
  });
  std::string text = "Relu";
  section(SceneSection::kStrings, static_cast<uint32_t>(2 + lanes.size()), [&] {
    for (uint32_t word : {0u, 0u, 0u, 4u}) words.push_back(word);
    for (const Lane& lane : lanes) {
      words.push_back(static_cast<uint32_t>(text.size()));
      words.push_back(static_cast<uint32_t>(lane.title.size()));
      text += lane.title;
    }
  });
  section(SceneSection::kText, static_cast<uint32_t>(text.size()), [&] {
    words.resize(words.size() + (text.size() + 3) / 4);
    std::memcpy(words.data() + words.size() - (text.size() + 3) / 4, text.data(), text.size());
  });
  header.num_words = static_cast<uint32_t>(words.size());
  std::copy_n(reinterpret_cast<const uint32_t*>(&header), 64, words.begin());
  return words;
}

size_t Count(const QuadList& list, render::QuadKind kind) {
  return static_cast<size_t>(std::count_if(
      list.quads().begin(), list.quads().end(),
      [&](const render::Quad& quad) { return (quad.style & 15) == static_cast<uint32_t>(kind); }));
}

TEST(Painter, DrawsWhatIsOnTheScreenOnly) {
  render::Painter painter;
  painter.SetMinimap(false);
  painter.SetSize(800, 600, 1);
  ASSERT_TRUE(painter.SetScene(ColumnScene(1000)));
  const QuadList& near = painter.Paint({100, 30000, 1});
  EXPECT_GT(near.size(), 50u);
  EXPECT_LT(near.size(), 200u);
  EXPECT_GE(Count(near, render::QuadKind::kGlyph), 4 * 10u);
  EXPECT_GE(Count(near, render::QuadKind::kTriangle), 9u);
  // From afar: boxes without text, then the overview, never more than the screen has room for.
  EXPECT_EQ(Count(painter.Paint({100, 30000, 0.1}), render::QuadKind::kGlyph), 0u);
  EXPECT_LT(painter.Paint({100, 30000, 0.01}).size(), 1000u);
  EXPECT_EQ(painter.Paint({100000, 30000, 1}).size(), 0u);
}

TEST(Painter, DrawsTitlesOfFramesOverEdges) {
  render::Painter painter;
  render::Theme theme;
  theme.colors.fill(render::Rgba(0x808080));
  painter.SetTheme(theme);
  painter.SetMinimap(false);
  painter.SetSize(800, 600, 1);
  ASSERT_TRUE(painter.SetScene(ColumnScene(10, true)));
  const QuadList& list = painter.Paint({100, 300, 1});
  const auto of = [](render::QuadKind kind) {
    return [kind](const render::Quad& quad) { return (quad.style & 15) == static_cast<uint32_t>(kind); };
  };
  const auto& quads = list.quads();
  const auto last_line = std::find_if(quads.rbegin(), quads.rend(), of(render::QuadKind::kLine)).base();
  const auto letter = std::find_if(quads.begin(), quads.end(), of(render::QuadKind::kGlyph));
  ASSERT_NE(letter, quads.end());
  EXPECT_LT(last_line, letter);
  // A plate between the edges and the title's first letter.
  const float x = letter->x + letter->w / 2, y = letter->y + letter->h / 2;
  EXPECT_TRUE(std::any_of(last_line, letter, [&](const render::Quad& quad) {
    return quad.fill == render::Rgba(0x808080) && quad.h < 20 && quad.x < x && x < quad.x + quad.w &&
           quad.y < y && y < quad.y + quad.h;
  }));
}

TEST(Painter, HeadsLanesAtEveryScale) {
  const std::vector<Lane> lanes = {
      {0, "gpu_0 \u00b7 Forward"}, {0, "gpu_0 \u00b7 Backward"}, {1, "gpu_1 \u00b7 Forward"}};
  render::Painter painter;
  painter.SetMinimap(false);
  painter.SetSize(800, 600, 1);
  ASSERT_TRUE(painter.SetScene(ColumnScene(100, false, lanes)));
  // Boxes say nothing from afar: all letters are those of headings. How many, and how high the largest is.
  const auto letters = [&](double scale) {
    float high = 0;
    size_t count = 0;
    for (const render::Quad& quad : painter.Paint({300, 300, scale}).quads())
      if ((quad.style & 15) == static_cast<uint32_t>(render::QuadKind::kGlyph))
        ++count, high = std::max(high, quad.h);
    return std::pair(count, high);
  };
  const auto [wide, high] = letters(0.19);
  EXPECT_EQ(wide, 5 + 5 + 4 + 3 + 4);                                   // gpu_0 gpu_1, Forw Bac Forw
  EXPECT_EQ(letters(0.1), std::pair(size_t{5 + 2 + 2 + 2 + 2}, high));  // gpu_0 _1, Fo Ba Fo
  EXPECT_EQ(letters(0.05).first, 2u);                                   // _0; a lane has 10 pixels
  EXPECT_EQ(letters(0.01).first, 0u);
  EXPECT_EQ(painter.HeadingRoom(0.19).w, 0);
  EXPECT_GT(painter.HeadingRoom(0.19).h, painter.HeadingRoom(0.05).h);
  // Below each other: a tag for each, or for each device, and room for it on the left.
  ASSERT_TRUE(painter.SetScene(ColumnScene(100, false, lanes, true)));
  EXPECT_EQ(letters(0.1).first, 2 * (5 + 1 + 7) + (5 + 1 + 8));
  EXPECT_EQ(letters(0.06).first, 5);  // gpu_0, over two lanes
  EXPECT_GT(painter.HeadingRoom(0.1).w, 60);
}

TEST(EdgePlaces, OfThePartsAreThoseOfTheWhole) {
  const std::vector<uint32_t> words = ColumnScene(40, true);
  const SceneView scene = *SceneView::Open(words);
  const render::Sight sight{0, 0, 1, 200, 2400};
  const auto whole = render::FindEdgePlaces(scene, sight, {0, 0, 200, 2400}, 1000, 14);
  ASSERT_EQ(whole.size(), 39u);
  EXPECT_EQ(whole[1].x, 100);
  EXPECT_EQ(whole[1].y, 100);  // below the box of op 1
  EXPECT_EQ(whole[1].left, 100);
  EXPECT_EQ(whole[1].right, 100);
  std::vector<float> parts;
  for (int y = 0; y < 2400; y += 400) {
    const render::Box2 part{0, static_cast<float>(y), 200, 399};
    for (const auto& at : render::FindEdgePlaces(scene, sight, part, 1000, 14))
      parts.push_back(at.y + at.left);
  }
  std::vector<float> all;
  for (const auto& at : whole) all.push_back(at.y + at.left);
  EXPECT_EQ(parts, all);
  EXPECT_EQ(render::FindEdgePlaces(scene, sight, {0, 0, 200, 2400}, 5, 14).size(), 5u);
  // Twice as large all is further apart; from afar nothing can be read.
  EXPECT_EQ(render::FindEdgePlaces(scene, {0, 0, 2, 400, 4800}, {0, 0, 400, 4800}, 1000, 14)[1].y, 200);
  EXPECT_TRUE(render::FindEdgePlaces(scene, {0, 0, 0.5, 100, 1200}, {0, 0, 100, 1200}, 1000, 14).empty());
}

TEST(Painter, PicksWhatItDrew) {
  render::Painter painter;
  painter.SetSize(800, 600, 2);
  ASSERT_TRUE(painter.SetScene(ColumnScene(10)));
  painter.Paint({100, 300, 1});
  // The middle of the view is world (100, 300): between the boxes of ops 4 (240..280) and 5 (300..340).
  const Hit hit = painter.Pick(200, 150 + 20);
  EXPECT_EQ(hit.kind, HitKind::kNode);
  EXPECT_EQ(painter.scene()->nodes()[hit.index].id, 5u);
  EXPECT_EQ(painter.Pick(200, 150 - 10).kind, HitKind::kEdge);
  EXPECT_EQ(painter.Pick(390, 150 + 20).kind, HitKind::kNothing);
}

TEST(Painter, MarksBoxesByOpAndEdgesByValue) {
  render::Painter painter;
  render::Theme theme;
  theme.colors.fill(render::Rgba(0x808080));
  theme.colors[static_cast<uint32_t>(render::ThemeColor::kSelect)] = render::Rgba(0x123456);
  painter.SetTheme(theme);
  painter.SetMinimap(false);
  painter.SetSize(800, 600, 1);
  ASSERT_TRUE(painter.SetScene(ColumnScene(10)));
  const auto marked = [&] {
    const auto& quads = painter.Paint({100, 300, 1}).quads();
    return std::count_if(quads.begin(), quads.end(), [](const render::Quad& quad) {
      return quad.border == render::Rgba(0x123456) || quad.fill == render::Rgba(0x123456);
    });
  };
  EXPECT_EQ(marked(), 0);
  const uint32_t op = 4, value = 4;
  painter.SetMark(render::Mark::kSelected, {&op, 1}, {}, {&value, 1});
  EXPECT_EQ(marked(), 3);  // the box, the line, its arrowhead
  painter.SetMark(render::Mark::kSelected, {}, {}, {});
  EXPECT_EQ(marked(), 0);
}

TEST(Painter, RefusesWhatIsNoScene) {
  render::Painter painter;
  EXPECT_FALSE(painter.SetScene({}));
  EXPECT_FALSE(painter.SetScene(std::vector<uint32_t>(64, 7)));
  EXPECT_EQ(painter.Paint({}).size(), 0u);
  EXPECT_EQ(painter.Pick(1, 1).kind, HitKind::kNothing);
}

}  // namespace
}  // namespace weft
