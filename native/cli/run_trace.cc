// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/run_trace.h"

#include <algorithm>
#include <cmath>

#include "core/run/tensor_text.h"

namespace weft::cli {

namespace {

constexpr size_t kBins = 24, kMostScalars = 64;

// Elements kept of each output: nets of many operators keep few.
int64_t MostKept(const Net& net) { return net.ops.size() <= 2000 ? 64 : 8; }

std::string_view WhatOf(const TensorStats& stats) { return stats.nans > 0 ? "NaN" : "infinity"; }

}  // namespace

void WriteTensorNumbers(JsonWriter& json, DataType type, std::span<const int64_t> dims,
                        const TensorStats& stats, const Histogram& histogram) {
  json.Key("type").String(DataTypeName(type)).Key("shape").BeginArray();
  for (const int64_t d : dims) json.Int(d);
  json.EndArray().Key("elements").Int(stats.elements);
  json.Key("min").Double(stats.min).Key("max").Double(stats.max);
  json.Key("mean").Double(stats.mean).Key("std").Double(stats.std);
  json.Key("nan").Int(stats.nans).Key("inf").Int(stats.infinities).Key("zeros").Int(stats.zeros);
  json.Key("histogram").BeginObject().Key("low").Double(histogram.low).Key("high").Double(histogram.high);
  json.Key("counts").BeginArray();
  for (const int64_t count : histogram.counts) json.Int(count);
  json.EndArray().EndObject();
}

void WriteElements(JsonWriter& json, const Tensor& tensor, int64_t from, int64_t count) {
  json.BeginArray();
  const int64_t end = tensor.has_type() ? std::min(tensor.numel(), from + count) : 0;
  for (int64_t i = from; i < end; ++i) {
    if (tensor.type() == DataType::kString) {
      json.String(tensor.data<std::string>()[i]);
    } else if (tensor.type() == DataType::kInt64) {
      json.Int(tensor.data<int64_t>()[i]);
    } else if (tensor.type() == DataType::kBool) {
      json.Bool(tensor.data<bool>()[i]);
    } else if (const double value = NumberAt(tensor, i); std::isfinite(value)) {
      json.Double(value);
    } else {
      json.String(ElementText(tensor, i));
    }
  }
  json.EndArray();
}

std::string StatsText(const TensorStats& stats) {
  const auto text = [](double value) { return FormatFloat(static_cast<float>(value)); };
  std::string out;
  if (!std::isnan(stats.min))
    out = stats.elements == 1
              ? text(stats.min)
              : StrCat("min ", text(stats.min), ", mean ", text(stats.mean), ", max ", text(stats.max));
  if (stats.nans > 0) StrAppend(out, out.empty() ? "" : ", ", stats.nans, " NaN");
  if (stats.infinities > 0) StrAppend(out, out.empty() ? "" : ", ", stats.infinities, " infinite");
  return out;
}

void Trace::BeginIteration(int64_t iteration, bool last) {
  iteration_ = iteration;
  last_ = last || options_.stop_at_nan;
  steps_.clear();
}

Result<void> Trace::AfterOp(size_t index) {
  const Op& op = net_.ops[index];
  const auto values = ssa_.outputs(static_cast<OpId>(index));
  Step step{std::string(net_.Str(op.type)), index, {}};
  const bool keep = options_.keep && last_;
  bool bad = false;
  for (size_t i = 0; i < op.outputs.size(); ++i) {
    const std::string_view name = net_.Str(op.outputs[i]);
    const Blob* place = workspace_.FindBlob(name);
    if (!place) continue;
    const Tensor* tensor = place->Get<Tensor>();
    const bool typed = tensor && tensor->has_type();
    Output out;
    out.blob = name;
    out.version = i < values.size() ? ssa_.values()[values[i]].version : 0;
    const bool finite = !typed || AllFinite(*tensor);
    if (typed && (keep || !finite)) out.stats = StatsOf(*tensor);
    if (!finite && known_bad_.insert(out.blob).second) {
      not_finite_.push_back({out.blob, step.type, out.version, index, iteration_, out.stats});
      bad = true;
    }
    if (options_.keep && typed && tensor->numel() == 1 && tensor->type() != DataType::kString) {
      const auto [at, fresh] = scalar_index_.try_emplace(out.blob, scalars_.size());
      if (fresh && scalars_.size() < kMostScalars) scalars_.emplace_back(out.blob, std::vector<double>());
      if (at->second < scalars_.size()) {
        std::vector<double>& numbers = scalars_[at->second].second;
        numbers.resize(static_cast<size_t>(iteration_), std::nan(""));
        numbers.back() = NumberAt(*tensor, 0);
      }
    }
    if (!keep) continue;
    if (typed) {
      out.type = tensor->type();
      out.dims = Dims(tensor->dims());
      const int64_t kept[] = {std::min(tensor->numel(), MostKept(net_))};
      out.head = tensor->View(0, kept).Clone();
      out.histogram = HistogramOf(*tensor, out.stats, kBins);
    } else {
      out.holds = tensor ? "nothing yet" : place->type_name();
    }
    step.outputs.push_back(std::move(out));
  }
  if (keep) steps_.push_back(std::move(step));
  if (!bad || !options_.stop_at_nan) return {};
  stopped_ = true;
  return Error{ErrorCode::kInvalidArgument, Text(not_finite_.back()), static_cast<int64_t>(index)};
}

std::string Trace::Text(const NotFinite& found) {
  return StrCat("first ", WhatOf(found.stats), ": op ", found.op, " ", found.type, " writes ", found.blob,
                "@", found.version, " in iteration ", found.iteration);
}

void Trace::Write(JsonWriter& json) const {
  json.Key("not_finite").BeginArray();
  for (const NotFinite& found : not_finite_) {
    json.BeginObject().Key("blob").String(found.blob).Key("version").Int(found.version);
    json.Key("op").Int(found.op).Key("type").String(found.type);
    json.Key("iteration").Int(found.iteration).Key("nan").Int(found.stats.nans);
    json.Key("inf").Int(found.stats.infinities).Key("elements").Int(found.stats.elements).EndObject();
  }
  json.EndArray().Key("stopped").Bool(stopped_);
  if (!options_.keep) return;
  json.Key("trace").BeginObject().Key("iteration").Int(iteration_).Key("ops").BeginArray();
  for (const Step& step : steps_) {
    json.BeginObject().Key("op").Int(step.op).Key("type").String(step.type);
    json.Key("outputs").BeginArray();
    for (const Output& out : step.outputs) {
      json.BeginObject().Key("blob").String(out.blob).Key("version").Int(out.version);
      if (out.holds.empty()) {
        WriteTensorNumbers(json, out.type, out.dims, out.stats, out.histogram);
        json.Key("values");
        WriteElements(json, out.head, 0, out.head.numel());
      } else {
        json.Key("holds").String(out.holds);
      }
      json.EndObject();
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
}

void Trace::Show(Stream& out) const {
  if (options_.keep) {
    out.Write(StrCat("\niteration ", iteration_, "\n"));
    for (const Step& step : steps_) {
      const std::string number = std::to_string(step.op);
      out.Write(StrCat(std::string(5 - std::min<size_t>(5, number.size()), ' '), number, " "),
                TextClass::kIndex);
      out.Write(step.type, TextClass::kType);
      out.Write("\n");
      for (const Output& output : step.outputs) {
        out.Write(StrCat("        ", output.blob, "@", output.version), TextClass::kOutput);
        if (output.holds.empty()) {
          out.Write(StrCat("  ", DataTypeName(output.type), " ", DimsToString(output.dims), "  "));
          out.Write(StatsText(output.stats), output.stats.finite() ? TextClass::kPlain : TextClass::kError);
        } else {
          out.Write(StrCat("  ", output.holds), TextClass::kMuted);
        }
        out.Write("\n");
      }
    }
  }
  if (!not_finite_.empty()) {
    out.Write("\n");
    out.Write(Text(not_finite_[0]), TextClass::kError);
    out.Write(StrCat(", ", StatsText(not_finite_[0].stats), " of ", not_finite_[0].stats.elements,
                     not_finite_[0].stats.elements == 1 ? " element\n" : " elements\n"));
    for (size_t i = 1; i < not_finite_.size(); ++i)
      out.Write(StrCat("  then op ", not_finite_[i].op, " ", not_finite_[i].type, " ", not_finite_[i].blob,
                       "@", not_finite_[i].version,
                       not_finite_[i].iteration == not_finite_[0].iteration
                           ? ""
                           : StrCat(" in iteration ", not_finite_[i].iteration),
                       "\n"),
                TextClass::kMuted);
  } else {
    out.Write("\nall values are finite\n", TextClass::kMuted);
  }
}

}  // namespace weft::cli
