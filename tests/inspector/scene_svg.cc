// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws the scene of a net as SVG, to look at layouts without a GPU:
//   scene_svg FILE.pb OUT.svg [flow|mirror] [all|BUDGET] [right|inside|right-inside]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/base/str.h"
#include "core/ops/op_set.h"
#include "inspector/font_metrics.h"
#include "inspector/session.h"
#include "tests/inspector/scene_checks.h"
#include "tests/support/files.h"

namespace {

using namespace weft;

std::string Escape(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

void Rect(std::string& out, int x, int y, int w, int h, std::string_view style) {
  StrAppend(out, "<rect x='", x, "' y='", y, "' width='", w, "' height='", h, "' ", style, "/>\n");
}
void Text(std::string& out, int x, int y, int size, std::string_view text, int room) {
  std::string shown(text);
  while (shown.size() > 1 && TextWidth(shown, size) > room) shown.pop_back();
  StrAppend(out, "<text x='", x, "' y='", y, "' font-size='", size, "'>", Escape(shown), "</text>\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Session session(StandardOps());
  std::unique_ptr<OpenJob> open = session.Open(argv[1], Bytes(weft::test::ReadFile(argv[1])));
  Finish(*open);
  Result<DocumentId> document = open->Take();
  if (!document) {
    std::fprintf(stderr, "%s\n", document.error().message.c_str());
    return 1;
  }
  ViewOptions options;
  if (argc > 3) options.mode = std::strcmp(argv[3], "flow") == 0 ? LayoutMode::kFlow : LayoutMode::kMirror;
  if (argc > 4) {
    options.expand_all = std::strcmp(argv[4], "all") == 0;
    options.budget = static_cast<uint32_t>(std::atoi(argv[4]));
  }
  const NetId net = session.documents()[0].nets.at(0);
  options.horizontal = argc > 5 && std::strstr(argv[5], "right") != nullptr;
  if (argc > 5 && std::strstr(argv[5], "inside") != nullptr)
    options.opened = weft::test::NetsInside(session, net);
  std::unique_ptr<SceneJob> job = session.BuildScene(net, options);
  Finish(*job);
  const Scene scene = job->Take().value();
  const SceneView view = scene.view();
  const SceneHeader& h = view.header();
  constexpr std::string_view kFill[] = {"#dbe7f6", "#f6dfd5", "#dcefdc", "#e6dff3"};
  constexpr std::string_view kInk[] = {"#2b5d9b", "#b3541e", "#2e7d32", "#6a4fa3"};
  std::string out;
  StrAppend(out, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='", h.x, " ", h.y, " ", h.w, " ", h.h,
            "' width='", h.w, "' height='", h.h, "' font-family='Inter, sans-serif'>\n");
  for (const SceneBand& b : view.bands()) {
    Rect(out, b.x, b.y, b.w, b.h, "fill='#f7f7f8'");
    Text(out, b.x + 12, b.y + 22, 16, view.text(b.title), b.w);
  }
  for (const SceneNode& g : view.groups()) {
    Rect(out, g.x, g.y, g.w, g.h,
         StrCat("rx='6' fill='", kFill[static_cast<int>(g.role())], "' fill-opacity='0.35' stroke='",
                kInk[static_cast<int>(g.role())], "' stroke-opacity='0.4'"));
    Text(out, g.x + kTextPad, g.y + kTitleBaseline - 2, kTitleSize, view.text(g.title), g.w);
  }
  for (const SceneEdge& e : view.edges()) {
    const bool thin = e.kind() != EdgeKind::kData;
    if (e.flags() & kEdgeHvh) {
      StrAppend(out, "<path d='M", e.x0, " ", e.y0, " H", e.mid, " V", e.y1, " H", e.x1);
    } else {
      StrAppend(out, "<path d='M", e.x0, " ", e.y0, " V", e.mid, " H", e.x1, " V", e.y1);
    }
    StrAppend(out, "' fill='none' stroke='", kInk[static_cast<int>(e.role())], "' stroke-opacity='",
              thin ? "0.25" : "0.8", "'/>\n");
    if (e.flags() & kEdgeArrow)
      StrAppend(out, "<circle cx='", e.x1, "' cy='", e.y1, "' r='2.5' fill='",
                kInk[static_cast<int>(e.role())], "'/>\n");
  }
  for (const SceneNode& n : view.nodes()) {
    Rect(out, n.x, n.y, n.w, n.h,
         StrCat("rx='4' fill='", kFill[static_cast<int>(n.role())], "' stroke='",
                kInk[static_cast<int>(n.role())], "'"));
    Text(out, n.x + kTextPad, n.y + kTitleBaseline, kTitleSize, view.text(n.title), n.w - 2 * kTextPad);
    Text(out, n.x + kTextPad, n.y + kSubtitleBaseline, kSubtitleSize, view.text(n.subtitle),
         n.w - 2 * kTextPad);
  }
  for (const SceneChip& c : view.chips()) {
    constexpr std::string_view kChipFill[] = {"#fff", "#ffe9a8", "#c9f2d0", "#eee", "#eee", "#fff"};
    Rect(
        out, c.x, c.y, c.w, kChipHeight,
        StrCat("rx='7' fill='", kChipFill[static_cast<int>(c.kind())], "' stroke='#888' stroke-width='0.5'"));
    Text(out, c.x + kChipPad, c.y + kChipBaseline, kChipSize, view.text(c.text), c.w - 2 * kChipPad);
  }
  out += "</svg>\n";
  std::FILE* file = std::fopen(argv[2], "wb");
  if (file == nullptr) return 1;
  std::fwrite(out.data(), 1, out.size(), file);
  std::fclose(file);
  std::printf("%u ops, %zu nodes, %zu groups, %zu chips, %zu edges, %u hidden, %d x %d, %zu bytes\n",
              h.num_ops, view.nodes().size(), view.groups().size(), view.chips().size(), view.edges().size(),
              h.num_hidden, h.w, h.h, scene.words.size() * 4);
  return 0;
}
