// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// What running subcommands share: a file's net or plan as something that runs, .npy files as fed blobs, a
// workspace with the reference kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/names.h"
#include "core/ir/plan.h"
#include "core/pass/shapes.h"
#include "core/run/interpreter.h"
#include "core/run/made_inputs.h"
#include "core/run/workspace.h"
#include "native/cli/command.h"

namespace weft::cli {

/// A net or a plan; the one that is there.
class Program {
 public:
  explicit Program(Net net) : net_(std::make_shared<const Net>(std::move(net))), names_(net_->symbols) {
    names_.Reserve(*net_);
  }
  explicit Program(Plan plan) : plan_(std::move(plan)), names_(plan_->symbols) {
    for (const Net& net : plan_->networks) names_.Reserve(net);
  }

  /// "net mlp" or "plan train".
  std::string Label() const;
  /// Gets ready to run in `workspace`, which must outlive the program's use.
  Result<void> Prepare(Workspace& workspace);
  /// One run. Of a net, not of nets inside it, `before` and `after`, unless empty, are called before each
  /// operator and after each that ran well; an error of `after` ends the run. REQUIRES: Prepare.
  Result<void> Run(const std::function<void(const Net& net, size_t op)>& before = {},
                   const std::function<Result<void>(size_t op)>& after = {});
  /// True when some operator names the blob, in a nested net too.
  bool Mentions(std::string_view blob) const {
    return names_.taken(net_ ? net_->symbols->Intern(blob) : plan_->symbols->Intern(blob));
  }
  /// The net; null for a plan.
  const Net* net() const { return net_.get(); }
  /// Blobs of its nets, for suggestions.
  std::vector<std::string_view> Blobs() const;

 private:
  std::shared_ptr<const Net> net_;
  std::optional<Plan> plan_;
  FreshNames names_;
  Workspace* workspace_ = nullptr;
  std::unique_ptr<PreparedNet> prepared_;
};

/// Reads a file that holds one net or one plan.
Result<Program> LoadProgram(const std::string& path);

/// Reads the words "b=x.npy". Errors name the word and the file.
Result<Feeds> ReadFeeds(const std::vector<std::string>& words);

/// The --feed, --fill, --shape, --init and --seed options.
struct Setup {
  std::vector<std::string> feeds, fills, shapes;
  std::string init;
  uint64_t seed = 1;
};
void AddSetup(CLI::App& command, Setup& setup);

/// Reference kernels, standard operators, the seed; what Print prints goes to standard error.
RunContext MakeRunContext(uint64_t seed);

/// Runs the init net, if there is one, then feeds.
Result<void> FillWorkspace(const Setup& setup, const Feeds& feeds, Workspace& workspace);

/// The error, and for a blob that is missing what to do about it.
Error WithRemedy(Error error, const Setup& setup, const Feeds& feeds);

/// An error for a blob that an option names and nobody has.
Error NoSuchBlob(std::string_view option, std::string_view blob, std::vector<std::string_view> known);

/// Main::Fail, about `file` unless the error says that it is about an option or the init net.
int FailRun(Main& main, const Error& error, const std::string& file, const Setup& setup);

/// The words of --input. A blob that none of `nets` has is remarked on: it was mistyped.
Result<std::vector<GivenBlob>> ParseInputs(const Main& main, const std::vector<std::string>& words,
                                           std::span<const Net* const> nets, SymbolTable& symbols,
                                           ShapeTable& table);

/// weft tensors, which runs what fills them.
void AddTensors(CLI::App& app, Main& main);

/// A line on standard error.
void Warn(const Main& main, std::string_view text);

}  // namespace weft::cli
