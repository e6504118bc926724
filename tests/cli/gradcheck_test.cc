// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft gradcheck from outside: what it checks, what it prints, when it fails.
#include <gtest/gtest.h>

#include "native/io/npy.h"
#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

constexpr std::string_view kMlp = R"(name: "mlp"
op { input: "x" input: "w" input: "b" output: "h" type: "FC" }
op { input: "h" output: "y" type: "Sigmoid" }
op { input: "y" output: "loss" type: "AveragedLoss" }
)";
constexpr std::string_view kInit = R"(name: "init"
op { output: "w" type: "UniformFill" arg { name: "shape" ints: 4 ints: 3 } arg { name: "min" f: -1 } }
op { output: "b" type: "ConstantFill" arg { name: "shape" ints: 4 } arg { name: "value" f: 0.2 } }
)";
constexpr std::string_view kProduct = R"(op { input: "x" output: "y" type: "Sin" }
op { input: "y" input: "x" output: "z" type: "Mul" }
)";

std::string WriteArray(const Folder& folder, std::vector<int64_t> dims) {
  std::vector<float> values(static_cast<size_t>(NumElements(dims)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.3f * static_cast<float>(i) - 0.7f;
  return folder.Write("x.npy", *WriteNpy(Tensor::Of<float>(dims, values)));
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Gradcheck, FedAndFilledBlobs) {
  const Folder folder;
  const std::string init = folder.Write("init.pbtxt", kInit), x = WriteArray(folder, {2, 3});
  const Outcome all =
      Weft({"gradcheck", "-", "--loss", "loss", "--init", init, "--feed", "x=" + x, "--json"}, kMlp);
  EXPECT_EQ(all.exit, 0) << all.out << all.err;
  const auto report = all.json();
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["precision"], "float");  // FC knows no doubles
  EXPECT_EQ(report["blobs"].size(), 3u);
  EXPECT_EQ(report["blobs"]["w"]["checked"], 12);
  EXPECT_LT(report["blobs"]["w"]["worst"], 1e-2);
  const Outcome one = Weft({"gradcheck", "-", "--loss", "loss", "--init", init, "--feed", "x=" + x, "--wrt",
                            "b", "--samples", "2"},
                           kMlp);
  EXPECT_TRUE(Contains(one.out, "\n  b ") && Contains(one.out, "2 of 4\n") && !Contains(one.out, "\n  w "))
      << one.out;
}

TEST(Gradcheck, DoublesWhereKernelsCan) {
  const Folder folder;
  const std::string x = WriteArray(folder, {3});
  const Outcome run =
      Weft({"gradcheck", "-", "--loss", "z", "--loss", "y", "--feed", "x=" + x, "--json"}, kProduct);
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_EQ(run.json()["precision"], "double");
  EXPECT_LT(run.json()["blobs"]["x"]["worst"], 1e-9);
}

// StopGradient asks for a gradient that is not the derivative.
TEST(Gradcheck, BeyondTheToleranceIsAnError) {
  const Folder folder;
  const std::string x = WriteArray(folder, {3});
  constexpr std::string_view kStopped = R"(op { input: "x" output: "s" type: "StopGradient" }
op { input: "s" input: "x" output: "z" type: "Mul" }
)";
  const Outcome run = Weft({"gradcheck", "-", "--loss", "z", "--feed", "x=" + x}, kStopped);
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(Contains(run.out, "wrong: element [") && Contains(run.out, "beyond 0.01")) << run.out;
  EXPECT_EQ(Weft({"gradcheck", "-", "--loss", "z", "--feed", "x=" + x, "--tolerance", "0.9"}, kStopped).exit,
            0);
  EXPECT_EQ(Weft({"gradcheck", "-", "--loss", "z", "--feed", "x=" + x, "--tolerance", "-1"}, kStopped).exit,
            2);
}

// Labels get no gradient: told, and judged only when asked for.
TEST(Gradcheck, BlobsWithoutAGradient) {
  const Folder folder;
  const std::string x = WriteArray(folder, {2, 3});
  constexpr std::string_view kLabelled =
      "op { input: 'x' input: 't' output: 'l' type: 'SigmoidCrossEntropyWithLogits' }";
  const std::vector<std::string> words = {"gradcheck", "-",      "--loss", "l",
                                          "--feed",    "x=" + x, "--feed", "t=" + x};
  const Outcome run = Weft(words, kLabelled);
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_TRUE(Contains(run.out, "  t     no gradient is planned")) << run.out;
  std::vector<std::string> asked = words;
  asked.insert(asked.end(), {"--wrt", "t", "--json"});
  const Outcome judged = Weft(asked, kLabelled);
  EXPECT_EQ(judged.exit, 1);
  EXPECT_EQ(judged.json()["blobs"]["t"]["planned"], 0);
}

TEST(Gradcheck, RepairsWhenAsked) {
  const Folder folder;
  const std::string x = WriteArray(folder, {3});
  constexpr std::string_view kOverwrites = R"(op { input: "x" output: "y" type: "Sigmoid" }
op { input: "y" output: "z" type: "Sqr" }
op { input: "z" output: "y" type: "Tanh" }
op { input: "y" input: "z" output: "l" type: "Mul" }
)";
  const Outcome plain = Weft({"gradcheck", "-", "--loss", "l", "--feed", "x=" + x}, kOverwrites);
  EXPECT_EQ(plain.exit, 1);
  EXPECT_TRUE(Contains(plain.err, "y")) << plain.err;
  const Outcome repaired =
      Weft({"gradcheck", "-", "--loss", "l", "--feed", "x=" + x, "--repair"}, kOverwrites);
  EXPECT_EQ(repaired.exit, 0) << repaired.err;
  EXPECT_TRUE(repaired.out.starts_with("repaired: ")) << repaired.out;
}

TEST(Gradcheck, SaysWhatIsWrong) {
  const Folder folder;
  const std::string x = WriteArray(folder, {2, 3});
  const auto error = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"gradcheck", "-", "--loss", "loss"});
    const Outcome run = Weft(words, kMlp);
    EXPECT_EQ(run.exit, 1);
    return run.err;
  };
  EXPECT_TRUE(Contains(error({}), "non-existing input blob: x; feed it (--feed x=FILE.npy)"));
  EXPECT_TRUE(Contains(error({"--feed", "x=" + x}), "non-existing input blob: w"));
  const std::string init = folder.Write("init.pbtxt", kInit);
  EXPECT_TRUE(Contains(error({"--init", init, "--feed", "x=" + x, "--wrt", "h"}),
                       "--wrt: h is neither fed (--feed) nor filled by the init net (--init)"));
  EXPECT_TRUE(
      Contains(error({"--init", init, "--feed", "x=" + x, "--wrt", "ww"}), "--wrt: there is no blob ww"));
  EXPECT_EQ(Weft({"gradcheck", "-"}, kMlp).exit, 2);
}

}  // namespace
}  // namespace weft::cli_test
