// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/savings.h"

#include "core/base/str.h"
#include "core/pass/live_bytes.h"
#include "core/pass/memory_sizes.h"
#include "core/pass/recompute.h"

namespace weft {

namespace {

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

Result<MemoryPlan> Reuse(const Net& net, std::span<const GivenBlob> given, ShapeTable& table,
                         const OpSet& ops) {
  MemoryOptions options;
  options.sizes = SizesOf(InferShapes(net, given, table, {.ops = &ops}), table, LiveBytes::kSymbolValue);
  return ReuseMemory(net, ops, options);
}

}  // namespace

Result<Savings> FindSavings(const Net& net, std::span<const GivenBlob> given, ShapeTable& table,
                            const OpSet& ops) {
  Savings out;
  WEFT_TRY(const MemoryPlan reuse, Reuse(net, given, table, ops));
  out.blobs = reuse.peak_before;
  out.reuse = reuse.peak_after;
  constexpr RecomputeLimits limits[] = {
      {.most_percent = 1}, {.most_percent = 5}, {.most_percent = 10}, {.most_percent = 20}, {}};
  std::optional<Error> error;
  size_t next = 0;
  RecomputeEach(net, given, table, ops, limits, {}, [&](const RecomputePlan& plan) {
    const RecomputeLimits& limit = limits[next++];
    out.live = plan.peak_before;
    out.flops = plan.flops;
    out.nothing = plan.nothing;
    if (!plan.nothing.empty() ||
        plan.peak_after >= (out.recompute.empty() ? out.live : out.recompute.back().live))
      return;
    Result<MemoryPlan> shared = Reuse(plan.net, given, table, ops);
    if (!shared) {
      error = std::move(shared).error();
      return;
    }
    out.recompute.push_back(
        {limit.most_percent, plan.peak_after, shared->peak_after, plan.extra_flops, plan.again.size()});
  });
  if (error) return *std::move(error);
  return out;
}

void WriteSavings(JsonWriter& json, const Savings& savings) {
  json.Key("savings").BeginObject().Key("live").Int(savings.live).Key("blobs").Int(savings.blobs);
  json.Key("reuse").Int(savings.reuse).Key("flops").Int(savings.flops).Key("nothing");
  savings.nothing.empty() ? json.Null() : json.String(savings.nothing);
  json.Key("recompute").BeginArray();
  for (const Savings::Recompute& way : savings.recompute) {
    json.BeginObject().Key("most_percent");
    way.most_percent ? json.Int(*way.most_percent) : json.Null();
    json.Key("live").Int(way.live).Key("reuse").Int(way.reuse).Key("extra_flops").Int(way.extra_flops);
    json.Key("extra_percent").Double(Percent(way.extra_flops, savings.flops));
    json.Key("operators").Int(way.operators).EndObject();
  }
  json.EndArray().EndObject();
}

void PrintSavings(const Savings& savings, const EmitPiece& emit) {
  const auto put = [&](const std::string& text) { emit({text, TextClass::kPlain}); };
  const auto bytes = [](int64_t count) { return FormatBytes(static_cast<uint64_t>(count)); };
  put(StrCat("blobs ", bytes(savings.blobs), "; ", bytes(savings.reuse), " when they share places\n"));
  if (!savings.nothing.empty()) put(StrCat("recomputing saves nothing: ", savings.nothing, "\n"));
  for (const Savings::Recompute& way : savings.recompute) {
    const int64_t tenths = static_cast<int64_t>(10 * Percent(way.extra_flops, savings.flops) + 0.5);
    put(StrCat("recomputing ", way.operators, way.operators == 1 ? " operator" : " operators", ", ",
               tenths / 10, ".", tenths % 10, " % more flop: at most ", bytes(way.live), " live, ",
               bytes(way.reuse), " when blobs share places\n"));
  }
}

}  // namespace weft
