// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What careless and hostile users give the program: words that are no numbers, one standard input for two
// files, folders that can't be, nets that never end or want all memory. Each ends with a message of one line.
#include <gtest/gtest.h>

#include "native/io/npy.h"
#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

constexpr std::string_view kFill =
    "op { output: \"x\" type: \"ConstantFill\" arg { name: \"shape\" ints: 2 } }\n";

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Hostile, NumbersAreWholeDecimalAndFit) {
  for (const char* option : {"--iters", "--seed", "--most-ops"}) {
    for (const char* word :
         {"-1", "abc", "", "1e3", "0x10", "010", "+1", " 1", "1.5", "99999999999999999999"}) {
      const Outcome run = Weft({"run", "-", StrCat(option, "=", word)}, kFill);
      EXPECT_EQ(run.exit, 2) << option << " " << word;
      if (*word == 0) continue;  // CLI11 itself misses it
      EXPECT_TRUE(Contains(run.err, StrCat(option,
                                           ": expected a whole number from 0 to 9223372036854775807, "
                                           "found \"",
                                           word, "\"")))
          << run.err;
    }
    EXPECT_EQ(Weft({"run", "-", option, "0"}, kFill).exit, 0) << option;
  }
  EXPECT_EQ(Weft({"gradcheck", "-", "--loss", "x", "--samples", "-1"}, kFill).exit, 2);
  for (const char* word : {"0", "2147483648"}) {
    const Outcome devices = Weft({"devices", "-", "--shards", word}, kFill);
    EXPECT_EQ(devices.exit, 2);
    EXPECT_TRUE(Contains(devices.err, "not in range 1 to 2147483647")) << devices.err;
  }
}

TEST(Hostile, BytesOfBillionsOfMachinesFit) {
  const char* net =
      "op { input: \"w\" input: \"gpu_0/x\" output: \"gpu_0/g\" type: \"Allgather\" } "
      "external_input: \"w\" external_input: \"gpu_0/x\"";
  const Outcome told =
      Weft({"devices", "-", "--shards", "2147483647", "--input", "gpu_0/x=8", "--json"}, net);
  EXPECT_EQ(told.json()["moved"]["network_bytes"], 2147483646 * int64_t{32}) << told.out;
}

TEST(Hostile, MadeNumbersFitTheirType) {
  const char* net = "op { input: \"x\" output: \"y\" type: \"Copy\" } external_input: \"x\"";
  const auto fill = [&](const char* type, const char* limit) {
    return Weft({"run", "-", "--fill", StrCat("below:", limit), "--shape", StrCat("x=4:", type)}, net);
  };
  EXPECT_EQ(fill("int32", "2147483648").exit, 0);
  const Outcome large = fill("int32", "2147483649");
  EXPECT_EQ(large.exit, 1);
  EXPECT_EQ(large.err,
            "weft: error: --fill x: int32 holds whole numbers up to 2147483647, found below:2147483649\n");
  EXPECT_EQ(fill("uint8", "256").exit, 0);
  EXPECT_EQ(fill("uint8", "257").exit, 1);
  EXPECT_EQ(fill("int64", "9223372036854775807").exit, 1);
}

TEST(Hostile, StandardInputIsReadOnce) {
  const Outcome run = Weft({"run", "-", "--feed", "x=-"}, kFill);
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(Contains(run.err, "<stdin> can be read once only")) << run.err;
  EXPECT_EQ(Weft({"diff", "-", "-"}, kFill).exit, 1);
}

TEST(Hostile, JsonAndANetDontShareStandardOutput) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kFill);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"clone", net, "--name", "c", "-o", "-"},
                                             {"grad", net, "--loss", "x", "-o", "-"},
                                             {"pass", "fold", net, "-o", "-"},
                                             {"convert", net, "-"}}) {
    EXPECT_EQ(Weft(words).exit, 0) << words[0];
    std::vector<std::string> with = words;
    with.push_back("--json");
    const Outcome both = Weft(with);
    EXPECT_EQ(both.exit, 2) << words[0];
    EXPECT_TRUE(Contains(both.json()["error"]["message"], "both want standard output")) << both.out;
  }
}

TEST(Hostile, NamesDontSteerTheTerminal) {
  const Outcome print = Weft({"print", "-"}, "op { type: \"Relu\" input: \"\\033[2Jx\" output: \"y\\r\" }");
  EXPECT_EQ(print.exit, 0);
  EXPECT_TRUE(Contains(print.out, "Relu(\\033[2Jx) -> y\\015")) << print.out;
}

TEST(Hostile, BlobsAreNamedOnce) {
  for (const char* option : {"--watch", "--fetch"}) {
    const Outcome run = Weft({"run", "-", option, "x", option, "x", "--json"}, kFill);
    EXPECT_EQ(run.exit, 1);
    EXPECT_EQ(run.json()["error"]["message"], StrCat(option, ": x is named twice"));
    EXPECT_EQ(run.json()["error"]["blob"], "x");
  }
}

TEST(Hostile, AFolderThatCantBeIsToldBeforeTheRun) {
  const Folder folder;
  const std::string file = folder.Write("file", "precious");
  const Outcome run = Weft({"run", "-", "--fetch", "x", "--out", file, "--json"}, kFill);
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.json()["error"]["message"], StrCat("--out: ", file, " is not a folder"));
  EXPECT_EQ(Read(file), "precious");
  EXPECT_EQ(Weft({"run", "-", "--fetch", "x", "--out", file + "/below"}, kFill).exit, 1);
}

TEST(Hostile, LoopsWithoutEndEndAtTheLimit) {
  const Outcome loop = Weft({"run", "-", "--most-ops", "1000", "--json"}, R"(
op { output: "c" type: "ConstantFill" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 5 }
  arg { name: "value" i: 1 } }
op { input: "c" type: "While" arg { name: "loop_net" n { name: "loop" external_input: "c" } } }
)");
  EXPECT_EQ(loop.exit, 1);
  EXPECT_EQ(loop.json()["error"]["code"], "limit");
  const Outcome plan = Weft({"run", "-", "--most-ops", "1000", "--json"}, R"(
name: "p" network { name: "n" } execution_step { name: "s" network: "n" num_iter: 9223372036854775807 }
)");
  EXPECT_EQ(plan.exit, 1);
  EXPECT_EQ(plan.json()["error"]["message"], "step s: stopped after 1000 operators");
}

// It went on for ever.
TEST(Hostile, AStepOfLessThanNoIterationsDoesNotRun) {
  const Outcome plan = Weft({"run", "-", "--most-ops", "1000"}, R"(
name: "p" network { name: "n" } execution_step { name: "s" network: "n" num_iter: -5 }
)");
  EXPECT_EQ(plan.exit, 0) << plan.err;
}

TEST(Hostile, TensorsThatNoMemoryHolds) {
  const Outcome run = Weft({"run", "-", "--json"}, R"(
op { output: "x" type: "ConstantFill" arg { name: "shape" ints: 1099511627776 } }
)");
  EXPECT_EQ(run.exit, 1);
  EXPECT_TRUE(Contains(run.json()["error"]["message"], "output 0 (x) cannot have dimensions [1099511627776]"))
      << run.out;
  // An empty one whose other dimensions overflow.
  const Folder folder;
  std::string bytes = *WriteNpy(Tensor::Of<float>(Dims{0, 1}, std::span<const float>()));
  const std::string from = "(0, 1)", to = "(0, 4611686018427387904, 8)";
  const size_t at = bytes.find(from);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, from.size(), to);
  bytes.erase(bytes.find("  "), to.size() - from.size());
  const Outcome fed = Weft({"run", "-", "--feed", "x=" + folder.Write("x.npy", bytes)}, kFill);
  EXPECT_EQ(fed.exit, 1);
  EXPECT_TRUE(Contains(fed.err, "impossible dimensions [0, 4611686018427387904, 8]")) << fed.err;
}

}  // namespace
}  // namespace weft::cli_test
