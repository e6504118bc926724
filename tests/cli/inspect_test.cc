// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What `weft` tells about a net or plan for other programs to show: nets as DOT and JSON, the steps of a
// plan, what nets inside operators capture, a net by device.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

using nlohmann::json;

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr std::string_view kNet = R"(name: "odd \"net\"" external_input: "x" external_output: "y"
op { type: "Relu" input: "x" output: "x" name: "a\\b" arg { name: "f" f: 0.1 } arg { name: "i" i: -3 } }
op { type: "If" input: "x" output: "y" device_option { device_type: 1 device_id: 2 }
  arg { name: "then_net" n { name: "then" op { type: "Copy" input: "x" output: "y" } } } }
op { type: "ReluGradient" input: "y" input: "y" output: "g" is_gradient_op: true control_input: "x" }
)";

TEST(Convert, Json) {
  const Folder folder;
  const std::string file = folder.Write("net.pbtxt", kNet), out = folder / "net.json";
  ASSERT_EQ(Weft({"convert", file, out}).exit, 0);
  const json net = json::parse(Read(out))["nets"][0];
  EXPECT_EQ(net["name"], "odd \"net\"");
  EXPECT_EQ(net["external_input"], json::array({"x"}));
  const json& relu = net["operators"][0];
  EXPECT_EQ(relu["inputs"], json::parse(R"([["x",0]])"));
  EXPECT_EQ(relu["outputs"], json::parse(R"([["x",1]])"));
  EXPECT_EQ(relu["args"], json::parse(R"([{"name":"f","f":0.1},{"name":"i","i":-3}])"));
  const json& branch = net["operators"][1];
  EXPECT_EQ(branch["device"], "cuda:2");
  EXPECT_EQ(branch["args"][0]["n"]["operators"][0]["type"], "Copy");
  const json& gradient = net["operators"][2];
  EXPECT_EQ(gradient["role"], "backward");
  EXPECT_EQ(gradient["is_gradient_op"], true);
  EXPECT_EQ(gradient["control_inputs"], json::array({"x"}));
  EXPECT_FALSE(relu.contains("engine"));
}

TEST(Convert, Dot) {
  const Folder folder;
  const std::string file = folder.Write("net.pbtxt", kNet);
  ASSERT_EQ(Weft({"convert", file, folder / "net.dot"}).exit, 0);
  const std::string dot = Read(folder / "net.dot");
  for (std::string_view part :
       {"digraph \"odd \\\"net\\\"\" {", "op0 [label=\"Relu\\na\\\\b\", color=\"#1c5fa8\"",
        "op0 -> op1 [label=\"x@1\"];", "op1 -> op2 [label=\"y@1\"];",
        "op0 -> op2 [style=dotted, label=\"x\"];", "subgraph cluster_op1_0_ {",
        "label=\"ReluGradient\", color=\"#bf4a08\""})
    EXPECT_TRUE(Contains(dot, part)) << part << "\n" << dot;
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
  // y is read twice by one operator: one edge.
  EXPECT_EQ(dot.find("op1 -> op2"), dot.rfind("op1 -> op2"));
  const std::string tensor =
      folder.Write("t.pbtxt", "protos { dims: 1 data_type: FLOAT float_data: 1 name: \"t\" }");
  const Outcome refused = Weft({"convert", tensor, folder / "t.dot"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(Contains(refused.err, "only nets and plans can be written as dot")) << refused.err;
}

constexpr std::string_view kPlan = R"(name: "p"
network { name: "init" op { type: "ConstantFill" output: "w" } }
network { name: "train" op { type: "Relu" input: "w" output: "y" } op { type: "Relu" input: "y" output: "w" } }
execution_step { name: "a" network: "init" }
execution_step { name: "b" concurrent_substeps: true should_stop_blob: "stop"
  substep { name: "c" network: "train" num_iter: 10 num_concurrent_instances: 2 } substep { name: "d" run_every_ms: 5 } }
)";

TEST(Print, StepsOfAPlan) {
  const Folder folder;
  const std::string file = folder.Write("plan.pbtxt", kPlan);
  const json plan = Weft({"print", file, "--steps", "--json"}).json()["plans"][0];
  EXPECT_EQ(plan["nets"], json::parse(R"([{"name":"init","operators":1},{"name":"train","operators":2}])"));
  EXPECT_EQ(plan["steps"], json::parse(R"([{"name":"a","nets":["init"],"steps":[]},
    {"name":"b","nets":[],"until":"stop","concurrent":true,"steps":[
      {"name":"c","nets":["train"],"iterations":10,"instances":2,"steps":[]},{"name":"d","nets":[],"every_ms":5,"steps":[]}]}])"));
  EXPECT_FALSE(plan.contains("listing"));
  const std::string text = Weft({"print", file, "--steps"}).out;
  EXPECT_TRUE(Contains(text, "step c  num_iter 10  instances 2")) << text;
  EXPECT_FALSE(Contains(text, "Relu")) << text;
  // One net of the plan.
  ASSERT_EQ(Weft({"convert", file + "#train", folder / "train.json"}).exit, 0);
  EXPECT_EQ(json::parse(Read(folder / "train.json"))["nets"][0]["operators"].size(), 2u);
  ASSERT_EQ(Weft({"convert", file, folder / "plan.json"}).exit, 0);
  EXPECT_EQ(json::parse(Read(folder / "plan.json"))["plans"][0]["steps"], plan["steps"]);
}

TEST(Ssa, NestedNetsAndWhatTheyCapture) {
  const Folder folder;
  const auto nested = [&](std::string_view text) {
    return Weft({"ssa", folder.Write("net.pbtxt", text), "--nested", "--json"}).json()["nested"];
  };
  const json branch = nested(kNet);
  ASSERT_EQ(branch.size(), 1u);
  EXPECT_EQ(branch[0]["path"], "1.then_net");
  EXPECT_EQ(branch[0]["captured"], json::parse(R"([
    {"inner":"x","outer":"x","version":1,"after":null,"reads":true,"writes":false},
    {"inner":"y","outer":"y","version":null,"after":1,"reads":false,"writes":true}])"));
  // A Do binds names of its own, here one blob that it reads and one that it writes.
  const json bound = nested(R"(external_input: "a" external_input: "w"
op { type: "Copy" input: "a" output: "a" }
op { type: "Do" input: "a" input: "w" output: "b" output: "w"
  arg { name: "inner_blobs" strings: "in" strings: "out" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
  arg { name: "net" n { op { type: "Relu" input: "in" output: "out" } op { type: "Relu" input: "out" output: "own" } } } }
)");
  EXPECT_EQ(bound[0]["captured"], json::parse(R"([
    {"inner":"in","outer":"a","version":1,"after":null,"reads":true,"writes":false},
    {"inner":"out","outer":"b","version":null,"after":1,"reads":false,"writes":true}])"));
  EXPECT_TRUE(Contains(Weft({"ssa", folder / "net.pbtxt", "--nested"}).out, "  in  reads a@1\n"));
}

TEST(Devices, CountsDifferencesAndBytes) {
  const Folder folder;
  const std::string net = folder.Write("net.pbtxt", R"(name: "m"
op { type: "Relu" input: "gpu_0/x" output: "gpu_0/y" } op { type: "Relu" input: "gpu_1/x" output: "gpu_1/y" }
op { type: "ReluGradient" input: "gpu_0/y" input: "gpu_0/dy" output: "gpu_0/w_grad" is_gradient_op: true }
op { type: "ReluGradient" input: "gpu_1/y" input: "gpu_1/dy" output: "gpu_1/w_grad" is_gradient_op: true }
op { type: "NCCLAllreduce" input: "gpu_0/w_grad" input: "gpu_1/w_grad" output: "gpu_0/w_grad" output: "gpu_1/w_grad" }
op { type: "Tanh" input: "gpu_1/w" output: "gpu_1/z" } op { type: "Sigmoid" input: "gpu_0/w" output: "gpu_0/z" }
)");
  const std::string init = folder.Write("init.pbtxt", R"(
op { type: "XavierFill" output: "gpu_0/w" arg { name: "shape" ints: 10 ints: 25 } }
op { type: "XavierFill" output: "gpu_1/w" arg { name: "shape" ints: 10 ints: 25 } }
)");
  const json told = Weft({"devices", net, "--init", init, "--json"}).json();
  EXPECT_EQ(told["devices"][0]["operators"], 3);
  EXPECT_EQ(told["devices"][1]["backward"], 1);
  EXPECT_EQ(told["shared"], 1);
  EXPECT_EQ(told["devices"][1]["same_as"], "gpu_1");
  EXPECT_EQ(told["devices"][1]["differing"], 1);
  EXPECT_EQ(told["devices"][1]["first_difference"]["here"]["op"], 5);
  EXPECT_EQ(told["devices"][1]["first_difference"]["there"]["op"], 6);
  EXPECT_TRUE(told["devices"][0]["first_difference"].is_null());
  // A ring of two: each of 1,000 bytes goes round once and back.
  EXPECT_EQ(told["moving"],
            json::parse(R"([{"op":4,"type":"NCCLAllreduce","blob":"gpu_0/w_grad","local_bytes":2000,
    "network_bytes":0}])"));
  const json unknown = Weft({"devices", net, "--json"}).json();
  EXPECT_TRUE(unknown["moving"][0]["local_bytes"].is_null());
  EXPECT_EQ(unknown["moved"]["unknown"], 1);
  EXPECT_EQ(Weft({"devices", net, "--input", "gpu_0/w=10,25", "--input", "gpu_1/w=10,25", "--json"})
                .json()["moving"],
            told["moving"]);
  EXPECT_TRUE(Contains(Weft({"devices", net}).out, "differs from gpu_0, first: 5 Tanh(gpu_1/w) -> gpu_1/z"));
}

}  // namespace
}  // namespace weft::cli_test
