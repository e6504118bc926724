// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/live_bytes.h"

#include <algorithm>

#include "core/base/symbol_map.h"
#include "core/grad/do_parts.h"
#include "core/ops/shape_rule.h"
#include "core/ssa/nested.h"

namespace weft {

namespace {

using Around = SymbolMap<uint8_t>;  // blobs of a nested net that count in the net around it

// What a blob that holds workspaces keeps.
struct Kept {
  Symbol blob;
  OpId op;  // that put it there
  Dim bytes;
};

class Walker {
 public:
  // `around`: null for the outermost net.
  Walker(const Net& net, const NetShapes& shapes, ShapeTable& table, const Around* around)
      : net_(net),
        shapes_(shapes),
        ssa_(shapes.ssa),
        table_(table),
        around_(around),
        nesting_(*net.symbols) {}

  void Run() {
    const size_t n = ssa_.values().size();
    end_ = static_cast<OpId>(net_.ops.size());
    live_.resize(n);
    for (const Symbol name : net_.external_outputs)
      if (const BlobId blob = ssa_.FindBlob(name); blob != kNoBlob && !around_)
        live_[ssa_.latest(blob)].wanted = true;
    last_reader_.assign(ssa_.blobs().size(), kNoOp);
    for (ValueId v = 0; v < n; ++v) {
      Live(v);
      OpId& last = last_reader_[ssa_.values()[v].blob];
      if (!ssa_.uses(v).empty()) last = std::max(last, ssa_.uses(v).back());
    }
    for (size_t i = 0; i < shapes_.nested.size();) {
      const size_t begin = i;
      while (i < shapes_.nested.size() && shapes_.nested[i].op == shapes_.nested[begin].op) ++i;
      Inside(shapes_.nested[begin].op, {shapes_.nested.data() + begin, i - begin});
    }
    for (ValueId v = 0; v < n; ++v)
      if (live_[v].counts) Add(BytesOf(table_, shapes_.values[v]), live_[v].first, live_[v].last);
    for (const Kept& kept : kept_)
      if (!CountsAround(kept.blob)) Add(kept.bytes, kept.op + 1, last_reader_[ssa_.FindBlob(kept.blob)]);
    Sweep();
  }

  LiveBytes Take() {
    for (const Life& life : live_)
      found_.lives.push_back(
          {life.first, life.counts ? std::min<OpId>(life.last, end_ - 1) : life.first - 1});
    return std::move(found_);
  }
  /// All that the net alone holds once it has run and nothing was dropped.
  Dim All() {
    DimSum sum;
    const auto add = [&](Symbol blob, Dim bytes) {
      if (!CountsAround(blob) && !bytes.unknown()) sum.Add(bytes, table_);
    };
    for (BlobId blob = 0; blob < ssa_.blobs().size(); ++blob)
      if (ssa_.written(blob)) add(ssa_.blobs()[blob], BytesOf(table_, shapes_.values[ssa_.latest(blob)]));
    for (const Kept& kept : kept_) add(kept.blob, kept.bytes);
    return sum.Take(table_);
  }
  /// What stays in workspaces of the net around it.
  const std::vector<Kept>& kept() const { return kept_; }

 private:
  struct Life {
    OpId first = 0, last = 0;
    bool wanted = false, counts = true;
  };
  struct Span {
    Dim bytes;
    OpId first, last;
  };

  bool CountsAround(Symbol blob) const { return around_ && around_->Get(blob); }
  Symbol BlobOf(ValueId v) const { return ssa_.blobs()[ssa_.values()[v].blob]; }

  void Add(Dim bytes, OpId first, OpId last) {
    if (bytes.unknown()) ++found_.unsized;
    if (last >= first && bytes != Dim(0) && !bytes.unknown()) spans_.push_back({bytes, first, last});
  }

  void Live(ValueId v) {
    const Value& value = ssa_.values()[v];
    const std::span<const OpId> uses = ssa_.uses(v);
    Life& life = live_[v];
    life.first = std::max(value.def, 0);
    life.last = value.def == kNoOp || life.wanted ? end_ : uses.empty() ? value.def : uses.back();
    life.counts = !around_ || (value.def != kNoOp && !CountsAround(BlobOf(v)));
    // What is overwritten in place gives its place away; a blob from outside stays under its last value.
    if (value.def == kNoOp || value.previous == kNoValue) return;
    const std::span<const ValueId> inputs = ssa_.inputs(value.def);
    if (std::find(inputs.begin(), inputs.end(), value.previous) == inputs.end()) return;
    Life& before = live_[value.previous];
    if (before.last == end_) life.last = end_;
    before.last = value.def - 1;
  }

  // Nets inside operator `id`.
  void Inside(OpId id, std::span<const NetShapes::Nested> nets) {
    const Op& op = net_.ops[static_cast<size_t>(id)];
    const Nesting kind = nesting_.Of(op.type);
    Around around(*net_.symbols, op.inputs.size() + op.outputs.size());
    for (const ValueId v : ssa_.inputs(id)) around[BlobOf(v)] = 1;
    const std::span<const ValueId> outputs = ssa_.outputs(id);
    for (size_t i = 0; i < outputs.size(); ++i) {
      // What only the nets write and nobody reads afterwards is theirs.
      const Symbol blob = BlobOf(outputs[i]);
      const bool theirs = i >= op.outputs.size() && !live_[outputs[i]].wanted &&
                          ssa_.uses(outputs[i]).empty() && !around.Get(blob) && !CountsAround(blob);
      if (theirs) live_[outputs[i]].counts = false;
      around[blob] = !theirs;
    }
    Symbol stack = kNoSymbol;                              // the blob that keeps the workspace
    SymbolMap<Symbol> outer(*net_.symbols, 0, kNoSymbol);  // of the names in a Do
    if (kind == Nesting::kRecurrent) {
      // Links show steps of blobs that are outputs.
      for (const std::string_view arg : {"link_internal", "backward_link_internal"})
        for (const std::string& name : ArgStrings(*net_.symbols, op.args, arg))
          if (const Symbol blob = net_.symbols->Find(name)) around[blob] = 1;
      if (!op.outputs.empty() && net_.Str(op.type) == "RecurrentNetwork") stack = op.outputs.back();
    } else if (kind == Nesting::kPrivate) {
      if (const Result<internal::DoParts> parts = internal::TakeApart(net_, op)) {
        for (size_t i = 0; i < parts->inner.size(); ++i) {
          around[parts->inner[i]] = 1;
          outer[parts->inner[i]] = parts->outer[i];
        }
        stack = parts->workspace;
      }
    }
    Dim most = 0;
    for (const NetShapes::Nested& nested : nets) {
      Walker inner(*nested.net, *nested.shapes, table_, &around);
      inner.Run();
      found_.unsized += inner.found_.unsized;
      const auto at = [&](Dim dim) { return table_.At(dim, LiveBytes::kSymbolValue); };
      if (at(inner.found_.most) > at(most)) most = inner.found_.most;
      const bool loop = nested.arg == "loop_net" || nested.arg == "cond_net";
      for (const Kept& kept : inner.kept()) {
        if (!around.Get(kept.blob)) continue;
        const Symbol blob = outer.Get(kept.blob) ? outer.Get(kept.blob) : kept.blob;
        if (ssa_.FindBlob(blob) == kNoBlob) continue;
        kept_.push_back({blob, id, kept.bytes});
        if (loop && !table_.DependsOnData(kept.bytes))
          kept_.push_back({blob, id, table_.FromData()});  // of further trips
      }
      if (stack) kept_.push_back({stack, id, table_.Multiply(inner.All(), nested.times)});
    }
    Add(most, id, id);
  }

  void Sweep() {
    std::vector<int64_t> change(static_cast<size_t>(end_) + 2, 0);
    for (const Span& span : spans_) {
      const int64_t size = LiveBytes::Number(table_, span.bytes);
      change[static_cast<size_t>(span.first)] += size;
      change[static_cast<size_t>(span.last) + 1] -= size;
    }
    int64_t live = 0, most = -1;
    for (OpId op = 0; op < end_; ++op) {
      live += change[static_cast<size_t>(op)];
      found_.at.push_back(live);
      if (live <= most) continue;
      most = live;
      found_.op = op;
    }
    DimSum sum;
    for (const Span& span : spans_)
      if (span.first <= found_.op && found_.op <= span.last) sum.Add(span.bytes, table_);
    found_.most = sum.Take(table_);
  }

  const Net& net_;
  const NetShapes& shapes_;
  const Ssa& ssa_;
  ShapeTable& table_;
  const Around* around_;
  const NestingTypes nesting_;
  OpId end_ = 0;
  std::vector<Life> live_;  // by value
  std::vector<Span> spans_;
  std::vector<Kept> kept_;
  std::vector<OpId> last_reader_;  // by blob, of any version
  LiveBytes found_;
};

}  // namespace

LiveBytes MostLive(const Net& net, const NetShapes& shapes, ShapeTable& table) {
  Walker walker(net, shapes, table, nullptr);
  walker.Run();
  return walker.Take();
}

}  // namespace weft
