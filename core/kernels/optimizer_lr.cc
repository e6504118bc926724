// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// LearningRate: base_lr times a factor that the policy gives for the iteration.
#include <cmath>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

// Arguments of a policy; those of a part of a composite policy have a prefix.
struct Policy {
  const KernelContext& c;
  std::string prefix;

  double F(std::string_view name, double otherwise) const {
    const Arg* arg = c.GetArg(prefix + std::string(name));
    if (arg && (arg->has & Arg::kHasF)) return arg->f;
    if (arg && (arg->has & Arg::kHasI)) return static_cast<double>(arg->i);
    return otherwise;
  }
  int64_t I(std::string_view name, int64_t otherwise) const {
    return c.ArgI(prefix + std::string(name), otherwise);
  }
  std::string S(std::string_view name) const { return c.ArgS(prefix + std::string(name), ""); }
};

double LinearWarmup(double start, double iterations, double iter) {
  return iter >= iterations ? 1 : start + (1 - start) * iter / iterations;
}

double Inverse(const Policy& p, double iter) {
  return std::pow(1 + p.F("gamma", 0) * iter, -p.F("power", 0));
}

double Cyclical(double base, double most, double step, double decay, double iter) {
  const double cycle = std::floor(iter / (2 * step)) + 1;
  const double x = std::fabs(iter / step - 2 * cycle + 1);
  return 1 + (std::fabs(most) / std::fabs(base) - 1) * std::max(0.0, 1 - x) *
                 std::pow(decay, std::floor(iter / (2 * step)));
}

struct CosineArgs {
  double least, most, period, growth, shrink;
};
double Cosine(const CosineArgs& a, double iter) {
  double cycle, length, at;
  if (a.growth != 1) {
    cycle = std::floor(std::log(1 - iter / a.period * (1 - a.growth)) / std::log(a.growth));
    length = std::pow(a.growth, cycle) * a.period;
    at = iter - (1 - std::pow(a.growth, cycle)) / (1 - a.growth) * a.period;
  } else {
    cycle = std::floor(iter / a.period);
    length = a.period;
    at = iter - length * cycle;
  }
  const double shrunk = std::pow(a.shrink, cycle), least = a.least * shrunk, most = a.most * shrunk;
  return least + 0.5 * (most - least) * (1 + std::cos(3.14159265358979323846 * at / length));
}

// The start that composite cyclical and cosine policies share: constant, then linear; negative when it is
// over.
double ConstantThenLinear(const Policy& p, double iter, double otherwise) {
  const double start = p.F("start_warmup_multiplier", 0.1);
  const double constant = static_cast<double>(p.I("constant_warmup_num_iter", 10000000));
  const double linear = static_cast<double>(p.I("linear_warmup_num_iter", 10000000));
  if (iter < constant) return start;
  if (iter < constant + linear) return LinearWarmup(start, linear, iter - constant);
  return otherwise;
}

Result<double> Factor(const Policy& p, const std::string& policy, double base, int64_t step) {
  const double iter = static_cast<double>(step);
  const KernelContext& c = p.c;
  if (policy == "fixed") return 1.0;
  if (policy == "step") {
    const int64_t size = p.I("stepsize", 0);
    if (size <= 0) return c.Fail("stepsize must be positive");
    return std::pow(p.F("gamma", 0), static_cast<double>(step / size));
  }
  if (policy == "exp") return std::pow(p.F("gamma", 0), iter);
  if (policy == "inv") return Inverse(p, iter);
  if (policy == "poly") return std::pow(1 - iter / static_cast<double>(p.I("max_iter", -1)), p.F("power", 0));
  if (policy == "gate") return step >= p.I("num_iter", 0) ? p.F("multiplier_2", 1) : p.F("multiplier_1", 1);
  if (policy == "alter") {
    const bool active_first = p.I("active_first", 1) != 0;
    const int64_t active = p.I("active_period", -1), inactive = p.I("inactive_period", -1);
    if (active < 0 || inactive < 0 || active + inactive == 0) return c.Fail("periods must not be negative");
    const bool first = step % (active + inactive) < (active_first ? active : inactive);
    return first == active_first ? 1.0 : 0.0;
  }
  if (policy == "linearWarmup")
    return LinearWarmup(p.F("start_multiplier", 0), static_cast<double>(p.I("num_iter", 0)), iter);
  if (policy == "constantWarmup") return step >= p.I("num_iter", 0) ? 1.0 : p.F("multiplier", 0.5);
  if (policy == "hill") {
    const int64_t up = p.I("num_iter", 0);
    if (step < up) return LinearWarmup(p.F("start_multiplier", 0), static_cast<double>(up), iter);
    return std::max(p.F("end_multiplier", 0), Inverse(p, iter - static_cast<double>(up)));
  }
  if (policy == "slope") {
    const double first = static_cast<double>(p.I("num_iter_1", 0)),
                 second = static_cast<double>(p.I("num_iter_2", 0));
    const double m1 = p.F("multiplier_1", 0), m2 = p.F("multiplier_2", 0);
    if (iter < first) return m1;
    return std::max(m2, m1 + (iter - first) / (second - first) * (m2 - m1));
  }
  if (policy == "cyclical") {
    const int64_t size = p.I("stepsize", 1000000);
    if (size <= 0) return c.Fail("stepsize must be positive");
    return Cyclical(base, p.F("max_lr", 0.005), static_cast<double>(size), p.F("decay", 1), iter);
  }
  if (policy == "cosine") {
    const CosineArgs args{p.F("min_lr", 0), p.F("max_lr", 0.5), static_cast<double>(p.I("period", 50)),
                          p.F("t_mult", 1), p.F("lr_shrink", 0.99)};
    return Cosine(args, iter);
  }
  if (policy == "constantThenLinearWarmup") return ConstantThenLinear(p, iter, 1);
  if (policy == "compositeCyclical" || policy == "compositeCosine") {
    const double warmup = ConstantThenLinear(p, iter, -1);
    if (warmup >= 0) return warmup;
    const double after = iter - static_cast<double>(p.I("constant_warmup_num_iter", 10000000)) -
                         static_cast<double>(p.I("linear_warmup_num_iter", 10000000));
    if (policy == "compositeCyclical")
      return Cyclical(base, p.F("cyclical_max_lr", 0.05),
                      static_cast<double>(p.I("cyclical_step_size", 1000000)), p.F("cyclical_decay", 1),
                      after);
    const CosineArgs args{p.F("cosine_min_lr", 0.01), p.F("cosine_max_lr", 0.05),
                          static_cast<double>(p.I("cosine_period", 50)), p.F("cosine_t_mult", 1),
                          p.F("cosine_lr_shrink", 0.99)};
    return Cosine(args, after);
  }
  if (policy == "composite") {
    const std::vector<int64_t> lengths = c.ArgIs("sub_policy_num_iters");
    int64_t start = 1;
    std::optional<size_t> part;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] <= 0) return c.Fail("sub_policy_num_iters must be positive");
      if (step >= start) part = i;
      start += lengths[i];
    }
    if (!part) return c.Fail("no policy for iteration ", step);
    const Policy sub{c, StrCat("sub_policy_", *part, "_")};
    const std::string name = sub.S("policy");
    if (name == "composite") return c.Fail("composite policies do not nest");
    WEFT_TRY(const double factor, Factor(sub, name, base, step));
    return factor * sub.F("lr_scale", 1);
  }
  return c.Fail("Unknown learning rate policy: ", policy);
}

Result<void> LearningRate(KernelContext& c) {
  const Policy policy{c, ""};
  WEFT_ENSURE(c, c.HasArg("base_lr"), "Base learning rate must be set.");
  const std::string name = policy.S("policy");
  WEFT_ENSURE(c, !name.empty(), "Must specify a learning rate policy.");
  WEFT_ENSURE(c, c.In(0).numel() >= 1, "the iteration is missing");
  const double base = policy.F("base_lr", 0);
  WEFT_TRY(const double factor, Factor(policy, name, base, c.In<int64_t>(0)[0]));
  WEFT_TRY(float* out, c.Out<float>(0, {}));
  *out = static_cast<float>(base * factor);
  return {};
}

constexpr KernelRow kRows[] = {
    {"LearningRate", LearningRate, "l"},
};

}  // namespace
}  // namespace kernels

KernelFamily OptimizerLrKernels() { return kernels::kRows; }

}  // namespace weft
