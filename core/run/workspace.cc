// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/run/workspace.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/run/interpreter.h"

namespace weft {

Workspace::Workspace(RunContext& context) : context_(context) {}
Workspace::Workspace(Workspace& parent) : context_(parent.context_), parent_(&parent) {}

// Nets go first: they point at blobs.
Workspace::~Workspace() { nets_.clear(); }

Blob& Workspace::CreateBlob(std::string_view name) {
  if (Blob* blob = FindBlob(name)) return *blob;
  return CreateLocalBlob(name);
}

Blob& Workspace::CreateLocalBlob(std::string_view name) {
  auto found = places_.find(name);
  if (found == places_.end()) found = places_.emplace(std::string(name), Place()).first;
  Place& place = found->second;
  if (!place.own) place.own = std::make_unique<Blob>();
  place.use_own = true;
  return *place.own;
}

Blob* Workspace::FindBlob(std::string_view name) {
  const auto found = places_.find(name);
  if (found != places_.end()) {
    Place& place = found->second;
    if (place.use_own) return place.own.get();
    if (place.bound) return place.bound->FindBlob(place.bound_name);
  }
  return parent_ ? parent_->FindBlob(name) : nullptr;
}

const Blob* Workspace::FindBlob(std::string_view name) const {
  return const_cast<Workspace*>(this)->FindBlob(name);
}

const Tensor* Workspace::FindTensor(std::string_view name) const {
  const Blob* blob = FindBlob(name);
  return blob ? blob->Get<Tensor>() : nullptr;
}

void Workspace::Feed(std::string_view name, Tensor tensor) { CreateBlob(name).Set(std::move(tensor)); }

bool Workspace::RemoveBlob(std::string_view name) {
  const auto found = places_.find(name);
  if (found == places_.end() || !found->second.use_own) return false;
  Place& place = found->second;
  place.own->Reset();
  removed_.push_back(std::move(place.own));
  place.use_own = false;
  if (!place.bound) places_.erase(found);
  return true;
}

Result<void> Workspace::RenameBlob(std::string_view from, std::string_view to) {
  const auto found = places_.find(from);
  if (found == places_.end() || !found->second.use_own)
    return Error{ErrorCode::kNotFound, StrCat("Blob ", from, " is not in the local blob list"), -1,
                 std::string(from)};
  if (HasBlob(to))
    return Error{ErrorCode::kNameConflict, StrCat("Blob ", to, " is already in the workspace"), -1,
                 std::string(to)};
  std::unique_ptr<Blob> blob = std::move(found->second.own);
  found->second.use_own = false;
  if (!found->second.bound) places_.erase(found);
  Place& place = places_[std::string(to)];
  place.own = std::move(blob);
  place.use_own = true;
  return {};
}

std::vector<std::string> Workspace::LocalBlobs() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : places_)
    if (place.use_own) names.push_back(name);
  return names;
}

std::vector<std::string> Workspace::Blobs() const {
  std::vector<std::string> names = parent_ ? parent_->Blobs() : std::vector<std::string>();
  for (const auto& [name, place] : places_)
    if (HasBlob(name)) names.push_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<void> Workspace::Bind(Workspace& other, const Bindings& bindings, bool skip_defined) {
  for (const auto& [name, other_name] : bindings) {
    if (!other.HasBlob(other_name))
      return Error{ErrorCode::kNotFound, StrCat("Invalid parent workspace blob ", other_name), -1,
                   other_name};
    const auto found = places_.find(name);
    if (found != places_.end() && found->second.use_own && skip_defined) continue;
    if (found != places_.end() && found->second.bound) {
      if (found->second.bound != &other || found->second.bound_name != other_name)
        return Error{ErrorCode::kNameConflict,
                     StrCat("Redefinition of blob ", name, ": bound to ", found->second.bound_name,
                            ", asked to bind to ", other_name),
                     -1, name};
      continue;
    }
    if (HasBlob(name)) {
      if (skip_defined) continue;
      return Error{ErrorCode::kNameConflict, StrCat("Redefinition of blob ", name, ": it exists already"), -1,
                   name};
    }
    Place& place = places_[name];
    place.bound = &other;
    place.bound_name = other_name;
  }
  return {};
}

Result<void> Workspace::CopyBound(const Bindings& names) {
  for (const auto& [name, unused] : names) {
    const auto found = places_.find(name);
    if (found == places_.end() || !found->second.bound || found->second.use_own) continue;
    Place& place = found->second;
    const Tensor* tensor = place.bound->FindTensor(place.bound_name);
    if (!tensor)
      return Error{ErrorCode::kInvalidArgument, StrCat("Expected blob with tensor value: ", place.bound_name),
                   -1, place.bound_name};
    Tensor copy = tensor->Clone();
    CreateLocalBlob(name).Set(std::move(copy));
  }
  return {};
}

void Workspace::UncopyBound() {
  for (auto& [name, place] : places_)
    if (place.bound) place.use_own = false;
}

Result<PreparedNet*> Workspace::CreateNet(std::shared_ptr<const Net> net, bool overwrite) {
  const std::string name(net->Str(net->name));
  if (name.empty()) return Error{ErrorCode::kInvalidArgument, "Net definition should have a name"};
  const auto found = nets_.find(name);
  if (found != nets_.end()) {
    if (!overwrite)
      return Error{ErrorCode::kNameConflict,
                   StrCat("I respectfully refuse to overwrite an existing net of the same name \"", name,
                          "\", unless you explicitly specify overwrite=true.")};
    nets_.erase(found);
  }
  WEFT_TRY(auto prepared, PreparedNet::Create(std::move(net), *this));
  PreparedNet* out = prepared.get();
  nets_[name] = std::move(prepared);
  return out;
}

PreparedNet* Workspace::FindNet(std::string_view name) {
  const auto found = nets_.find(name);
  return found == nets_.end() ? nullptr : found->second.get();
}

Result<void> Workspace::RunNet(std::string_view name, int64_t times) {
  PreparedNet* net = FindNet(name);
  if (!net) return Error{ErrorCode::kNotFound, StrCat("Network ", name, " does not exist in this workspace")};
  for (int64_t i = 0; i < times; ++i) WEFT_TRY_VOID(net->Run());
  return {};
}

Result<void> Workspace::RunNetOnce(const Net& net) {
  WEFT_TRY(auto prepared, PreparedNet::Create(std::make_shared<const Net>(net), *this));
  return prepared->Run();
}

}  // namespace weft
