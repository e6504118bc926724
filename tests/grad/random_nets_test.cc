// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Random nets with If, While, overwritten and in-place blobs, shared and sparse reads: planned gradients
// against central differences of the forward net, both in double, to a part in a million. A version conflict
// is a fair answer to the plain plan; then the repaired plan must be right. A failing net is shrunk to a
// small one. WEFT_RANDOM_NETS: how many (10000 in the full run).
#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "core/base/str.h"
#include "core/grad/repair.h"
#include "core/kernels/families.h"
#include "core/ops/op_set.h"
#include "core/run/double_net.h"
#include "core/run/interpreter.h"
#include "proto/codec.h"
#include "tests/run/arrays.h"
#include "tests/support/random_net.h"

namespace weft::test {
namespace {

// 10,000 in a release build; what is slow there is not what others look for.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__EMSCRIPTEN__)
constexpr int kNets = 10000;
#else
constexpr int kNets = 1000;
#endif

// A net in double, prepared once and run again and again, as a training loop does.
class Runner {
 public:
  Runner(const Net& net, const Feeds& feeds) : workspace_(context_) {
    context_.kernels = &ReferenceKernels();
    context_.ops = &StandardOps();
    for (const auto& [name, tensor] : feeds.tensors) feeds_.push_back({name, DoubleTensor(tensor)});
    Feed(kNothing, 0, 0);
    auto prepared = PreparedNet::Create(std::make_shared<const Net>(DoubleNet(net)), workspace_);
    if (prepared)
      net_ = std::move(*prepared);
    else
      failed_ = prepared.error().message;
  }

  // Runs with element i of a feed moved by `by`; false when the net can't run.
  bool Run(size_t moved = kNothing, int64_t i = 0, double by = 0) {
    if (!net_) return false;
    Feed(moved, i, by);
    context_.ops_run = 0;
    context_.op_limit = 100000;
    const Result<void> ran = net_->Run();
    if (!ran) failed_ = ran.error().message;
    return ran.has_value();
  }
  std::optional<double> Loss(size_t moved, int64_t i, double by) {
    if (!Run(moved, i, by)) return {};
    const Tensor* loss = Find("loss");
    if (!loss || loss->numel() != 1 || !std::isfinite(NumberAt(*loss, 0))) return {};
    return NumberAt(*loss, 0);
  }
  // The largest number in any blob: sums that cancel are rounded as coarsely as that.
  double Largest() const {
    double largest = 0;
    for (const std::string& blob : workspace_.LocalBlobs())
      if (const Tensor* tensor = Find(blob); tensor && tensor->type() == DataType::kDouble)
        for (double value : tensor->values<double>()) largest = std::max(largest, std::fabs(value));
    return largest;
  }
  const Tensor* Find(std::string_view name) const { return workspace_.FindTensor(name); }
  const std::string& failed() const { return failed_; }
  static constexpr size_t kNothing = SIZE_MAX;

 private:
  void Feed(size_t moved, int64_t i, double by) {
    for (size_t f = 0; f < feeds_.size(); ++f) {
      Tensor tensor = feeds_[f].second.Clone();
      if (f == moved) tensor.mutable_data<double>()[i] += by;
      workspace_.Feed(feeds_[f].first, std::move(tensor));
    }
  }

  RunContext context_;
  Workspace workspace_;
  std::vector<std::pair<std::string, Tensor>> feeds_;
  std::unique_ptr<PreparedNet> net_;
  std::string failed_;
};

enum class Outcome { kRight, kRepaired, kSkipped, kWrong };
enum class Agreement { kYes, kNo, kUnknown };

// Differences of several widths, each improved by Richardson's step. The widths' own disagreement says how
// far they are to be trusted: where a loss swings faster than doubles can follow, no width is.
Agreement Agrees(Runner& runner, size_t feed, int64_t i, double planned, double* numeric) {
  const double largest = runner.Largest();
  double least_doubt = INFINITY;
  std::vector<double> slopes;
  for (const double step : {1e-3, 1e-4, 1e-2, 1e-5, 1e-6, 1e-7}) {
    double slope[2], rounding = 0;
    for (int half = 0; half < 2; ++half) {
      const double h = half ? step / 2 : step;
      const std::optional<double> above = runner.Loss(feed, i, h), below = runner.Loss(feed, i, -h);
      if (!above || !below) return Agreement::kUnknown;
      slope[half] = (*above - *below) / (2 * h);
      rounding = 8 * DBL_EPSILON * std::max(largest, std::fabs(*above)) / h;
    }
    const double improved = (4 * slope[1] - slope[0]) / 3,
                 doubt = std::fabs(slope[1] - slope[0]) / 10 + rounding;
    if (std::fabs(planned - improved) <= 1e-8 + 1e-6 * std::fabs(improved)) return Agreement::kYes;
    slopes.push_back(improved);
    if (doubt >= least_doubt) continue;
    least_doubt = doubt;
    *numeric = improved;
  }
  if (std::fabs(planned - *numeric) <= 1e-7 + 1e-5 * std::fabs(*numeric) + least_doubt)
    return Agreement::kYes;
  // Sure of another answer only when it is no accident: a second width gives it, too, and the loss does not
  // jump from one double to the next.
  const double sure = 1e-2 * std::fabs(*numeric) + 1e-7;
  const auto same = std::count_if(slopes.begin(), slopes.end(),
                                  [&](double slope) { return std::fabs(slope - *numeric) <= sure; });
  constexpr double kTiny = 1e-15;
  const std::optional<double> above = runner.Loss(feed, i, kTiny), below = runner.Loss(feed, i, -kTiny);
  if (!above || !below) return Agreement::kUnknown;
  const bool jumps = std::fabs(*above - *below) >
                     100 * (kTiny * std::fabs(*numeric) + DBL_EPSILON * (1 + std::fabs(*above)));
  return least_doubt <= sure && same >= 2 && !jumps ? Agreement::kNo : Agreement::kUnknown;
}

// Compares the planned gradients of every fed float blob with central differences.
Outcome Check(const Net& net, const Feeds& feeds, std::string* why, uint32_t faults = kNoFaults) {
  Runner forward(net, feeds);
  if (!forward.Loss(Runner::kNothing, 0, 0)) return Outcome::kSkipped;
  GradientOptions options;
  options.losses.push_back({net.symbols->Intern("loss"), {}});
  options.faults = faults;
  Result<RepairedPlan> plan = PlanWithRepair(net, StandardOps(), options);
  bool repaired = false;
  if (!plan && plan.error().code == ErrorCode::kVersionConflict) {
    options.repair = repaired = true;
    plan = PlanWithRepair(net, StandardOps(), options);
  }
  if (!plan) {
    *why = StrCat("no plan, ", ErrorCodeName(plan.error().code), ": ", plan.error().message);
    return Outcome::kWrong;
  }
  Runner train(AppendBackward(plan->changed ? plan->forward : net, plan->backward), feeds);
  if (!train.Run() || !train.Run()) {  // the second run finds what the first left behind
    *why = StrCat("the planned net does not run: ", train.failed(), "\n", StrJoin(plan->changes, "\n"));
    return Outcome::kWrong;
  }
  for (size_t f = 0; f < feeds.tensors.size(); ++f) {
    const auto& [name, tensor] = feeds.tensors[f];
    if (tensor.type() != DataType::kFloat) continue;
    std::vector<double> planned(static_cast<size_t>(tensor.numel()), 0);
    for (const BlobGradient& g : plan->backward.gradients) {
      if (net.Str(g.blob) != name || g.version != 0) continue;
      const Tensor* values =
          train.Find(net.Str(g.gradient.is_dense() ? g.gradient.dense : g.gradient.values));
      const Tensor* rows = g.gradient.is_dense() ? nullptr : train.Find(net.Str(g.gradient.indices));
      if (!values || (g.gradient.is_dense() ? values->numel() != tensor.numel() : !rows)) {
        *why = StrCat("the gradient of ", name, " is missing or misshapen");
        return Outcome::kWrong;
      }
      for (int64_t i = 0; i < values->numel(); ++i) {
        const int64_t at =
            rows ? static_cast<int64_t>(NumberAt(*rows, i / kRandomNetColumns)) * kRandomNetColumns +
                       i % kRandomNetColumns
                 : i;
        planned[static_cast<size_t>(at)] += NumberAt(*values, i);
      }
    }
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      const double got = planned[static_cast<size_t>(i)];
      double numeric = 0;
      switch (Agrees(forward, f, i, got, &numeric)) {
        case Agreement::kYes:
          continue;
        case Agreement::kUnknown:
          return Outcome::kSkipped;
        case Agreement::kNo:
          *why =
              StrCat("the gradient of ", name, "[", i, "] is ", got, ", central differences say ", numeric);
          return Outcome::kWrong;
      }
    }
  }
  return repaired ? Outcome::kRepaired : Outcome::kRight;
}

// The nets with one operator less: at the top, and in nested nets.
void ForEachSmaller(const Net& net, const std::function<bool(const Net&)>& take) {
  for (size_t i = 0; i < net.ops.size(); ++i) {
    Net fewer = net;
    fewer.ops.erase(fewer.ops.begin() + static_cast<std::ptrdiff_t>(i));
    if (take(fewer)) return;
  }
  for (size_t i = 0; i < net.ops.size(); ++i)
    for (const Arg& arg : net.ops[i].args) {
      if (!(arg.has & Arg::kHasN)) continue;
      bool taken = false;
      ForEachSmaller(*arg.Load()->n, [&](const Net& nested) {
        Net fewer = net;
        fewer.ops[i].args = WithArg(net.ops[i].args, MakeArg(arg.name, std::make_shared<const Net>(nested)));
        return taken = take(fewer);
      });
      if (taken) return;
    }
}

// Two failures of one kind begin alike.
bool SameKind(const std::string& a, const std::string& b) { return a.substr(0, 16) == b.substr(0, 16); }

// Leaves out operators as long as the net stays wrong in the same way.
Net Shrink(Net net, const Feeds& feeds, uint32_t faults) {
  std::string first;
  Check(net, feeds, &first, faults);
  for (bool smaller = true; smaller;) {
    smaller = false;
    std::optional<Net> found;
    ForEachSmaller(net, [&](const Net& fewer) {
      std::string why;
      if (Check(fewer, feeds, &why, faults) != Outcome::kWrong || !SameKind(why, first)) return false;
      found = fewer;
      return true;
    });
    if (found) {
      net = *std::move(found);
      smaller = true;
    }
  }
  return net;
}

size_t CountOps(const Net& net) {
  size_t count = net.ops.size();
  for (const Op& op : net.ops)
    for (const Arg& arg : op.args)
      if (arg.has & Arg::kHasN) count += CountOps(*arg.Load()->n);
  return count;
}

// Faults of Caffe2 are found, in nets that shrink to a few operators.
TEST(RandomNets, FindFaults) {
  for (const uint32_t fault :
       {uint32_t{kFaultByName}, uint32_t{kFaultOverwrite}, uint32_t{kFaultControlFlow}}) {
    int wrong = 0;
    for (uint32_t seed = 0; seed < 300 && wrong < 3; ++seed) {
      const Net net = RandomNet(seed);
      const Feeds feeds = RandomFeeds(seed + 1000003);
      std::string why;
      if (Check(net, feeds, &why, fault) != Outcome::kWrong) continue;
      ++wrong;
      const Net small = Shrink(net, feeds, fault);
      EXPECT_EQ(Check(small, feeds, &why, fault), Outcome::kWrong);
      EXPECT_LE(CountOps(small), std::min<size_t>(CountOps(net), 24)) << NetToText(small);
    }
    EXPECT_GE(wrong, 1) << "fault " << fault;
  }
}

TEST(RandomNets, PlannedGradientsEqualCentralDifferences) {
  const char* wanted = std::getenv("WEFT_RANDOM_NETS");
  const int count = wanted ? std::atoi(wanted) : kNets;
  const char* start = std::getenv("WEFT_RANDOM_SEED");
  int outcomes[4] = {};
  for (int k = 0; k < count; ++k) {
    const uint32_t seed = static_cast<uint32_t>(k) + (start ? static_cast<uint32_t>(std::atoi(start)) : 0);
    const Net net = RandomNet(seed);
    const Feeds feeds = RandomFeeds(seed + 1000003);
    std::string why;
    const Outcome outcome = Check(net, feeds, &why);
    ++outcomes[static_cast<int>(outcome)];
    if (outcome != Outcome::kWrong) continue;
    if (outcomes[static_cast<int>(Outcome::kWrong)] > 3) continue;
    const Net small = Shrink(net, feeds, kNoFaults);
    std::string why_small;
    Check(small, feeds, &why_small);
    ADD_FAILURE() << "seed " << seed << ": " << why << "\nshrunk: " << why_small << "\n" << NetToText(small);
  }
  std::cout << count << " nets: " << outcomes[0] << " right, " << outcomes[1] << " right after repair, "
            << outcomes[2] << " without a measurable gradient, " << outcomes[3] << " wrong\n";
  EXPECT_EQ(outcomes[3], 0);
}

}  // namespace
}  // namespace weft::test
