// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft gradcheck: the planned gradients of a net against central differences.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/str.h"
#include "core/grad/repair.h"
#include "core/ops/op_set.h"
#include "core/run/gradient_check.h"
#include "core/run/tensor_text.h"
#include "native/cli/load.h"
#include "native/cli/made_inputs.h"
#include "native/cli/progress.h"
#include "native/cli/workbench.h"

namespace weft::cli {

namespace {

struct Words {
  std::string file, mixed = "error";
  Setup setup;
  std::vector<std::string> loss, wrt;
  bool repair = false;
  double tolerance = 1e-2;
  int64_t samples = 100;
};

// Relative errors are relative to at least this part of the loss: float's rounding makes differences of
// smaller gradients meaningless.
constexpr double kFloatFloor = 1e-2, kDoubleFloor = 1e-6;

bool IsFloat(const Tensor& tensor) {
  return tensor.type() == DataType::kFloat || tensor.type() == DataType::kDouble;
}

// "[1, 2]": element i of a tensor with these dimensions.
std::vector<int64_t> IndexOf(std::span<const int64_t> dims, int64_t i) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = i % dims[d];
    i /= dims[d];
  }
  return index;
}

class Checker {
 public:
  Checker(Main& main, const Words& words) : main_(main), words_(words) {}

  Result<int> Run() {
    WEFT_TRY(net_, LoadNet(words_.file));
    WEFT_TRY(feeds_, ReadFeeds(words_.setup.feeds));
    WEFT_TRY(const RepairedPlan plan, PlanForward());
    WEFT_TRY_VOID(TakeInit());
    const Net backward = AppendBackward(plan.changed ? plan.forward : net_, plan.backward);
    check_.kernels = MakeRunContext(0).kernels;
    check_.ops = &StandardOps();
    check_.init = init_ ? &*init_ : nullptr;
    check_.forward = &net_;
    check_.backward = &backward;
    check_.feeds = feeds_;
    check_.losses = words_.loss;
    check_.seed = words_.setup.seed;
    check_.samples = words_.samples;
    WEFT_TRY_VOID(RunForward());
    WEFT_TRY_VOID(ChooseBlobs(plan.backward));
    WEFT_TRY_VOID(Check());
    return main_.json ? Json() : Show(plan);
  }

 private:
  // What the init net fills becomes fed, so that it need not run again and again, and can be moved. An init
  // net that makes more than tensors runs before each evaluation as well.
  Result<void> TakeInit() {
    RunContext context = MakeRunContext(words_.setup.seed);
    Workspace workspace(context);
    WEFT_TRY_VOID(FillWorkspace(words_.setup, feeds_, workspace));
    if (!words_.setup.fills.empty() || !words_.setup.shapes.empty()) {
      Program program(net_);
      WEFT_TRY(const std::vector<RunInput> inputs,
               FindInputs(program, words_.setup, feeds_, KnownIn(workspace)));
      WEFT_TRY_VOID(MakeInputs(inputs, words_.setup.seed, feeds_, workspace));
    }
    bool tensors_only = true;
    for (const std::string& blob : workspace.LocalBlobs()) {
      const Tensor* tensor = workspace.FindTensor(blob);
      tensors_only &= tensor != nullptr;
      const bool fed =
          std::any_of(feeds_.begin(), feeds_.end(), [&](const auto& f) { return f.first == blob; });
      if (tensor && tensor->has_type() && !fed) feeds_.emplace_back(blob, tensor->Clone());
    }
    if (tensors_only || words_.setup.init.empty()) return {};
    WEFT_TRY(init_, LoadNet(words_.setup.init));
    return {};
  }

  // Of a net that trains already, the operators before its backward pass.
  Result<RepairedPlan> PlanForward() {
    Result<RepairedPlan> plan = Plan();
    if (plan || plan.error().op < 0 || plan.error().message.find("has a backward pass") == std::string::npos)
      return plan;
    const auto begin = static_cast<size_t>(plan.error().op);
    if (begin == 0 || begin >= net_.ops.size()) return plan;
    left_out_ = net_.ops.size() - begin;
    Warn(main_, StrCat("the net has a backward pass: the ", left_out_, " operators from op ", begin,
                       " on are left out, their gradients planned anew"));
    net_.ops.resize(begin);
    net_.external_outputs.clear();
    return Plan();
  }

  Result<RepairedPlan> Plan() {
    GradientOptions options;
    for (const std::string& loss : words_.loss) options.losses.push_back({net_.Intern(loss), {}});
    options.repair = words_.repair;
    options.mixed = words_.mixed == "dense"    ? MixedGradients::kDense
                    : words_.mixed == "sparse" ? MixedGradients::kSparse
                                               : MixedGradients::kError;
    return PlanWithRepair(net_, StandardOps(), options);
  }

  // The blobs of --wrt, or all floats that the net starts from.
  Result<void> ChooseBlobs(const Backward& backward) {
    const Ssa ssa(net_, {.nested = NestedNets::kReads});
    const auto find = [&](std::string_view blob) -> const Tensor* {
      for (const auto& [name, tensor] : feeds_)
        if (name == blob) return &tensor;
      return nullptr;
    };
    for (const std::string& blob : words_.wrt) {
      const Tensor* tensor = find(blob);
      if (!tensor) {
        std::vector<std::string_view> known;
        for (const auto& [name, fed] : feeds_) known.push_back(name);
        Error error = NoSuchBlob("--wrt", blob, known);
        if (ssa.FindBlob(net_.Intern(blob)) != kNoBlob)
          error.message =
              StrCat("--wrt: ", blob, " is neither fed (--feed) nor filled by the init net (--init)");
        return error;
      }
      if (!IsFloat(*tensor))
        return Error{ErrorCode::kInvalidArgument,
                     StrCat("--wrt: ", blob, " is ", DataTypeName(tensor->type()), ", expected floats"), -1,
                     blob};
      AddPlace(backward, blob);
    }
    if (!words_.wrt.empty()) return {};
    for (const auto& [blob, tensor] : feeds_) {
      const BlobId id = ssa.FindBlob(net_.Intern(blob));
      if (!IsFloat(tensor) || id == kNoBlob || !ssa.starts_outside(id)) continue;
      // Labels and running means get no gradient on purpose.
      if (!AddPlace(backward, blob)) {
        check_.gradients.pop_back();
        unplanned_.push_back(blob);
      }
    }
    if (check_.gradients.empty() && !unplanned_.empty())
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("nothing to check: no gradient is planned for ", ListNames(unplanned_),
                          "; --wrt checks that they have no influence")};
    if (check_.gradients.empty())
      return Error{
          ErrorCode::kInvalidArgument,
          "nothing to check: no float blob that the net reads is fed (--feed) or filled by an init net "
          "(--init)"};
    return {};
  }

  // False when no gradient is planned, which counts as zeros.
  bool AddPlace(const Backward& backward, const std::string& blob) {
    GradientPlace place{blob, "", "", ""};
    for (const BlobGradient& of : backward.gradients) {
      // The gradient of a later version says nothing of what was fed.
      if (net_.Str(of.blob) != blob || of.version != 0) continue;
      if (of.gradient.is_dense()) {
        place.dense = net_.Str(of.gradient.dense);
      } else if (of.gradient.is_sparse()) {
        place.indices = net_.Str(of.gradient.indices);
        place.values = net_.Str(of.gradient.values);
      }
    }
    check_.gradients.push_back(place);
    return !place.dense.empty() || !place.values.empty();
  }

  Result<void> RunForward() {
    Result<double> loss = LossAtRest(check_);
    if (!loss) return WithRemedy(std::move(loss).error(), words_.setup, feeds_);
    loss_ = *loss;
    if (!std::isfinite(loss_))
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("the loss ", words_.loss[0], " is ", loss_, ": there is nothing to differentiate"),
                   -1, words_.loss[0]};
    return {};
  }

  // In double where all kernels know doubles, in float elsewhere.
  Result<void> Check() {
    ProgressLine progress("checking gradients");
    check_.progress = [&progress](int64_t done, int64_t total) {
      progress.Update({static_cast<uint64_t>(done), static_cast<uint64_t>(total)});
    };
    GradientCheck in_double = check_;
    in_double.in_double = true;
    in_double.step = 1e-3;
    const auto allow = [&](GradientCheck& check, double floor) {
      check.floor = floor * std::max(1.0, std::fabs(loss_));
      check.relative = words_.tolerance / 4;  // an agreement that narrower differences can hardly improve
      check.absolute = check.relative * check.floor;
    };
    allow(in_double, kDoubleFloor);
    allow(check_, kFloatFloor);
    Result<std::vector<BlobGradientReport>> reports = CheckGradients(in_double);
    double_ = reports.has_value();
    if (!reports) reports = CheckGradients(check_);
    if (!reports) return std::move(reports).error();
    reports_ = std::move(reports).value();
    return {};
  }

  bool IsWrong(const BlobGradientReport& report) const {
    return !(report.worst_relative <= words_.tolerance);
  }
  int Exit() const {
    return std::any_of(reports_.begin(), reports_.end(), [&](const auto& r) { return IsWrong(r); })
               ? kInputAtFault
               : kOk;
  }
  std::span<const int64_t> DimsOf(const std::string& blob) const {
    for (const auto& [name, tensor] : feeds_)
      if (name == blob) return tensor.dims();
    return {};
  }
  int64_t SizeOf(const std::string& blob) const { return NumElements(DimsOf(blob)); }
  std::string_view Precision() const { return double_ ? "double" : "float"; }

  Result<int> Json() const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("ok").Bool(Exit() == kOk).Key("loss").Double(loss_);
    json.Key("tolerance").Double(words_.tolerance).Key("precision").String(Precision());
    json.Key("blobs").BeginObject();
    for (const BlobGradientReport& report : reports_) {
      json.Key(report.blob).BeginObject().Key("worst").Double(report.worst_relative);
      json.Key("checked").Int(report.elements).Key("elements").Int(SizeOf(report.blob));
      json.Key("kinks").Int(report.kinks);
      if (report.worst >= 0) {
        json.Key("at").BeginArray();
        for (int64_t d : IndexOf(DimsOf(report.blob), report.worst)) json.Int(d);
        json.EndArray();
        json.Key("planned").Double(report.planned).Key("numeric").Double(report.numeric);
      }
      json.EndObject();
    }
    json.EndObject().Key("left_out").Int(left_out_).Key("unplanned").BeginArray();
    for (const std::string& blob : unplanned_) json.String(blob);
    json.EndArray().EndObject();
    const int printed = PrintJson(main_, out);
    return printed == kOk ? Exit() : printed;
  }

  Result<int> Show(const RepairedPlan& plan) const {
    Stream out(STDOUT_FILENO, main_.color);
    for (const std::string& change : plan.changes)
      out.Write(StrCat("repaired: ", change, "\n"), TextClass::kChanged);
    out.Write("gradients", TextClass::kHeading);
    out.Write(StrCat("  of ", StrJoin(words_.loss, " + "), " = ", FormatFloat(static_cast<float>(loss_)),
                     ", against central differences in ", Precision(), "\n\n"));
    size_t width = 4;
    for (const BlobGradientReport& report : reports_) width = std::max(width, report.blob.size());
    for (const std::string& blob : unplanned_) width = std::max(width, blob.size());
    const auto padded = [](std::string text, size_t columns) {
      text.resize(std::max(columns, text.size()), ' ');
      return text;
    };
    out.Write(StrCat("  ", padded("blob", width), "  worst relative error  checked\n"));
    for (const BlobGradientReport& report : reports_) {
      const bool wrong = IsWrong(report);
      out.Write(StrCat("  ", padded(report.blob, width), "  "));
      out.Write(padded(FormatFloat(static_cast<float>(report.worst_relative)), 20),
                wrong ? TextClass::kError : TextClass::kPlain);
      out.Write(StrCat("  ", report.elements));
      if (report.elements < SizeOf(report.blob)) out.Write(StrCat(" of ", SizeOf(report.blob)));
      if (report.kinks > 0) out.Write(StrCat(", ", report.kinks, " at kinks, not judged"));
      if (wrong)
        out.Write(StrCat(", wrong: element ", DimsToString(IndexOf(DimsOf(report.blob), report.worst)),
                         " is planned as ", FormatFloat(static_cast<float>(report.planned)),
                         ", differences say ", FormatFloat(static_cast<float>(report.numeric))));
      out.Write("\n");
    }
    for (const std::string& blob : unplanned_)
      out.Write(StrCat("  ", padded(blob, width),
                       "  no gradient is planned; --wrt checks that it has no influence\n"),
                TextClass::kMuted);
    out.Write(StrCat("\n", Exit() == kOk ? "all within " : "beyond ", words_.tolerance, "\n"));
    out.Flush();
    return out.failed() ? static_cast<int>(kInputAtFault) : Exit();
  }

  Main& main_;
  const Words& words_;
  Net net_;
  std::optional<Net> init_;
  Feeds feeds_;
  GradientCheck check_;
  double loss_ = 0;
  bool double_ = false;
  size_t left_out_ = 0;  // operators of a backward pass that was there
  std::vector<BlobGradientReport> reports_;
  std::vector<std::string> unplanned_;  // blobs without a gradient
};

int Run(Main& main, const Words& words) {
  const Result<int> exit = Checker(main, words).Run();
  if (exit) return *exit;
  return FailRun(main, exit.error(), words.file, words.setup);
}

}  // namespace

void AddGradcheck(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "gradcheck", "planned gradients against central differences",
                                    [&main, words] { return Run(main, *words); });
  AddFile(*command, words->file);
  AddRepeated(*command, "--loss", words->loss, "what to differentiate: the sum of its elements")
      ->required()
      ->type_name("BLOB");
  AddSetup(*command, words->setup);
  AddRepeated(*command, "--wrt", words->wrt,
              "only these blobs; else all floats that are fed or filled and get a gradient")
      ->type_name("BLOB");
  command->add_option("--tolerance", words->tolerance, "the largest relative error that is right; 0.01")
      ->check(CLI::PositiveNumber)
      ->type_name("T");
  command->add_option("--samples", words->samples, "elements checked per blob, evenly spread; 100, 0 for all")
      ->check(WholeNumber())
      ->type_name("N");
  command
      ->add_option("--mixed", words->mixed,
                   "dense and sparse gradients of one blob: error (as Caffe2), or summed as dense or sparse")
      ->check(CLI::IsMember({"error", "dense", "sparse"}))
      ->type_name("HOW");
  command->add_flag("--repair", words->repair,
                    "rewrite the forward net where it overwrites what its gradient needs");
  AddJson(*command, main,
          R"({"ok","loss","tolerance","precision","blobs":{blob:{"worst","checked","elements","kinks","at",)"
          R"("planned","numeric"}},"unplanned":[blob],"left_out":operators of a backward pass})");
  command->footer(
      "Exit code 1 when a blob's worst relative error is beyond the tolerance. Runs in double precision "
      "where all "
      "kernels can;\nin float, gradients below a hundredth of the loss are compared to that instead.");
}

}  // namespace weft::cli
