// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/check/check_plan.h"

#include <algorithm>

#include "core/base/str.h"

namespace weft {

namespace {

// Races are looked for blob by blob; a hostile plan could name one large net in very many steps.
constexpr size_t kMostTouches = size_t{1} << 26;

class PlanChecker {
 public:
  PlanChecker(const Plan& plan, Findings& findings)
      : plan_(plan),
        findings_(findings),
        net_of_(*plan.symbols, plan.networks.size(), -1),
        raced_(*plan.symbols, plan.networks.size(), 0) {}

  void Run() {
    for (size_t k = 0; k < plan_.networks.size(); ++k) {
      effects_.push_back(EffectsOf(plan_.networks[k]));
      int32_t& net = net_of_[plan_.networks[k].name];
      if (net >= 0) {
        if (findings_.Wants(FindingCode::kRepeatedNet))
          Add(FindingCode::kRepeatedNet, Severity::kError, "", "",
              StrCat("the plan has two nets called ", NetName(static_cast<int32_t>(k)), " (networks ", net,
                     " and ", k, ")"),
              "rename one of them");
        continue;
      }
      net = static_cast<int32_t>(k);
    }
    first_run_.assign(plan_.networks.size(), -1);
    used_.assign(plan_.networks.size(), false);
    for (const Step& step : plan_.steps) Order(step, 0);
    FindWriters();
    for (const Step& step : plan_.steps) Visit(step, "", 0);
    CheckOrder();
    for (size_t k = 0; k < plan_.networks.size(); ++k)
      if (!used_[k] && findings_.Wants(FindingCode::kUnusedNet))
        Add(FindingCode::kUnusedNet, Severity::kNote, NetName(static_cast<int32_t>(k)), "",
            StrCat("no step runs net ", NetName(static_cast<int32_t>(k))), "");
  }

 private:
  using Nets = std::vector<int32_t>;  // distinct nets, sorted

  std::string NetName(int32_t k) const {
    return std::string(plan_.Str(plan_.networks[static_cast<size_t>(k)].name));
  }
  std::string Where(int32_t k, OpId op) const {
    return StrCat(OpLabel(plan_.networks[static_cast<size_t>(k)], op), " of ", NetName(k));
  }
  void Add(FindingCode code, Severity severity, std::string path, std::string blob, std::string message,
           std::string remedy, OpId op = kNoOp) {
    findings_.Add(
        {code, severity, op, std::move(blob), std::move(message), std::move(remedy), std::move(path)});
  }

  // The order in which nets first run; siblings of a concurrent step count in the order they are listed.
  void Order(const Step& step, int depth) {
    if (depth > kMaxNesting) return;
    const auto run = [&](Symbol name) {
      const int32_t net = net_of_.Get(name);
      if (net < 0) return;
      used_[static_cast<size_t>(net)] = true;
      if (first_run_[static_cast<size_t>(net)] < 0) first_run_[static_cast<size_t>(net)] = clock_++;
    };
    for (Symbol name : step.networks) run(name);
    for (const Step& substep : step.substeps) Order(substep, depth + 1);
    if (step.report_net) run(step.report_net);
    if (step.criteria_network) run(step.criteria_network);
  }

  struct Writer {
    int32_t net = -1;
    OpId op = kNoOp;
  };

  void FindWriters() {
    order_.resize(static_cast<size_t>(clock_));
    for (size_t k = 0; k < first_run_.size(); ++k)
      if (first_run_[k] >= 0) order_[static_cast<size_t>(first_run_[k])] = static_cast<int32_t>(k);
    writer_.assign(plan_.symbols->size(), {});
    for (int32_t net : order_)
      for (const Effect& write : effects_[static_cast<size_t>(net)].writes)
        if (writer_[write.blob.id].net < 0) writer_[write.blob.id] = {net, write.op};
  }

  void CheckOrder() {
    for (int32_t net : order_) {
      for (const Effect& read : effects_[static_cast<size_t>(net)].reads) {
        const Writer& writer = writer_[read.blob.id];
        if (writer.net < 0 || raced_.Get(read.blob) ||
            first_run_[static_cast<size_t>(writer.net)] <= first_run_[static_cast<size_t>(net)])
          continue;
        if (!findings_.Wants(FindingCode::kRunOrder)) continue;
        const std::string blob(plan_.Str(read.blob));
        Add(FindingCode::kRunOrder, Severity::kWarning, NetName(net), blob,
            StrCat("net ", NetName(net), " reads ", blob, " (",
                   OpLabel(plan_.networks[static_cast<size_t>(net)], read.op), "), first written by net ",
                   NetName(writer.net), " (",
                   OpLabel(plan_.networks[static_cast<size_t>(writer.net)], writer.op),
                   "), which runs later"),
            StrCat("run ", NetName(writer.net), " before ", NetName(net)), read.op);
      }
    }
  }

  // Checks a step and returns the nets that run in it and write to the workspace around it.
  Nets Visit(const Step& step, const std::string& parent, int depth) {
    const std::string own = plan_.Str(step.name).empty() ? "(no name)" : std::string(plan_.Str(step.name));
    const std::string name = parent.empty() ? own : StrCat(parent, "/", own);
    const std::string path = StrCat("step ", name);
    if (depth > kMaxNesting) {
      if (findings_.Wants(FindingCode::kNestedTooDeep))
        Add(FindingCode::kNestedTooDeep, Severity::kError, path, "",
            StrCat("nested deeper than ", kMaxNesting, " levels; it was not checked"), "");
      return {};
    }
    CheckStep(step, path);

    Nets nets;
    for (Symbol net : step.networks)
      if (net_of_.Get(net) >= 0) nets.push_back(net_of_.Get(net));
    std::vector<Nets> parts;
    for (const Step& substep : step.substeps) parts.push_back(Visit(substep, name, depth + 1));
    if (step.report_net && net_of_.Get(step.report_net) >= 0) {
      parts.push_back(nets);
      parts.push_back({net_of_.Get(step.report_net)});
    }
    CheckRaces(step, path, parts);
    for (const Nets& part : parts) nets.insert(nets.end(), part.begin(), part.end());
    std::sort(nets.begin(), nets.end());
    nets.erase(std::unique(nets.begin(), nets.end()), nets.end());
    // What a workspace of its own keeps to itself can't collide with anything outside.
    if (step.create_workspace.value_or(false)) nets.clear();
    return nets;
  }

  void CheckStep(const Step& step, const std::string& path) {
    const auto undefined = [&](Symbol net, std::string_view what) {
      if (net_of_.Get(net) >= 0 || !findings_.Wants(FindingCode::kUndefinedNet)) return;
      std::vector<std::string_view> names;
      for (const Net& n : plan_.networks) names.push_back(plan_.Str(n.name));
      const auto near = NearestNames(plan_.Str(net), names, 1);
      Add(FindingCode::kUndefinedNet, Severity::kError, path, "",
          StrCat(what, " net ", plan_.Str(net), ", which the plan does not hold"),
          near.empty() ? "add the net to the plan" : StrCat("did you mean ", near[0], "?"));
    };
    for (Symbol net : step.networks) undefined(net, "runs");
    if (step.report_net) undefined(step.report_net, "reports with");
    if (!step.networks.empty() && !step.substeps.empty() && findings_.Wants(FindingCode::kSubstepsAndNets))
      Add(FindingCode::kSubstepsAndNets, Severity::kError, path, "",
          StrCat("has both substeps (", step.substeps.size(), ") and networks (", step.networks.size(),
                 "); Caffe2 allows one kind"),
          "put the networks into a substep of their own");
    if (step.networks.empty() && step.substeps.empty() && findings_.Wants(FindingCode::kEmptyStep))
      Add(FindingCode::kEmptyStep, Severity::kNote, path, "", "runs nothing", "");

    const auto option = [&](Severity severity, std::string message, std::string remedy) {
      if (findings_.Wants(FindingCode::kStepOptions))
        Add(FindingCode::kStepOptions, severity, path, "", std::move(message), std::move(remedy));
    };
    if (step.should_stop_blob) {
      const std::string_view blob = plan_.Str(step.should_stop_blob);
      if (step.num_iter)
        option(Severity::kError,
               StrCat("sets num_iter=", *step.num_iter, " and should_stop_blob=", blob,
                      "; Caffe2 refuses the two together"),
               "remove one of them");
      if (writer_[step.should_stop_blob.id].net < 0)
        option(Severity::kWarning,
               StrCat("should_stop_blob ", blob,
                      " is written by no net of the plan: the step would run forever, or not start"),
               StrCat("write ", blob, " in one of its nets"));
    } else if (step.only_once.value_or(false)) {
      option(Severity::kError, "sets only_once without should_stop_blob; Caffe2 refuses that",
             "remove only_once");
    }
    if (step.report_net && !step.report_interval)
      option(Severity::kError, "has a report_net but no report_interval", "set report_interval (seconds)");
    if (step.num_concurrent_instances.value_or(0) > 1 && !step.networks.empty())
      option(Severity::kWarning,
             StrCat("asks for ", *step.num_concurrent_instances,
                    " concurrent instances, but runs networks itself: Caffe2 runs them once"),
             "put the networks into a substep");
    if (step.num_iter.value_or(1) == 0) option(Severity::kNote, "has num_iter=0: it never runs", "");
  }

  // `parts`: the nets of each substep. Those that may run at the same time must not write one blob.
  void CheckRaces(const Step& step, const std::string& path, const std::vector<Nets>& parts) {
    const bool side_by_side = step.concurrent_substeps.value_or(false) && step.substeps.size() > 1;
    const bool instances = step.num_concurrent_instances.value_or(0) > 1 && !step.substeps.empty();
    const auto reporter = [&](size_t k) {
      return k >= step.substeps.size() || step.substeps[k].run_every_ms.value_or(0) > 0;
    };
    bool any_reporter = step.report_net ? true : false;
    for (size_t k = 0; k < step.substeps.size(); ++k) any_reporter |= reporter(k);
    if (!side_by_side && !instances && !any_reporter) return;
    const auto together = [&](size_t a, size_t b) {
      if (a == b) return instances;
      return side_by_side || instances || reporter(a) || reporter(b);
    };

    struct First {
      int32_t part = -1;
      int32_t net;
      OpId op;
    };
    SymbolMap<First> first(*plan_.symbols, 64, {});
    for (size_t k = 0; k < parts.size(); ++k) {
      for (int32_t net : parts[k]) {
        touches_ += effects_[static_cast<size_t>(net)].writes.size();
        if (touches_ > kMostTouches) return;
        for (const Effect& write : effects_[static_cast<size_t>(net)].writes) {
          First& other = first[write.blob];
          if (other.part < 0) other = {static_cast<int32_t>(k), net, write.op};
          if (!together(static_cast<size_t>(other.part), k) || raced_.Get(write.blob) ||
              (Atomic(net, write.op) && Atomic(other.net, other.op)))
            continue;
          raced_[write.blob] = true;
          if (!findings_.Wants(FindingCode::kConcurrentWrite)) continue;
          const std::string blob(plan_.Str(write.blob));
          const bool itself = static_cast<size_t>(other.part) == k;
          Add(FindingCode::kConcurrentWrite, Severity::kWarning, path, blob,
              itself ? StrCat("runs ", *step.num_concurrent_instances, " instances at once, and each writes ",
                              blob, " (", Where(net, write.op), ")")
                     : StrCat("may write ", blob, " from two places at once: ", Where(other.net, other.op),
                              " and ", Where(net, write.op)),
              "give each its own workspace (create_workspace) or its own blob");
        }
      }
    }
    if (!side_by_side) return;
    for (size_t k = 0; k < parts.size(); ++k) {
      for (int32_t net : parts[k]) {
        touches_ += effects_[static_cast<size_t>(net)].reads.size();
        if (touches_ > kMostTouches) return;
        for (const Effect& read : effects_[static_cast<size_t>(net)].reads) {
          const First& other = first.Get(read.blob);
          if (other.part < 0 || static_cast<size_t>(other.part) == k || raced_.Get(read.blob) ||
              (Atomic(net, read.op) && Atomic(other.net, other.op)))
            continue;
          raced_[read.blob] = true;
          if (!findings_.Wants(FindingCode::kConcurrentRead)) continue;
          const std::string blob(plan_.Str(read.blob));
          Add(FindingCode::kConcurrentRead, Severity::kNote, path, blob,
              StrCat("may read ", blob, " (", Where(net, read.op), ") while ", Where(other.net, other.op),
                     " writes it"),
              "");
        }
      }
    }
  }

  bool Atomic(int32_t net, OpId op) const {
    const Net& n = plan_.networks[static_cast<size_t>(net)];
    return plan_.Str(n.ops[static_cast<size_t>(op)].type).starts_with("Atomic");
  }

  const Plan& plan_;
  Findings& findings_;
  SymbolMap<int32_t> net_of_;        // name -> index of the first net so called
  SymbolMap<uint8_t> raced_;         // blobs that a concurrent step already has a finding about
  std::vector<NetEffects> effects_;  // by net
  std::vector<int32_t> first_run_;   // by net: its place in the order of first runs, -1 never
  std::vector<bool> used_;           // by net
  std::vector<int32_t> order_;       // nets in that order
  std::vector<Writer> writer_;       // by symbol: who writes it first
  int32_t clock_ = 0;
  size_t touches_ = 0;
};

}  // namespace

std::vector<Diagnostic> CheckPlan(const Plan& plan, const CheckOptions& options) {
  Findings findings(options.per_code);
  PlanChecker(plan, findings).Run();
  for (const Net& net : plan.networks) {
    const std::string name(plan.Str(net.name));
    internal::CheckNetInto(net, options, name, 0, findings);
  }
  return findings.Take();
}

}  // namespace weft
