// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft grad: the backward pass of a net.
#include <unistd.h>

#include <iterator>
#include <memory>
#include <optional>

#include "core/base/str.h"
#include "core/grad/after.h"
#include "core/grad/gradient.h"
#include "core/grad/repair.h"
#include "core/grad/stored.h"
#include "core/pass/losses.h"
#include "core/ssa/print.h"
#include "native/cli/command.h"
#include "native/cli/grad_json.h"
#include "native/cli/load.h"
#include "native/cli/progress.h"
#include "native/cli/workbench.h"
#include "native/io/file.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file, output, forward, mode = "right", mixed = "error", dedup;
  std::vector<std::string> loss, stop, freeze, wrt, init, inputs;
  size_t skip = 0;
  bool repair = false, separate = false, replan = false, suggest = false;
};

// "B", "B=G" or "B=INDICES,VALUES".
Loss ParseLoss(Net& net, std::string_view text) {
  const size_t equals = text.find('=');
  Loss loss{net.Intern(text.substr(0, equals)), {}};
  if (equals == std::string_view::npos) return loss;
  const std::string_view given = text.substr(equals + 1);
  const size_t comma = given.find(',');
  loss.given = comma == std::string_view::npos ? Gradient::Dense(net.Intern(given))
                                               : Gradient::Sparse(net.Intern(given.substr(0, comma)),
                                                                  net.Intern(given.substr(comma + 1)));
  return loss;
}

// Checks that each name that a --loss spells out is there.
CLI::Validator LossWord() {
  const auto check = [](const std::string& word) -> std::string {
    const size_t equals = word.find('='),
                 comma = equals == std::string::npos ? equals : word.find(',', equals);
    const bool blank = word.empty() || equals == 0 || equals == word.size() - 1 || comma == equals + 1 ||
                       comma == word.size() - 1;
    return blank ? StrCat("expected B, B=G or B=I,V, found ", QuoteBytes(word)) : "";
  };
  return CLI::Validator(check, "", "");
}

// "*" any text, "?" any one character.
bool MatchesGlob(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t]) && pattern[p] != '*') {
      ++t, ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// The blobs that each word names or, as a pattern, matches. Errors: kNotFound for a word that leads nowhere.
Result<std::vector<Symbol>> FindBlobs(const Net& net, const Ssa& ssa, std::string_view option,
                                      const std::vector<std::string>& words) {
  std::vector<Symbol> found;
  for (const std::string& word : words) {
    const size_t before = found.size();
    for (Symbol blob : ssa.blobs())
      if (MatchesGlob(net.Str(blob), word)) found.push_back(blob);
    if (found.size() > before) continue;
    std::vector<std::string_view> names;
    for (Symbol blob : ssa.blobs()) names.push_back(net.Str(blob));
    const auto near = NearestNames(word, names, 1);
    return Error{ErrorCode::kNotFound,
                 StrCat("--", option, ": the net has no blob ", word,
                        near.empty() ? "" : StrCat("; did you mean ", near[0], "?")),
                 -1, word};
  }
  return found;
}

Result<GradientOptions> ParseOptions(const Words& words, Net& net) {
  GradientOptions options;
  for (const std::string& loss : words.loss) options.losses.push_back(ParseLoss(net, loss));
  if (words.skip > net.ops.size())
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("--skip ", words.skip, ": the net has ", net.ops.size(), " operators")};
  options.skip = words.skip;
  if (words.mode == "caffe2") options.faults = kAllFaults;
  options.mixed = words.mixed == "dense"    ? MixedGradients::kDense
                  : words.mixed == "sparse" ? MixedGradients::kSparse
                                            : MixedGradients::kError;
  options.repair = words.repair;
  if (!words.stop.empty() || !words.freeze.empty() || !words.wrt.empty()) {
    const Ssa ssa(net);
    WEFT_TRY(options.stop, FindBlobs(net, ssa, "stop", words.stop));
    WEFT_TRY(options.frozen, FindBlobs(net, ssa, "freeze", words.freeze));
    WEFT_TRY(options.wrt, FindBlobs(net, ssa, "wrt", words.wrt));
  }
  return options;
}

Result<RepairedPlan> Plan(const Net& net, const GradientOptions& options) {
  if (options.repair) {
    const ProgressLine progress("planning the backward pass");
    return PlanWithRepair(net, StandardOps(), options);
  }
  GradientPlanner planner(net, StandardOps(), options);
  RunJob(planner, "planning the backward pass");
  WEFT_TRY(Backward backward, planner.Take());
  return WithRepairedOps(net, std::move(backward));
}

std::string GradientText(const Net& net, const Gradient& gradient) {
  if (gradient.is_dense()) return std::string(net.Str(gradient.dense));
  return StrCat("rows ", net.Str(gradient.indices), ", values ", net.Str(gradient.values));
}

std::string Why(const Net& net, const Origin& origin) {
  switch (origin.kind) {
    case Origin::kSeed:
      return StrCat("start of ", net.Str(origin.blob));
    case Origin::kRule:
      return StrCat("of op ", origin.forward, " ",
                    net.Str(net.ops[static_cast<size_t>(origin.forward)].type));
    case Origin::kAccumulate:
      return StrCat("adds up for ", net.Str(origin.blob), "@", origin.version);
  }
  return "";
}

// What a repair changed, in words and as a diff.
void ShowRepair(Stream& out, const Net& before, const RepairedPlan& plan) {
  for (const std::string& change : plan.changes)
    out.Write(StrCat("repaired: ", change, "\n"), TextClass::kChanged);
  const std::string listing = RepairListing(before, plan);
  for (std::string_view line : StrSplit(listing, '\n')) {
    if (line.empty()) continue;
    out.Write(line, line[0] == '-'   ? TextClass::kRemoved
                    : line[0] == '+' ? TextClass::kAdded
                                     : TextClass::kPlain);
    out.Write("\n");
  }
  if (plan.changed) out.Write("\n");
}

// The pass for people: each generated operator beside what it is for, then the gradients.
void Show(Stream& out, const Net& net, const RepairedPlan& plan) {
  const Backward& backward = plan.backward;
  Net whole = AppendBackward(net, backward);
  const Ssa ssa(whole);
  const size_t first = net.ops.size();
  size_t width = 0;
  for (const Origin& origin : backward.origin) width = std::max(width, Why(net, origin).size());
  const size_t digits = std::to_string(whole.ops.size()).size();
  out.Write("backward", TextClass::kHeading);
  out.Write(StrCat("  ", backward.ops.size(), backward.ops.size() == 1 ? " operator" : " operators",
                   " behind the ", first, " of the net\n\n"));
  for (size_t i = 0; i < backward.ops.size(); ++i) {
    const std::string number = std::to_string(first + i), why = Why(net, backward.origin[i]);
    out.Write(StrCat("  ", std::string(digits - number.size(), ' '), number), TextClass::kIndex);
    out.Write(StrCat("  ", why, std::string(width - why.size(), ' '), "  "), TextClass::kMuted);
    PrintOp(whole, ssa, static_cast<OpId>(first + i), {}, out.Emitter());
    out.Write("\n");
  }
  width = 0;
  for (const BlobGradient& of : backward.gradients) width = std::max(width, net.Str(of.blob).size());
  out.Write(StrCat("\n"));
  out.Write("gradients", TextClass::kHeading);
  out.Write(StrCat("  ", backward.gradients.size(), "\n\n"));
  for (const BlobGradient& of : backward.gradients) {
    const std::string_view name = net.Str(of.blob);
    out.Write(StrCat("  ", name, std::string(width - name.size(), ' '), "  "));
    out.Write(GradientText(net, of.gradient), TextClass::kOutput);
    out.Write("\n");
  }
  out.Flush();
}

std::string LossText(const Net& net, const Loss& loss) {
  const std::string_view blob = net.Str(loss.blob);
  if (loss.given.none()) return std::string(blob);
  if (loss.given.is_dense()) return StrCat(blob, "=", net.Str(loss.given.dense));
  return StrCat(blob, "=", net.Str(loss.given.indices), ",", net.Str(loss.given.values));
}

// What one might differentiate: the losses of the pass that is there, else likely ones.
int Suggest(Main& main, const Net& net, const std::optional<StoredPass>& stored) {
  const std::vector<LossCandidate> candidates =
      stored ? std::vector<LossCandidate>() : SuggestLosses(net, StandardOps());
  if (main.json) {
    std::string text;
    JsonWriter json(text);
    json.BeginObject().Key("losses").BeginArray();
    for (const LossCandidate& candidate : candidates) {
      json.BeginObject().Key("loss").String(net.Str(candidate.blob)).Key("op").Int(candidate.writer);
      json.Key("why").String(candidate.why).Key("likely").Bool(candidate.likely).EndObject();
    }
    json.EndArray().Key("stored");
    if (stored) {
      json.BeginObject()
          .Key("begin")
          .Int(stored->begin)
          .Key("end")
          .Int(stored->end)
          .Key("losses")
          .BeginArray();
      for (const Loss& loss : stored->losses) json.String(LossText(net, loss));
      json.EndArray().EndObject();
    } else {
      json.Null();
    }
    const Ssa ssa(net);
    json.Key("inputs").BeginArray();
    for (Symbol blob : net.external_inputs) json.String(net.Str(blob));
    json.EndArray().Key("blobs").BeginArray();
    for (Symbol blob : ssa.blobs()) json.String(net.Str(blob));
    json.EndArray().EndObject();
    return PrintJson(main, text);
  }
  Stream out(STDOUT_FILENO, main.color);
  if (stored) {
    for (const Loss& loss : stored->losses)
      out.Write(StrCat(LossText(net, loss), "  of the backward pass at operators ", stored->begin, " to ",
                       stored->end - 1, "\n"));
  }
  for (const LossCandidate& candidate : candidates)
    out.Write(StrCat(net.Str(candidate.blob), "  ", candidate.why, ", op ", candidate.writer, "\n"),
              candidate.likely ? TextClass::kPlain : TextClass::kMuted);
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

Result<void> ReadShapes(const Main& main, const Words& words, const Net& net, KnownShapes& known) {
  for (const std::string& file : words.init) {
    WEFT_TRY(const Net loaded, LoadNetOfSeveral(file));
    const Net init = Rehome(loaded, net.symbols);
    for (GivenBlob& blob : FinalShapes(InferShapes(init, known.given, known.table)))
      known.given.push_back(std::move(blob));
  }
  const Net* const nets[] = {&net};
  WEFT_TRY(std::vector<GivenBlob> inputs, ParseInputs(main, words.inputs, nets, *net.symbols, known.table));
  for (GivenBlob& blob : inputs) known.given.push_back(std::move(blob));
  return {};
}

int Run(Main& main, const Words& words) {
  Result<Net> loaded = LoadNet(words.file);
  if (!loaded) return main.Fail(loaded.error(), words.file);
  std::vector<Op> tail;  // behind a pass that is planned again
  std::optional<StoredPass> stored;
  if (words.replan || words.suggest) {
    Result<std::optional<StoredPass>> found = FindStoredPass(*loaded);
    if (!found) return main.Fail(found.error(), words.file);
    stored = std::move(*found);
    if (words.suggest) return Suggest(main, *loaded, stored);
    if (!stored)
      return main.Fail({ErrorCode::kInvalidArgument,
                        "--replan: no operator of the net is marked as generated, so there is no backward "
                        "pass to plan again"},
                       words.file);
    loaded = TakeStoredPassAway(std::move(*loaded), *stored, tail);
  }
  Result<GradientOptions> options = ParseOptions(words, *loaded);
  if (!options) return main.Fail(options.error(), words.file);
  if (stored) {
    options->scope_device = stored->device;
    if (options->losses.empty()) options->losses = stored->losses;
  }
  Result<RepairedPlan> planned = Plan(*loaded, *options);
  if (!planned && main.json && planned.error().code == ErrorCode::kVersionConflict) {
    PrintJson(main, ConflictsJson(*loaded, *options, planned.error()));
    return kInputAtFault;
  }
  if (!planned) return main.Fail(planned.error(), words.file);
  RepairedPlan& plan = *planned;
  const Net& net = plan.changed ? plan.forward : *loaded;
  if (!words.dedup.empty())
    DedupSlices(net, plan.backward, words.dedup == "mean" ? SliceDedup::kMean : SliceDedup::kSum);

  if (words.forward.empty() && words.separate && plan.changed)
    return main.Fail(
        {ErrorCode::kInvalidArgument,
         "the forward net was repaired, and --separate writes only the backward pass: say where the "
         "repaired net goes (--forward OUT)"},
        words.file);
  std::optional<KnownShapes> known;
  if (!words.init.empty() || !words.inputs.empty()) {
    Result<void> read = ReadShapes(main, words, *loaded, known.emplace());
    if (!read) return main.Fail(read.error());
  }
  const std::string json = main.json ? PlanJson(*loaded, net, plan, known ? &*known : nullptr) : "";
  FileSet files;
  Result<void> saved = SaveNet(files, words.forward, net);
  if (saved && !words.output.empty()) {
    std::vector<Op>& ops = plan.backward.ops;
    if (!words.separate)
      ops.insert(ops.end(), std::make_move_iterator(tail.begin()), std::make_move_iterator(tail.end()));
    saved = words.separate ? SaveNet(files, words.output, BackwardNet(net, plan.backward))
                           : SaveNet(files, words.output, net, ops);
  }
  if (saved) saved = files.Commit();
  if (!saved) return main.Fail(saved.error());
  if (words.output.empty() && !main.json) {
    Stream out(STDOUT_FILENO, main.color);
    ShowRepair(out, *loaded, plan);
    Show(out, net, plan);
    return out.failed() ? kInputAtFault : kOk;
  }
  if (main.json) return PrintJson(main, json);
  Stream err(STDERR_FILENO, main.color);
  ShowRepair(err, *loaded, plan);
  return kOk;
}

}  // namespace

void AddGrad(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "grad", "the backward pass of a net",
                                    [&main, words] { return Run(main, *words); });
  AddFile(*command, words->file);
  CLI::Option* loss =
      AddRepeated(*command, "--loss", words->loss,
                  "what to differentiate; with =G its gradient is given, with =I,V as rows and values")
          ->check(LossWord())
          ->type_name("B[=G|=I,V]");
  CLI::Option* replan =
      command->add_flag("--replan", words->replan,
                        "the net has a backward pass: plan it again, of its losses unless others are named");
  CLI::Option* suggest =
      command->add_flag("--suggest", words->suggest, "only tells what one might differentiate");
  command->add_option("--skip", words->skip, "operators at the front that are not differentiated")
      ->type_name("N");
  AddRepeated(*command, "--wrt", words->wrt, "only gradients of these blobs; * and ? match")
      ->type_name("BLOB");
  AddRepeated(*command, "--stop", words->stop, "no gradient flows into these blobs; * and ? match")
      ->type_name("BLOB");
  AddRepeated(*command, "--freeze", words->freeze, "these parameters get no gradient; * and ? match")
      ->type_name("PATTERN");
  command
      ->add_option("--mixed", words->mixed,
                   "dense and sparse gradients of one blob: error (as Caffe2), or summed as dense or sparse")
      ->check(CLI::IsMember({"error", "dense", "sparse"}))
      ->type_name("HOW");
  command->add_flag("--repair", words->repair,
                    "rewrite the forward net where it overwrites what its gradient needs");
  command
      ->add_option("--dedup", words->dedup,
                   "rows that occur twice in a sparse gradient become one: sum or mean")
      ->check(CLI::IsMember({"sum", "mean"}))
      ->type_name("HOW");
  command->add_flag("--separate", words->separate, "OUT is the backward pass alone, a net of its own");
  command->add_option("--forward", words->forward, "where to write the forward net, as --repair left it")
      ->type_name("OUT");
  command->add_option("--mode", words->mode, "right, or caffe2: Caffe2's choices, faults included")
      ->check(CLI::IsMember({"right", "caffe2"}))
      ->type_name("MODE");
  AddRepeated(*command, "--init", words->init,
              "with --json: a net that runs before, for bytes of what is kept")
      ->type_name("INIT");
  AddRepeated(*command, "--input", words->inputs,
              "with --json: a blob's shape, as for weft shapes, for bytes of what is kept")
      ->type_name("BLOB=SHAPE");
  AddOutput(*command, words->output);
  AddJson(
      *command, main,
      R"({"ops":"<NetDef text>","grads":{blob:name|{indices,values}},"origin":[[generated,forward or -1]...],"sums","stashes":[{blob,version,from,to,for,bytes}],"kept":{bytes,unsized},...})");
  OnlyBeside(*command, main, {"--output"}, {"--separate"});
  OnlyBeside(*command, main, {"--json"}, {"--init", "--input"});
  command->parse_complete_callback([loss, replan, suggest] {
    if (loss->count() + replan->count() + suggest->count() == 0) throw CLI::RequiredError("--loss");
  });
  command->footer(
      "What nobody wants (--wrt, --freeze, --stop) is not computed, but where one gradient operator always "
      "writes\nit beside what is wanted, as MulGradient does for both factors and FCGradient for weight and "
      "bias.\n"
      "OUT is the net with its backward pass. Without -o and --json the pass is listed for reading.");
}

}  // namespace weft::cli
