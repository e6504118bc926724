// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/net_model.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/check/check_net.h"
#include "core/roles/origins.h"

namespace weft {

namespace {

constexpr size_t kMaxCachedWords = 16 << 20;
constexpr size_t kMostPlanned = 50000;  // ops; in larger nets gradients are paired by names and values alone
constexpr size_t kMostChecked = 20000;  // ops; larger nets are checked when somebody asks

}  // namespace

std::shared_ptr<const LayeredResult> LayoutCache::Get(const LayeredInput& input) {
  words_.clear();
  input.AppendWords(words_);
  uint64_t hash = words_.size();
  for (uint32_t word : words_) hash = HashMix(hash, word);
  for (const Entry& entry : entries_[hash]) {
    if (entry.words != words_) continue;
    ++hits_;
    return entry.result;
  }
  if (size_ > kMaxCachedWords) {
    entries_.clear();
    size_ = 0;
  }
  auto result = std::make_shared<const LayeredResult>(LayOut(input));
  size_ += words_.size() + result->edges.size() * 7 + result->cell_x.size();
  entries_[hash].push_back({words_, result});
  return result;
}

const Ssa& NetModel::ssa() {
  if (!ssa_) ssa_.emplace(*net_);
  return *ssa_;
}

const Columns& NetModel::columns() {
  if (!columns_) columns_ = FindColumns(*net_, ssa());
  return *columns_;
}

const Roles& NetModel::roles() {
  if (!roles_) {
    if (origins_.empty() && has_gradients() && net_->ops.size() <= kMostPlanned)
      origins_ = FindOrigins(*net_, ops_);
    roles_ = FindRoles(*net_, ssa(), ops_, columns(), origins_);
  }
  return *roles_;
}

bool NetModel::has_gradients() {
  if (!has_gradients_) has_gradients_ = HasGradients(*net_);
  return *has_gradients_;
}

LayoutMode NetModel::Resolve(LayoutMode mode) {
  if (mode == LayoutMode::kFlow) return mode;
  return has_gradients() ? LayoutMode::kMirror : LayoutMode::kFlow;
}

Arrangement& NetModel::arrangement(LayoutMode mode) {
  const bool mirror = Resolve(mode) == LayoutMode::kMirror;
  std::unique_ptr<Arrangement>& slot = arrangements_[mirror ? 1 : 0];
  if (!slot) slot = std::make_unique<Arrangement>(*net_, ssa(), roles(), columns(), mirror, ports_);
  return *slot;
}

const std::vector<Diagnostic>& NetModel::known_findings() const {
  static const std::vector<Diagnostic> none;
  return findings_ ? *findings_ : none;
}

const std::vector<Diagnostic>& NetModel::findings() {
  if (!findings_) findings_ = CheckNet(*net_, {.ops = &ops_});
  return *findings_;
}

ValueId NetModel::next_version(ValueId value) {
  if (next_version_.empty()) {
    next_version_.assign(ssa().values().size(), kNoValue);
    for (ValueId v = 0; v < next_version_.size(); ++v)
      if (ssa().values()[v].previous != kNoValue) next_version_[ssa().values()[v].previous] = v;
  }
  return next_version_[value];
}

const std::vector<OpId>& NetModel::waiting_ops() {
  if (waiting_) return *waiting_;
  waiting_.emplace();
  for (OpId i = 0; i < static_cast<OpId>(net_->ops.size()); ++i)
    if (!net_->ops[i].control_inputs.empty()) waiting_->push_back(i);
  if (waiting_->empty()) return *waiting_;
  std::vector<ValueId> now(ssa().blobs().size(), kNoValue);  // per blob its version before the op
  for (ValueId v = 0; v < ssa().values().size(); ++v)
    if (ssa().values()[v].def == kNoOp) now[ssa().values()[v].blob] = v;
  size_t next = 0;
  for (OpId i = 0; next < waiting_->size(); ++i) {
    if ((*waiting_)[next] == i) {
      control_begin_.push_back(control_values_.size());
      for (Symbol name : net_->ops[i].control_inputs) {
        const BlobId blob = ssa().FindBlob(name);
        control_values_.push_back(blob == kNoBlob ? kNoValue : now[blob]);
      }
      ++next;
    }
    for (ValueId v : ssa().outputs(i)) now[ssa().values()[v].blob] = v;
  }
  return *waiting_;
}

ValueId NetModel::control_value(OpId op, size_t k) {
  const std::vector<OpId>& ops = waiting_ops();
  const auto at = std::lower_bound(ops.begin(), ops.end(), op);
  return at == ops.end() || *at != op
             ? kNoValue
             : control_values_[control_begin_[static_cast<size_t>(at - ops.begin())] + k];
}

std::vector<OpId> NetModel::served_by(OpId op) {
  if (!roles().has_gradients || roles().anchor[op] != op) return {};
  const std::span<const OpId> riders = arrangement(LayoutMode::kMirror).riders(op);
  return {riders.begin(), riders.end()};
}

const std::vector<uint8_t>& NetModel::external_outputs() {
  if (external_outputs_.empty() && !ssa().blobs().empty()) {
    external_outputs_.assign(ssa().blobs().size(), 0);
    for (Symbol name : net_->external_outputs) {
      const BlobId blob = ssa().FindBlob(name);
      if (blob != kNoBlob) external_outputs_[blob] = 1;
    }
  }
  return external_outputs_;
}

const std::vector<uint8_t>& NetModel::params() {
  if (params_.empty() && !ssa().blobs().empty()) {
    params_ = filled_;
    params_.resize(ssa().blobs().size(), 0);
    for (OpId i = 0; i < static_cast<OpId>(net_->ops.size()); ++i) {
      if (roles().role[i] != Role::kUpdate) continue;
      for (ValueId v : ssa().outputs(i)) {
        const BlobId blob = ssa().values()[v].blob;
        if (ssa().starts_outside(blob)) params_[blob] = 1;
      }
    }
  }
  return params_;
}

void NetModel::SetFilled(const std::vector<BlobId>& blobs) {
  filled_.assign(ssa().blobs().size(), 0);
  for (BlobId blob : blobs) filled_[blob] = 1;
  params_.clear();
}

void NetModel::SetOrigins(std::vector<OpId> origins) {
  origins_ = std::move(origins);
  roles_.reset();
  for (auto& arrangement : arrangements_) arrangement.reset();
}

bool NetModel::PrepareNext(LayoutMode mode) {
  if (!ssa_) {
    ssa();
  } else if (!columns_) {
    columns();
  } else if (!roles_) {
    roles();
  } else if (!arrangements_[Resolve(mode) == LayoutMode::kMirror ? 1 : 0]) {
    arrangement(mode);
  } else if (!findings_ && net_->ops.size() <= kMostChecked) {
    findings();
  } else {
    return false;
  }
  return true;
}

}  // namespace weft
