// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/passes.h"

#include <algorithm>
#include <charconv>

#include "core/base/str.h"
#include "core/pass/dead_ops.h"
#include "core/pass/device_copies.h"
#include "core/pass/in_place.h"
#include "core/pass/inference.h"
#include "core/pass/memory_reuse.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/merge_init.h"
#include "core/pass/predictor.h"
#include "core/pass/recompute.h"
#include "core/pass/release.h"
#include "core/pass/rename_prefix.h"
#include "core/pass/retarget.h"
#include "core/ssa/form.h"

namespace weft {

namespace {

using Nets = std::span<const Net>;

Error Invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// Blobs of the nets, each value a name or several with commas. One that no net knows is an error.
Result<std::vector<Symbol>> Blobs(const Net& net, const PassWords& words, std::string_view option) {
  std::vector<Symbol> blobs;
  for (const std::string& value : words.Values(option))
    for (std::string_view name : StrSplit(value, ',')) {
      const Symbol blob = net.symbols->Find(name);
      if (!blob)
        return Error{ErrorCode::kNotFound, StrCat("--", option, ": the net has no blob ", name), -1,
                     std::string(name)};
      blobs.push_back(blob);
    }
  return blobs;
}

// "B=TEXT".
Result<std::pair<Symbol, std::string_view>> Assignment(const Net& net, std::string_view option,
                                                       std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return Invalid(StrCat("--", option, ": expected BLOB=..., found ", text));
  const std::string_view name = text.substr(0, equals);
  const Symbol blob = net.symbols->Find(name);
  if (!blob)
    return Error{ErrorCode::kNotFound, StrCat("--", option, ": the net has no blob ", name), -1,
                 std::string(name)};
  return std::pair(blob, text.substr(equals + 1));
}

// "cpu", "cuda", "cuda:1", ...; null for the CPU.
Result<DevicePtr> Device(std::string_view option, std::string_view text) {
  const size_t colon = text.find(':');
  const auto type = ParseDeviceType(text.substr(0, colon));
  int32_t id = 0;
  bool sound = type.has_value();
  if (sound && colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
    sound = error == std::errc() && end == digits.data() + digits.size() && id >= 0;
  }
  if (!sound) return Invalid(StrCat("--", option, ": ", text, " is no device: cpu, cuda:0, hip:1, ..."));
  if (*type == kCpu && id == 0) return DevicePtr();
  DeviceOption device;
  device.device_type = *type;
  device.device_id = id;
  return DevicePtr(std::make_shared<const DeviceOption>(std::move(device)));
}

int64_t Count(size_t n) { return static_cast<int64_t>(n); }

std::vector<std::string> Names(const Net& net, std::span<const Symbol> blobs) {
  std::vector<std::string> names;
  for (Symbol blob : blobs) names.emplace_back(net.Str(blob));
  return names;
}

constexpr PassOption kKeep = {"keep", "BLOB", "stays as it is, besides external inputs and outputs"};

constexpr PassOption kDeadOps[] = {{"keep", "BLOB", "wanted, besides the external outputs"}};
Result<PassOutcome> DeadOps(Nets nets, const OpSet& ops, const PassWords& words) {
  DeadOpsOptions options;
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  WEFT_TRY(Net net, RemoveDeadOps(nets[0], ops, options));
  const size_t removed = nets[0].ops.size() - net.ops.size();
  return PassOutcome{std::move(net), {{"removed", Count(removed)}}};
}

constexpr PassOption kRenamePrefix[] = {
    {"from", "PREFIX", "what to take off; without it, the scope that all blobs share"},
    {"to", "PREFIX", "what to put there; nothing without it"},
    kKeep,
};
Result<PassOutcome> RenamePrefixPass(Nets nets, const OpSet&, const PassWords& words) {
  RenamePrefixOptions options;
  if (words.Has("from")) options.from = words.Value("from");
  options.to = words.Value("to");
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  const std::string from = options.from ? *options.from : CommonScope(nets[0]);
  WEFT_TRY(Net net, RenamePrefix(nets[0], options));
  return PassOutcome{std::move(net), {{"prefix", from}}};
}

constexpr PassOption kRetarget[] = {
    {"device", "DEVICE", "cpu, cuda:1, ...: where the net runs", /*required=*/true},
    {"engine", "NAME", "of every operator; empty takes the engines away"},
    {"all-ops", "", "operators with a device of their own move too"},
};
Result<PassOutcome> RetargetPass(Nets nets, const OpSet&, const PassWords& words) {
  RetargetOptions options;
  WEFT_TRY(options.device, Device("device", words.Value("device")));
  if (words.Has("engine")) options.engine = words.Value("engine");
  options.all_ops = words.Has("all-ops");
  return PassOutcome{Retarget(nets[0], options)};
}

std::vector<std::string> DeviceLines(const Net& net) {
  std::vector<std::string> lines;
  for (const BlobDevice& of : InferBlobDevices(net))
    lines.push_back(StrCat(net.Str(of.blob), " ", of.device ? DeviceToString(of.device) : "cpu"));
  return lines;
}
Result<PassOutcome> DevicesPass(Nets nets, const OpSet&, const PassWords&) {
  return PassOutcome{nets[0], {{"devices", DeviceLines(nets[0])}}};
}

constexpr PassOption kDeviceCopies[] = {
    {"where", "BLOB=DEVICE", "where an external input is; without it, on the net's device"},
    {"placeholder", "TYPE", "operators of this type have all their blobs on their own device"},
};
Result<PassOutcome> DeviceCopiesPass(Nets nets, const OpSet&, const PassWords& words) {
  DeviceCopyOptions options;
  for (const std::string& word : words.Values("where")) {
    WEFT_TRY(const auto assigned, Assignment(nets[0], "where", word));
    WEFT_TRY(DevicePtr device, Device("where", assigned.second));
    options.where.push_back({assigned.first, std::move(device)});
  }
  options.placeholders = words.Values("placeholder");
  WEFT_TRY(Net net, AddDeviceCopies(nets[0], options));
  const size_t copies = net.ops.size() - nets[0].ops.size();
  return PassOutcome{std::move(net), {{"copies", Count(copies)}}};
}

constexpr PassOption kPredictor[] = {
    {"inputs", "A,B,...", "blobs that will be fed; without it, what the part needs"},
    {"outputs", "Y,...", "blobs wanted; without it, the external outputs"},
};
Result<PassOutcome> PredictorPass(Nets nets, const OpSet& ops, const PassWords& words) {
  PredictorOptions options;
  WEFT_TRY(options.inputs, Blobs(nets[0], words, "inputs"));
  WEFT_TRY(options.outputs, Blobs(nets[0], words, "outputs"));
  WEFT_TRY(Predictor made, ExtractPredictor(nets[0], nets.size() > 1 ? &nets[1] : nullptr, ops, options));
  std::vector<PassFact> facts = {{"removed", Count(made.removed)}, {"test_mode", Count(made.test_mode)}};
  if (made.init) facts.push_back({"missing", Names(made.net, made.missing)});
  return PassOutcome{std::move(made.net), std::move(facts), std::move(made.init)};
}

Result<PassOutcome> InferencePass(Nets nets, const OpSet& ops, const PassWords&) {
  InferenceNet made = StripForInference(nets[0], ops);
  return PassOutcome{std::move(made.net),
                     {{"removed", Count(made.removed.size())},
                      {"test_mode", Count(made.test_mode.size())},
                      {"kept", Count(made.kept.size())}}};
}

constexpr PassOption kMergeInit[] = {
    {"fed", "BLOB", "an input that is fed all the same: its fill is left out"}};
Result<PassOutcome> MergeInitPass(Nets nets, const OpSet&, const PassWords& words) {
  MergeInitOptions options;
  WEFT_TRY(options.fed, Blobs(nets[0], words, "fed"));
  WEFT_TRY(Net net, MergeInit(nets[0], nets[1], options));
  return PassOutcome{std::move(net)};
}

constexpr PassOption kFold[] = {kKeep};
Result<PassOutcome> FoldPass(Nets nets, const OpSet& ops, const PassWords& words) {
  FoldOptions options;
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  FoldedNet folded = FoldInPlace(nets[0], ops, options);
  return PassOutcome{std::move(folded.net), {{"folded", Count(folded.renamed.size())}}};
}

constexpr PassOption kUnfold[] = {
    {"keep", "BLOB", "its last version keeps the name, as external outputs do"}};
Result<PassOutcome> UnfoldPass(Nets nets, const OpSet& ops, const PassWords& words) {
  SsaFormOptions options{.keep_updates = true};
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  WEFT_TRY(SsaForm form, ToSsaForm(nets[0], ops, options));
  return PassOutcome{std::move(form.net), {{"renamed", Count(form.renamed.size())}}};
}

constexpr PassOption kRelease[] = {{"keep", "BLOB", "is not freed, nor are external inputs and outputs"}};
Result<PassOutcome> ReleasePass(Nets nets, const OpSet&, const PassWords& words) {
  ReleaseOptions options;
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  Net net = ReleaseWhenUsed(nets[0], options);
  const size_t freed = net.ops.size() - nets[0].ops.size();
  return PassOutcome{std::move(net), {{"freed", Count(freed)}}};
}

constexpr PassOption kMemory[] = {
    {"shape", "BLOB=N,C,...", "extents of an input, ':int64' or another type behind them; float without it"},
    {"size", "BLOB=BYTES", "how many bytes a blob holds, where shapes do not tell; others are left alone"},
    {"recycle", "WHAT", "all (the default), gradients, or both: gradients and activations"},
    {"unread", "", "blobs that nobody reads may share too"},
    kKeep,
};
// "32,3,224,224" or "32:int32".
Result<TensorInfo> Shape(std::string_view text) {
  TensorInfo info = TensorInfo::Of(DataType::kFloat, {});
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const auto type = ParseDataType(text.substr(colon + 1));
    if (!type) return Invalid(StrCat("--shape: ", text.substr(colon + 1), " is no type"));
    info.type = *type;
  }
  for (std::string_view piece : StrSplit(text.substr(0, colon), ',')) {
    int64_t extent = -1;
    const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), extent);
    if (error != std::errc() || end != piece.data() + piece.size() || extent < 0)
      return Invalid(StrCat("--shape: expected extents, found ", piece));
    info.dims.push_back(extent);
  }
  return info;
}

// What --shape tells of the net's inputs. Errors: the net, behind its init net, does not take them.
Result<std::vector<GivenBlob>> GivenShapes(Nets nets, const OpSet& ops, const PassWords& words) {
  std::vector<GivenBlob> given;
  for (const std::string& word : words.Values("shape")) {
    WEFT_TRY(const auto assigned, Assignment(nets[0], "shape", word));
    WEFT_TRY(TensorInfo info, Shape(assigned.second));
    given.push_back({assigned.first, std::move(info)});
  }
  if (given.empty()) return given;
  ShapeTable table;
  std::vector<GivenBlob> all = given;
  if (nets.size() > 1)
    for (GivenBlob& blob : FinalShapes(InferShapes(nets[1], {}, table, {.ops = &ops})))
      all.push_back(std::move(blob));
  const NetShapes shapes = InferShapes(nets[0], all, table, {.ops = &ops});
  if (const Diagnostic* wrong = FirstError(shapes)) return Invalid(StrCat("--shape: ", wrong->message));
  return given;
}

// A number without a sign.
Result<int64_t> Natural(std::string_view option, std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    return Invalid(StrCat("--", option, ": expected a whole number, found ", text));
  return number;
}

Result<PassOutcome> MemoryPass(Nets nets, const OpSet& ops, const PassWords& words) {
  MemoryOptions options;
  const std::string what = words.Value("recycle", "all");
  if (what == "gradients") {
    options.recycle = Recycle::kGradients;
  } else if (what == "both") {
    options.recycle = Recycle::kGradientsAndActivations;
  } else if (what != "all") {
    return Invalid(StrCat("--recycle: expected all, gradients or both, found ", what));
  }
  WEFT_TRY(const std::vector<GivenBlob> given, GivenShapes(nets, ops, words));
  if (nets.size() > 1 || !given.empty())
    options.sizes = InferSizes(nets[0], nets.size() > 1 ? &nets[1] : nullptr, given, ops);
  for (const std::string& word : words.Values("size")) {
    WEFT_TRY(const auto assigned, Assignment(nets[0], "size", word));
    WEFT_TRY(const int64_t bytes, Natural("size", assigned.second));
    options.sizes.push_back({assigned.first, bytes});
  }
  WEFT_TRY(options.keep, Blobs(nets[0], words, "keep"));
  options.keep_unread = !words.Has("unread");
  WEFT_TRY(MemoryPlan plan, ReuseMemory(nets[0], ops, options));
  return PassOutcome{std::move(plan.net),
                     {{"peak_before", plan.peak_before},
                      {"peak_after", plan.peak_after},
                      {"lower_bound", plan.lower_bound},
                      {"least_whole", plan.least_whole},
                      {"left_alone", plan.fixed},
                      {"blobs", Count(plan.shared)},
                      {"shared_into", Count(plan.places)}}};
}

constexpr PassOption kRecompute[] = {
    {"shape", "BLOB=N,C,...", "extents of an input, ':int64' or another type behind them; float without it"},
    {"budget", "BYTES", "get down to so many live bytes with few operations; without it, as low as possible"},
    {"most-flops", "PERCENT", "of the net's operations, what runs again at the most"},
    {"keep", "BLOB", "is not made again, nor are external outputs"},
};
Result<PassOutcome> RecomputePass(Nets nets, const OpSet& ops, const PassWords& words) {
  RecomputeLimits limits;
  if (words.Has("budget")) {
    WEFT_TRY(limits.budget, Natural("budget", words.Value("budget")));
  }
  if (words.Has("most-flops")) {
    WEFT_TRY(limits.most_percent, Natural("most-flops", words.Value("most-flops")));
  }
  WEFT_TRY(const std::vector<Symbol> keep, Blobs(nets[0], words, "keep"));
  WEFT_TRY(std::vector<GivenBlob> given, GivenShapes(nets, ops, words));
  ShapeTable table;
  if (nets.size() > 1) {
    const std::vector<GivenBlob> filled = FinalShapes(InferShapes(nets[1], {}, table, {.ops = &ops}));
    given.insert(given.end(), filled.begin(), filled.end());
  }
  RecomputePlan plan = Recompute(nets[0], given, table, ops, limits, keep);
  std::vector<PassFact> facts = {{"peak_before", plan.peak_before},
                                 {"peak_after", plan.peak_after},
                                 {"flops", plan.flops},
                                 {"extra_flops", plan.extra_flops},
                                 {"again", Count(plan.again.size())}};
  if (!plan.nothing.empty()) facts.push_back({"nothing", std::string(plan.nothing)});
  return PassOutcome{std::move(plan.net), std::move(facts)};
}

constexpr PassDef kPasses[] = {
    {"dead-ops", "takes out operators whose results nobody needs", "NET", kDeadOps, DeadOps},
    {"rename-prefix", "gives blob names another prefix, or none", "NET", kRenamePrefix, RenamePrefixPass},
    {"retarget", "moves the net to a device, nets inside it too", "NET", kRetarget, RetargetPass},
    {"devices", "tells where each blob is; the net stays as it is", "NET", {}, DevicesPass},
    {"device-copies", "puts copies where a blob is needed on another device", "NET", kDeviceCopies,
     DeviceCopiesPass},
    {"predictor", "the part that answers, out of a training net and its init net", "NET INIT?", kPredictor,
     PredictorPass},
    {"inference", "takes out what a net needs only while it learns", "NET", {}, InferencePass},
    {"merge-init", "an init net and the net that needs it, as one", "INIT NET", kMergeInit, MergeInitPass},
    {"fold", "lets operators work in place where they may", "NET", kFold, FoldPass},
    {"unfold", "gives every value a name of its own, where operators allow it", "NET", kUnfold, UnfoldPass},
    {"release", "frees each blob after its last use", "NET", kRelease, ReleasePass},
    {"recompute",
     "makes values again for the backward pass instead of keeping them; memory then reuses what is freed",
     "NET INIT?", kRecompute, RecomputePass},
    {"memory", "lets blobs share memory when their lives do not overlap", "NET INIT?", kMemory, MemoryPass},
};

}  // namespace

bool PassWords::Has(std::string_view option) const {
  return std::any_of(given.begin(), given.end(), [&](const auto& word) { return word.first == option; });
}

std::vector<std::string> PassWords::Values(std::string_view option) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : given)
    if (name == option) values.push_back(value);
  return values;
}

std::string PassWords::Value(std::string_view option, std::string_view otherwise) const {
  std::string value(otherwise);
  for (const auto& [name, text] : given)
    if (name == option) value = text;
  return value;
}

std::span<const PassDef> Passes() { return kPasses; }

Result<const PassDef*> FindPass(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PassDef& pass : kPasses) {
    if (pass.name == name) return &pass;
    names.push_back(pass.name);
  }
  const auto near = NearestNames(name, names, 1);
  return Error{ErrorCode::kNotFound, StrCat("there is no pass ", name,
                                            near.empty() ? "" : StrCat("; did you mean ", near[0], "?"))};
}

Result<PassOutcome> RunPass(const PassDef& pass, std::span<const Net> nets, const OpSet& ops,
                            const PassWords& words) {
  const std::vector<std::string_view> wanted = StrSplit(pass.nets, ' ');
  const size_t least = wanted.size() - (wanted.back().ends_with('?') ? 1 : 0);
  if (nets.size() < least || nets.size() > wanted.size())
    return Invalid(StrCat(pass.name, " takes ", pass.nets, ", found ", nets.size(),
                          nets.size() == 1 ? " net" : " nets"));
  for (const auto& word : words.given)
    if (std::none_of(pass.options.begin(), pass.options.end(),
                     [&](const PassOption& known) { return known.name == word.first; }))
      return Invalid(StrCat(pass.name, " takes no option --", word.first));
  for (const PassOption& option : pass.options)
    if (option.required && !words.Has(option.name))
      return Invalid(StrCat(pass.name, ": --", option.name, " is missing"));
  std::vector<Net> home;
  for (const Net& net : nets) home.push_back(home.empty() ? net : Rehome(net, home[0].symbols));
  return pass.run(home, ops, words);
}

}  // namespace weft
