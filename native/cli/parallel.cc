// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft parallel: a model for one device as nets for many.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/str.h"
#include "core/grad/stored.h"
#include "core/pass/bmuf.h"
#include "core/pass/parallel_plan.h"
#include "core/pass/parallel_sync.h"
#include "core/pass/parallel_words.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/cli/predict.h"
#include "native/cli/workbench.h"
#include "native/io/file.h"
#include "proto/codec.h"

namespace weft::cli {

namespace {

struct Words {
  std::string init, net, update, post_sync, devices, optimizer, output;
  std::vector<std::string> loss, param, computed, common, keep, sync, sum;
  ParallelOptions options;
  Rendezvous meet;
  std::optional<std::string> transport, interface;
  std::optional<std::string> bmuf;
  bool has_shards = false, loss_scale_op = false;
  std::optional<int> max_concurrent;
  Schedule schedule;
  Inputs inputs;
  std::string hardware;
  std::vector<int64_t> ranks;
};

// Parameters that were not named: what init makes and the net reads; computed ones if the net writes them.
void FindParams(SingleModel& model) {
  enum : uint8_t { kMade = 1, kWritten = 2, kRead = 4 };
  SymbolMap<uint8_t> flags(*model.net.symbols, model.init.ops.size() + model.net.ops.size(), 0);
  for (const Op& op : model.init.ops)
    for (Symbol blob : op.outputs) flags[blob] |= kMade;
  const Ssa ssa(model.net, {.nested = NestedNets::kReadsAndWrites});
  for (OpId op = 0; op < static_cast<OpId>(model.net.ops.size()); ++op) {
    for (ValueId value : ssa.inputs(op)) flags[ssa.blobs()[ssa.values()[value].blob]] |= kRead;
    for (Symbol blob : model.net.ops[static_cast<size_t>(op)].outputs) flags[blob] |= kWritten;
  }
  for (Symbol blob : model.net.external_inputs) {
    if ((flags.Get(blob) & kMade) == 0 || (flags.Get(blob) & kRead) == 0) continue;
    (flags.Get(blob) & kWritten ? model.computed_params : model.params).push_back(blob);
  }
}

Result<std::vector<Symbol>> Blobs(const Net& net, std::string_view option,
                                  const std::vector<std::string>& names) {
  std::vector<Symbol> blobs;
  const Ssa ssa(net);
  std::vector<std::string_view> known;
  for (Symbol blob : ssa.blobs()) known.push_back(net.Str(blob));
  for (const std::string& name : names) {
    const Symbol blob = net.symbols->Find(name);
    if (std::find(ssa.blobs().begin(), ssa.blobs().end(), blob) == ssa.blobs().end()) {
      const auto near = NearestNames(name, known, 1);
      return Error{ErrorCode::kNotFound,
                   StrCat("--", option, ": the net has no blob ", name,
                          near.empty() ? "" : StrCat("; did you mean ", near[0], "?")),
                   -1, name};
    }
    blobs.push_back(blob);
  }
  return blobs;
}

// A blob that is synced or summed twice would be summed twice.
Result<void> Once(std::string_view option, const std::vector<std::string>& names) {
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name)
      return Error{ErrorCode::kInvalidArgument, StrCat("--", option, ": ", *name, " is named twice"), -1,
                   *name};
  return {};
}

// Common parameters are made by init, once, and are not the replicas' own.
Result<void> CheckCommon(const SingleModel& model) {
  const Ssa init(model.init);
  const std::vector<Symbol>& computed = model.computed_params;
  for (const Symbol blob : model.common_params) {
    const std::string name(model.net.Str(blob));
    const BlobId made = init.FindBlob(blob);
    if (made == kNoBlob || !init.written(made))
      return Error{ErrorCode::kInvalidArgument, StrCat("--common: the init net does not make ", name), -1,
                   name};
    if (std::find(computed.begin(), computed.end(), blob) != computed.end())
      return Error{ErrorCode::kInvalidArgument, StrCat("--common: ", name, " is computed by each replica"),
                   -1, name};
  }
  return {};
}

Result<SingleModel> ReadModel(const Main& main, const Words& words) {
  SingleModel model;
  WEFT_TRY(model.init, LoadNetOfSeveral(words.init));
  WEFT_TRY(Net net, LoadNetOfSeveral(words.net));
  std::optional<StoredPass> stored;
  if (!words.optimizer.empty() || !words.update.empty()) {
    WEFT_TRY(stored, FindStoredPass(net));
  }
  if (stored) {
    std::vector<Op> tail;
    net = TakeStoredPassAway(std::move(net), *stored, tail);
    Warn(main, StrCat(words.net, " trains already: its first ", net.ops.size(),
                      " operators, the forward part, are taken; its backward pass and the ", tail.size(),
                      " operators behind it are not"));
  }
  model.net = Rehome(net, model.init.symbols);
  if (!words.update.empty()) {
    WEFT_TRY(Net update, LoadNetOfSeveral(words.update));
    model.update = Rehome(update, model.init.symbols);
  }
  if (!words.post_sync.empty()) {
    WEFT_TRY(Net post_sync, LoadNetOfSeveral(words.post_sync));
    model.post_sync = Rehome(post_sync, model.init.symbols);
  }
  WEFT_TRY_VOID(Once("sync", words.sync));
  WEFT_TRY_VOID(Once("sum", words.sum));
  WEFT_TRY_VOID(Once("common", words.common));
  WEFT_TRY_VOID(Blobs(model.net, "keep", words.keep));
  WEFT_TRY(model.losses, Blobs(model.net, "loss", words.loss));
  WEFT_TRY(model.params, Blobs(model.net, "param", words.param));
  WEFT_TRY(model.computed_params, Blobs(model.net, "computed", words.computed));
  WEFT_TRY(model.common_params, Blobs(model.net, "common", words.common));
  model.loss_scale_op = words.loss_scale_op;
  if (words.param.empty()) {
    std::vector<Symbol> computed = std::move(model.computed_params);
    model.computed_params.clear();
    FindParams(model);
    if (!words.computed.empty()) {
      std::erase_if(model.params, [&](Symbol blob) {
        return std::find(computed.begin(), computed.end(), blob) != computed.end();
      });
      model.computed_params = std::move(computed);
    }
  }
  std::erase_if(model.params, [&](Symbol blob) {
    return std::find(model.common_params.begin(), model.common_params.end(), blob) !=
           model.common_params.end();
  });
  WEFT_TRY_VOID(CheckCommon(model));
  return model;
}

Result<ParallelOptions> ReadOptions(const Words& words) {
  ParallelOptions options = words.options;
  const std::string all =
      words.devices == "cpu" || words.devices == "ideep"
          ? StrCat(words.devices, ":0-", std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)) - 1)
          : words.devices;
  WEFT_TRY(DeviceList devices, ParseDeviceList(all));
  options.device_type = devices.type;
  options.devices = std::move(devices.ids);
  options.blobs_to_keep = words.keep;
  if (words.max_concurrent) options.max_concurrent_distributed_ops = *words.max_concurrent;
  if (words.has_shards) {
    options.rendezvous = words.meet;
    options.rendezvous->transport = words.transport;
    options.rendezvous->interface = words.interface;
    if (words.meet.engine == "MPI") {
      options.rendezvous->kv_handler.clear();
      options.rendezvous->mpi_rendezvous = true;
    }
  }
  return options;
}

Result<ParallelNets> MakeNets(const Words& words, const SingleModel& model, const ParallelOptions& options) {
  ParallelCallbacks callbacks = CallbacksOf(model);
  std::optional<Optimizer> optimizer;
  if (!words.optimizer.empty()) {
    WEFT_TRY(optimizer, ParseOptimizer(words.optimizer));
    callbacks.optimizer = [&optimizer](ModelBuilder& built) {
      std::vector<TrainedParam> params;
      for (const auto& [param, gradient] : built.gradients) params.push_back({param, gradient, {}});
      return AddOptimizer(built.registry, built.net, built.init, *optimizer, params);
    };
  }
  NameRegistry registry;
  ModelBuilder builder{registry, NetBuilder(registry, model.net.Str(model.net.name), model.net.symbols),
                       NetBuilder(registry, model.init.Str(model.init.name), model.net.symbols)};
  builder.params = model.common_params;
  const auto make = [&]() -> Result<ParallelNets> {
    if (!words.bmuf) return Parallelize(std::move(builder), StandardOps(), callbacks, options);
    BmufOptions bmuf;
    bmuf.parallel = options;
    if (!words.max_concurrent) bmuf.parallel.max_concurrent_distributed_ops = 4;
    WEFT_TRY_VOID(ParseBmuf(*words.bmuf, bmuf));
    return ParallelizeBmuf(std::move(builder), StandardOps(), callbacks, bmuf);
  };
  WEFT_TRY(ParallelNets nets, make());
  const auto of = [](const char* option, Result<void> added) -> Result<void> {
    if (added) return added;
    Error error = std::move(added).error();
    error.message = StrCat(option, ": ", error.message);
    return error;
  };
  WEFT_TRY_VOID(of("--sync", AddBlobSync(nets, nets.net, options, words.sync)));
  WEFT_TRY_VOID(of("--sum", AddDistributedBlobSync(nets, nets.net, options, words.sum)));
  return nets;
}

struct File {
  std::string name;
  const Net* net;
  std::string_view what;
};

std::vector<File> FilesOf(const ParallelNets& nets) {
  std::vector<File> files = {{"init", &nets.init, "once"}, {"net", &nets.net, "every iteration"}};
  const auto add = [&](std::string name, const std::optional<Net>& net, std::string_view what) {
    if (net) files.push_back({std::move(name), &*net, what});
  };
  add("update", nets.update, "after each so many iterations (--accumulate)");
  add("global_init", nets.global_init, "once, after init");
  add("global_update", nets.global_update, "once after each block of iterations");
  add("warmup", nets.warmup, "once after the warm-up iterations");
  add("barrier_init", nets.barrier_init, "once, before init");
  add("barrier", nets.barrier, "once, before training");
  return files;
}

// All files or none, and no folder that was not there.
Result<void> Save(const std::string& folder, const std::vector<File>& files, const Plan& plan) {
  const bool made = ::mkdir(folder.c_str(), 0777) == 0;
  if (!made && errno != EEXIST) return Error{ErrorCode::kIo, StrCat(folder, ": ", std::strerror(errno))};
  const Result<void> saved = [&]() -> Result<void> {
    FileSet set;
    for (const File& file : files)
      WEFT_TRY_VOID(set.Add(StrCat(folder, "/", file.name, ".pbtxt"), NetToText(*file.net)));
    WEFT_TRY_VOID(set.Add(StrCat(folder, "/plan.pbtxt"), PlanToText(plan)));
    return set.Commit();
  }();
  if (!saved && made) ::rmdir(folder.c_str());
  return saved;
}

struct Prediction {
  Hardware hardware;
  const Net* reducing = nullptr;  // the net that `moved` is of
  CommCost moved;
  std::vector<RankRow> ranks;  // with inputs
};

// What is predicted of the nets that were made with these options, and on other numbers of devices.
Result<Prediction> Predict(const Words& words, const SingleModel& model, const ParallelOptions& options,
                           const ParallelNets& nets) {
  Prediction out;
  WEFT_TRY(out.hardware, ParseHardware(words.hardware));
  out.reducing = nets.update ? &*nets.update : nets.global_update ? &*nets.global_update : &nets.net;
  WEFT_TRY(Counted counted, Count(nets, *out.reducing, options, words.inputs));
  out.moved = std::move(counted.moved);
  if (words.inputs.empty()) return out;
  RankRequest request{words.ranks, !words.ranks.empty(), out.hardware,
                      words.bmuf ? words.schedule.iterations : 1};
  if (!request.asked) {
    const int64_t own = static_cast<int64_t>(options.devices.size()) * options.num_shards();
    request.ranks = {1, 8, 64, 512};
    request.ranks.insert(std::lower_bound(request.ranks.begin(), request.ranks.end(), own), own);
    request.ranks.erase(std::unique(request.ranks.begin(), request.ranks.end()), request.ranks.end());
  }
  WEFT_TRY(out.ranks,
           PredictRanks([&](const ParallelOptions& there) { return MakeNets(words, model, there); }, options,
                        request, words.inputs));
  return out;
}

std::string Json(const Words& words, const ParallelNets& nets, const std::vector<File>& files,
                 const Prediction& predicted) {
  std::string out;
  JsonWriter json(out);
  const SymbolTable& table = *nets.net.symbols;
  const auto names = [&](std::string_view key, const std::vector<Symbol>& blobs) {
    json.Key(key).BeginArray();
    for (Symbol blob : blobs) json.String(table.Str(blob));
    json.EndArray();
  };
  json.BeginObject().Key("nets").BeginObject();
  for (const File& file : files) json.Key(file.name).Int(static_cast<int64_t>(file.net->ops.size()));
  json.EndObject();
  names("params", nets.params);
  names("computed", nets.computed_params);
  names("checkpoint", nets.checkpoint);
  names("own_state", nets.own_state);
  names("learning_rates", nets.learning_rates);
  json.Key("moved");
  WriteMoved(json, *predicted.reducing, predicted.moved, predicted.hardware);
  json.Key("ranks");
  WriteRanks(json, predicted.ranks);
  json.Key("plan").String(StrCat(words.output, "/plan.pbtxt")).EndObject();
  return out;
}

// --input can be read, and the model takes it.
Result<void> CheckInputs(const Main& main, const Words& words, const SingleModel& model) {
  if (words.inputs.empty()) return {};
  const Net* const known[] = {&model.net};
  ShapeTable table;
  WEFT_TRY(std::vector<GivenBlob> given, ParseInputs(main, words.inputs, known, *model.net.symbols, table));
  for (GivenBlob& blob : FinalShapes(InferShapes(model.init, {}, table))) given.push_back(std::move(blob));
  const NetShapes shapes = InferShapes(model.net, given, table);
  const Diagnostic* wrong = FirstError(shapes);
  if (!wrong) return {};
  return Error{ErrorCode::kInvalidArgument, StrCat("--input: ", wrong->message), -1, wrong->blob};
}

int Run(Main& main, const Words& words) {
  const Result<SingleModel> model = ReadModel(main, words);
  if (!model) return main.Fail(model.error());
  if (const Result<void> fit = CheckInputs(main, words, *model); !fit) return main.Fail(fit.error());
  const Result<ParallelOptions> options = ReadOptions(words);
  if (!options) return main.Fail(options.error());
  const Result<ParallelNets> nets = MakeNets(words, *model, *options);
  if (!nets) return main.Fail(nets.error());
  const Result<Plan> plan = PlanOf(*nets, words.schedule);
  if (!plan) return main.Fail(plan.error());
  const Result<Prediction> predicted = Predict(words, *model, *options, *nets);
  if (!predicted) return main.Fail(predicted.error());
  const std::vector<File> files = FilesOf(*nets);
  if (const Result<void> saved = Save(words.output, files, *plan); !saved) return main.Fail(saved.error());
  const CommCost& moved = predicted->moved;
  if (main.json) return PrintJson(main, Json(words, *nets, files, *predicted));
  Stream out(STDOUT_FILENO, main.color);
  for (const File& file : files) {
    const std::string name = StrCat(file.name, ".pbtxt");
    out.Write(StrCat(name, std::string(21 - name.size(), ' ')), TextClass::kOutput);
    const std::string count = std::to_string(file.net->ops.size());
    out.Write(StrCat(std::string(count.size() < 7 ? 7 - count.size() : 0, ' '), count, " operators  "));
    out.Write(file.what, TextClass::kMuted);
    out.Write("\n");
  }
  out.Write("plan.pbtxt", TextClass::kOutput);
  out.Write("           all of them in order\n");
  out.Write(
      StrCat(nets->update          ? "\nAn update moves "
             : nets->global_update ? "\nA block moves "
                                   : "\nAn iteration moves ",
             FormatBytes(static_cast<uint64_t>(moved.local_bytes)), " between devices and sends ",
             FormatBytes(static_cast<uint64_t>(moved.network_bytes)), " to other machines",
             moved.unknown ? StrCat(", and ", moved.unknown, " operators more whose sizes are unknown") : "",
             ".\n"));
  if (!predicted->ranks.empty()) PrintRanks(out, predicted->ranks);
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddParallel(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "parallel", "a model for one device as nets for many",
                                    [&main, words] { return Run(main, *words); });
  command->add_option("--init", words->init, "the net that fills the parameters")
      ->required()
      ->type_name("FILE");
  command->add_option("--net", words->net, "the forward net")->required()->type_name("FILE");
  AddRepeated(*command, "--loss", words->loss, "what to train for")->type_name("BLOB");
  AddRepeated(*command, "--param", words->param,
              "a parameter; without any, what init makes and the net reads and does not write")
      ->type_name("BLOB");
  AddRepeated(*command, "--computed", words->computed,
              "a parameter that the net computes, such as a running mean; without any, and without --param, "
              "what init makes and the net reads and writes")
      ->type_name("BLOB");
  AddRepeated(*command, "--common", words->common,
              "a parameter that is made once for all replicas of a machine, which read it under its own name")
      ->type_name("BLOB");
  command
      ->add_option("--devices", words->devices,
                   "cpu:0-3, cuda:0,2, hip:0-7, ideep:0; cpu: all of this machine")
      ->required()
      ->type_name("KIND:N,...");
  command
      ->add_option("--optimizer", words->optimizer,
                   "sgd, adagrad, adam, rmsprop, adadelta or ftrl, with options: "
                   "sgd:base_lr=0.1,momentum=0.9,policy=step,stepsize=10,gamma=0.5")
      ->type_name("SPEC");
  command
      ->add_option("--update", words->update,
                   "a net that updates the parameters of one device from their gradients PARAM_grad")
      ->type_name("FILE");
  command
      ->add_option("--post-sync", words->post_sync,
                   "a net that each device runs in init, when the parameters are equal everywhere")
      ->type_name("FILE");
  command->add_flag("--loss-scale-op", words->loss_scale_op,
                    "each loss ends in a Scale on itself that carries the loss scale; else one is added");
  ParallelOptions& options = words->options;
  command->add_flag("--nccl", options.use_nccl, "sum gradients between GPUs with NCCL");
  command->add_flag("--shared-model", options.shared_model, "all CPU replicas use one set of parameters");
  command->add_flag("--combine-bn", options.combine_spatial_bn, "batch norm over the batches of all devices");
  command->add_flag("--broadcast-computed,!--no-broadcast-computed", options.broadcast_computed_params,
                    "computed parameters follow the first device's (on by default)");
  command
      ->add_option("--bucket-bytes", options.bucket_bytes,
                   "sum gradients in buckets of at most so many bytes, while the backward pass still runs")
      ->check(WholeNumber())
      ->type_name("N");
  command->add_option("--bucket-count", options.bucket_count, "the same, of at most so many gradients")
      ->check(WholeNumber())
      ->type_name("N");
  command
      ->add_option("--accumulate", options.accumulate,
                   "add up the gradients of so many iterations for one update, in a net of its own")
      ->type_name("N");
  command->add_flag("--shard-optimizer", options.shard_optimizer,
                    "each parameter is updated on one device of one machine, which alone has its optimizer "
                    "state, and sent to all");
  command->add_flag("--share-gradients", options.optimize_gradient_memory,
                    "gradients between operators share memory");
  command->add_flag("--free", options.dynamic_memory_management, "free blobs after their last use");
  AddRepeated(*command, "--keep", words->keep, "with --free: a blob that stays, named without device")
      ->type_name("BLOB");
  AddRepeated(*command, "--sync", words->sync,
              "a blob, named without device, that follows the first device of the first machine")
      ->type_name("BLOB");
  AddRepeated(*command, "--sum", words->sum,
              "with --shards: a blob, named with its device, that is summed over the machines")
      ->type_name("BLOB");
  command->add_option("--shards", words->meet.num_shards, "how many machines")
      ->type_name("N")
      ->each([words](const std::string&) { words->has_shards = true; });
  command->add_option("--shard-id", words->meet.shard_id, "with --shards: which of them this is, from 0")
      ->type_name("K");
  command->add_option("--engine", words->meet.engine, "with --shards: GLOO, NCCL or MPI")
      ->check(CLI::IsMember({"GLOO", "NCCL", "MPI"}))
      ->type_name("ENGINE");
  command
      ->add_option("--store", words->meet.kv_handler,
                   "with --shards: the blob of the store where machines meet")
      ->type_name("BLOB");
  command->add_option("--transport", words->transport, "with --shards: tcp or ibverbs")->type_name("NAME");
  command->add_option("--interface", words->interface, "with --shards: the network interface")
      ->type_name("NAME");
  command
      ->add_option_function<std::string>(
          "--bmuf", [words](const std::string& spec) { words->bmuf = spec; },
          "blockwise model-update filtering: nesterov, warmup=N, momentum=F, rate=F, master=DEVICE, "
          "reset_momentum, sync=BLOB")
      ->expected(0, 1)
      ->type_name("SPEC");
  command->add_option("--net-type", options.net_type, "dag, async_scheduling, simple, ...")
      ->type_name("TYPE");
  command->add_option("--threads", options.threads_per_device, "workers for each device")->type_name("N");
  command
      ->add_option("--max-concurrent", words->max_concurrent,
                   "with --shards: collectives between machines at a time")
      ->type_name("N");
  command->add_option("--barrier-timeout", options.barrier_timeout_ms, "with --shards: in milliseconds")
      ->check(WholeNumber())
      ->type_name("MS");
  command->add_option("--iterations", words->schedule.iterations, "of the plan; with --bmuf, in each block")
      ->type_name("N");
  command->add_option("--blocks", words->schedule.blocks, "with --bmuf: of the plan")->type_name("N");
  AddRepeated(
      *command, "--input", words->inputs,
      "the shape of what one device reads from outside, such as data=32,3,224,224: then the time of a step "
      "is predicted")
      ->type_name("BLOB=SHAPE");
  command
      ->add_option("--ranks", words->ranks,
                   "with --input: on how many devices in all (1, 8, 64, 512 and as many as are planned)")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1000000}))
      ->type_name("N,...");
  command
      ->add_option(
          "--hardware", words->hardware,
          "flops=1e13,memory=8e11 of a device, latency=5e-6,bandwidth=5e10 between devices of a machine, "
          "net_latency=2e-5,net_bandwidth=1.25e10 between machines, in operations, bytes and seconds, and "
          "algorithm=ring, tree or fastest: these are the defaults")
      ->type_name("SPEC");
  command->add_option("-o,--output", words->output, "folder for the nets and plan.pbtxt")
      ->required()
      ->type_name("DIR");
  AddJson(
      *command, main,
      R"({"nets":{name:operators},"params":[...],"computed":[...],"checkpoint":[...],"own_state":[...],)"
      R"("learning_rates":[...],"moved":{"local_bytes":n,"network_bytes":n,"unknown":operators,)"
      R"("ops":[{op,type,blob,local_bytes,network_bytes,seconds}],"by_type":[{type,ops,...}]},)"
      R"("ranks":[{ranks,machines,devices,compute,communication,hidden,step,efficiency,unknown}],"plan":path})");
  OnlyBeside(*command, main, {"--optimizer", "--update"},
             {"--post-sync", "--nccl", "--shared-model", "--broadcast-computed", "--bucket-bytes",
              "--bucket-count", "--share-gradients", "--free"});
  OnlyBeside(*command, main, {"--shards"},
             {"--shard-id", "--engine", "--store", "--transport", "--interface", "--sum", "--max-concurrent",
              "--barrier-timeout"});
  OnlyBeside(*command, main, {"--free"}, {"--keep"});
  OnlyBeside(*command, main, {"--bmuf"}, {"--blocks"});
  OnlyBeside(*command, main, {"--input"}, {"--ranks"});
  command->footer(
      "DIR gets init and net, and as they apply update, global_init, global_update, warmup, barrier_init and "
      "barrier "
      "(.pbtxt), and plan.pbtxt, which runs them. With --input, the seconds of a step: what the busiest "
      "device computes, what is exchanged, how "
      "much of that is hidden while it computes; efficiency is against the first number of ranks. Without "
      "--optimizer and --update the model only runs "
      "forward.");
}

}  // namespace weft::cli
