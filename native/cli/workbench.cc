// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/workbench.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/str.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/run_plan.h"
#include "native/cli/load.h"
#include "native/cli/progress.h"
#include "native/io/file.h"
#include "native/io/npy.h"

namespace weft::cli {

namespace {

// One tensor, or table of a kernel, of 8 bytes an element may take half of the machine's memory.
int64_t MostElements() {
  const int64_t pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page > 0 ? std::max<int64_t>(pages * page / 16, 1 << 20) : RunContext().element_limit;
}

}  // namespace

std::string Program::Label() const {
  const std::string_view name = net_ ? net_->Str(net_->name) : plan_->Str(plan_->name);
  return StrCat(net_ ? "net" : "plan", name.empty() ? "" : " ", name);
}

Result<void> Program::Prepare(Workspace& workspace) {
  workspace_ = &workspace;
  if (!net_) return {};
  WEFT_TRY(prepared_, PreparedNet::Create(net_, workspace));
  return {};
}

Result<void> Program::Run(const std::function<void(const Net& net, size_t op)>& before,
                          const std::function<Result<void>(size_t op)>& after) {
  if (!net_) return RunPlan(*plan_, *workspace_);
  if (!before && !after) return prepared_->Run();
  for (size_t op = 0; op < prepared_->num_ops(); ++op) {
    if (before) before(*net_, op);
    WEFT_TRY_VOID(prepared_->RunOp(op));
    if (after) WEFT_TRY_VOID(after(op));
  }
  return {};
}

std::vector<std::string_view> Program::Blobs() const {
  std::vector<std::string_view> blobs;
  const auto add = [&](const Net& net) {
    for (const Op& op : net.ops) {
      for (Symbol name : op.inputs) blobs.push_back(net.Str(name));
      for (Symbol name : op.outputs) blobs.push_back(net.Str(name));
    }
  };
  if (net_) add(*net_);
  if (plan_)
    for (const Net& net : plan_->networks) add(net);
  std::sort(blobs.begin(), blobs.end());
  blobs.erase(std::unique(blobs.begin(), blobs.end()), blobs.end());
  return blobs;
}

Result<Program> LoadProgram(const std::string& path) {
  WEFT_TRY(Document document, Load(path));
  if (document.nets.empty() && document.plans.size() == 1) return Program(std::move(document.plans[0].plan));
  WEFT_TRY(Net net, TakeNet(std::move(document)));
  return Program(std::move(net));
}

Result<Feeds> ReadFeeds(const std::vector<std::string>& words) {
  Feeds feeds;
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == word.size())
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("--feed ", word, ": expected BLOB=FILE.npy, as in --feed data=batch.npy")};
    const std::string blob = word.substr(0, equals), path = word.substr(equals + 1);
    for (const auto& [other, tensor] : feeds)
      if (other == blob)
        return Error{ErrorCode::kInvalidArgument, StrCat("--feed: ", blob, " is fed twice"), -1, blob};
    Result<Bytes> bytes = ReadFile(path);
    Result<Tensor> tensor = bytes ? ReadNpy(bytes->view()) : Result<Tensor>(bytes.error());
    if (!tensor) {
      Error error = std::move(tensor).error();
      if (error.message.find(path) == std::string::npos)
        error.message = StrCat(FileLabel(path), ": ", error.message);
      error.message = StrCat("--feed ", blob, ": ", error.message);
      error.blob = blob;
      return error;
    }
    feeds.emplace_back(blob, std::move(tensor).value());
  }
  return feeds;
}

void AddSetup(CLI::App& command, Setup& setup) {
  command.add_option("--init", setup.init, "a net that runs before all else, to fill parameters")
      ->type_name("INIT");
  AddRepeated(command, "--feed", setup.feeds,
              "the array of a .npy file becomes the blob, after the init net has run")
      ->type_name("B=X.npy");
  AddRepeated(
      command, "--fill", setup.fills,
      "how inputs that nothing gives are made, or one of them: zeros, ones, uniform (0 to 1), normal, "
      "digits (pictures of digits, and labels), below:N (whole numbers)")
      ->type_name("[B=]HOW");
  AddRepeated(
      command, "--shape", setup.shapes,
      "the shape of a made input, and its type if not what its readers want; without it, one that fits "
      "the net")
      ->type_name("B=8,1,28,28[:TYPE]");
  command.add_option("--seed", setup.seed, "of random operators that have no seed of their own; 1")
      ->check(WholeNumber())
      ->type_name("S");
}

RunContext MakeRunContext(uint64_t seed) {
  RunContext context;
  context.kernels = &ReferenceKernels();
  context.ops = &StandardOps();
  context.seed = seed;
  context.element_limit = MostElements();
  context.print = [](std::string_view line) {
    Stream err(STDERR_FILENO, Color::kNever);
    err.Write(StrCat(line, "\n"));
  };
  return context;
}

Result<void> FillWorkspace(const Setup& setup, const Feeds& feeds, Workspace& workspace) {
  if (!setup.init.empty()) {
    const auto in_init = [&](Error error) {
      if (error.message.find(setup.init) == std::string::npos)
        error.message = StrCat(FileLabel(setup.init), ": ", error.message);
      return error;
    };
    Result<Program> init = LoadProgram(setup.init);
    if (!init) return in_init(std::move(init).error());
    if (Result<void> ready = init->Prepare(workspace); !ready) return in_init(std::move(ready).error());
    const ProgressLine progress(StrCat("running ", init->Label()));
    if (Result<void> ran = init->Run(); !ran) return in_init(std::move(ran).error());
  }
  for (const auto& [blob, tensor] : feeds) workspace.Feed(blob, tensor.Clone());
  return {};
}

Error WithRemedy(Error error, const Setup& setup, const Feeds& feeds) {
  if (error.code != ErrorCode::kNotFound || error.blob.empty() ||
      error.message.find("non-existing input blob") == std::string::npos)
    return error;
  std::vector<std::string_view> fed;
  for (const auto& [blob, tensor] : feeds) fed.push_back(blob);
  const auto near = NearestNames(error.blob, fed, 1);
  StrAppend(error.message, "; feed it (--feed ", error.blob, "=FILE.npy)",
            setup.init.empty() ? ", or give the net that makes it (--init)" : "");
  if (!near.empty()) StrAppend(error.message, "; ", near[0], " is fed");
  return error;
}

Error NoSuchBlob(std::string_view option, std::string_view blob, std::vector<std::string_view> known) {
  const auto near = NearestNames(blob, known, 1);
  return {ErrorCode::kNotFound,
          StrCat(option, ": there is no blob ", blob,
                 near.empty() ? "" : StrCat("; did you mean ", near[0], "?")),
          -1, std::string(blob)};
}

int FailRun(Main& main, const Error& error, const std::string& file, const Setup& setup) {
  const bool elsewhere = error.message.starts_with("--") ||
                         (!setup.init.empty() && error.message.starts_with(FileLabel(setup.init)));
  return main.Fail(error, elsewhere ? "" : file);
}

Result<std::vector<GivenBlob>> ParseInputs(const Main& main, const std::vector<std::string>& words,
                                           std::span<const Net* const> nets, SymbolTable& symbols,
                                           ShapeTable& table) {
  std::vector<GivenBlob> inputs;
  for (const std::string& word : words) {
    const std::string_view blob = std::string_view(word).substr(0, word.rfind('='));
    const bool known = std::any_of(nets.begin(), nets.end(), [&](const Net* net) {
      return static_cast<bool>(net->symbols->Find(blob));
    });
    WEFT_TRY(GivenBlob given, ParseGivenBlob(word, symbols, table));
    if (!known) Warn(main, StrCat("--input: there is no blob ", blob));
    inputs.push_back(std::move(given));
  }
  return inputs;
}

void Warn(const Main& main, std::string_view text) {
  Stream err(STDERR_FILENO, main.color);
  err.Write("weft: ");
  err.Write("note", TextClass::kChanged);
  err.Write(StrCat(": ", text, "\n"));
}

}  // namespace weft::cli
