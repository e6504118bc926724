// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// shapes [--input B=SHAPE]... [--savings] [--json]: shapes, costs and findings of a net; of two nets the
// first is the init net of the second. With --savings only what could be saved.
#include "core/base/str.h"
#include "core/check/report.h"
#include "core/pass/savings.h"
#include "core/pass/shape_report.h"
#include "proto/codec.h"
#include "tests/golden/commands.h"

namespace weft::golden {

Result<std::string> Shapes(Words& words, std::span<const std::string> inputs) {
  const bool json = words.TakeFlag("json"), savings = words.TakeFlag("savings");
  WEFT_TRY(Net net, ParseNetText(inputs.back()));
  ShapeTable table;
  std::vector<GivenBlob> given;
  for (const std::string& text : words.TakeValues("input")) {
    WEFT_TRY(GivenBlob blob, ParseGivenBlob(text, *net.symbols, table));
    given.push_back(std::move(blob));
  }
  std::vector<Symbol> params;
  if (inputs.size() > 1) {
    WEFT_TRY(const Net init, ParseNetText(inputs[0], net.symbols));
    const NetShapes filled = InferShapes(init, given, table);
    for (GivenBlob& blob : FinalShapes(filled)) {
      params.push_back(blob.blob);
      given.push_back(std::move(blob));
    }
  }
  if (savings) {
    WEFT_TRY(const Savings found, FindSavings(net, given, table, StandardOps()));
    std::string out;
    PrintSavings(found, [&](const Piece& piece) { out += piece.text; });
    JsonWriter writer(out);
    if (json) {
      writer.BeginObject();
      WriteSavings(writer, found);
      writer.EndObject();
      out += "\n";
    }
    return out;
  }
  const NetShapes shapes = InferShapes(net, given, table);
  const NetCost cost = CostOf(net, shapes, params, table);
  std::string out;
  if (json) {
    JsonWriter writer(out);
    writer.BeginObject();
    WriteShapes(writer, net, shapes, cost, table);
    writer.EndObject();
    return out + "\n";
  }
  out = ShapesListing(net, shapes, cost, table);
  if (!shapes.findings.empty()) StrAppend(out, FindingsListing(shapes.findings, {.per_code = 0}));
  return out;
}

}  // namespace weft::golden
