// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Inferred shapes and types against what real Caffe2 computed (operators.jsonl and more_operators.jsonl of
// tests/data/caffe2), from the shapes and types of the inputs alone, then with the values of small integer
// inputs too. Prints, per operator type, how many rows agree, depend on data or are not known; anything else
// than a listed reason fails.
#include <gtest/gtest.h>

#include <map>

#include "core/base/str.h"
#include "core/pass/shapes.h"
#include "tests/run/arrays.h"
#include "tests/support/golden.h"

namespace weft::test {
namespace {

TensorInfo InfoOf(const Json& array) {
  TensorInfo info =
      TensorInfo::Of(ParseDataType(array.at("dtype").get<std::string>()).value_or(DataType::kUndefined), {});
  for (const Json& extent : array.at("shape")) info.dims.push_back(extent.get<int64_t>());
  return info;
}

void SetValues(const Tensor& tensor, ShapeTable& table, TensorInfo& info) {
  if (tensor.numel() > static_cast<int64_t>(ShapeTable::kMostContent)) return;
  std::vector<Dim> values;
  for (int64_t i = 0; i < tensor.numel(); ++i)
    values.push_back(table.Number(static_cast<int64_t>(NumberAt(tensor, i))));
  table.SetContent(info, std::move(values));
}

struct Tally {
  int rows = 0, agree = 0, data = 0, unknown = 0, errors = 0;
  std::string why;
};

// What is inferred for one blob against what it was: "" when it agrees.
std::string Compare(const ShapeTable& table, const TensorInfo& found, const TensorInfo& expected, bool& data,
                    bool& unknown) {
  if (found.kind == TensorInfo::kUnknown) {
    unknown = true;
    return "";
  }
  if (found.type != expected.type && found.type != DataType::kUndefined) return "type";
  unknown |= found.type == DataType::kUndefined;
  if (found.kind == TensorInfo::kDataRank) {
    data = true;
    return "";
  }
  if (!found.tensor() || found.rank() != expected.rank()) return "rank";
  for (size_t i = 0; i < found.rank(); ++i) {
    if (table.DependsOnData(found.dims[i])) {
      data = true;
    } else if (found.dims[i].unknown()) {
      unknown = true;
    } else if (!(found.dims[i] == expected.dims[i])) {
      return "extent";
    }
  }
  return "";
}

// Infers every row; `with_values`: integer inputs are given with their elements. How many rows and types
// agree.
struct Totals {
  Tally all;
  int whole = 0;  // types
};
Totals Infer(bool with_values) {
  std::map<std::string, Tally> types;
  std::vector<Json> rows = ReadJsonl("caffe2/operators.jsonl");
  for (Json& row : ReadJsonl("caffe2/more_operators.jsonl")) rows.push_back(std::move(row));
  for (const Json& row : rows) {
    const std::string type = row.at("type"), id = row.at("id");
    Tally& tally = types[type];
    ++tally.rows;
    if (row.contains("error")) {
      ++tally.errors;
      continue;
    }
    Net net = NetFromText(row.at("net").get<std::string>());
    std::vector<GivenBlob> given;
    for (const auto& [name, array] : row.at("inputs").items())
      given.push_back({net.Intern(name), InfoOf(array)});
    ShapeTable table;
    if (with_values)
      for (GivenBlob& blob : given)
        if (blob.info.type == DataType::kInt32 || blob.info.type == DataType::kInt64)
          SetValues(TensorFromJson(row.at("inputs").at(net.Str(blob.blob))), table, blob.info);
    const NetShapes shapes = InferShapes(net, given, table);
    for (const Diagnostic& finding : shapes.findings)
      if (finding.code == FindingCode::kWrongShape)
        ADD_FAILURE() << type << " " << id << ": " << finding.message;
    bool data = false, unknown = false;
    for (const auto& [name, array] : row.at("outputs").items()) {
      const BlobId blob = shapes.ssa.FindBlob(net.symbols->Find(name));
      if (blob == kNoBlob) {
        unknown = true;
        continue;
      }
      const TensorInfo& found = shapes.values[shapes.ssa.latest(blob)];
      const TensorInfo expected = InfoOf(array);
      const std::string difference = Compare(table, found, expected, data, unknown);
      if (!difference.empty()) {
        ADD_FAILURE() << type << " " << id << " " << name << ": inferred " << table.Text(found) << ", was "
                      << table.Text(expected);
        unknown = true;
      }
    }
    tally.unknown += unknown;
    tally.data += !unknown && data;
    tally.agree += !unknown && !data;
    if (unknown && tally.why.empty() && !shapes.silent_ops.empty()) tally.why = shapes.silent_ops[0].reason;
  }
  Tally all;
  int whole = 0, with_data = 0;
  for (const auto& [type, tally] : types) {
    all.rows += tally.rows;
    all.agree += tally.agree;
    all.data += tally.data;
    all.unknown += tally.unknown;
    all.errors += tally.errors;
    whole += tally.agree + tally.errors == tally.rows;
    with_data += tally.unknown == 0 && tally.data > 0;
    std::string line = StrCat(type, ": ", tally.agree, " of ", tally.rows, " agree");
    if (tally.data) StrAppend(line, ", ", tally.data, " depend on data");
    if (tally.unknown)
      StrAppend(line, ", ", tally.unknown, " not known", tally.why.empty() ? "" : ": ", tally.why);
    if (tally.errors) StrAppend(line, ", ", tally.errors, " are errors");
    std::puts(line.c_str());
  }
  std::puts(StrCat("rows: ", all.agree, " of ", all.rows, " agree, ", all.data, " depend on data, ",
                   all.unknown, " not known, ", all.errors, " are errors; types: ", whole, " of ",
                   types.size(), " agree wholly, ", with_data, " more where they do not depend on data")
                .c_str());
  return {all, whole};
}

TEST(Shapes, AgreeWithCaffe2) { EXPECT_GE(Infer(/*with_values=*/false).whole, 400); }

// With the values of shapes, lengths and indices given, what depends on them is right as well.
TEST(Shapes, AgreeWithCaffe2GivenIntegers) {
  const Totals totals = Infer(/*with_values=*/true);
  EXPECT_GE(totals.whole, 430);
  EXPECT_GE(totals.all.agree, 2239);
}

}  // namespace
}  // namespace weft::test
