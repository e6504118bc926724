// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/roles/replicas.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "core/base/hash.h"

namespace weft {

namespace {

class Comparer {
 public:
  Comparer(const Net& net, const Ssa& ssa, const Columns& columns)
      : net_(net), ssa_(ssa), columns_(columns) {}

  ReplicaComparison Compare() {
    const size_t num_columns = columns_.names.size();
    HashNames();
    std::vector<std::vector<OpId>> ops(num_columns);
    for (OpId i = 0; i < static_cast<OpId>(net_.ops.size()); ++i)
      if (columns_.of_op[i] != kNoColumn) ops[columns_.of_op[i]].push_back(i);
    // What reads and writes the same versions does the same, in whatever order it is written.
    std::vector<std::vector<uint64_t>> keys(num_columns);
    for (size_t c = 0; c < num_columns; ++c) {
      std::vector<std::pair<uint64_t, OpId>> sorted;
      for (OpId op : ops[c]) sorted.emplace_back(Key(op), op);
      std::sort(sorted.begin(), sorted.end());
      for (size_t k = 0; k < sorted.size(); ++k) {
        keys[c].push_back(sorted[k].first);
        ops[c][k] = sorted[k].second;
      }
    }

    ReplicaComparison result;
    result.differs.assign(net_.ops.size(), 0);
    result.drawn_op.resize(net_.ops.size());
    for (size_t i = 0; i < net_.ops.size(); ++i) result.drawn_op[i] = static_cast<OpId>(i);
    bool all_same = true;
    for (size_t c = 0; c < num_columns; ++c) {
      size_t same = 0;
      while (same < c &&
             (result.same_as[same] != same || keys[same] != keys[c] || !SameOps(ops[same], ops[c])))
        ++same;
      result.same_as.push_back(static_cast<uint8_t>(same));
      if (same == c) {
        all_same = all_same && c == 0;
      } else {
        for (size_t k = 0; k < ops[c].size(); ++k) result.drawn_op[ops[c][k]] = ops[same][k];
      }
    }
    if (!all_same) MarkDifferences(ops, keys, result);
    return result;
  }

 private:
  void HashNames() {
    names_.resize(ssa_.blobs().size());
    std::string scratch;
    own_.resize(names_.size());
    for (size_t b = 0; b < names_.size(); ++b) {
      const std::string_view name = net_.Str(ssa_.blobs()[b]);
      own_[b] = !DevicePrefix(name).empty();
      names_[b] = HashBytes(Relative(name, scratch));
    }
  }

  uint64_t ValueKey(ValueId v) const {
    const Value& value = ssa_.values()[v];
    return own_[value.blob] ? HashMix(names_[value.blob], value.version) : names_[value.blob];
  }

  // A name without its own device, or without that of any column ("lr_gpu1" has no prefix to tell).
  std::string_view Relative(std::string_view name, std::string& scratch) const {
    const std::string_view own = DevicePrefix(name);
    if (!own.empty()) return WithoutDevice(name, own, scratch);
    if (name.empty() || name.back() < '0' || name.back() > '9') return name;
    for (std::string_view device : columns_.names) {
      const std::string_view relative = WithoutDevice(name, device, scratch);
      if (relative.size() != name.size()) return relative;
    }
    return name;
  }

  uint64_t Key(OpId op) const {
    const weft::Op& o = net_.ops[op];
    uint64_t hash = HashMix(o.type.id, o.engine.id);
    hash = HashMix(hash, o.args.size());
    for (const Arg& arg : o.args) {
      uint32_t bits;
      std::memcpy(&bits, &arg.f, 4);
      hash =
          HashMix(HashMix(HashMix(hash, arg.name.id), arg.has), HashMix(static_cast<uint64_t>(arg.i), bits));
    }
    for (ValueId v : ssa_.inputs(op)) hash = HashMix(hash, ValueKey(v));
    hash = HashMix(hash, 0x2d);
    for (ValueId v : ssa_.outputs(op)) hash = HashMix(hash, ValueKey(v));
    return hash;
  }

  bool SameOps(const std::vector<OpId>& a, const std::vector<OpId>& b) const {
    std::string scratch_a, scratch_b;
    const auto same_name = [&](Symbol x, Symbol y) {
      return x == y || Relative(net_.Str(x), scratch_a) == Relative(net_.Str(y), scratch_b);
    };
    for (size_t k = 0; k < a.size(); ++k) {
      const weft::Op& x = net_.ops[a[k]];
      const weft::Op& y = net_.ops[b[k]];
      if (x.type != y.type || x.engine != y.engine || x.inputs.size() != y.inputs.size() ||
          x.outputs.size() != y.outputs.size() || !SameArgs(*net_.symbols, x.args, *net_.symbols, y.args))
        return false;
      for (size_t i = 0; i < x.inputs.size(); ++i)
        if (!same_name(x.inputs[i], y.inputs[i])) return false;
      for (size_t i = 0; i < x.outputs.size(); ++i)
        if (!same_name(x.outputs[i], y.outputs[i])) return false;
    }
    return true;
  }

  // An op differs when its key occurs less often in some column than in its own.
  void MarkDifferences(const std::vector<std::vector<OpId>>& ops,
                       const std::vector<std::vector<uint64_t>>& keys, ReplicaComparison& result) const {
    std::unordered_map<uint64_t, std::vector<uint32_t>> counts;  // only looked up
    for (size_t c = 0; c < keys.size(); ++c) {
      for (uint64_t key : keys[c]) {
        std::vector<uint32_t>& count = counts[key];
        count.resize(keys.size());
        ++count[c];
      }
    }
    for (size_t c = 0; c < keys.size(); ++c) {
      for (size_t k = 0; k < keys[c].size(); ++k) {
        const std::vector<uint32_t>& count = counts[keys[c][k]];
        for (uint32_t n : count)
          if (n != count[c]) result.differs[ops[c][k]] = 1;
      }
    }
  }

  const Net& net_;
  const Ssa& ssa_;
  const Columns& columns_;
  std::vector<uint64_t> names_;  // BlobId -> hash of its name without the device
  std::vector<uint8_t> own_;     // BlobId -> its name is in a device's scope
};

}  // namespace

ReplicaComparison CompareReplicas(const Net& net, const Ssa& ssa, const Columns& columns) {
  return Comparer(net, ssa, columns).Compare();
}

}  // namespace weft
