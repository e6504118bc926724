// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft run from outside: feeding, watching, fetching, iterating, plans, and what it says when it can't.
#include <gtest/gtest.h>

#include <cmath>

#include "native/io/npy.h"
#include "tests/cli/run_weft.h"
#include "tests/run/arrays.h"

namespace weft::cli_test {
namespace {

using nlohmann::json;

constexpr std::string_view kSum = R"(name: "sum"
op { input: "x" input: "n/total" output: "n/total" type: "Add" }
op { input: "n/total" output: "loss" type: "AveragedLoss" }
)";
constexpr std::string_view kInit = R"(name: "init"
op { output: "n/total" type: "ConstantFill" arg { name: "shape" ints: 2 } arg { name: "value" f: 10 } }
op { output: "x" type: "ConstantFill" arg { name: "shape" ints: 2 } arg { name: "value" f: 1 } }
)";

std::string WriteArray(const Folder& folder, std::string_view name, std::vector<float> values) {
  const int64_t dims[] = {static_cast<int64_t>(values.size())};
  return folder.Write(name, *WriteNpy(Tensor::Of<float>(dims, values)));
}

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Run, InitThenFeedsThenIterations) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", kSum), init = folder.Write("init.pbtxt", kInit);
  const std::string x = WriteArray(folder, "x.npy", {1, 3});  // replaces what the init net fills
  const Outcome run = Weft({"run", net, "--init", init, "--feed", "x=" + x, "--watch", "loss", "--watch",
                            "n/total", "--iters", "2", "--json"});
  EXPECT_EQ(run.exit, 1);  // n/total has two elements
  EXPECT_EQ(run.json()["error"]["blob"], "n/total");
  EXPECT_EQ(
      run.json()["error"]["message"],
      "iteration 1: --watch n/total: expected a tensor of one number, found float [2]; --fetch takes whole "
      "tensors");
  const Outcome right =
      Weft({"run", net, "--init", init, "--feed", "x=" + x, "--watch", "loss", "--iters", "3", "--json"});
  EXPECT_EQ(right.exit, 0) << right.err;
  EXPECT_EQ(right.json(), json::parse(R"({"iters":3,"watched":{"loss":[12,14,16]}})"));
  EXPECT_EQ(Weft({"run", net, "--init", init, "--watch", "loss", "--iters", "2"}).out,
            "net sum  2 iterations\n\niteration  loss        \n        1  11\n        2  12\n");
}

TEST(Run, FetchWritesFiles) {
  const Folder folder;
  const std::string init = folder.Write("init.pbtxt", kInit), out = folder / "made/here";
  const Outcome run =
      Weft({"run", "-", "--init", init, "--fetch", "n/total", "--fetch", "loss", "--out", out}, kSum);
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(Contains(run.out, "n/total  float [2] -> ")) << run.out;
  const Result<Tensor> total = ReadNpy(Read(out + "/n__total.npy"));
  ASSERT_TRUE(total);
  EXPECT_EQ(std::vector<float>(total->data<float>(), total->data<float>() + 2), (std::vector<float>{11, 11}));
  EXPECT_EQ(ReadNpy(Read(out + "/loss.npy"))->ndim(), 0u);
  EXPECT_EQ(Weft({"run", "-", "--init", init, "--fetch", "n/total"}, kSum).out,
            "net sum  1 iteration\n\n  n/total  float [2]  11 11\n");
  EXPECT_EQ(Weft({"run", "-", "--init", init, "--fetch", "n/total", "--json"}, kSum).json()["fetched"],
            json::parse(R"({"n/total":{"type":"float","shape":[2],"values":[11,11]}})"));
  const Outcome same = Weft({"run", "-", "--fetch", "a/b", "--fetch", "a__b", "--out", out}, kSum);
  EXPECT_EQ(same.exit, 1);
  EXPECT_TRUE(Contains(same.err, "a/b and a__b would both go to ")) << same.err;
}

TEST(Run, SaysWhatIsWrong) {
  const Folder folder;
  const std::string init = folder.Write("init.pbtxt", kInit);
  const auto error = [&](std::vector<std::string> words, std::string_view net) {
    words.insert(words.begin(), {"run", "-"});
    const Outcome run = Weft(words, net);
    EXPECT_EQ(run.exit, 1) << run.err;
    return run.err;
  };
  EXPECT_EQ(error({}, kSum),
            "weft: error: <stdin>: op 0 Add(x, n/total)->n/total: Encountered a non-existing input blob: x; "
            "feed it "
            "(--feed x=FILE.npy), or give the net that makes it (--init)\n");
  EXPECT_EQ(error({"--init", init, "--watch", "los"}, kSum),
            "weft: error: --watch: there is no blob los; did you mean loss?\n");
  EXPECT_EQ(error({"--feed", "x"}, kSum),
            "weft: error: --feed x: expected BLOB=FILE.npy, as in --feed data=batch.npy\n");
  EXPECT_TRUE(Contains(error({"--feed", "x=" + init}, kSum), "init.pbtxt: no .npy file"));
  EXPECT_TRUE(Contains(error({"--feed", "x=/nowhere/x.npy"}, kSum), "cannot open /nowhere/x.npy"));
  EXPECT_EQ(error({}, "op { type: 'Relo' input: 'x' output: 'y' } "),
            "weft: error: <stdin>: op 0 Relo(x)->y: Cannot create operator of type 'Relo': there is no such "
            "operator; did you mean Relu?\n");
  EXPECT_TRUE(Contains(error({}, "op { type: 'CreateDB' output: 'y' }"),
                       "op 0 CreateDB()->y: Cannot create operator of type 'CreateDB': it needs files, "
                       "threads or a clock, so it runs only natively"));
  const std::string x = WriteArray(folder, "x.npy", {1, 2, 3});
  EXPECT_TRUE(Contains(error({"--init", init, "--feed", "x=" + x}, kSum), "op 0 Add(x, n/total)->n/total: "));
  const Outcome usage = Weft({"run", "-", "--out", "d"}, kSum);
  EXPECT_EQ(usage.exit, 2);
  EXPECT_EQ(Weft({"run", "-", "--iters", "-1"}, kSum).exit, 2);
}

TEST(Run, NotesWhatIsNotFiniteAndUnknownFeeds) {
  const Folder folder;
  const std::string x = WriteArray(folder, "x.npy", {-1});
  const Outcome run = Weft({"run", "-", "--feed", "x=" + x, "--feed", "xx=" + x, "--watch", "y", "--json"},
                           "op { type: 'Log' input: 'x' output: 'y' }");
  EXPECT_EQ(run.exit, 0);
  EXPECT_TRUE(run.json()["watched"]["y"][0].is_null());
  EXPECT_TRUE(Contains(run.err, "nan in iteration 1")) << run.err;
  EXPECT_TRUE(Contains(run.err, "has no blob xx")) << run.err;
}

// Training nets recorded in Caffe2: init net, fed values, N iterations; losses, and a parameter at the end.
TEST(Run, TrainsAsRecorded) {
  int rows = 0;
  for (const json& row : test::ReadJsonl("caffe2/train.jsonl")) {
    const std::string name = row["name"];
    if (name != "mlp_adam" && name != "embedding_sgd" && name != "lstm") continue;
    const Folder folder;
    const size_t steps = row["losses"].size();
    std::vector<std::string> words = {"run",
                                      folder.Write("net.pbtxt", row["train_net"].get<std::string>()),
                                      "--init",
                                      folder.Write("init.pbtxt", row["init_net"].get<std::string>()),
                                      "--json",
                                      "--iters",
                                      std::to_string(steps),
                                      "--watch",
                                      row["loss"],
                                      "--out",
                                      folder / "out"};
    for (const auto& [blob, array] : row["init"].items()) {
      const std::string file =
          folder.Write(StrCat(words.size(), ".npy"), *WriteNpy(test::TensorFromJson(array)));
      words.insert(words.end(), {"--feed", StrCat(blob, "=", file)});
    }
    for (const auto& [blob, array] : row["final"].items()) words.insert(words.end(), {"--fetch", blob});
    const Outcome run = Weft(words);
    ASSERT_EQ(run.exit, 0) << name << run.err;
    const json losses = run.json()["watched"][row["loss"].get<std::string>()];
    ASSERT_EQ(losses.size(), steps);
    for (size_t i = 0; i < steps; ++i) {
      const double expected = row["losses"][i];
      EXPECT_NEAR(losses[i].get<double>(), expected, 1e-4 * std::abs(expected)) << name << " " << i;
    }
    for (const auto& [blob, array] : row["final"].items()) {
      std::string file = blob;
      for (size_t at; (at = file.find('/')) != std::string::npos;) file.replace(at, 1, "__");
      const Result<Tensor> found = ReadNpy(Read(StrCat(folder / "out", "/", file, ".npy")));
      ASSERT_TRUE(found) << blob;
      EXPECT_EQ(test::Difference(*found, test::TensorFromJson(array), 1e-5, 1e-4), "") << name << " " << blob;
    }
    ++rows;
  }
  EXPECT_EQ(rows, 3);
}

TEST(Run, SeedsRandomOperators) {
  constexpr std::string_view kRandom = "op { type: 'UniformFill' output: 'y' arg { name: 'shape' ints: 1 } }";
  const auto value = [&](const char* seed) {
    return Weft({"run", "-", "--seed", seed, "--watch", "y", "--json"}, kRandom).out;
  };
  EXPECT_EQ(value("1"), value("1"));
  EXPECT_EQ(value("1"), Weft({"run", "-", "--watch", "y", "--json"}, kRandom).out);
  EXPECT_NE(value("1"), value("2"));
}

TEST(Run, FeedsAndFetchesStrings) {
  const Folder folder;
  const int64_t dims[] = {2};
  const std::string words =
      folder.Write("s.npy", *WriteNpy(Tensor::Of<std::string>(dims, std::vector<std::string>{"one", "two"})));
  EXPECT_EQ(
      Weft({"run", "-", "--feed", "s=" + words, "--fetch", "t"}, "op { type: 'Copy' input: 's' output: 't' }")
          .out,
      "net  1 iteration\n\n  t  string [2]  \"one\" \"two\"\n");
}

// Three times: twice x doubled, once 1 added, until the count says stop.
TEST(Run, Plans) {
  constexpr std::string_view kPlan = R"(name: "p"
network { name: "start" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
  op { type: "ConstantFill" output: "stop" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 5 } } }
network { name: "double" op { type: "Add" input: "x" input: "x" output: "x" } }
network { name: "one" op { type: "ConstantFill" output: "c" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } }
  op { type: "Add" input: "x" input: "c" output: "x" }
  op { type: "ConstantFill" output: "limit" arg { name: "shape" ints: 1 } arg { name: "value" f: 50 } }
  op { type: "GT" input: "x" input: "limit" output: "stop" } }
execution_step { name: "begin" network: "start" }
execution_step { name: "loop" should_stop_blob: "stop"
  substep { name: "twice" num_iter: 2 network: "double" }
  substep { name: "once" network: "one" } }
)";
  const Outcome run = Weft({"run", "-", "--fetch", "x", "--iters", "2"}, kPlan);  // 5, 21, 85
  EXPECT_EQ(run.out, "plan p  2 iterations\n\n  x  float [1]  85\n") << run.err;
  const auto error = [](std::string_view steps) {
    return Weft({"run", "-"},
                StrCat("name: 'p' network { name: 'n' op { type: 'Relu' input: 'q' output: 'q' } } ", steps))
        .err;
  };
  EXPECT_TRUE(Contains(error("execution_step { name: 's' network: 'm' }"),
                       "step s: it runs the net m, which the plan does not have"));
  EXPECT_TRUE(Contains(error("execution_step { name: 's' substep { name: 't' network: 'n' } }"),
                       "step s: step t: net n: op 0 Relu(q)->q: Encountered a non-existing input blob: q"));
  EXPECT_TRUE(Contains(error("execution_step { name: 's' should_stop_blob: 'b' network: 'n' }"), "step s: "));
  EXPECT_TRUE(
      Contains(error("execution_step { name: 's' only_once: true }"), "only_once without should_stop_blob"));
  EXPECT_EQ(error("execution_step { name: 's' only_once: false }"), "");  // B29
  EXPECT_TRUE(Contains(error("execution_step { name: 's' network: 'n' substep { name: 't' } }"),
                       "substeps and networks"));
}

}  // namespace
}  // namespace weft::cli_test
