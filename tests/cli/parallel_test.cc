// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft parallel from outside: the files it writes, what it says, and what it refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/cli/run_weft.h"

namespace weft::cli_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInit = R"(name: "m_init"
op { output: "w" type: "XavierFill" arg { name: "shape" ints: 1 ints: 3 } }
op { output: "b" type: "ConstantFill" arg { name: "shape" ints: 1 } }
)";
constexpr std::string_view kNet = R"(name: "m"
op { input: "x" input: "w" input: "b" output: "y" type: "FC" }
op { input: "y" output: "loss" type: "AveragedLoss" }
external_input: "x" external_input: "w" external_input: "b"
)";

struct Model {
  Folder folder;
  std::string init = folder.Write("init.pbtxt", kInit), net = folder.Write("net.pbtxt", kNet);
  std::string out = folder / "out";

  Outcome Parallel(std::vector<std::string> more) const {
    std::vector<std::string> words = {"parallel", "--init", init, "--net", net, "--loss", "loss", "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    return Weft(words);
  }
  bool Has(const std::string& name) const { return fs::exists(out + "/" + name + ".pbtxt"); }
};

TEST(Parallel, WritesWhatApplies) {
  const Model model;
  const Outcome plain = model.Parallel({"--devices", "cpu:0-1", "--optimizer", "sgd:base_lr=0.1"});
  EXPECT_EQ(plain.exit, 0) << plain.err;
  EXPECT_EQ(plain.out,
            "init.pbtxt                10 operators  once\n"
            "net.pbtxt                 24 operators  every iteration\n"
            "plan.pbtxt           all of them in order\n"
            "\nAn iteration moves 32 B between devices and sends 0 B to other machines.\n");
  for (const char* name : {"init", "net", "plan"}) EXPECT_TRUE(model.Has(name)) << name;
  EXPECT_FALSE(model.Has("barrier"));
  EXPECT_EQ(Weft({"check", model.out + "/plan.pbtxt"}).exit, 0);

  const Outcome shards = model.Parallel({"--devices", "cuda:0,2", "--optimizer", "adam", "--nccl", "--shards",
                                         "2", "--shard-id", "1", "--json"});
  EXPECT_EQ(shards.exit, 0) << shards.err;
  EXPECT_EQ(shards.json()["params"], nlohmann::json::array({"gpu_0/w", "gpu_0/b", "gpu_2/w", "gpu_2/b"}));
  EXPECT_EQ(shards.json()["nets"]["barrier"], 1);
  for (const char* name : {"barrier_init", "barrier"}) EXPECT_TRUE(model.Has(name)) << name;
}

TEST(Parallel, ShardsTheOptimizer) {
  const Model model;
  const auto states = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--optimizer", "adam", "--shard-optimizer", "--json"});
    const Outcome outcome = model.Parallel(words);
    EXPECT_EQ(outcome.exit, 0) << outcome.err;
    return outcome.json()["own_state"];
  };
  EXPECT_EQ(states({"--devices", "cpu:0-1"}),
            nlohmann::json::array({"cpu_0/w_first_moment", "cpu_0/w_second_moment", "cpu_1/b_first_moment",
                                   "cpu_1/b_second_moment"}));
  EXPECT_EQ(states({"--devices", "cpu:0", "--shards", "3", "--shard-id", "1"}),
            nlohmann::json::array({"cpu_0/b_first_moment", "cpu_0/b_second_moment"}));
  EXPECT_EQ(states({"--devices", "cpu:0", "--shards", "3", "--shard-id", "2"}), nlohmann::json::array());
}

TEST(Parallel, SyncsAndSumsBlobs) {
  const Model model;
  const auto last = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--devices", "cpu:0-1", "--optimizer", "sgd"});
    const Outcome outcome = model.Parallel(words);
    if (outcome.exit != 0) return outcome.err;
    const std::string net = Weft({"print", model.out + "/net.pbtxt"}).out;
    return net.substr(net.rfind('\n', net.size() - 2) + 1);
  };
  EXPECT_NE(last({"--sync", "y"}).find("Copy(cpu_0/y) -> cpu_1/y"), std::string::npos)
      << last({"--sync", "y"});
  EXPECT_NE(last({"--sum", "cpu_0/y", "--shards", "2"}).find("Allreduce(blob_sync_cw_cpu_0/y, cpu_0/y@1)"),
            std::string::npos)
      << last({"--sum", "cpu_0/y", "--shards", "2"});
  EXPECT_EQ(last({"--sync", "z"}), "weft: error: --sync: there is no blob cpu_0/z\n");
}

TEST(Parallel, OfANetThatTrainsTheForwardPartIsTaken) {
  const Folder folder;
  const std::string train = folder / "train.pb", init = folder / "init.pb", forward = folder / "fwd.pb";
  ASSERT_EQ(Weft({"example", "lenet", "-o", train, "--init", init, "--forward", forward}).exit, 0);
  const auto make = [&](const std::string& net) {
    return Weft({"parallel", "--init", init, "--net", net, "--loss", "loss", "--devices", "cpu:0-1",
                 "--optimizer", "sgd:base_lr=0.1", "-o", folder / "out"});
  };
  const Outcome of_train = make(train), of_forward = make(forward);
  EXPECT_EQ(of_train.exit, 0) << of_train.err;
  EXPECT_NE(of_train.err.find("trains already"), std::string::npos) << of_train.err;
  EXPECT_EQ(of_train.out, of_forward.out);
  EXPECT_EQ(of_forward.err, "");
}

TEST(Parallel, ReplicasAreTheSame) {
  const Model model;
  for (const char* devices : {"cuda:0-11", "cpu:0-2", "hip:1,3"}) {
    for (const char* optimizer : {"sgd", "sgd:momentum=0.9", "adam"}) {
      for (const char* count : {"0", "1"}) {
        ASSERT_EQ(
            model.Parallel({"--devices", devices, "--optimizer", optimizer, "--bucket-count", count}).exit,
            0);
        const auto told = Weft({"devices", model.out + "/net.pbtxt", "--json"}).json()["devices"];
        for (const auto& device : told) EXPECT_EQ(device["same_as"], told[0]["name"]) << device;
      }
    }
  }
}

TEST(Parallel, ParametersAreReadByTheNet) {
  Model model;
  model.init =
      model.folder.Write("more.pbtxt", std::string(kInit) + "op { output: \"v\" type: \"ConstantFill\" }\n");
  model.net = model.folder.Write("more_net.pbtxt", std::string(kNet) + "external_input: \"v\"\n");
  const Outcome made = model.Parallel({"--devices", "cpu:0", "--optimizer", "sgd", "--json"});
  ASSERT_EQ(made.exit, 0) << made.err;
  EXPECT_EQ(made.json()["params"], nlohmann::json::array({"cpu_0/w", "cpu_0/b"}));
}

TEST(Parallel, PredictsBytesAndTime) {
  const Model model;
  const Outcome made = model.Parallel(
      {"--devices", "cuda:0-1", "--nccl", "--optimizer", "sgd:base_lr=0.1", "--input", "x=5,3", "--ranks",
       "1,2,8", "--hardware", "latency=1,bandwidth=1,net_latency=10,net_bandwidth=1,flops=1e9", "--json"});
  ASSERT_EQ(made.exit, 0) << made.err;
  const auto json = made.json();
  const auto& ops = json["moved"]["ops"];
  ASSERT_EQ(ops.size(), 2u);  // b of 4 bytes, w of 12: both devices send it once
  EXPECT_EQ(ops[0]["blob"], "gpu_0/b_grad");
  EXPECT_EQ(ops[0]["local_bytes"], 8);
  EXPECT_EQ(ops[1]["local_bytes"], 24);
  EXPECT_EQ(ops[1]["seconds"], 2 + 12);
  EXPECT_EQ(json["moved"]["by_type"][0]["type"], "NCCLAllreduce");
  EXPECT_EQ(json["moved"]["by_type"][0]["seconds"], 2 + 4 + 2 + 12);
  const auto& ranks = json["ranks"];
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_EQ(ranks[0]["communication"], 0);
  EXPECT_EQ(ranks[1]["communication"], 20);
  EXPECT_EQ(ranks[2]["machines"], 4);
  // On four machines 4 messages and 3/2 of the bytes more.
  EXPECT_EQ(ranks[2]["communication"], 20 + (40 + 6) + (40 + 18));
  EXPECT_EQ(ranks[2]["unknown"], 0);
  EXPECT_EQ(ranks[0]["efficiency"], 1);

  const Outcome text = model.Parallel({"--devices", "cpu:0", "--input", "x=5,3"});
  EXPECT_NE(text.out.find("efficiency\n      1         1     0.00 ms        0.00 ms"), std::string::npos)
      << text.out;
  EXPECT_EQ(model.Parallel({"--devices", "cpu:0", "--hardware", "flops=fast"}).exit, 1);
  EXPECT_EQ(model.Parallel({"--devices", "cpu:0", "--ranks", "0"}).exit, 2);
}

TEST(Parallel, SharesParametersAndRunsBehindTheFirstSync) {
  const Model model;
  const std::string post =
      model.folder.Write("post.pbtxt", R"(name: "p" op { input: "w" output: "w_start" type: "Copy" })");
  const Outcome outcome = model.Parallel(
      {"--devices", "cpu:0-1", "--optimizer", "sgd", "--common", "b", "--post-sync", post, "--json"});
  EXPECT_EQ(outcome.exit, 0) << outcome.err;
  EXPECT_EQ(outcome.json()["params"], nlohmann::json::array({"b", "cpu_0/w", "cpu_1/w"}));
  const std::string init = Weft({"print", model.out + "/init.pbtxt"}).out;
  EXPECT_NE(init.find("ConstantFill() -> b "), std::string::npos) << init;
  EXPECT_NE(init.find("-> cpu_1/w_start"), std::string::npos) << init;
  EXPECT_EQ(model.Parallel({"--devices", "cpu", "--optimizer", "sgd"}).exit, 0);
}

TEST(Parallel, Bmuf) {
  const Model model;
  const std::string update = model.folder.Write("update.pbtxt", R"(name: "u"
op { input: "w" input: "one" input: "w_grad" input: "rate" output: "w" type: "WeightedSum" }
op { input: "b" input: "one" input: "b_grad" input: "rate" output: "b" type: "WeightedSum" }
)");
  const Outcome bmuf = model.Parallel({"--devices", "cpu:0-1", "--update", update, "--bmuf",
                                       "nesterov,warmup=3", "--iterations", "5", "--blocks", "2", "--json"});
  EXPECT_EQ(bmuf.exit, 0) << bmuf.err;
  for (const char* name : {"global_init", "global_update", "warmup"}) EXPECT_TRUE(model.Has(name)) << name;
  const Outcome plain = model.Parallel({"--devices", "cpu:0-1", "--update", update, "--bmuf", "--json"});
  EXPECT_EQ(plain.json()["nets"].count("global_update"), 1u) << plain.out;
  const Outcome refused =
      model.Parallel({"--devices", "cpu:0-1", "--optimizer", "sgd", "--bmuf", "nesterov", "--json"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.json()["error"]["message"], "BMUF: needs an update for each device");
}

TEST(Parallel, RefusesWithAReason) {
  const Model model;
  const auto message = [&](std::vector<std::string> words) {
    const Outcome outcome = model.Parallel(std::move(words));
    EXPECT_EQ(outcome.exit, 1);
    return outcome.err;
  };
  EXPECT_EQ(message({"--devices", "cpu:0-1", "--optimizer", "sdg"}),
            "weft: error: there is no optimizer sdg; there is sgd, adagrad, adam, rmsprop, adadelta, ftrl\n");
  const std::string odd = model.folder.Write("odd.pbtxt", "op {");
  for (std::vector<std::string> words :
       {std::vector<std::string>{"--optimizer", "sgd", "--post-sync", odd}, {"--update", odd}}) {
    words.insert(words.end(), {"--devices", "cpu:0-1"});
    const std::string told = message(words);
    EXPECT_EQ(told.find(StrCat("weft: error: ", odd, ": ")), 0u) << told;
  }
  EXPECT_EQ(message({"--devices", "cpu:0,0"}), "weft: error: devices: 0 is given twice\n");
  EXPECT_EQ(message({"--devices", "cpu:0", "--param", "v"}), "weft: error: --param: the net has no blob v\n");
  EXPECT_EQ(message({"--devices", "cpu:0", "--loss-scale-op", "--optimizer", "sgd"}),
            "weft: error: the last operator that writes the loss loss is no Scale on it, which could carry "
            "the loss scale\n");
}

TEST(Parallel, RefusesWhatWouldGoWrongLater) {
  const Model model;
  const auto told = [&](std::vector<std::string> words, int exit = 1) {
    words.insert(words.end(), {"--devices", "cpu:0-1", "--optimizer", "sgd"});
    const Outcome outcome = model.Parallel(words);
    EXPECT_EQ(outcome.exit, exit) << words[0];
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(told({"--threads", "2000000000"}),
            "weft: error: threads_per_device: 2000000000 on 2 devices are more than 1000000 workers");
  EXPECT_EQ(told({"--shards", "2", "--sum", "cpu_0/y", "--sum", "cpu_0/y"}),
            "weft: error: --sum: cpu_0/y is named twice");
  EXPECT_EQ(told({"--sync", "z"}), "weft: error: --sync: there is no blob cpu_0/z");
  EXPECT_EQ(told({"--free", "--keep", "z"}), "weft: error: --keep: the net has no blob z");
  EXPECT_EQ(told({"--common", "x"}), "weft: error: --common: the init net does not make x");
  EXPECT_EQ(told({"--common", "w", "--computed", "w"}),
            "weft: error: --common: w is computed by each replica");
  EXPECT_EQ(told({"--input", "x=5,4"}).find("weft: error: --input: op 0 FC, input "), 0u);
  EXPECT_NE(told({"--shards", "2", "--barrier-timeout", "-5"}, 2).find("expected a whole number"),
            std::string::npos);
  EXPECT_EQ(told({"--shards", "99999999999"}, 2),
            "weft parallel: --shards: expected a number that is not too large, found 99999999999");
}

// All files of DIR or none; what was there before stays.
TEST(Parallel, AFailedWriteLeavesNothing) {
  const Model model;
  const std::vector<std::string> words = {"--devices", "cpu:0-1", "--optimizer", "sgd"};
  fs::create_directories(model.out + "/plan.pbtxt");
  std::ofstream(model.out + "/init.pbtxt") << "mine";
  const Outcome folder = model.Parallel(words);
  EXPECT_EQ(folder.exit, 1);
  EXPECT_EQ(folder.err, StrCat("weft: error: cannot write ", model.out, "/plan.pbtxt: Is a directory\n"));
  EXPECT_EQ(Read(model.out + "/init.pbtxt"), "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(model.out), fs::directory_iterator()), 2);

  fs::remove_all(model.out);
  const Outcome full =
      Shell(StrCat("trap '' XFSZ; ulimit -f 1; \"$WEFT\" parallel --init ", model.init, " --net ", model.net,
                   " --loss loss --optimizer sgd --devices cpu:0-9 -o ", model.out));
  EXPECT_EQ(full.exit, 1);
  EXPECT_NE(full.err.find("cannot write"), std::string::npos) << full.err;
  EXPECT_FALSE(fs::exists(model.out));
}

// An option that only another gives a meaning is not passed over.
TEST(Parallel, SaysWhichOptionIsMissing) {
  const Model model;
  const auto told = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--devices", "cpu:0-1"});
    const Outcome outcome = model.Parallel(words);
    EXPECT_EQ(outcome.exit, 2) << words[0];
    EXPECT_FALSE(fs::exists(model.out)) << words[0];
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  EXPECT_EQ(told({"--shard-id", "1"}),
            "weft parallel: --shard-id: does nothing alone, expected --shards N beside it");
  for (const char* option : {"--engine=NCCL", "--store=s", "--transport=tcp", "--interface=eth0",
                             "--sum=cpu_0/y", "--max-concurrent=2", "--barrier-timeout=5"})
    EXPECT_NE(told({option}).find("expected --shards N beside it"), std::string::npos) << option;
  for (const char* option : {"--nccl", "--shared-model", "--no-broadcast-computed", "--bucket-bytes=10",
                             "--bucket-count=2", "--share-gradients", "--free", "--post-sync=net.pbtxt"})
    EXPECT_NE(told({option}).find("expected --optimizer SPEC or --update FILE beside it"), std::string::npos)
        << option;
  EXPECT_NE(told({"--keep", "y", "--optimizer", "sgd"}).find("expected --free beside it"), std::string::npos);
  EXPECT_NE(told({"--blocks", "2"}).find("expected --bmuf SPEC beside it"), std::string::npos);
  EXPECT_NE(told({"--ranks", "2"}).find("expected --input BLOB=SHAPE beside it"), std::string::npos);
}

}  // namespace
}  // namespace weft::cli_test
