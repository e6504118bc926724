// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// The `weft` program from outside: exit codes, the shapes of its JSON, files, streams, bad input. What it
// computes is tested where it is computed.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kMlp = R"(name: "mlp"
op { input: "x" input: "w" input: "b" output: "h" type: "FC" }
op { input: "h" output: "y" type: "Relu" }
op { input: "y" input: "t" output: "d" type: "SquaredL2Distance" }
op { input: "d" output: "loss" type: "AveragedLoss" }
external_input: "x" external_input: "w" external_input: "b" external_input: "t"
external_output: "loss"
)";

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Usage, ExitCodes) {
  EXPECT_EQ(Weft({"--help"}).exit, 0);
  EXPECT_EQ(Weft({"--version"}).exit, 0);
  EXPECT_EQ(Weft({}).exit, 2);
  EXPECT_EQ(Weft({"print"}).exit, 2);
  EXPECT_EQ(Weft({"print", "--nonsense", "x"}).exit, 2);
  EXPECT_EQ(Weft({"grad", "x"}).exit, 2);  // --loss is missing
  EXPECT_EQ(Weft({"grad", "-", "--loss", "l", "--mode", "tea"}).exit, 2);
  for (const char* blank : {"", "loss=", "=g", "loss=,v", "loss=i,"})
    EXPECT_EQ(Weft({"grad", "-", "--loss", blank}, kMlp).exit, 2) << blank;
  const Outcome typo = Weft({"prnt", "x"});
  EXPECT_EQ(typo.exit, 2);
  EXPECT_EQ(typo.out, "");
  EXPECT_EQ(typo.err, "weft: there is no subcommand prnt; did you mean print?\nTry 'weft --help'.\n");
  const Outcome as_json = Weft({"ssa", "--json"});
  EXPECT_EQ(as_json.exit, 2);
  EXPECT_EQ(as_json.json()["error"]["code"], "invalid_argument");
}

TEST(Usage, AnOptionThatNeedsAnotherSaysWhich) {
  const auto told = [](const std::vector<std::string>& words) {
    const Outcome outcome = Weft(words, kMlp);
    EXPECT_EQ(outcome.exit, 2) << words[0];
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(told({"grad", "-", "--loss", "loss", "--separate"}),
            "weft grad: --separate: does nothing alone, expected --output OUT beside it");
  EXPECT_EQ(told({"grad", "-", "--loss", "loss", "--input", "x=2,2"}),
            "weft grad: --input: does nothing alone, expected --json beside it");
  EXPECT_EQ(told({"example", "-o", "x.pbtxt"}),
            "weft example: --output: does nothing alone, expected NAME beside it");
  EXPECT_EQ(told({"pass", "predictor", "-", "--init-output", "x.pbtxt"}),
            "weft pass predictor: --init-output: does nothing alone, expected INIT beside it");
  EXPECT_EQ(told({"run", "-", "--out", "x"}),
            "weft run: --out: does nothing alone, expected --fetch BLOB beside it");
  EXPECT_EQ(told({"tensors", "-", "--count", "3"}),
            "weft tensors: --count: does nothing alone, expected --tensor NAME beside it");
}

TEST(Usage, EverySubcommandHasHelp) {
  for (const char* name : {"print", "ssa", "grad", "gradcheck", "run", "clone", "extract", "check", "convert",
                           "ops", "diff", "pass", "parallel", "devices", "example", "completion", "shapes"}) {
    const Outcome help = Weft({name, "--help"});
    EXPECT_EQ(help.exit, 0) << name;
    EXPECT_TRUE(Contains(help.out, std::string("Usage: weft ") + name)) << help.out;
    EXPECT_TRUE(Contains(Weft({"--help"}).out, std::string("\n  ") + name)) << name;
  }
}

TEST(Input, BadFilesAreRefusedWithAReason) {
  const Folder folder;
  const auto message = [&](const std::string& path) {
    const Outcome outcome = Weft({"print", path});
    EXPECT_EQ(outcome.exit, 1) << path;
    EXPECT_EQ(outcome.out, "") << path;
    EXPECT_TRUE(outcome.err.starts_with("weft: error: ")) << outcome.err;
    return outcome.err;
  };
  EXPECT_TRUE(Contains(message(folder / "nowhere.pb"), "No such file"));
  EXPECT_TRUE(Contains(message(folder / ""), "Is a directory"));
  message(folder.Write("empty.pb", ""));
  EXPECT_TRUE(Contains(
      message(folder.Write("lfs.pb", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")),
      "Git LFS"));
  const std::string typo = folder.Write("typo.pbtxt", "name: \"n\"\nop { type: Relu }\n");
  EXPECT_TRUE(Contains(message(typo), "2:12")) << message(typo);

  const json error = Weft({"ssa", folder / "nowhere.pb", "--json"}).json();
  EXPECT_EQ(error.size(), 1u);
  EXPECT_EQ(error["error"]["code"], "not_found");
  EXPECT_TRUE(error["error"]["op"].is_null());
  EXPECT_TRUE(error["error"]["blob"].is_null());
  EXPECT_TRUE(error["error"]["message"].is_string());
}

TEST(Input, StandardInputBinaryAndText) {
  const Folder folder;
  const std::string binary = folder / "mlp.pb";
  ASSERT_EQ(Weft({"convert", "-", binary}, kMlp).exit, 0);
  EXPECT_EQ(Weft({"print", "-"}, kMlp).out, Weft({"print", "-"}, Read(binary)).out);
  EXPECT_EQ(Weft({"print", binary}).out, Weft({"print", "-"}, kMlp).out);
}

TEST(Input, PipesAndLargeFiles) {
  const Folder folder;
  const std::string file = Data("models/resnet50_train_8gpu.pb");  // large enough to be mapped
  const std::string listed = Weft({"print", file}).out, pipe = folder / "pipe";
  EXPECT_FALSE(listed.empty());
  EXPECT_TRUE(Shell(StrCat("cat ", file, " | \"$WEFT\" print -")).out == listed);
  EXPECT_TRUE(Shell(StrCat("mkfifo ", pipe, "; cat ", file, " >", pipe, " & \"$WEFT\" print ", pipe)).out ==
              listed);
}

TEST(Print, ListsWithAndWithoutVersions) {
  EXPECT_EQ(Weft({"print", "-", "--ssa"}, kMlp).out, R"(net mlp  4 operators, 8 blobs
  external_input (4)   x  w  b  t
  external_output (1)  loss

  0  FC(x@0, w@0, b@0) -> h@1
  1  Relu(h@1) -> y@1
  2  SquaredL2Distance(y@1, t@0) -> d@1
  3  AveragedLoss(d@1) -> loss@1
)");
  EXPECT_FALSE(Contains(Weft({"print", "-"}, kMlp).out, "@"));
  const json listed = Weft({"print", "-", "--json"}, kMlp).json();
  EXPECT_EQ(listed["nets"][0]["operators"], 4);
  EXPECT_EQ(listed["nets"][0]["external_output"], json({"loss"}));
}

TEST(Print, OtherMessagesAsShortText) {
  constexpr std::string_view kTensors = R"(protos { name: "w" dims: 3 dims: 4 data_type: FLOAT
  float_data: 1 float_data: 2 float_data: 3 float_data: 4 float_data: 5 float_data: 6
  float_data: 7 float_data: 8 float_data: 9 float_data: 10 float_data: 11 float_data: 12 })";
  const Outcome listed = Weft({"print", "-"}, kTensors);
  EXPECT_TRUE(Contains(listed.out, "  float_data: 8\n  # ... 4 more float_data\n  name: \"w\"\n"))
      << listed.out;
  EXPECT_TRUE(Contains(Weft({"print", "-", "--full"}, kTensors).out, "float_data: 12\n"));
}

TEST(Print, ColoursOnlyOnATerminalOrWhenAsked) {
  EXPECT_FALSE(Contains(Weft({"print", "-"}, kMlp).out, "\033"));
  EXPECT_TRUE(Contains(Weft({"--color", "always", "print", "-"}, kMlp).out, "\033[34mFC\033[0m"));
  EXPECT_TRUE(Contains(Weft({"print", "-", "--color", "always"}, kMlp).out, "\033[34mFC\033[0m"));
}

TEST(Ssa, AgreesWithRecordedRows) {
  std::istringstream rows(Read(Data("caffe2/clone.jsonl")));
  std::string row;
  for (int number = 0; std::getline(rows, row); ++number) {
    if (number % 10 != 0) continue;  // a process each; all rows are compared where the SSA form is tested
    const json expected = json::parse(row);
    const json found = Weft({"ssa", "-", "--json"}, expected["net"].get<std::string>()).json();
    EXPECT_EQ(found["ssa"], expected["ssa"]) << number;
    EXPECT_EQ(found["versions"], expected["versions"]) << number;
    EXPECT_EQ(found["undefined"], expected["undefined"]) << number;
  }
}

TEST(Grad, PlansWritesAndSaysWhatIsWhat) {
  const Folder folder;
  const Outcome planned = Weft({"grad", "-", "--loss", "loss", "-o", folder / "train.pbtxt", "--json"}, kMlp);
  ASSERT_EQ(planned.exit, 0) << planned.out;
  const json plan = planned.json();
  EXPECT_EQ(plan["grads"]["w"], "w_grad");
  EXPECT_EQ(plan["grads"]["x"], "x_grad");
  EXPECT_TRUE(Contains(plan["ops"], "type: \"FCGradient\""));
  // The start gradient serves no forward operator; then the pass goes back through 3, 2, 1, 0.
  EXPECT_EQ(plan["origin"], json({{0, -1}, {1, 3}, {2, 2}, {3, 1}, {4, 0}}));
  const Outcome written = Weft({"print", folder / "train.pbtxt"});
  EXPECT_TRUE(Contains(written.out, "net mlp  9 operators")) << written.out;

  const Outcome listed = Weft({"grad", "-", "--loss", "loss"}, kMlp);
  EXPECT_TRUE(Contains(listed.out, "of op 1 Relu")) << listed.out;
  const Outcome given = Weft({"grad", "-", "--loss", "y=dy", "--json"}, kMlp);
  EXPECT_EQ(given.json()["origin"], json({{0, 1}, {1, 0}}));
}

TEST(Grad, OnlyWhatIsAskedFor) {
  const json wrt = Weft({"grad", "-", "--loss", "loss", "--wrt", "b", "--json"}, kMlp).json();
  EXPECT_EQ(wrt["grads"].size(), 1u) << wrt;
  const json frozen = Weft({"grad", "-", "--loss", "loss", "--freeze", "w*", "--json"}, kMlp).json();
  EXPECT_FALSE(frozen["grads"].contains("w")) << frozen;
  const json unknown = Weft({"grad", "-", "--loss", "loss", "--wrt", "bb", "--json"}, kMlp).json();
  EXPECT_EQ(unknown["error"]["blob"], "bb");
}

TEST(Grad, SeparateNetReadsTheForwardOne) {
  const Folder folder;
  ASSERT_EQ(Weft({"grad", "-", "--loss", "loss", "--separate", "-o", folder / "b.pbtxt"}, kMlp).exit, 0);
  const json net = Weft({"print", folder / "b.pbtxt", "--json"}).json()["nets"][0];
  EXPECT_EQ(net["name"], "mlp_grad");
  EXPECT_EQ(net["operators"], 5);
  EXPECT_TRUE(Contains(net["external_input"].dump(), "\"loss\"")) << net;
  EXPECT_TRUE(Contains(net["external_output"].dump(), "\"w_grad\"")) << net;
  const std::string forward = folder.Write("forward.pbtxt", kMlp);
  EXPECT_EQ(Weft({"check", forward, folder / "b.pbtxt"}).exit, 0);
}

TEST(Grad, SlicesWithoutRepeats) {
  constexpr std::string_view kEmbedding = R"(name: "e"
op { input: "table" input: "ids" output: "rows" type: "Gather" }
op { input: "rows" output: "loss" type: "AveragedLoss" }
external_input: "table" external_input: "ids" external_output: "loss")";
  const json plan = Weft({"grad", "-", "--loss", "loss", "--dedup", "sum", "--json"}, kEmbedding).json();
  EXPECT_EQ(plan["grads"]["table"], json({{"indices", "e/Unique:0"}, {"values", "e/UnsortedSegmentSum:0"}}))
      << plan;
  EXPECT_TRUE(Contains(plan["ops"], "engine: \"SparseHash\""));
}

TEST(Grad, ConflictNamesBothOperatorsVersionsAndTheRemedy) {
  constexpr std::string_view kTwice = R"(name: "t"
op { input: "x" output: "h" type: "Tanh" }
op { input: "h" output: "h" type: "Tanh" }
op { input: "h" output: "h" type: "Tanh" }
op { input: "h" output: "loss" type: "AveragedLoss" }
external_input: "x" external_output: "loss")";
  const Outcome failed = Weft({"grad", "-", "--loss", "loss", "--json"}, kTwice);
  EXPECT_EQ(failed.exit, 1);
  const json error = failed.json()["error"];
  EXPECT_EQ(error["code"], "version_conflict");
  EXPECT_EQ(error["blob"], "h");
  EXPECT_EQ(error["op"], 1);
  const std::string message = error["message"];
  for (const char* part : {"Tanh", "h@2", "h@3", "op 2"}) EXPECT_TRUE(Contains(message, part)) << message;
  ASSERT_EQ(error["conflicts"].size(), 2u) << error;
  const json expected = {{"blob", "h"}, {"version", 2},    {"writer", 1},
                         {"reader", 1}, {"overwriter", 2}, {"output", true}};
  EXPECT_EQ(error["conflicts"][0], expected);
  const Outcome repaired = Weft({"grad", "-", "--loss", "loss", "--repair", "--json"}, kTwice);
  EXPECT_EQ(repaired.exit, 0) << repaired.out;
  EXPECT_FALSE(repaired.json()["changes"].empty());
  EXPECT_TRUE(Contains(repaired.json()["listing"].get<std::string>(), "+ 1  Tanh(")) << repaired.out;
}

TEST(Grad, TellsWhatIsAddedUpAndKept) {
  constexpr std::string_view kFork = R"(name: "t"
op { input: "x" output: "h" type: "Tanh" }
op { input: "h" output: "a" type: "Sigmoid" }
op { input: "h" input: "a" output: "s" type: "Add" }
op { input: "s" output: "loss" type: "AveragedLoss" }
external_input: "x" external_output: "loss")";
  const json plan = Weft({"grad", "-", "--loss", "loss", "--json"}, kFork).json();
  EXPECT_EQ(plan["forward"], 4);
  ASSERT_EQ(plan["sums"].size(), 1u);
  const json sum = plan["sums"][0];
  EXPECT_EQ(sum["of"], "h");
  EXPECT_EQ(sum["type"], "Sum");
  ASSERT_EQ(sum["parts"].size(), 2u);
  EXPECT_EQ(sum["parts"][0]["type"], "AddGradient");
  EXPECT_EQ(sum["parts"][1]["type"], "SigmoidGradient");
  // h from operator 0 until its own gradient, longest first.
  const json stash = plan["stashes"][0];
  EXPECT_EQ(stash["blob"], "h");
  EXPECT_EQ(stash["from"], 0);
  EXPECT_EQ(stash["to"], 9);
  EXPECT_FALSE(stash.contains("bytes"));
  EXPECT_FALSE(plan.contains("kept"));
}

// With shapes of the inputs it tells the bytes of each value that is kept, and of all: those of weft shapes.
TEST(Grad, TellsTheBytesOfWhatIsKept) {
  const std::string net = Data("models/char_rnn_2.pb"), init = Data("models/char_rnn_2_init.pb");
  const json stored = Weft({"grad", net, "--replan", "--json", "--init", init}).json();
  EXPECT_GT(stored["kept"]["unsized"], 0);
  const Outcome outcome =
      Weft({"grad", "-", "--loss", "loss", "--json", "--input", "x=8,4", "--input", "y=8"}, R"(name: "t"
op { input: "x" output: "h" type: "Tanh" }
op { input: "h" output: "a" type: "Sigmoid" }
op { input: "h" input: "a" output: "s" type: "Add" }
op { input: "s" output: "loss" type: "AveragedLoss" }
external_input: "x" external_output: "loss")");
  const json plan = outcome.json();
  int64_t sum = 0;
  for (const json& stash : plan["stashes"]) sum += stash["bytes"].get<int64_t>();
  EXPECT_EQ(plan["stashes"][0]["bytes"], 8 * 4 * 4);
  EXPECT_EQ(plan["kept"]["bytes"], sum);
  EXPECT_EQ(plan["kept"]["unsized"], 0);
  EXPECT_TRUE(Contains(outcome.err, "y")) << outcome.err;  // a blob that the net does not have
}

// What only operators that overwrite it read is state, no parameter: momentum, running statistics.
TEST(Shapes, ParametersAreNoState) {
  const auto total = [](const std::string& model) {
    return Weft({"shapes", Data(StrCat("models/", model, ".pb")), "--init",
                 Data(StrCat("models/", model, "_init.pb")), "--json"})
        .json()["total"];
  };
  const json resnet = total("resnet50_train");
  EXPECT_EQ(resnet["parameters"], 25583592);
  EXPECT_EQ(resnet["state"], 25636713);  // momentum of each; running mean and variance; a counter
  EXPECT_EQ(total("resnet50_train_2gpu")["parameters"], 2 * 25583592);
}

TEST(Grad, SuggestsLossesAndPlansAgain) {
  const json suggested = Weft({"grad", "-", "--suggest", "--json"}, kMlp).json();
  EXPECT_EQ(suggested["losses"][0]["loss"], "loss");
  EXPECT_EQ(suggested["losses"][0]["likely"], true);
  EXPECT_TRUE(suggested["stored"].is_null());
  EXPECT_EQ(Weft({"grad", "-"}, kMlp).exit, 2);
  EXPECT_EQ(Weft({"grad", "-", "--replan"}, kMlp).exit, 1);
  const Folder folder;
  for (const char* model : {"resnet50_train_2gpu_4shards_gloo", "dlrm_26"}) {
    const std::string file = Data(StrCat("models/", model, ".pb")), again = folder / "again.pb";
    const json stored = Weft({"grad", file, "--suggest", "--json"}).json()["stored"];
    EXPECT_FALSE(stored["losses"].empty()) << model;
    EXPECT_EQ(Weft({"grad", file, "--replan", "-o", again}).exit, 0) << model;
    EXPECT_EQ(Weft({"diff", file, again, "--json"}).json()["same"], true) << model;
  }
}

TEST(Clone, RenamesPrefixesAndPicks) {
  const auto net = [](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"clone", "-", "--name", "c", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    return Weft(all, kMlp).json()["net"].get<std::string>();
  };
  EXPECT_TRUE(Contains(net({"--rename", "x=data"}), "input: \"data\""));
  EXPECT_TRUE(Contains(net({"--prefix", "p/"}), "output: \"p/h\""));
  EXPECT_TRUE(Contains(net({"--prefix", "p/"}), "input: \"x\""));
  EXPECT_FALSE(Contains(net({"--ops", "0,1"}), "AveragedLoss"));
  EXPECT_EQ(Weft({"clone", "-", "--name", "c", "--ops", "9"}, kMlp).exit, 1);
  EXPECT_EQ(Weft({"clone", "-", "--name", "c", "--rename", "x"}, kMlp).exit, 1);
  EXPECT_TRUE(Weft({"clone", "-", "--name", "c"}, kMlp).out.starts_with("name: \"c\"\n"));
}

TEST(Extract, TakesThePartBetween) {
  const Outcome part =
      Weft({"extract", "-", "--name", "part", "--inputs", "h=hidden", "--outputs", "d", "--json"}, kMlp);
  const std::string net = part.json()["net"];
  EXPECT_TRUE(Contains(net, "input: \"hidden\"")) << net;
  EXPECT_TRUE(Contains(net, "external_output: \"part/d\"")) << net;
  EXPECT_FALSE(Contains(net, "FC")) << net;
  const Outcome unknown = Weft({"extract", "-", "--name", "p", "--outputs", "nope", "--json"}, kMlp);
  EXPECT_EQ(unknown.exit, 1);
  EXPECT_EQ(unknown.json()["error"]["code"], "not_found");
}

TEST(Pass, WritesTheNetAndTellsTheRest) {
  const Outcome text = Weft({"pass", "memory", "-", "--size", "h=16", "--size", "d=16"}, kMlp);
  EXPECT_EQ(text.exit, 0);
  EXPECT_TRUE(text.out.starts_with("name: \"mlp\"\n"));
  EXPECT_TRUE(Contains(text.err, "peak_before: 32\npeak_after: 16\nlower_bound: 16\nleast_whole: 16\n"))
      << text.err;
  EXPECT_EQ(Weft({"pass", "dead-ops", "-", "--json"}, kMlp).json()["removed"], 0);
  const json listed = Weft({"pass", "--json"}).json()["commands"];
  EXPECT_EQ(listed.size(), 15u);  // with clone and extract
  EXPECT_EQ(listed[0]["words"], json({"pass", "dead-ops"}));
  EXPECT_EQ(listed[0]["options"][0]["name"], "keep");
  EXPECT_EQ(Weft({"pass"}).exit, 2);
  const Outcome wrong = Weft({"pass", "dead-ops", "-", "--keep", "nothing"}, kMlp);
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_TRUE(Contains(wrong.err, "the net has no blob nothing")) << wrong.err;
  const Outcome typo = Weft({"pass", "dead-opps", "-"}, kMlp);
  EXPECT_EQ(typo.exit, 2);
  EXPECT_TRUE(Contains(typo.err, "weft pass: there is no subcommand dead-opps; did you mean dead-ops?\n"))
      << typo.err;
  EXPECT_TRUE(Contains(Weft({"pass", "nothing", "-"}, kMlp).err, "; there are dead-ops, rename-prefix, "));
  const Outcome nowhere = Weft({"pass", "retarget", "-"}, kMlp);
  EXPECT_EQ(nowhere.exit, 2);
  EXPECT_TRUE(Contains(nowhere.err, "--device is required")) << nowhere.err;
  EXPECT_TRUE(Contains(Weft({"pass", "memory", "--help"}).out, "--recycle WHAT"));
  // "@FILE" stands for the lines of a file.
  const Folder folder;
  const std::string sizes = folder.Write("sizes", "h=16\nd=16\n");
  EXPECT_EQ(Weft({"pass", "memory", "-", "--size", "@" + sizes, "--json"}, kMlp).json()["peak_after"], 16);
}

TEST(Check, ExitCodeSaysWhetherThereAreErrors) {
  EXPECT_EQ(Weft({"check", "-"}, kMlp).out, "<stdin>: no findings\n");
  const std::string_view warning =
      "op { input: \"x\" output: \"y\" type: \"Relu\" } external_input: \"x\" external_output: \"y\"";
  EXPECT_EQ(Weft({"check", "-"}, warning).exit, 0);
  EXPECT_EQ(Weft({"check", "-", "--strict"}, warning).exit, 1);
  const Outcome broken = Weft({"check", "-", "--json"}, std::string(kMlp) + "external_output: \"nowhere\"");
  EXPECT_EQ(broken.exit, 1);
  const json report = broken.json();
  EXPECT_EQ(report["errors"], 1);
  EXPECT_EQ(report["findings"][0]["code"], "missing_output");
  EXPECT_EQ(report["findings"][0]["severity"], "error");
  EXPECT_EQ(report["findings"][0]["blob"], "nowhere");
  EXPECT_TRUE(report["findings"][0]["op"].is_null());
  EXPECT_EQ(report["findings"][0]["file"], "<stdin>");
}

TEST(Check, InitAndPredictTogether) {
  const Folder folder;
  const std::string predict = folder.Write("predict.pbtxt", kMlp);
  const std::string init = folder.Write(
      "init.pbtxt",
      "name: \"i\" op { output: \"w\" type: \"XavierFill\" } op { output: \"b\" type: \"ConstantFill\" }");
  const Outcome together = Weft({"check", predict, init});
  EXPECT_TRUE(Contains(together.out, "init.pbtxt, then predict.pbtxt: 2 notes")) << together.out;
  EXPECT_TRUE(Contains(together.out, "op 0 FC reads x")) << together.out;
  const Outcome fed = Weft({"check", "--init", init, predict, "--feed", "x"});
  EXPECT_TRUE(Contains(fed.out, "op 2 SquaredL2Distance reads t")) << fed.out;
  EXPECT_FALSE(Contains(fed.out, "reads x")) << fed.out;
}

// A wrong shape is a finding like others, from the shapes of the inputs and of what the init net fills.
TEST(Check, ShapesOfGivenInputs) {
  const Folder folder;
  const std::string predict = folder.Write("predict.pbtxt", kMlp);
  const std::string init = folder.Write("init.pbtxt", R"(name: "i"
      op { output: "w" type: "XavierFill" arg { name: "shape" ints: 3 ints: 5 } }
      op { output: "b" type: "ConstantFill" arg { name: "shape" ints: 3 } })");
  EXPECT_EQ(Weft({"check", predict}).exit, 0);
  const Outcome right = Weft({"check", "--init", init, predict, "--input", "x=N,5", "--input", "t=N,3"});
  EXPECT_EQ(right.exit, 0) << right.out;
  EXPECT_FALSE(Contains(right.out, "reads x")) << right.out;  // it will be fed
  // Whichever of two files fills the other goes first.
  for (const std::vector<std::string>& files : {std::vector{init, predict}, std::vector{predict, init}}) {
    const Outcome wrong =
        Weft({"check", files[0], files[1], "--input", "x=8,4", "--input", "t=8,3", "--json"});
    EXPECT_EQ(wrong.exit, 1);
    const json report = wrong.json();
    EXPECT_EQ(report["errors"], 1) << report;
    for (const json& finding : report["findings"]) {
      if (finding["severity"] != "error") continue;
      EXPECT_EQ(finding["code"], "wrong_shape");
      EXPECT_EQ(finding["op"], 0);
      EXPECT_TRUE(Contains(finding["message"].get<std::string>(), "expected")) << finding;
      EXPECT_TRUE(Contains(finding["message"].get<std::string>(), "given")) << finding;
      EXPECT_TRUE(Contains(finding["file"].get<std::string>(), "predict.pbtxt")) << finding;
    }
  }
  const Outcome missing = Weft({"check", predict, "--input", "x=8,4"});
  EXPECT_EQ(missing.exit, 0);
  EXPECT_TRUE(Contains(missing.out, "the shape of input w")) << missing.out;
  EXPECT_EQ(Weft({"check", predict, "--input", "x=8,,"}).exit, 1);
  // The nets of a plan run one after the other.
  const std::string plan = folder.Write("plan.pbtxt", R"(name: "p"
      network { name: "i" op { output: "w" type: "ConstantFill" arg { name: "shape" ints: 3 ints: 5 } } external_output: "w" }
      network { name: "n" op { input: "x" input: "w" output: "y" type: "MatMul" } external_input: "x" external_input: "w" external_output: "y" }
      execution_step { network: "i" network: "n" })");
  const Outcome planned = Weft({"check", plan, "--input", "x=8,4"});
  EXPECT_EQ(planned.exit, 1);
  EXPECT_TRUE(Contains(planned.out, "[wrong_shape]")) << planned.out;
}

TEST(Check, GoesOnAfterAFileThatDoesNotOpen) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kMlp);
  const Outcome outcome = Weft({"check", folder / "nowhere", net});
  EXPECT_EQ(outcome.exit, 1);
  EXPECT_TRUE(Contains(outcome.out, "net.pbtxt: no findings")) << outcome.out;
  EXPECT_TRUE(Contains(outcome.err, "nowhere")) << outcome.err;
  EXPECT_EQ(Weft({"check", folder / "nowhere", net, "--json"}).json()["findings"][0]["code"], "not_found");
}

TEST(Convert, RoundTripsToTheByte) {
  const Folder folder;
  for (const char* name : {"alexnet_train.pb", "char_rnn_2.pb", "dlrm_26_init.pb"}) {
    const std::string text = folder / "net.pbtxt", back = folder / "net.pb";
    ASSERT_EQ(Weft({"convert", Data(std::string("models/") + name), text}).exit, 0) << name;
    ASSERT_EQ(Weft({"convert", text, back}).exit, 0) << name;
    EXPECT_TRUE(Read(back) == Read(Data(std::string("models/") + name))) << name;
  }
  EXPECT_EQ(folder.List(), (std::vector<std::string>{"net.pb", "net.pbtxt"}));  // nothing temporary is left
  EXPECT_TRUE(Contains(Weft({"convert", folder / "net.pb", "-"}).out, "op {"));
  EXPECT_EQ(Weft({"convert", folder / "net.pb", folder / "odd.name", "--to", "text"}).exit, 0);
  EXPECT_TRUE(Contains(Read(folder / "odd.name"), "op {"));
}

TEST(Files, TwoOfThemAppearTogetherOrNotAtAll) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kMlp), lost = folder / "none/out.pb",
                    other = folder / "other.pb";
  const std::vector<std::string> commands[] = {
      {"grad", net, "--loss", "loss", "--forward", other, "-o", lost},
      {"grad", net, "--loss", "loss", "--forward", other, "-o", other},
      {"example", "lenet", "--init", other, "--forward", lost},
      {"example", "lenet", "--init", other, "-o", other}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = Weft(command);
    EXPECT_NE(outcome.exit, 0) << StrJoin(command, " ");
    EXPECT_EQ(folder.List(), std::vector<std::string>{"net.pbtxt"}) << StrJoin(command, " ");
  }
}

TEST(Files, AWriteIsWholeOrNothing) {
  const Folder folder;
  const std::string file = folder.Write("net.pbtxt", kMlp);
  // Over itself, through a link, with the permissions it had.
  ::chmod(file.c_str(), 0640);
  fs::create_symlink("net.pbtxt", folder / "link.pbtxt");
  ASSERT_EQ(Weft({"clone", folder / "link.pbtxt", "--name", "again", "-o", folder / "link.pbtxt"}).exit, 0);
  EXPECT_TRUE(fs::is_symlink(folder / "link.pbtxt"));
  EXPECT_TRUE(Read(file).starts_with("name: \"again\""));
  struct stat info;
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  // Where nothing can be written: an error, and the old file as it was.
  const Outcome nowhere = Weft({"clone", file, "--name", "c", "-o", folder / "no/such/folder.pb"});
  EXPECT_EQ(nowhere.exit, 1);
  EXPECT_TRUE(Contains(nowhere.err, "No such file")) << nowhere.err;
  EXPECT_EQ(Weft({"clone", file, "--name", "c", "-o", folder / ""}).exit, 1);
  EXPECT_EQ(Weft({"clone", file, "--name", "c", "-o", "/dev/full"}).exit, 1);
  EXPECT_EQ(Weft({"clone", file, "--name", "c", "-o", "/dev/null"}).exit, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(Shell("\"$WEFT\" print " + file + " >/dev/full").exit, 1);
  EXPECT_EQ(folder.List(), (std::vector<std::string>{"link.pbtxt", "net.pbtxt"}));
}

TEST(Ops, ListsSearchesAndPrintsAPage) {
  EXPECT_TRUE(Contains(Weft({"ops"}).out, "\nConv "));
  const Outcome page = Weft({"ops", "Relu"});
  EXPECT_TRUE(page.out.starts_with("Relu\n")) << page.out;
  EXPECT_TRUE(Contains(page.out, "ReluGradient")) << page.out;
  const json ops = Weft({"ops", "FC", "--json"}).json()["ops"];
  EXPECT_EQ(ops[0]["name"], "FC");
  EXPECT_EQ(ops[0]["inputs"]["min"], 3);
  EXPECT_EQ(ops[0]["gradient"]["policy"], "rule");
  EXPECT_TRUE(Weft({"ops", "FC", "--markdown"}).out.starts_with("## FC\n"));
  EXPECT_GT(Weft({"ops", "--json"}).json()["ops"].size(), 700u);
  EXPECT_TRUE(Contains(Weft({"ops", "momentum"}).out, "MomentumSGD"));
  const Outcome unknown = Weft({"ops", "Sigmoidd"});
  EXPECT_EQ(unknown.exit, 1);
  EXPECT_TRUE(Contains(unknown.err, "did you mean Sigmoid")) << unknown.err;
}

TEST(Diff, RenamesAndOrderAreNoDifference) {
  const Folder folder;
  const std::string a = folder.Write("a.pbtxt", kMlp), b = folder / "b.pbtxt", c = folder / "c.pbtxt";
  ASSERT_EQ(Weft({"clone", a, "--name", "other", "--prefix", "p/", "-o", b}).exit, 0);
  const Outcome same = Weft({"diff", a, b});
  EXPECT_EQ(same.exit, 0) << same.out;
  EXPECT_TRUE(Weft({"diff", a, b, "--json"}).json()["same"]);
  std::string changed(kMlp);
  changed.replace(changed.find("Relu"), 4, "Tanh");
  folder.Write("c.pbtxt", changed);
  const Outcome differs = Weft({"diff", a, c});
  EXPECT_EQ(differs.exit, 1);
  EXPECT_TRUE(Contains(differs.out, "Relu") && Contains(differs.out, "Tanh")) << differs.out;
  EXPECT_FALSE(Weft({"diff", a, c, "--json"}).json()["same"]);
}

TEST(Example, LeNetIsSoundAndItsBackwardPassIsThePlannedOne) {
  const Folder folder;
  const std::string train = folder / "train.pb", init = folder / "init.pb", forward = folder / "forward.pb";
  ASSERT_EQ(Weft({"example", "lenet", "-o", train, "--init", init, "--forward", forward}).exit, 0);
  EXPECT_EQ(Weft({"check", "--init", init, "--feed", "data", "--feed", "label", "--strict", train}).exit, 0)
      << Weft({"check", "--init", init, "--feed", "data", "--feed", "label", train}).out;
  const json plan = Weft({"grad", forward, "--loss", "loss", "--json"}).json();
  const std::string ops = Weft({"convert", train, "-"}).out;
  EXPECT_TRUE(Contains(ops, plan["ops"].get<std::string>().substr(0, 200)));
  EXPECT_TRUE(Contains(Weft({"example"}).out, "lenet"));
  EXPECT_EQ(Weft({"example", "nothing"}).exit, 1);
}

TEST(Completion, IsAScriptThatTheShellTakes) {
  const Folder folder;
  const std::string script = folder.Write("script", R"(source <("$WEFT" completion bash)
PATH="$(dirname "$WEFT"):$PATH"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _weft; echo "${COMPREPLY[@]}"; }
complete_words weft ex
complete_words weft grad --mo
complete_words weft grad net.pb --mixed ''
complete_words weft ops SpatialBNG
)");
  const Outcome words = Shell("bash " + script);
  EXPECT_EQ(words.out, "extract example\n--mode\nerror dense sparse\nSpatialBNGradient\n") << words.err;
  for (const char* shell : {"zsh", "fish"}) EXPECT_EQ(Weft({"completion", shell}).exit, 0) << shell;
}

constexpr std::string_view kShapeless = R"(name: "n"
op { input: "x" input: "w" input: "b" output: "y" type: "FC" }
external_input: "x" external_input: "w" external_input: "b" external_output: "y")";

TEST(Shapes, FromInputsAndInitNets) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kShapeless);
  const std::string init = folder.Write("init.pbtxt", R"(name: "i"
op { output: "w" type: "XavierFill" arg { name: "shape" ints: 5 ints: 3 } }
op { output: "b" type: "ConstantFill" arg { name: "shape" ints: 5 } })");
  const Outcome whole = Weft({"shapes", net, "--init", init, "--input", "x=N,3", "--json"});
  EXPECT_EQ(whole.exit, 0);
  EXPECT_EQ(whole.json()["whole"], true);
  EXPECT_EQ(whole.json()["total"]["flops"], "30*N");
  EXPECT_EQ(whole.json()["total"]["parameters"], 20);
  EXPECT_EQ(whole.json()["blobs"][0]["bytes"], "12*N");
  EXPECT_EQ(whole.json()["blobs"][0]["live"], nlohmann::json::array({0, 0}));
  EXPECT_EQ(whole.json()["live"].size(), whole.json()["operators"].size());
  EXPECT_TRUE(Contains(Weft({"shapes", net, "--init", init, "--input", "x=8,3"}).out, "float [8, 5]"));
}

// What a net could do with less: the numbers are those of the passes that make it so.
TEST(Shapes, SavingsAreThoseOfThePasses) {
  const std::string net = Data("models/resnet50_train.pb"), init = Data("models/resnet50_train_init.pb");
  const std::string data = "data=16,3,224,224", label = "label=16:int32";
  const json shapes =
      Weft({"shapes", net, "--init", init, "--input", data, "--input", label, "--savings", "--json"}).json();
  const json& savings = shapes["savings"];
  EXPECT_EQ(savings["live"], shapes["peak"]["bytes"]);
  EXPECT_EQ(savings["flops"], shapes["total"]["flops"]);
  EXPECT_TRUE(savings["nothing"].is_null());
  ASSERT_GE(savings["recompute"].size(), 2u);
  const Folder folder;
  const std::string made = folder / "made.pb";
  const auto pass = [&](std::string_view name, const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> words = {"pass", std::string(name), file,  init,    "--shape",
                                      data,   "--shape",         label, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return Weft(words).json();
  };
  EXPECT_EQ(pass("memory", net, {})["peak_before"], savings["blobs"]);
  EXPECT_EQ(pass("memory", net, {})["peak_after"], savings["reuse"]);
  int64_t before = savings["live"];
  for (const json& way : savings["recompute"]) {
    std::vector<std::string> more = {"-o", made};
    if (!way["most_percent"].is_null()) {
      more.insert(more.end(), {"--most-flops", std::to_string(way["most_percent"].get<int64_t>())});
      EXPECT_LE(way["extra_percent"], way["most_percent"]);
    }
    const json told = pass("recompute", net, more);
    EXPECT_EQ(told["peak_after"], way["live"]);
    EXPECT_EQ(told["extra_flops"], way["extra_flops"]);
    EXPECT_EQ(told["again"], way["operators"]);
    EXPECT_EQ(pass("memory", made, {})["peak_after"], way["reuse"]);
    EXPECT_LT(way["live"], before);
    before = way["live"];
  }
  EXPECT_LT(2 * before, savings["live"].get<int64_t>());
  const Outcome text = Weft({"shapes", net, "--init", init, "--input", data, "--input", label, "--savings"});
  EXPECT_TRUE(Contains(text.out, " % more flop: at most ")) << text.out;
  const json forward = Weft({"shapes", "-", "--savings", "--json"}, kShapeless).json()["savings"];
  EXPECT_EQ(forward["nothing"], "the net has no backward pass");
  EXPECT_TRUE(forward["recompute"].empty());
}

TEST(Shapes, CostsOfNetsInside) {
  const Outcome shapes = Weft({"shapes", "-", "--input", "x=2,3", "--input", "go=1:bool", "--json"}, R"(
name: "outer" external_input: "x" external_input: "go"
op { type: "If" input: "go" output: "y"
     arg { name: "then_net" n { external_input: "x" external_output: "y"
       op { type: "Relu" input: "x" output: "h" } op { type: "Scale" input: "h" output: "y" } } } })");
  EXPECT_EQ(shapes.exit, 0) << shapes.err;
  const json nested = shapes.json()["nested"];
  ASSERT_EQ(nested.size(), 1u);
  EXPECT_EQ(nested[0]["net"], "0.then_net");
  ASSERT_EQ(nested[0]["operators"].size(), 2u);
  EXPECT_EQ(nested[0]["operators"][1]["op"], 1);
  EXPECT_EQ(nested[0]["operators"][1]["type"], "Scale");
  EXPECT_EQ(nested[0]["operators"][1]["written"], 24);
  // The operator around costs what is in it.
  int64_t flops = 0;
  for (const json& op : nested[0]["operators"]) flops += op["flops"].get<int64_t>();
  EXPECT_EQ(shapes.json()["operators"][0]["flops"], flops);
  EXPECT_TRUE(Weft({"shapes", "-", "--json"}, kShapeless).json()["nested"].empty());
}

TEST(Shapes, WhatIsWrongOrMissing) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kShapeless);
  const Outcome missing = Weft({"shapes", net});
  EXPECT_EQ(missing.exit, 0);
  EXPECT_TRUE(Contains(missing.out, "the shape of input w, first read by op 0 FC, is not known"))
      << missing.out;
  const Outcome wrong = Weft({"shapes", net, "--input", "x=8,3", "--input", "w=5,4", "--json"});
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_EQ(wrong.json()["findings"][0]["code"], "wrong_shape");
  EXPECT_EQ(wrong.json()["findings"][0]["blob"], "w");
  EXPECT_EQ(Weft({"shapes", net, "--input", "x"}).exit, 1);
  EXPECT_EQ(Weft({"shapes", net, "--input", "x=N-1,3"}).exit, 1);
  for (const char* command : {"shapes", "check", "devices"})
    EXPECT_TRUE(Contains(Weft({command, net, "--input", "xx=8,3"}).err, "--input: there is no blob xx"));
}

}  // namespace
}  // namespace weft::cli_test
