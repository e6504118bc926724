// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft run from inside (--trace, --stop-at-nan, --stats), made inputs (--fill, --shape, --inputs), and weft
// tensors.
#include <gtest/gtest.h>

#include <map>

#include "native/io/npy.h"
#include "proto/minidb.h"
#include "proto/wire.h"
#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

using nlohmann::json;

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The third iteration takes the logarithm of 0.
constexpr std::string_view kFalls = R"(name: "falls" external_input: "x" external_input: "one"
op { type: "Log" input: "x" output: "y" }
op { type: "Sub" input: "x" input: "one" output: "x" }
op { type: "Exp" input: "y" output: "z" }
op { type: "Scale" input: "y" output: "w" arg { name: "scale" f: 0 } }
)";
const std::vector<std::string> kFed = {"--shape", "x=2",         "--fill", "x=ones",
                                       "--shape", "one=1:float", "--fill", "one=ones"};

std::vector<std::string> Words(std::vector<std::string> words, std::vector<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Trace, FindsTheFirstThatIsNotFinite) {
  const Outcome run = Weft(Words({"run", "-", "--trace", "--iters", "3", "--json"}, kFed), kFalls);
  ASSERT_EQ(run.exit, 0) << run.err;
  const json told = run.json();
  // log 1, log 0, log -1: an infinity in the second iteration. exp of it is 0, times 0 is NaN.
  EXPECT_EQ(
      told["not_finite"][0],
      json::parse(
          R"({"blob":"y","version":1,"op":0,"type":"Log","iteration":2,"nan":0,"inf":2,"elements":2})"));
  EXPECT_EQ(told["not_finite"][1]["op"], 3);
  EXPECT_EQ(told["not_finite"][1]["nan"], 2);
  EXPECT_EQ(told["iters"], 3);
  const json& op = told["trace"]["ops"][1];
  EXPECT_EQ(op["outputs"][0]["blob"], "x");
  EXPECT_EQ(op["outputs"][0]["version"], 1);
  EXPECT_EQ(op["outputs"][0]["mean"], -2);
  EXPECT_EQ(told["trace"]["ops"][0]["outputs"][0]["values"], json::parse(R"(["nan","nan"])"));
  EXPECT_TRUE(told["trace"]["ops"][0]["outputs"][0]["min"].is_null());

  const Outcome text = Weft(Words({"run", "-", "--trace", "--iters", "2"}, kFed), kFalls);
  EXPECT_TRUE(
      Contains(text.out, "first infinity: op 0 Log writes y@1 in iteration 2, 2 infinite of 2 elements\n"))
      << text.out;
  EXPECT_TRUE(Contains(text.out, "        x@1  float [2]  min -1, mean -1, max -1\n")) << text.out;
}

TEST(Trace, StopsThere) {
  const Outcome run =
      Weft(Words({"run", "-", "--trace", "--stop-at-nan", "--iters", "9", "--json"}, kFed), kFalls);
  EXPECT_EQ(run.exit, 1);
  const json told = run.json();
  EXPECT_EQ(told["iters"], 1);  // whole ones
  EXPECT_EQ(told["stopped"], true);
  EXPECT_EQ(told["trace"]["iteration"], 2);
  EXPECT_EQ(told["trace"]["ops"].size(), 1u);
  EXPECT_EQ(Weft(Words({"run", "-", "--stop-at-nan"}, kFed), kFalls).exit, 0);
}

TEST(Trace, NumbersOfOneOutput) {
  constexpr std::string_view kRange = R"(op { type: "GivenTensorFill" output: "v"
  arg { name: "shape" ints: 5 } arg { name: "values" floats: 0 floats: 1 floats: 2 floats: 3 floats: 4 } })";
  const json told = Weft({"run", "-", "--trace", "--json", "--stats", "v"}, kRange).json();
  const json& out = told["trace"]["ops"][0]["outputs"][0];
  EXPECT_EQ(out["min"], 0);
  EXPECT_EQ(out["max"], 4);
  EXPECT_EQ(out["mean"], 2);
  EXPECT_NEAR(out["std"].get<double>(), 1.41421356, 1e-7);
  EXPECT_EQ(out["zeros"], 1);
  EXPECT_EQ(out["values"], json::parse("[0,1,2,3,4]"));
  int64_t counted = 0;
  for (const json& count : out["histogram"]["counts"]) counted += count.get<int64_t>();
  EXPECT_EQ(counted, 5);
  EXPECT_EQ(told["statistics"]["v"]["mean"], json::parse("[2]"));
}

TEST(MadeInputs, FindsTheShapesThatFit) {
  const Folder folder;
  const std::string net = folder / "lenet.pb", init = folder / "init.pb";
  ASSERT_EQ(Weft({"example", "lenet", "-o", net, "--init", init}).exit, 0);
  const json told = Weft({"run", net, "--init", init, "--inputs", "--json"}).json();
  int open = 0;
  for (const json& input : told["inputs"]) {
    if (input["from"] == "init") continue;
    ++open;
    if (input["blob"] == "data") {
      EXPECT_EQ(input["shape"], json::parse("[8,1,28,28]"));
    }
    if (input["blob"] == "label") {
      EXPECT_EQ(input["shape"], json::parse("[8]"));
      EXPECT_EQ(input["type"], "int32");
    }
  }
  EXPECT_EQ(open, 2);
  // The batch that is said counts for the others.
  const json said =
      Weft({"run", net, "--init", init, "--inputs", "--json", "--shape", "data=3,1,28,28"}).json();
  for (const json& input : said["inputs"])
    if (input["blob"] == "label") {
      EXPECT_EQ(input["shape"], json::parse("[3]"));
    }
  const Outcome run = Weft({"run", net, "--init", init, "--fill", "digits", "--fetch", "label", "--fetch",
                            "data", "--shape", "data=12,1,28,28", "--json"});
  ASSERT_EQ(run.exit, 0) << run.out;
  EXPECT_EQ(run.json()["fetched"]["label"]["values"], json::parse("[0,1,2,3,4,5,6,7,8,9,0,1]"));
  EXPECT_EQ(run.json()["fetched"]["data"]["values"].size(), 12u * 784);
}

// Readers inside a While, an If and their Do say the type, the operator that it meets another in the shape.
TEST(MadeInputs, ThroughNestedNets) {
  const Folder folder;
  const std::string net = folder / "loop.pb", init = folder / "init.pb";
  ASSERT_EQ(Weft({"example", "loop", "-o", net, "--init", init}).exit, 0);
  std::map<std::string, std::string> open;
  const json told = Weft({"run", net, "--init", init, "--inputs", "--json"}).json();
  for (const json& input : told["inputs"])
    if (input["from"] == "nothing")
      open[input["blob"]] = input["type"].get<std::string>() + input["shape"].dump();
  EXPECT_EQ(open, (std::map<std::string, std::string>{{"count", "int64[1]"},
                                                      {"data", "float[8,4]"},
                                                      {"is_strong", "bool[1]"},
                                                      {"target", "float[8,8]"}}));
  const Outcome run = Weft({"run", net, "--init", init, "--fill", "uniform", "--watch", "loss"});
  EXPECT_EQ(run.exit, 0) << run.err;
}

TEST(MadeInputs, LeNetLearnsDigits) {
  const Folder folder;
  const std::string net = folder / "lenet.pb", init = folder / "init.pb";
  ASSERT_EQ(Weft({"example", "lenet", "-o", net, "--init", init}).exit, 0);
  const Outcome run =
      Weft({"run", net, "--init", init, "--fill", "digits", "--trace", "--iters", "8", "--json"});
  ASSERT_EQ(run.exit, 0) << run.out;
  const json loss = run.json()["watched"]["loss"];
  ASSERT_EQ(loss.size(), 8u);
  EXPECT_LT(loss[7].get<double>(), loss[0].get<double>());
  EXPECT_EQ(run.json()["not_finite"].size(), 0u);
}

TEST(MadeInputs, ASaidShapeThatTheNetDoesNotTakeIsToldAsSuch) {
  const Folder folder;
  const std::string net = folder / "lenet.pb", init = folder / "init.pb";
  ASSERT_EQ(Weft({"example", "lenet", "-o", net, "--init", init}).exit, 0);
  const Outcome run = Weft({"run", net, "--init", init, "--fill", "digits", "--shape", "data=8,1,28"});
  EXPECT_EQ(run.exit, 1);
  EXPECT_EQ(run.err.find("weft: error: --shape: op 0 Conv, input "), 0u) << run.err;
  const Outcome pass = Weft({"pass", "recompute", net, init, "--shape", "data=8,1,28"});
  EXPECT_EQ(pass.exit, 1);
  EXPECT_NE(pass.err.find("--shape: op 0 Conv, input "), std::string::npos) << pass.err;
}

TEST(MadeInputs, SaysWhatIsWrong) {
  const auto error = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"run", "-"});
    return Weft(words, kFalls).err;
  };
  EXPECT_TRUE(Contains(error({"--fill", "noise"}), "--fill noise: expected zeros, ones, uniform, normal"));
  EXPECT_TRUE(Contains(error({"--fill", "below:0"}), "--fill below:0: expected below:N"));
  EXPECT_TRUE(Contains(error({"--shape", "y=2"}), "--shape: y is no input of the net"));
  EXPECT_TRUE(Contains(error({"--shape", "q=2"}), "--shape: there is no blob q"));
  EXPECT_TRUE(Contains(error({"--shape", "x=N,2"}), "--shape x=N,2: expected numbers"));
  EXPECT_TRUE(Contains(error({"--shape", "x"}), "--shape x: "));
  EXPECT_EQ(
      Weft({"run", "-", "--trace"}, "name: 'p' network { name: 'n' }  execution_step { network: 'n' }").exit,
      1);
}

TEST(Gradcheck, TakesMadeInputsAndLeavesABackwardPassOut) {
  constexpr std::string_view kNet = R"(name: "n" external_input: "x" external_input: "w" external_input: "b"
op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
op { type: "AveragedLoss" input: "y" output: "loss" })";
  const std::vector<std::string> made = {"--fill",  "normal", "--shape", "x=3,4",
                                         "--shape", "w=2,4",  "--shape", "b=2"};
  const json told = Weft(Words({"gradcheck", "-", "--loss", "loss", "--json"}, made), kNet).json();
  EXPECT_EQ(told["ok"], true) << told;
  EXPECT_EQ(told["blobs"]["w"]["elements"], 8);
  const Folder folder;
  const std::string net = folder.Write("n.pbtxt", kNet), both = folder / "both.pb";
  ASSERT_EQ(Weft({"grad", net, "--loss", "loss", "-o", both}).exit, 0);
  const json again = Weft(Words({"gradcheck", both, "--loss", "loss", "--json"}, made)).json();
  EXPECT_EQ(again["ok"], true) << again;
  EXPECT_GT(again["left_out"], 0);
}

TEST(Tensors, OfAnInitNet) {
  constexpr std::string_view kInit = R"(name: "init"
op { type: "GivenTensorFill" output: "a" arg { name: "shape" ints: 2 ints: 2 } arg { name: "values" floats: 1 floats: 2 floats: 3 floats: -2 } }
op { type: "XavierFill" output: "b" arg { name: "shape" ints: 3 ints: 4 } }
op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 5 } arg { name: "value" i: 7 } arg { name: "dtype" i: 10 } })";
  const Folder folder;
  const std::string init = folder.Write("init.pbtxt", kInit), npy = folder / "a.npy";
  const json told = Weft({"tensors", init, "--json"}).json();
  ASSERT_EQ(told["tensors"].size(), 3u);
  EXPECT_EQ(told["tensors"][0]["bytes"], 16);
  EXPECT_EQ(told["tensors"][0]["held"], true);
  EXPECT_EQ(told["tensors"][1]["made_by"], "XavierFill");
  EXPECT_EQ(told["tensors"][1]["held"], false);
  EXPECT_EQ(told["tensors"][2]["type"], "int64");
  const json a = Weft({"tensors", init, "--tensor", "a", "--json", "-o", npy}).json();
  EXPECT_EQ(a["values"], json::parse("[1,2,3,-2]"));
  EXPECT_EQ(a["numbers"]["mean"], 1);
  EXPECT_EQ(*WriteNpy(*ReadNpy(Read(npy))), Read(npy));
  EXPECT_EQ(ReadNpy(Read(npy))->data<float>()[3], -2);
  // What is drawn is what a run begins with.
  const json b = Weft({"tensors", init, "--tensor", "b", "--json"}).json();
  EXPECT_EQ(b["values"], Weft({"run", init, "--fetch", "b", "--json"}).json()["fetched"]["b"]["values"]);
  EXPECT_TRUE(Contains(Weft({"tensors", init}).out, "  b  float [3, 4]  48 B  made by XavierFill\n"));
  EXPECT_TRUE(Contains(Weft({"tensors", init, "--tensor", "bb"}).err, "--tensor: there is no tensor bb"));
}

std::string Field(uint32_t number, std::string_view bytes) {
  std::string out;
  AppendVarint(out, Tag(number, WireType::kLength));
  AppendVarint(out, bytes.size());
  return out.append(bytes);
}
std::string Number(uint32_t number, uint64_t value) {
  std::string out;
  AppendVarint(out, Tag(number, WireType::kVarint));
  AppendVarint(out, value);
  return out;
}

TEST(Tensors, OfFilesOfWeights) {
  const Folder folder;
  const std::string floats("\0\0\x80\x3f\0\0\0\x40", 8);  // 1, 2
  const std::string one = Number(1, 2) + Number(2, 1) + Field(3, floats) + Field(7, "w");
  const std::string longs = Number(1, 3) + Number(2, 10) + Number(10, 5) + Number(10, 6) +
                            Number(10, uint64_t(-1)) + Field(7, "ids");
  const std::string protos = folder.Write("w.pb", Field(1, one) + Field(1, longs));
  const json told = Weft({"tensors", protos, "--json"}).json();
  ASSERT_EQ(told["tensors"].size(), 2u) << told;
  EXPECT_EQ(told["tensors"][0]["name"], "w");
  EXPECT_EQ(told["held_bytes"], 8 + 24);
  EXPECT_EQ(Weft({"tensors", protos, "--tensor", "ids", "--json"}).json()["values"], json::parse("[5,6,-1]"));

  // A blob in two parts, and one that is no tensor.
  const auto part = [&](uint64_t begin, std::string_view bytes) {
    return Field(1, "big") + Field(2, "Tensor") +
           Field(3, Number(1, 4) + Number(2, 1) + Field(3, bytes) +
                        Field(11, Number(1, begin) + Number(2, begin + 2)));
  };
  std::string db;
  AppendMiniDbRecord(db, "big#%0", part(0, floats));
  AppendMiniDbRecord(db, "big#%1", part(2, floats));
  AppendMiniDbRecord(db, "counter",
                     Field(1, "counter") + Field(2, "std::unique_ptr<Counter>") + Field(4, "x"));
  const std::string file = folder.Write("w.minidb", db);
  const json listed = Weft({"tensors", file, "--json"}).json();
  ASSERT_EQ(listed["tensors"].size(), 2u) << listed;
  EXPECT_EQ(Weft({"tensors", file, "--tensor", "big", "--json"}).json()["values"], json::parse("[1,2,1,2]"));
  EXPECT_EQ(Weft({"tensors", file, "--tensor", "counter"}).exit, 1);

  // Claims that the bytes do not keep.
  const std::string cut =
      folder.Write("cut.pb", Field(1, Number(1, 1u << 30) + Number(2, 1) + Field(3, floats) + Field(7, "w")));
  const Outcome refused = Weft({"tensors", cut, "--tensor", "w"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(Contains(refused.err, "elements")) << refused.err;
}

}  // namespace
}  // namespace weft::cli_test
