// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft run: a net or plan with the reference kernels, its blobs fed from and fetched into .npy files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/base/str.h"
#include "core/run/tensor_text.h"
#include "native/cli/load.h"
#include "native/cli/made_inputs.h"
#include "native/cli/progress.h"
#include "native/cli/run_trace.h"
#include "native/cli/workbench.h"
#include "native/io/file.h"
#include "native/io/npy.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file, out;
  Setup setup;
  std::vector<std::string> watch, stats, fetch;
  int64_t iterations = 1, most_ops = 0;
  bool trace = false, stop_at_nan = false, inputs = false;
};

constexpr size_t kColumn = 12;  // fits most numbers
constexpr int64_t kMostInJson = 1'000'000;

// A watched blob's one element.
struct Sample {
  double value;
  bool integer;
  int64_t exact;
  std::string text;
};

Result<Sample> Look(const Workspace& workspace, const std::string& blob) {
  const auto refuse = [&](std::string found) {
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("--watch ", blob, ": expected a tensor of one number, found ", found), -1, blob};
  };
  const Blob* place = workspace.FindBlob(blob);
  if (!place) return refuse("no such blob");
  const Tensor* tensor = place->Get<Tensor>();
  if (!tensor)
    return refuse(place->empty() ? "an empty blob" : StrCat("a blob that holds ", place->type_name()));
  if (!tensor->has_type()) return refuse("a blob that was never written");
  if (tensor->numel() != 1 || tensor->type() == DataType::kString)
    return refuse(StrCat(DataTypeName(tensor->type()), " ", DimsToString(tensor->dims()),
                         "; --fetch takes whole tensors"));
  const bool integer = tensor->type() == DataType::kInt64;
  return Sample{NumberAt(*tensor, 0), integer, integer ? tensor->data<int64_t>()[0] : 0,
                ElementText(*tensor, 0)};
}

// A blob's content as a tensor: itself, or the text of a std::string blob.
Result<Tensor> Fetch(const Workspace& workspace, const std::string& blob) {
  const Blob* place = workspace.FindBlob(blob);
  if (!place)
    return Error{ErrorCode::kNotFound, StrCat("--fetch ", blob, ": the run made no such blob"), -1, blob};
  if (const Tensor* tensor = place->Get<Tensor>(); tensor && tensor->has_type()) return *tensor;
  if (const std::string* text = place->Get<std::string>()) return Tensor::Scalar<std::string>(*text);
  return Error{
      ErrorCode::kInvalidArgument,
      StrCat("--fetch ", blob, ": expected a tensor, found ",
             place->empty() || place->Get<Tensor>() ? "a blob that was never written"
                                                    : StrCat("a blob that holds ", place->type_name())),
      -1, blob};
}

std::string FileOf(const std::string& folder, const std::string& blob) {
  std::string path = StrCat(folder, folder.ends_with('/') ? "" : "/");
  for (char c : blob) path += c == '/' ? std::string("__") : std::string(1, c);
  return path + ".npy";
}

Result<void> MakeFolder(const std::string& path) {
  for (size_t at = 1; at <= path.size(); ++at) {
    if (at < path.size() && path[at] != '/') continue;
    if (::mkdir(path.substr(0, at).c_str(), 0777) != 0 && errno != EEXIST)
      return Error{ErrorCode::kIo, StrCat("--out: cannot make ", path, ": ", std::strerror(errno))};
  }
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return Error{ErrorCode::kIo, StrCat("--out: ", path, " is not a folder")};
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return Error{ErrorCode::kIo, StrCat("--out: cannot write to ", path, ": ", std::strerror(errno))};
  return {};
}

class Runner {
 public:
  Runner(Main& main, const Words& words)
      : main_(main), words_(words), context_(MakeRunContext(words.setup.seed)), workspace_(context_) {
    context_.op_limit = static_cast<uint64_t>(words.most_ops);
  }

  Result<int> Run() {
    WEFT_TRY_VOID(CheckFiles());
    WEFT_TRY(Program program, LoadProgram(words_.file));
    WEFT_TRY(Feeds feeds, ReadFeeds(words_.setup.feeds));
    if (words_.inputs) {  // an init net may take long, its shapes don't
      const std::string& file = words_.setup.init;
      const Result<Net> init = file.empty() ? Result<Net>(Net()) : LoadNet(file);
      if (init) {
        WEFT_TRY(const std::vector<RunInput> inputs,
                 FindInputs(program, words_.setup, feeds, KnownAfter(*init)));
        return ShowInputs(main_, inputs);
      }
    }
    WEFT_TRY_VOID(FillWorkspace(words_.setup, {}, workspace_));
    for (const auto& [blob, tensor] : feeds)
      if (!program.Mentions(blob) && !workspace_.HasBlob(blob)) {
        const auto near = NearestNames(blob, program.Blobs(), 1);
        Warn(main_, StrCat("--feed: ", program.Label(), " has no blob ", blob,
                           near.empty() ? "" : StrCat("; did you mean ", near[0], "?")));
      }
    for (const auto& [blob, tensor] : feeds) workspace_.Feed(blob, tensor);
    if (words_.inputs || !words_.setup.fills.empty() || !words_.setup.shapes.empty()) {
      WEFT_TRY(const std::vector<RunInput> inputs,
               FindInputs(program, words_.setup, feeds, KnownIn(workspace_)));
      if (words_.inputs) return ShowInputs(main_, inputs);
      WEFT_TRY_VOID(MakeInputs(inputs, words_.setup.seed, feeds, workspace_));
    }
    const auto known = [&](const char* option, const std::vector<std::string>& blobs) -> Result<void> {
      for (const std::string& blob : blobs)
        if (!program.Mentions(blob) && !workspace_.HasBlob(blob))
          return NoSuchBlob(option, blob, program.Blobs());
      return {};
    };
    WEFT_TRY_VOID(known("--watch", words_.watch));
    WEFT_TRY_VOID(known("--stats", words_.stats));
    WEFT_TRY_VOID(known("--fetch", words_.fetch));
    // Before the run: it may take hours.
    if (!words_.out.empty()) WEFT_TRY_VOID(MakeFolder(words_.out));
    if (Result<void> ready = program.Prepare(workspace_); !ready)
      return WithRemedy(std::move(ready).error(), words_.setup, feeds);
    if (words_.trace || words_.stop_at_nan) {
      if (!program.net())
        return Error{ErrorCode::kUnsupported,
                     StrCat("--trace and --stop-at-nan take a net, found ", program.Label())};
      trace_.emplace(*program.net(), workspace_,
                     Trace::Options{.keep = words_.trace, .stop_at_nan = words_.stop_at_nan});
    }
    WEFT_TRY_VOID(Iterate(program, feeds));
    WEFT_TRY_VOID(Deliver());
    return trace_ && trace_->stopped() ? kInputAtFault : kOk;
  }

 private:
  // Before anything runs: two blobs must not want one file.
  Result<void> CheckFiles() const {
    // A name twice would be a key twice in JSON.
    const auto once = [](const char* option, const std::vector<std::string>& blobs) -> Result<void> {
      for (size_t i = 1; i < blobs.size(); ++i)
        if (std::find(blobs.begin(), blobs.begin() + static_cast<ptrdiff_t>(i), blobs[i]) !=
            blobs.begin() + static_cast<ptrdiff_t>(i))
          return Error{ErrorCode::kInvalidArgument, StrCat(option, ": ", blobs[i], " is named twice"), -1,
                       blobs[i]};
      return {};
    };
    WEFT_TRY_VOID(once("--watch", words_.watch));
    WEFT_TRY_VOID(once("--stats", words_.stats));
    WEFT_TRY_VOID(once("--fetch", words_.fetch));
    if (words_.out.empty()) return {};
    for (size_t a = 0; a < words_.fetch.size(); ++a)
      for (size_t b = a + 1; b < words_.fetch.size(); ++b)
        if (FileOf(words_.out, words_.fetch[a]) == FileOf(words_.out, words_.fetch[b]) &&
            words_.fetch[a] != words_.fetch[b])
          return Error{ErrorCode::kNameConflict,
                       StrCat("--fetch: ", words_.fetch[a], " and ", words_.fetch[b], " would both go to ",
                              FileOf(words_.out, words_.fetch[a])),
                       -1, words_.fetch[b]};
    return {};
  }

  Result<void> Iterate(Program& program, const Feeds& feeds) {
    Stream out(STDOUT_FILENO, main_.color);
    if (!main_.json) {
      out.Write(program.Label(), TextClass::kHeading);
      out.Write(StrCat("  ", words_.iterations, words_.iterations == 1 ? " iteration\n" : " iterations\n"));
      if (Watches()) {
        out.Write("\niteration");
        for (const std::string& blob : words_.watch) out.Write(StrCat("  ", Padded(blob, kColumn)));
        for (const std::string& blob : words_.stats) out.Write(StrCat("  ", Padded(blob, kColumn)));
        out.Write("\n");
      }
    }
    watched_.resize(words_.watch.size());
    stats_.resize(words_.stats.size());
    std::vector<bool> warned(words_.watch.size());
    ProgressLine progress(StrCat("running ", program.Label()));
    const auto at_op = [&progress](const Net& net, size_t op) {
      progress.Now(StrCat("op ", op, " ", net.Str(net.ops[op].type)));
    };
    std::function<Result<void>(size_t)> after_op;
    if (trace_) after_op = [this](size_t op) { return trace_->AfterOp(op); };
    for (int64_t i = 0; i < words_.iterations; ++i) {
      const auto at_iteration = [&](Error error) {
        if (words_.iterations > 1) error.message = StrCat("iteration ", i + 1, ": ", error.message);
        return error;
      };
      if (trace_) trace_->BeginIteration(i + 1, i + 1 == words_.iterations);
      if (Result<void> ran = program.Run(at_op, after_op); !ran) {
        if (trace_ && trace_->stopped()) return {};
        out.Flush();
        return at_iteration(WithRemedy(std::move(ran).error(), words_.setup, feeds));
      }
      if (words_.iterations > 1)
        progress.Update({static_cast<uint64_t>(i + 1), static_cast<uint64_t>(words_.iterations)});
      ++iterations_;
      if (!main_.json && Watches()) {
        const std::string number = std::to_string(i + 1);
        out.Write(StrCat(std::string(9 - std::min<size_t>(9, number.size()), ' '), number),
                  TextClass::kIndex);
      }
      for (size_t w = 0; w < words_.watch.size(); ++w) {
        Result<Sample> sample = Look(workspace_, words_.watch[w]);
        if (!sample) {
          if (!main_.json) out.Write("\n");
          out.Flush();
          return at_iteration(std::move(sample).error());
        }
        if (!std::isfinite(sample->value) && !warned[w]) {
          warned[w] = true;
          Warn(main_, StrCat(words_.watch[w], " is ", sample->text, " in iteration ", i + 1,
                             main_.json ? " (null in JSON)" : ""));
        }
        if (!main_.json)
          out.Write(StrCat("  ", w + 1 < words_.watch.size() + words_.stats.size()
                                     ? Padded(sample->text, std::max(kColumn, words_.watch[w].size()))
                                     : sample->text));
        watched_[w].push_back(std::move(*sample));
      }
      for (size_t w = 0; w < words_.stats.size(); ++w) {
        const Tensor* tensor = workspace_.FindTensor(words_.stats[w]);
        stats_[w].push_back(StatsOf(tensor ? *tensor : Tensor()));
        if (!main_.json) out.Write(StrCat("  ", Padded(StatsText(stats_[w].back()), kColumn)));
      }
      if (!main_.json && Watches()) {
        out.Write("\n");
        if (out.terminal()) out.Flush();
        if (out.failed()) return Error{ErrorCode::kIo, "cannot write to standard output"};
      }
    }
    return {};
  }

  bool Watches() const { return !words_.watch.empty() || !words_.stats.empty(); }

  static std::string Padded(std::string text, size_t width) {
    if (text.size() < width) text.resize(width, ' ');
    return text;
  }

  // Fetched blobs to files or, without a folder, to standard output.
  Result<void> Deliver() {
    std::vector<std::pair<std::string, Tensor>> fetched;
    for (const std::string& blob : words_.fetch) {
      WEFT_TRY(Tensor tensor, Fetch(workspace_, blob));
      fetched.emplace_back(blob, std::move(tensor));
    }
    if (!words_.out.empty()) {
      FileSet files;
      for (const auto& [blob, tensor] : fetched) {
        Result<std::string> bytes = WriteNpy(tensor);
        if (!bytes) {
          Error error = std::move(bytes).error();
          return Error{error.code, StrCat("--fetch ", blob, ": ", error.message), -1, blob};
        }
        WEFT_TRY_VOID(files.Add(FileOf(words_.out, blob), *bytes));
      }
      WEFT_TRY_VOID(files.Commit());
    }
    if (main_.json) {
      WEFT_TRY(const std::string json, Json(fetched));
      return PrintJson(main_, json) == kOk ? Result<void>()
                                           : Error{ErrorCode::kIo, "cannot write to standard output"};
    }
    Stream out(STDOUT_FILENO, main_.color);
    if (trace_) trace_->Show(out);
    if (fetched.empty()) return {};
    out.Write("\n");
    size_t width = 0;
    for (const auto& [blob, tensor] : fetched) width = std::max(width, blob.size());
    for (const auto& [blob, tensor] : fetched) {
      out.Write(StrCat("  ", Padded(blob, width), "  "));
      out.Write(words_.out.empty() ? TensorSummary(tensor)
                                   : StrCat(DataTypeName(tensor.type()), " ", DimsToString(tensor.dims()),
                                            " -> ", FileOf(words_.out, blob)),
                TextClass::kOutput);
      out.Write("\n");
    }
    return {};
  }

  Result<std::string> Json(const std::vector<std::pair<std::string, Tensor>>& fetched) const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("iters").Int(iterations_).Key("watched").BeginObject();
    for (size_t w = 0; w < words_.watch.size(); ++w) {
      json.Key(words_.watch[w]).BeginArray();
      for (const Sample& sample : watched_[w])
        sample.integer ? json.Int(sample.exact) : json.Double(sample.value);
      json.EndArray();
    }
    for (size_t k = 0; trace_ && k < trace_->scalars().size(); ++k) {
      const auto& [blob, numbers] = trace_->scalars()[k];
      if (std::find(words_.watch.begin(), words_.watch.end(), blob) != words_.watch.end()) continue;
      json.Key(blob).BeginArray();
      for (const double number : numbers) json.Double(number);
      json.EndArray();
    }
    json.EndObject();
    if (!words_.stats.empty()) WriteStatistics(json);
    if (trace_) trace_->Write(json);
    if (words_.out.empty() && !fetched.empty()) {
      json.Key("fetched").BeginObject();
      for (const auto& [blob, tensor] : fetched) {
        if (tensor.numel() > kMostInJson)
          return Error{ErrorCode::kLimit,
                       StrCat("--fetch ", blob, ": ", tensor.numel(), " elements are too many for JSON; ",
                              "--out DIR writes a .npy file"),
                       -1, blob};
        json.Key(blob).BeginObject();
        json.Key("type").String(DataTypeName(tensor.type())).Key("shape").BeginArray();
        for (int64_t d : tensor.dims()) json.Int(d);
        json.EndArray().Key("values").BeginArray();
        for (int64_t i = 0; i < tensor.numel(); ++i) {
          if (tensor.type() == DataType::kString)
            json.String(tensor.data<std::string>()[i]);
          else if (tensor.type() == DataType::kInt64)
            json.Int(tensor.data<int64_t>()[i]);
          else if (tensor.type() == DataType::kBool)
            json.Bool(tensor.data<bool>()[i]);
          else
            json.Double(NumberAt(tensor, i));
        }
        json.EndArray().EndObject();
      }
      json.EndObject();
    }
    json.EndObject();
    return out;
  }

  // Columns of numbers, one for each iteration.
  void WriteStatistics(JsonWriter& json) const {
    json.Key("statistics").BeginObject();
    for (size_t w = 0; w < words_.stats.size(); ++w) {
      const auto column = [&](const char* name, auto of) {
        json.Key(name).BeginArray();
        for (const TensorStats& stats : stats_[w]) json.Double(static_cast<double>(of(stats)));
        json.EndArray();
      };
      json.Key(words_.stats[w]).BeginObject();
      column("min", [](const TensorStats& s) { return s.min; });
      column("max", [](const TensorStats& s) { return s.max; });
      column("mean", [](const TensorStats& s) { return s.mean; });
      column("std", [](const TensorStats& s) { return s.std; });
      column("nan", [](const TensorStats& s) { return s.nans; });
      column("inf", [](const TensorStats& s) { return s.infinities; });
      json.EndObject();
    }
    json.EndObject();
  }

  Main& main_;
  const Words& words_;
  RunContext context_;
  Workspace workspace_;
  std::optional<Trace> trace_;
  int64_t iterations_ = 0;  // whole ones
  std::vector<std::vector<Sample>> watched_;
  std::vector<std::vector<TensorStats>> stats_;
};

int Run(Main& main, const Words& words) {
  const Result<int> ran = Runner(main, words).Run();
  if (ran) return *ran;
  return FailRun(main, ran.error(), words.file, words.setup);
}

}  // namespace

void AddRun(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "run", "runs a net or plan with the reference kernels",
                                    [&main, words] { return Run(main, *words); });
  AddFile(*command, words->file);
  AddSetup(*command, words->setup);
  command->add_option("--iters", words->iterations, "how often the net runs; 1")
      ->check(WholeNumber())
      ->type_name("N");
  command
      ->add_option("--most-ops", words->most_ops,
                   "an error once so many operators and loops have run, against loops without end; 0, never")
      ->check(WholeNumber())
      ->type_name("N");
  AddRepeated(*command, "--watch", words->watch, "a blob of one number, told after each iteration")
      ->type_name("BLOB");
  AddRepeated(*command, "--stats", words->stats,
              "a blob of any size, of which range and mean are told after each iteration")
      ->type_name("BLOB");
  command->add_flag("--trace", words->trace,
                    "the numbers of every blob that the operators of the last iteration write, and which "
                    "operator first wrote something that is not finite");
  command->add_flag("--stop-at-nan", words->stop_at_nan,
                    "end with exit code 1 after the first operator that writes NaN or an infinity");
  command->add_flag("--inputs", words->inputs,
                    "don't run: tell what the net reads from outside, and where that comes from");
  AddRepeated(*command, "--fetch", words->fetch, "a blob that is shown at the end, or written to DIR")
      ->type_name("BLOB");
  command
      ->add_option("--out", words->out,
                   "a folder for fetched blobs: DIR/BLOB.npy, with __ for each / in BLOB")
      ->type_name("DIR");
  OnlyBeside(*command, main, {"--fetch"}, {"--out"});
  AddJson(
      *command, main,
      R"({"iters":N,"watched":{blob:[a number per iteration]}}; with --fetch but no --out also )"
      R"("fetched":{blob:{"type","shape","values"}}; --stats: "statistics":{blob:{"min":[],...}}; )"
      R"(--trace: "not_finite":[{"blob","version","op",...}],"trace":{"ops":[{"op","type","outputs":[...]}]})"
      R"( and more "watched"; --inputs: {"inputs":[...]})");
  command->footer(
      "The init net runs first, then fed arrays replace blobs, then the net runs N times. One thread; the "
      "same "
      "seed gives\nthe same values. A plan runs step after step. A loop without end runs until it is stopped "
      "(Ctrl-C):\nthe line on standard error tells which operator runs; --most-ops makes it an error.");
}

}  // namespace weft::cli
