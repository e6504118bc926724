// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/step_time.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <queue>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/pass/collectives.h"
#include "core/pass/cost.h"
#include "core/pass/live_bytes.h"

namespace weft {

namespace {

double Log2Up(int64_t n) {
  int steps = 0;
  while ((int64_t{1} << steps) < n) ++steps;
  return steps;
}

// Who waits for whom: an operator for those that make what it reads, and for those that read and wrote before
// what it writes.
struct Graph {
  std::vector<uint32_t> begin, next;  // those behind operator i: next[begin[i]] .. next[begin[i + 1]]
  std::vector<uint32_t> waits;        // how many each waits for
};

Graph Waits(const Net& net) {
  constexpr uint32_t kNone = UINT32_MAX;
  struct Uses {
    uint32_t writer = kNone;
    std::vector<uint32_t> readers{};  // since then
  };
  const auto n = static_cast<uint32_t>(net.ops.size());
  SymbolMap<uint32_t> number(*net.symbols, 2 * n, kNone);
  std::vector<Uses> uses;
  std::vector<std::pair<uint32_t, uint32_t>> edges;
  const auto of = [&](Symbol blob) -> Uses& {
    uint32_t& at = number[blob];
    if (at == kNone) {
      at = static_cast<uint32_t>(uses.size());
      uses.emplace_back();
    }
    return uses[at];
  };
  for (uint32_t i = 0; i < n; ++i) {
    const Op& op = net.ops[i];
    const auto behind = [&](uint32_t other) {
      if (other != kNone && other != i) edges.emplace_back(other, i);
    };
    const auto reads = [&](Symbol blob) {
      Uses& blob_uses = of(blob);
      behind(blob_uses.writer);
      blob_uses.readers.push_back(i);
    };
    for (Symbol blob : op.inputs) reads(blob);
    for (Symbol blob : op.control_inputs) behind(of(blob).writer);
    for (Symbol blob : op.outputs) {
      Uses& blob_uses = of(blob);
      behind(blob_uses.writer);
      for (uint32_t reader : blob_uses.readers) behind(reader);
      blob_uses = {i, {}};
    }
  }
  Graph graph{std::vector<uint32_t>(n + 1), std::vector<uint32_t>(edges.size()), std::vector<uint32_t>(n)};
  for (const auto& [from, to] : edges) {
    ++graph.begin[from + 1];
    ++graph.waits[to];
  }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  std::vector<uint32_t> fill(graph.begin.begin(), graph.begin.end());
  for (const auto& [from, to] : edges) graph.next[fill[from]++] = to;
  return graph;
}

// When all is done: each place does one operator at a time, of those that wait for nothing the first in the
// net.
double Makespan(Graph graph, std::span<const uint32_t> place, std::span<const double> seconds,
                size_t places) {
  using First = std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>>;
  using Event = std::pair<double, uint32_t>;
  std::vector<First> ready(places);
  std::vector<uint8_t> idle(places, 1);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> running;
  double now = 0;
  for (uint32_t i = 0; i < graph.waits.size(); ++i)
    if (graph.waits[i] == 0) ready[place[i]].push(i);
  const auto start = [&](size_t at) {
    if (!idle[at] || ready[at].empty()) return;
    idle[at] = 0;
    running.emplace(now + seconds[ready[at].top()], ready[at].top());
    ready[at].pop();
  };
  for (size_t at = 0; at < places; ++at) start(at);
  std::vector<uint32_t> woken;
  while (!running.empty()) {
    now = running.top().first;
    woken.clear();
    for (; !running.empty() && running.top().first == now;
         running.pop()) {  // all that end now, before any starts
      const uint32_t done = running.top().second;
      idle[place[done]] = 1;
      woken.push_back(place[done]);
      for (uint32_t k = graph.begin[done]; k < graph.begin[done + 1]; ++k)
        if (--graph.waits[graph.next[k]] == 0) {
          ready[place[graph.next[k]]].push(graph.next[k]);
          woken.push_back(place[graph.next[k]]);
        }
    }
    for (uint32_t at : woken) start(at);
  }
  return now;
}

}  // namespace

Result<Hardware> ParseHardware(std::string_view text) {
  Hardware hardware;
  const std::pair<std::string_view, double*> slots[] = {{"flops", &hardware.flops},
                                                        {"memory", &hardware.memory},
                                                        {"latency", &hardware.local.latency},
                                                        {"bandwidth", &hardware.local.bandwidth},
                                                        {"net_latency", &hardware.network.latency},
                                                        {"net_bandwidth", &hardware.network.bandwidth}};
  if (text.empty()) return hardware;
  for (std::string_view piece : StrSplit(text, ',')) {
    const size_t equals = piece.find('=');
    const std::string_view name = piece.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : piece.substr(equals + 1));
    const auto wrong = [&](std::string_view expected) {
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("hardware: ", name, ": expected ", expected, ", found ", QuoteBytes(value))};
    };
    if (name == "algorithm") {
      if (value != "fastest" && value != "ring" && value != "tree") return wrong("fastest, ring or tree");
      hardware.algorithm = value == "ring"   ? Hardware::kRing
                           : value == "tree" ? Hardware::kTree
                                             : Hardware::kFastest;
      continue;
    }
    const auto slot =
        std::find_if(std::begin(slots), std::end(slots), [&](const auto& of) { return of.first == name; });
    if (slot == std::end(slots))
      return Error{
          ErrorCode::kInvalidArgument,
          StrCat("hardware has no ", QuoteBytes(name),
                 "; there is flops, memory, latency, bandwidth, net_latency, net_bandwidth, algorithm")};
    char* end = nullptr;
    *slot->second = std::strtod(value.c_str(), &end);
    const bool latency = name.ends_with("latency");
    if (value.empty() || *end != '\0' || !(*slot->second < 1e300) ||
        !(latency ? *slot->second >= 0 : *slot->second > 0))
      return wrong(latency ? "a number of seconds" : "a number above 0");
  }
  return hardware;
}

double SecondsOf(const Exchange& exchange, const Link& link, Hardware::Algorithm algorithm) {
  if (exchange.ranks < 2) return 0;
  const auto p = static_cast<double>(exchange.ranks), n = static_cast<double>(exchange.bytes);
  const double lg = Log2Up(exchange.ranks);
  double ring = 0, tree = 0;
  switch (exchange.kind) {
    case Exchange::kSend:
      return link.SecondsOf(p - 1, n);
    case Exchange::kAllReduce:
      ring = tree = link.SecondsOf(2 * (p - 1), 2 * (p - 1) / p * n);
      if ((exchange.ranks & (exchange.ranks - 1)) == 0) tree = link.SecondsOf(2 * lg, 2 * (p - 1) / p * n);
      break;
    case Exchange::kReduce:
    case Exchange::kBroadcast:
      ring = link.SecondsOf(p - 1 + lg, 2 * (p - 1) / p * n);
      tree = link.SecondsOf(lg, lg * n);
      break;
    case Exchange::kAllGather:
      ring = link.SecondsOf(p - 1, (p - 1) * n);
      tree = link.SecondsOf(lg, (p - 1) * n);
      break;
  }
  return algorithm == Hardware::kRing ? ring : algorithm == Hardware::kTree ? tree : std::min(ring, tree);
}

double SecondsOf(const CommOp& op, const Hardware& hardware) {
  return SecondsOf(op.local, hardware.local, hardware.algorithm) +
         SecondsOf(op.network, hardware.network, hardware.algorithm);
}

StepTime PredictStep(const Net& net, const ParallelOptions& options, std::span<const Work> work,
                     const CommCost& moved, const Hardware& hardware) {
  const internal::ReplicaScopes scopes(options);
  const size_t n = net.ops.size(), host = scopes.of.size(), links = host + 1;
  StepTime time;
  std::vector<double> seconds(n), busy(links + 1);
  std::vector<uint32_t> place(n);  // the device that computes it, the host, or the links
  size_t next = 0;
  for (size_t i = 0; i < n; ++i) {
    const Op& op = net.ops[i];
    if (next < moved.ops.size() && moved.ops[next].op == static_cast<OpId>(i)) {
      place[i] = static_cast<uint32_t>(links);
      seconds[i] = SecondsOf(moved.ops[next++], hardware);
    } else {
      const int replica = op.outputs.empty() ? -1 : scopes.ReplicaOf(net.Str(op.outputs[0]));
      place[i] = static_cast<uint32_t>(replica < 0 ? host : static_cast<size_t>(replica));
      const Work known = i < work.size() ? work[i] : Work{-1, -1};
      if (known.flops < 0 || known.bytes < 0) {
        ++time.unknown;
      } else if (replica >= 0) {
        seconds[i] = std::max(known.flops / hardware.flops, known.bytes / hardware.memory);
      }
    }
    busy[place[i]] += seconds[i];
  }
  time.communication = busy[links];
  time.compute = *std::max_element(busy.begin(), busy.begin() + static_cast<long>(links));
  time.step = net.Str(net.type) == "simple" ? std::accumulate(seconds.begin(), seconds.end(), 0.0)
                                            : Makespan(Waits(net), place, seconds, links + 1);
  time.hidden = std::clamp(time.compute + time.communication - time.step, 0.0, time.communication);
  return time;
}

std::vector<Work> WorkOf(const NetShapes& shapes, ShapeTable& table) {
  std::vector<Work> work;
  for (const OpCost& cost : OpCosts(shapes, table)) {
    const auto number = [&](Dim dim) { return static_cast<double>(table.At(dim, LiveBytes::kSymbolValue)); };
    const double flops = number(cost.flops), read = number(cost.read), written = number(cost.written);
    work.push_back({flops < 0 ? -1 : flops, read < 0 || written < 0 ? -1 : read + written});
  }
  return work;
}

}  // namespace weft
