// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/str.h"
#include "core/run/double_net.h"
#include "core/run/interpreter.h"

namespace weft {

namespace {

// A tensor's elements as numbers; false for other types.
bool Numbers(const Tensor& tensor, std::vector<double>& out) {
  out.resize(static_cast<size_t>(tensor.numel()));
  if (tensor.type() == DataType::kFloat) {
    std::copy_n(tensor.data<float>(), tensor.numel(), out.begin());
  } else if (tensor.type() == DataType::kDouble) {
    std::copy_n(tensor.data<double>(), tensor.numel(), out.begin());
  } else {
    return false;
  }
  return true;
}

// Moves one element by `by`; returns how far it really moved after rounding.
double Move(Tensor& tensor, int64_t i, double by) {
  if (tensor.type() == DataType::kDouble) {
    tensor.mutable_data<double>()[i] += by;
    return by;
  }
  float& x = tensor.mutable_data<float>()[i];
  const float before = x;
  x = static_cast<float>(x + by);
  return static_cast<double>(x) - before;
}

class Runner {
 public:
  explicit Runner(const GradientCheck& check) : check_(check) {
    WEFT_CHECK(check.kernels && check.forward);
    const auto prepare = [&](const Net* net) {
      return !net ? nullptr : std::make_shared<const Net>(check.in_double ? DoubleNet(*net) : *net);
    };
    init_ = prepare(check.init);
    forward_ = prepare(check.forward);
    backward_ = prepare(check.backward);
    for (const auto& [blob, tensor] : check.feeds)
      feeds_.push_back(check.in_double ? DoubleTensor(tensor) : tensor);
  }

  // Runs `net` in a fresh workspace; blob `moved` has element `i` moved by `by`, which becomes the true
  // distance.
  Result<void> Run(const std::shared_ptr<const Net>& net, size_t moved, int64_t i, double* by) {
    workspace_.reset();
    context_ = RunContext();
    context_.kernels = check_.kernels;
    context_.ops = check_.ops;
    context_.seed = check_.seed;
    context_.op_limit = check_.op_limit;
    workspace_.emplace(context_);
    if (init_) WEFT_TRY_VOID(RunOnce(init_));
    for (size_t f = 0; f < feeds_.size(); ++f) {
      Tensor tensor = feeds_[f].Clone();
      if (f == moved && by) *by = Move(tensor, i, *by);
      workspace_->Feed(check_.feeds[f].first, std::move(tensor));
    }
    return RunOnce(net);
  }
  Result<void> RunForward() { return Run(forward_, 0, 0, nullptr); }
  Result<void> RunBackward() { return Run(backward_, 0, 0, nullptr); }

  Result<double> Loss() const {
    double sum = 0;
    for (const std::string& name : check_.losses) {
      const Tensor* loss = workspace_->FindTensor(name);
      std::vector<double> values;
      if (!loss || !Numbers(*loss, values))
        return Error{
            ErrorCode::kNotFound,
            StrCat(
                "the loss ", name, " is no tensor of floats",
                loss ? StrCat(": it is ", DataTypeName(loss->type()), " ", DimsToString(loss->dims())) : ""),
            -1, name};
      for (double v : values) sum += v;
    }
    return sum;
  }

  Result<double> LossAt(size_t moved, int64_t i, double& by) {
    WEFT_TRY_VOID(Run(forward_, moved, i, &by));
    return Loss();
  }

  double At(size_t feed, int64_t i) const {
    const Tensor& tensor = feeds_[feed];
    return tensor.type() == DataType::kDouble ? tensor.data<double>()[i] : tensor.data<float>()[i];
  }

  // (loss(x + h) - loss(x - h)) / 2h, with h as far as the element really moved.
  Result<double> Difference(size_t moved, int64_t i, double step) {
    double up = step, down = -step;
    WEFT_TRY(const double above, LossAt(moved, i, up));
    WEFT_TRY(const double below, LossAt(moved, i, down));
    return (above - below) / (up - down);
  }

  bool in_double() const { return check_.in_double; }
  Workspace& workspace() { return *workspace_; }

 private:
  Result<void> RunOnce(const std::shared_ptr<const Net>& net) {
    WEFT_TRY(const auto prepared, PreparedNet::Create(net, *workspace_));
    return prepared->Run();
  }

  const GradientCheck& check_;
  std::shared_ptr<const Net> init_, forward_, backward_;
  std::vector<Tensor> feeds_;
  RunContext context_;
  std::optional<Workspace> workspace_;
};

Result<size_t> FindFeed(const GradientCheck& check, std::string_view blob) {
  for (size_t f = 0; f < check.feeds.size(); ++f) {
    if (check.feeds[f].first != blob) continue;
    const DataType type = check.feeds[f].second.type();
    if (type != DataType::kFloat && type != DataType::kDouble)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat(blob, " holds ", DataTypeName(type), ", expected floats"), -1, std::string(blob)};
    return f;
  }
  return Error{ErrorCode::kNotFound, StrCat(blob, " is not fed"), -1, std::string(blob)};
}

// The derivative by differences of one width and its half (Richardson).
Result<double> Derivative(const GradientCheck& check, Runner& runner, size_t feed, int64_t i, double width) {
  const double step = width * check.step * std::max(1.0, std::fabs(runner.At(feed, i)));
  WEFT_TRY(const double wide, runner.Difference(feed, i, step));
  WEFT_TRY(const double narrow, runner.Difference(feed, i, step / 2));
  return (4 * narrow - wide) / 3;
}

struct Comparison {
  double numeric = 0;
  bool agrees = false, kink = false;
};

// What rounding of the loss may do to a difference of this step.
double Rounding(const Runner& runner, double loss, double step) {
  const double unit = runner.in_double() ? std::numeric_limits<double>::epsilon()
                                         : static_cast<double>(std::numeric_limits<float>::epsilon());
  return 4 * unit * std::fabs(loss) / step;
}

// Whether the slopes to both sides differ, and do not come closer as the step narrows: the element is on a
// kink, where all central differences agree on a slope that neither side has.
Result<bool> OnKink(const GradientCheck& check, Runner& runner, size_t feed, int64_t i, double slope,
                    double loss) {
  const double size = std::max(1.0, std::fabs(runner.At(feed, i)));
  double apart[2];
  for (const int k : {0, 1}) {
    double up = check.step * size / (k == 0 ? 4 : 16), down = -up;
    WEFT_TRY(const double above, runner.LossAt(feed, i, up));
    WEFT_TRY(const double below, runner.LossAt(feed, i, down));
    apart[k] = std::fabs((above - loss) / up - (below - loss) / down);
    if (!(apart[k] > check.absolute + check.relative * std::fabs(slope) + 2 * Rounding(runner, loss, up)))
      return false;
  }
  return apart[1] > apart[0] / 2;  // a quarter of it where the slope changes smoothly
}

// Narrower differences get out of the way of kinks, wider ones of rounding: one that agrees will do. When
// none does, differences that also contradict each other by more than rounding explains have met a kink, and
// so have those whose two sides differ.
Result<Comparison> Compare(const GradientCheck& check, Runner& runner, size_t feed, int64_t i, double planned,
                           double loss) {
  Comparison out;
  double least = INFINITY;
  std::vector<std::pair<double, double>> seen;  // a difference, and what rounding may have done to it
  for (const double width : {1.0, 1.0 / 4, 1.0 / 16, 1.0 / 2, 1.0 / 8}) {
    WEFT_TRY(const double numeric, Derivative(check, runner, feed, i, width));
    // A planned gradient that is no number is wrong however large the numeric one is.
    const double distance = std::isfinite(planned) ? std::fabs(planned - numeric) : INFINITY;
    if (distance < least || width == 1) {
      least = distance;
      out.numeric = numeric;
    }
    if (distance <= check.absolute + check.relative * std::fabs(numeric)) {
      out.agrees = true;
      out.kink = false;
      return out;
    }
    const double rounding = Rounding(runner, loss, width * check.step);
    for (const auto& [other, its_rounding] : seen)
      out.kink |= !(std::fabs(numeric - other) <=
                    check.absolute + check.relative * std::fabs(numeric) + rounding + its_rounding);
    seen.emplace_back(numeric, rounding);
  }
  if (!out.kink) {
    WEFT_TRY(out.kink, OnKink(check, runner, feed, i, out.numeric, loss));
  }
  return out;
}

// The planned gradient as a dense list in the shape of the blob.
Result<std::vector<double>> Planned(Runner& runner, const GradientPlace& place, const Tensor& blob) {
  const auto find = [&](const std::string& name) -> Result<const Tensor*> {
    const Tensor* tensor = runner.workspace().FindTensor(name);
    if (!tensor || !tensor->has_type())
      return Error{ErrorCode::kNotFound, StrCat("the gradient ", name, " of ", place.blob, " is not there"),
                   -1, name};
    return tensor;
  };
  const auto wrong = [&](const std::string& name, const Tensor& tensor) {
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("the gradient ", name, " of ", place.blob, " is ", DataTypeName(tensor.type()), " ",
                        DimsToString(tensor.dims()), ", the blob is ", DimsToString(blob.dims())),
                 -1, name};
  };
  std::vector<double> out(static_cast<size_t>(blob.numel()), 0);
  if (!place.dense.empty()) {
    WEFT_TRY(const Tensor* dense, find(place.dense));
    if (dense->numel() != blob.numel() || !Numbers(*dense, out)) return wrong(place.dense, *dense);
    return out;
  }
  if (place.values.empty()) return out;
  WEFT_TRY(const Tensor* indices, find(place.indices));
  WEFT_TRY(const Tensor* values, find(place.values));
  std::vector<double> rows;
  const int64_t width = blob.SizeFrom(1);
  if (!Numbers(*values, rows) || values->numel() != indices->numel() * width)
    return wrong(place.values, *values);
  for (int64_t i = 0; i < indices->numel(); ++i) {
    int64_t row;
    if (indices->type() == DataType::kInt32) {
      row = indices->data<int32_t>()[i];
    } else if (indices->type() == DataType::kInt64) {
      row = indices->data<int64_t>()[i];
    } else {
      return wrong(place.indices, *indices);
    }
    if (row < 0 || (row + 1) * width > blob.numel()) return wrong(place.indices, *indices);
    for (int64_t k = 0; k < width; ++k) out[row * width + k] += rows[i * width + k];
  }
  return out;
}

}  // namespace

Result<Tensor> NumericGradient(const GradientCheck& check, std::string_view blob) {
  WEFT_TRY(const size_t feed, FindFeed(check, blob));
  Runner runner(check);
  Tensor out;
  if (!out.Allocate(DataType::kDouble, check.feeds[feed].second.dims()))
    return Error{ErrorCode::kLimit, "no memory for the gradient"};
  for (int64_t i = 0; i < out.numel(); ++i) {
    WEFT_TRY(out.mutable_data<double>()[i], Derivative(check, runner, feed, i, 1));
  }
  return out;
}

Result<double> LossAtRest(const GradientCheck& check) {
  Runner runner(check);
  WEFT_TRY_VOID(runner.RunForward());
  return runner.Loss();
}

Result<std::vector<BlobGradientReport>> CheckGradients(const GradientCheck& check) {
  WEFT_CHECK(check.backward);
  Runner runner(check);
  std::vector<std::vector<double>> planned;
  WEFT_TRY_VOID(runner.RunBackward());
  WEFT_TRY(const double at_rest, runner.Loss());
  int64_t total = 0, done = 0;
  const auto count = [&](size_t elements) {
    const int64_t all = static_cast<int64_t>(elements);
    return check.samples > 0 ? std::min(check.samples, all) : all;
  };
  for (const GradientPlace& place : check.gradients) {
    WEFT_TRY(const size_t feed, FindFeed(check, place.blob));
    WEFT_TRY(std::vector<double> values, Planned(runner, place, check.feeds[feed].second));
    total += count(values.size());
    planned.push_back(std::move(values));
  }
  std::vector<BlobGradientReport> reports;
  for (size_t g = 0; g < check.gradients.size(); ++g) {
    BlobGradientReport report;
    report.blob = check.gradients[g].blob;
    WEFT_TRY(const size_t feed, FindFeed(check, report.blob));
    double worst = 0;
    const int64_t all = static_cast<int64_t>(planned[g].size()), samples = count(planned[g].size());
    for (int64_t k = 0; k < samples; ++k) {
      // Evenly spread: the remainder is spread as well.
      const int64_t i = all / samples * k + all % samples * k / samples;
      const double found = planned[g][static_cast<size_t>(i)];
      WEFT_TRY(const Comparison compared, Compare(check, runner, feed, i, found, at_rest));
      ++report.elements;
      if (check.progress) check.progress(++done, total);
      if (compared.kink) {
        ++report.kinks;
        continue;
      }
      report.wrong += !compared.agrees;
      const double numeric = compared.numeric;
      const double distance = std::isfinite(found) ? std::fabs(found - numeric) : INFINITY;
      const double excess = distance / (check.absolute + check.relative * std::fabs(numeric));
      report.worst_absolute = std::max(report.worst_absolute, distance);
      const double scale =
          std::max({std::fabs(numeric), std::isfinite(found) ? std::fabs(found) : 0.0, check.floor});
      report.worst_relative = std::max(report.worst_relative, distance / scale);
      if (excess > worst || report.worst < 0) {
        worst = excess;
        report.worst = i;
        report.numeric = numeric;
        report.planned = found;
      }
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace weft
