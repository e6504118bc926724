// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Real files, which are not part of the project: WEFT_CORPUS names their folder, with the INDEX.tsv that says
// what each is. Every file opens as that, or is refused for that reason. Skipped, and said so, where there is
// no such folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "core/base/str.h"
#include "proto/document.h"
#include "tests/support/files.h"

namespace weft {
namespace {

std::string CorpusPath() {
  const char* given = std::getenv("WEFT_CORPUS");
  return given != nullptr ? given : WEFT_SOURCE "/../shared/netdefs";
}

struct Row {
  std::string file, kind, encoding, message, oddities;
  size_t ops = 0;
};

std::vector<Row> ReadIndex(const std::string& folder) {
  std::vector<Row> rows;
  std::map<std::string_view, size_t> columns;
  const std::string text = test::ReadFile(folder + "/INDEX.tsv");
  for (const std::string_view line : StrSplit(text, '\n')) {
    const std::vector<std::string_view> cells = StrSplit(line, '\t');
    if (cells.empty()) continue;
    if (columns.empty()) {
      for (size_t i = 0; i < cells.size(); ++i) columns[cells[i]] = i;
      continue;
    }
    const auto cell = [&](std::string_view name) {
      const size_t i = columns.at(name);
      return std::string(i < cells.size() ? cells[i] : "");
    };
    rows.push_back({cell("file"), cell("kind"), cell("encoding"), cell("message"), cell("oddities"),
                    std::strtoul(cell("n_ops(incl nested)").c_str(), nullptr, 10)});
  }
  return rows;
}

size_t CountOps(const Net& net) {
  size_t count = net.ops.size();
  for (const Op& op : net.ops) {
    for (const Arg& arg : op.args) {
      const ArgDataPtr data = arg.Load();
      if (data->n) count += CountOps(*data->n);
      for (const NetPtr& nested : data->nets) count += CountOps(*nested);
    }
  }
  return count;
}

size_t CountOps(const Document& document) {
  size_t count = 0;
  for (const Document::NamedNet& net : document.nets) count += CountOps(net.net);
  for (const Document::NamedPlan& plan : document.plans)
    for (const Net& net : plan.plan.networks) count += CountOps(net);
  return count;
}

// Binary comes back as the file; text comes back the same through binary.
void ExpectRoundTrip(const Document& document, const std::string& file) {
  const Result<std::string> binary = Save(document, Document::kBinary);
  const Result<std::string> text = Save(document, Document::kText);
  ASSERT_TRUE(binary.has_value() && text.has_value());
  if (document.form == Document::kBinary) {
    EXPECT_TRUE(*binary == file);
  }
  for (const std::string* form : {&*binary, &*text}) {
    const Result<Document> again = Open(Bytes(*form), {.message = document.message});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(*Save(*again, Document::kBinary) == *binary);
    EXPECT_TRUE(*Save(*again, Document::kText) == *text);
  }
}

TEST(Corpus, EveryFileOpensOrIsRefusedAsItsIndexSays) {
  const std::string folder = CorpusPath();
  if (!test::FileExists(folder + "/INDEX.tsv"))
    GTEST_SKIP() << "no corpus in " << folder << "; set WEFT_CORPUS";
  size_t opened = 0, refused = 0;
  for (const Row& row : ReadIndex(folder)) {
    SCOPED_TRACE(StrCat(row.file, " (", row.kind, ": ", row.oddities, ")"));
    const std::string file = test::ReadFile(StrCat(folder, "/", row.file));
    const Result<Document> document = Open(Bytes(file), {.name = row.file});
    if (row.kind == "malformed-text" || row.kind == "not-a-net") {
      ++refused;
      if (document.has_value()) {
        ADD_FAILURE() << "opened as " << DescribeKind(*document);
        continue;
      }
      const std::string& why = document.error().message;
      if (row.kind == "not-a-net") {
        EXPECT_TRUE(why.starts_with("this is a Git LFS pointer")) << why;
      } else {
        EXPECT_TRUE(why.starts_with("cannot be read as text: ")) << why;
        EXPECT_NE(why.find("^\nnor as binary: NetDef"), std::string::npos) << why;
        EXPECT_NE(why.find(", byte "), std::string::npos) << why;
      }
      continue;
    }
    ++opened;
    ASSERT_TRUE(document.has_value()) << document.error().message;
    if (row.kind == "minidb-of-TensorProtos") {
      EXPECT_EQ(document->form, Document::kMiniDb);
      EXPECT_EQ(document->message, MessageId::kTensorProtos);
      continue;
    }
    EXPECT_EQ(document->form, row.encoding == "binary" ? Document::kBinary : Document::kText);
    const std::string_view expected = StrSplit(row.message, '.')[0];
    if (expected != "BADTEXT") {
      EXPECT_EQ(GetMessage(document->message).name, expected);
    }
    if (expected != "BADTEXT" && expected != "TensorProtos") {
      EXPECT_EQ(CountOps(*document), row.ops);
    }
    // What the reference does not read at all is read here with a note.
    const bool old = row.oddities.find("cuda_gpu_id") != std::string::npos ||
                     row.oddities.find("symbolic device_type") != std::string::npos ||
                     row.oddities.find("net_type") != std::string::npos ||
                     row.oddities.find("TEXT proto in a .pb") != std::string::npos;
    EXPECT_EQ(!document->notes.empty(), old) << (document->notes.empty() ? "" : document->notes[0].message);
    ExpectRoundTrip(*document, file);
  }
  std::printf("corpus: %zu files open, %zu are refused\n", opened, refused);
  EXPECT_GT(opened + refused, 0u);
}

TEST(Corpus, ModelsBesideItOpen) {
  const std::string folder = CorpusPath() + "/../models";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no folder " << folder;
  size_t opened = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    const std::string file = test::ReadFile(entry.path().string());
    const Result<Document> document = Open(Bytes(file), {.name = entry.path().string()});
    ASSERT_TRUE(document.has_value()) << document.error().message;
    EXPECT_EQ(document->message, MessageId::kNetDef);
    EXPECT_TRUE(document->notes.empty());
    ExpectRoundTrip(*document, file);
    ++opened;
  }
  std::printf("models: %zu files open\n", opened);
}

}  // namespace
}  // namespace weft
