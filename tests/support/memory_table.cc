// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/memory_table.h"

#include <algorithm>
#include <cstdio>

#include "core/base/check.h"
#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/recompute.h"
#include "core/ssa/clone.h"
#include "tests/support/generate_nets.h"
#include "tests/support/golden.h"
#include "tests/support/model_inputs.h"

namespace weft::test {

namespace {

// "gpu_3/x" and "_gpu_3/x" without the device: sizes are recorded once for all of them.
std::string WithoutDevice(std::string_view name) {
  const std::string_view front = name.starts_with("_gpu_") ? "_" : "";
  std::string_view rest = name.substr(front.size());
  if (!rest.starts_with("gpu_")) return std::string(name);
  const size_t slash = rest.find('/');
  return slash == std::string_view::npos ? std::string(name) : StrCat(front, rest.substr(slash + 1));
}

std::vector<BlobBytes> SizesOf(const Net& net, const Json& recorded) {
  std::vector<BlobBytes> sizes;
  SymbolMap<uint8_t> seen(*net.symbols, net.ops.size(), 0);
  for (const Op& op : net.ops)
    for (const BlobList* blobs : {&op.inputs, &op.outputs})
      for (Symbol blob : *blobs) {
        if (seen.Get(blob)) continue;
        seen[blob] = 1;
        const std::string name(net.Str(blob));
        auto found = recorded.find(name);
        if (found == recorded.end()) found = recorded.find(WithoutDevice(name));
        if (found != recorded.end()) sizes.push_back({blob, found->get<int64_t>()});
      }
  return sizes;
}

Net ForwardPart(const Net& train, const Json& row) {
  Net net = WithoutOps(train);
  net.ops.assign(train.ops.begin(), train.ops.begin() + row.at("forward_ops").get<std::ptrdiff_t>());
  net.external_inputs.clear();
  net.external_outputs.clear();
  UpdateExternalLists(net);
  net.external_outputs.clear();
  for (const std::string name : row.at("forward_outputs")) net.external_outputs.push_back(net.Intern(name));
  return net;
}

int64_t Best(const Json& bytes, std::initializer_list<const char*> ways) {
  int64_t best = INT64_MAX;
  for (const char* way : ways)
    if (bytes.contains(way) && bytes.at(way).is_number()) best = std::min(best, bytes.at(way).get<int64_t>());
  return best;
}

// The lowest peak that recomputing finds, and the places of that net.
void AddRecomputed(const Net& train, const Net& init, MemoryOptions options, MemoryRow& row) {
  std::vector<std::string> inputs;
  for (const ModelInputs& model : AllModelInputs())
    if (model.model == row.model)
      for (const std::string& input : model.inputs) inputs.push_back(WithNumbers(input));
  ShapeTable table;
  const std::vector<GivenBlob> given = GivenOfModel(train, init, inputs, table);
  const RecomputePlan again = Recompute(train, given, table, StandardOps());
  options.sizes = SizesOf(InferShapes(again.net, given, table), table, 1);
  const Result<MemoryPlan> plan = ReuseMemory(again.net, StandardOps(), options);
  WEFT_CHECK(plan.has_value());
  row.recomputed = plan->peak_after;
  row.percent = 100.0 * static_cast<double>(again.extra_flops) / static_cast<double>(again.flops);
}

}  // namespace

std::vector<MemoryRow> MemoryTable() {
  std::vector<MemoryRow> rows;
  for (const Json& recorded : ReadJsonl("caffe2/memory.jsonl")) {
    const std::string model = recorded.at("model");
    const Net train = NetFromFile(StrCat("models/", model, ".pb"));
    const Net init = NetFromFile(StrCat("models/", model, "_init.pb"), train.symbols);
    const Json& bytes = recorded.at("bytes");
    const auto add = [&](std::string mode, const Net& net, const MemoryOptions& options, int64_t none,
                         int64_t caffe2) {
      const Result<MemoryPlan> plan = ReuseMemory(net, StandardOps(), options);
      WEFT_CHECK(plan.has_value());
      rows.push_back({model, std::move(mode), plan->peak_before, caffe2, plan->peak_after, plan->lower_bound,
                      plan->least_whole, plan->peak_before == none});
    };
    MemoryOptions options;
    options.sizes = SizesOf(train, recorded.at("sizes"));
    add("forward", ForwardPart(train, recorded), options, bytes.at("fwd_none"),
        Best(bytes, {"fwd_dag", "fwd_greedy", "fwd_fast"}));
    // As Caffe2 is asked: gradients of parameters stay, other results that nobody reads may go.
    options.keep_unread = false;
    for (const Op& op : init.ops)
      for (Symbol param : op.outputs)
        if (const Symbol gradient = train.symbols->Find(StrCat(train.Str(param), "_grad")))
          options.keep.push_back(gradient);
    options.recycle = Recycle::kGradients;
    add("gradients", train, options, bytes.at("none"), Best(bytes, {"grad", "grad_shapes"}));
    options.recycle = Recycle::kGradientsAndActivations;
    add("both", train, options, bytes.at("none"), Best(bytes, {"grad_act", "grad_act_shapes"}));
    AddRecomputed(train, init, options, rows.back());
  }
  return rows;
}

std::string MemoryTableText(const std::vector<MemoryRow>& rows) {
  char line[200];
  std::snprintf(line, sizeof line, "%-34s %-10s %10s %10s %10s %10s %7s %10s %7s %10s %7s\n", "MB", "",
                "before", "Caffe2", "Weft", "bound", "above", "whole", "above", "again", "flop");
  std::string out = line;
  const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) / 1e6; };
  const auto above = [](const MemoryRow& row, int64_t bound) {
    return 100.0 * static_cast<double>(row.after - bound) / static_cast<double>(bound);
  };
  for (const MemoryRow& row : rows) {
    std::snprintf(line, sizeof line, "%-34s %-10s %10.2f %10.2f %10.2f %10.2f %6.2f%% %10.2f %6.2f%%",
                  row.model.c_str(), row.mode.c_str(), mb(row.before), mb(row.caffe2), mb(row.after),
                  mb(row.bound), above(row, row.bound), mb(row.whole), above(row, row.whole));
    out += line;
    if (row.recomputed > 0) {
      std::snprintf(line, sizeof line, " %10.2f %+6.1f%%", mb(row.recomputed), row.percent);
      out += line;
    }
    out += "\n";
  }
  return out;
}

MemoryPlan PlanChain(const std::vector<int64_t>& sizes) {
  Net net;
  MemoryOptions options;
  Symbol last = net.Intern("x");
  net.external_inputs = {last};
  for (size_t i = 0; i < sizes.size(); ++i) {
    Op& op = net.ops.emplace_back();
    op.type = net.Intern("Tanh");
    op.inputs.push_back(last);
    last = net.Intern(StrCat("b", i));
    op.outputs.push_back(last);
    options.sizes.push_back({last, sizes[i]});
  }
  net.external_outputs = {last};
  Result<MemoryPlan> plan = ReuseMemory(net, StandardOps(), options);
  WEFT_CHECK(plan.has_value());
  return std::move(plan).value();
}

}  // namespace weft::test
