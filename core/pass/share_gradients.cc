// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/share_gradients.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/ssa/nested.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

// Caffe2's recycling on the graph of operators: a walk in depth from the losses. Each branch carries tokens;
// a free blob may be taken where the tokens of all its earlier users have arrived, which is where all of them
// must have run.
class Recycler {
 public:
  Recycler(const Net& net, const ShareGradientsOptions& options)
      : net_(net), options_(options), blobs_(*net.symbols, net.ops.size(), -1) {}

  /// What each gradient becomes.
  BlobMap Run() {
    Prepare();
    for (Symbol loss : options_.losses) {
      const int head = Find(loss);
      if (head < 0) continue;
      for (size_t op : std::vector<size_t>(of_[head].readers))
        if (!nodes_[op].visited) Walk(op);
    }
    return Names();
  }

 private:
  using Tokens = std::vector<uint32_t>;  // sorted

  struct Blob {
    Symbol name;
    bool shareable = false;
    std::vector<size_t> readers{};  // as often as they read it
    size_t written = 0;             // times, by the operators before
    size_t read = 0;                // times, by operators visited
    bool placed = false;            // its first writer was visited
    int place = -1;                 // the blob whose memory it uses, itself
    int shares = 1;
    Tokens needs{};
    DevicePtr device{};
  };
  struct Node {
    bool member = false, visited = false;
    size_t waits = 0, arrived = 0;
    Tokens deposit{};
  };

  static void Join(Tokens& into, const Tokens& more) {
    Tokens joined;
    std::set_union(into.begin(), into.end(), more.begin(), more.end(), std::back_inserter(joined));
    into = std::move(joined);
  }

  bool IsGradient(Symbol blob) const {
    std::string_view name = net_.Str(blob);
    if (name.starts_with('_')) {
      name.remove_prefix(1);
      const size_t part = name.rfind("_autosplit_");
      if (part != std::string_view::npos) name = name.substr(0, part);
    }
    return name.starts_with(options_.scope) && name.ends_with("_grad") && !options_.keep(blob);
  }

  int Find(Symbol blob) const { return blobs_.Get(blob); }
  int Enter(Symbol blob) {
    int& at = blobs_[blob];
    if (at < 0) {
      at = static_cast<int>(of_.size());
      of_.push_back({.name = blob, .shareable = IsGradient(blob), .place = at});
    }
    return at;
  }

  void Prepare() {
    nodes_.resize(net_.ops.size());
    for (Symbol loss : options_.losses) Enter(loss);
    for (size_t i = 0; i < net_.ops.size(); ++i) {
      const Op& op = net_.ops[i];
      const auto gradient = [&](Symbol blob) { return of_[Enter(blob)].shareable; };
      for (Symbol blob : op.inputs) nodes_[i].member = gradient(blob) || nodes_[i].member;
      for (Symbol blob : op.outputs) nodes_[i].member = gradient(blob) || nodes_[i].member;
      if (!nodes_[i].member) continue;
      for (Symbol blob : op.inputs) {
        Blob& of = of_[Find(blob)];
        const bool head =
            std::find(options_.losses.begin(), options_.losses.end(), blob) != options_.losses.end();
        if (!of.shareable && !head) continue;
        nodes_[i].waits += of.written;
        of.readers.push_back(i);
      }
      for (Symbol blob : op.outputs) {
        Blob& of = of_[Find(blob)];
        ++of.written;
        if (!of.device) of.device = op.device;
      }
    }
  }

  void Walk(size_t first) {
    std::vector<int> free;  // blobs whose memory nobody needs any more
    std::vector<std::pair<size_t, Tokens>> stack;
    stack.push_back({first, Tokens{next_token_++}});
    while (!stack.empty()) {
      auto [i, tokens] = std::move(stack.back());
      stack.pop_back();
      Node& node = nodes_[i];
      if (node.visited) continue;
      node.visited = true;
      Join(tokens, node.deposit);
      Visit(net_.ops[i], tokens, free);
      size_t branches = 0;
      for (Symbol blob : net_.ops[i].outputs) branches += of_[Find(blob)].readers.size();
      std::vector<std::pair<size_t, Tokens>> ready;
      for (Symbol blob : net_.ops[i].outputs) {
        for (size_t reader : of_[Find(blob)].readers) {
          if (++nodes_[reader].arrived == nodes_[reader].waits) {
            Tokens carried = tokens;
            if (branches > 1) carried.push_back(next_token_++);
            ready.push_back({reader, std::move(carried)});
          } else if (!nodes_[reader].visited) {
            Join(nodes_[reader].deposit, tokens);
          }
        }
      }
      std::move(ready.rbegin(), ready.rend(), std::back_inserter(stack));
    }
  }

  void Visit(const Op& op, const Tokens& tokens, std::vector<int>& free) {
    for (const BlobList* list : {&op.inputs, &op.outputs})
      for (Symbol blob : *list) Join(of_[of_[Find(blob)].place].needs, tokens);
    std::vector<int> freed;
    for (Symbol blob : op.inputs) {
      Blob& of = of_[Find(blob)];
      if (of.shareable && ++of.read == of.readers.size()) freed.push_back(of.place);
    }
    for (Symbol blob : op.outputs) {
      Blob& of = of_[Find(blob)];
      if (!of.shareable || of.placed) continue;
      of.placed = true;
      if (std::find(freed.begin(), freed.end(), of.place) != freed.end()) continue;
      const int taken = Take(of, tokens, free);
      if (taken < 0) continue;
      of.place = taken;
      ++of_[taken].shares;
      Join(of_[taken].needs, tokens);
    }
    free.insert(free.end(), freed.begin(), freed.end());
  }

  // The most shared free blob that may hold `blob`, -1 when there is none.
  int Take(const Blob& blob, const Tokens& tokens, std::vector<int>& free) {
    int best = -1;
    for (size_t i = 0; i < free.size(); ++i) {
      const Blob& of = of_[free[i]];
      if (!SameDevice(of.device, blob.device)) continue;
      if (!std::includes(tokens.begin(), tokens.end(), of.needs.begin(), of.needs.end())) continue;
      if (best < 0 || of.shares > of_[free[static_cast<size_t>(best)]].shares) best = static_cast<int>(i);
    }
    if (best < 0) return -1;
    const int taken = free[static_cast<size_t>(best)];
    free.erase(free.begin() + best);
    return taken;
  }

  BlobMap Names() {
    BlobMap map(*net_.symbols, of_.size());
    std::vector<Symbol> shared(of_.size());
    int next = 0;
    for (const Blob& blob : of_) {  // by first appearance
      if (of_[blob.place].shares < 2) continue;
      Symbol& name = shared[blob.place];
      if (!name) name = net_.symbols->Intern(StrCat(options_.scope, "__m", next++, "_shared"));
      map.Set(blob.name, name);
    }
    return map;
  }

  const Net& net_;
  const ShareGradientsOptions& options_;
  SymbolMap<int> blobs_;
  std::vector<Blob> of_;
  std::vector<Node> nodes_;
  uint32_t next_token_ = 0;
};

}  // namespace

Net ShareGradients(Net net, const ShareGradientsOptions& options) {
  const BlobMap map = Recycler(net, options).Run();
  const NestingTypes nesting(*net.symbols);
  const RenameContext context{net.symbols, map, nesting, nullptr, false};
  for (Op& op : net.ops) {
    Op renamed = op;
    if (RenameInOp(context, renamed).has_value()) op = std::move(renamed);
  }
  return net;
}

}  // namespace weft
