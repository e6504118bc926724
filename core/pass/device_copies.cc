// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/device_copies.h"

#include <algorithm>
#include <utility>

#include "core/base/str.h"
#include "core/base/symbol_map.h"
#include "core/check/effects.h"
#include "core/ir/names.h"
#include "core/ssa/nested.h"
#include "core/ssa/rename.h"

namespace weft {

namespace {

constexpr int kAll = -1;
// Ports that are on the CPU whatever the operator's device.
struct CpuPort {
  std::string_view type;
  bool output;
  int port;
};
constexpr CpuPort kCpuPorts[] = {
    {"CopyFromCPUInput", false, kAll},
    {"CopyCPUToGPU", false, kAll},
    {"CopyGPUToCPU", true, kAll},
    {"EnsureCPUOutput", true, kAll},
    {"Concat", true, 1},
    {"LearningRate", false, 0},
    {"Adam", false, 5},
};

bool IsGpu(const DevicePtr& device) { return device && (device->type() == kCuda || device->type() == kHip); }
bool IsCpu(const DevicePtr& device) { return !device || device->type() == kCpu; }

std::string CopyName(std::string_view blob, const DevicePtr& device) {
  return IsCpu(device) ? StrCat(blob, "_cpu") : StrCat(blob, "_gpu_", device->id());
}

// The blob whose copy on this device may be called so; the name itself when there is none.
std::string_view CopiedName(std::string_view name, const DevicePtr& device) {
  const std::string suffix = CopyName("", device);
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

// One blob's places. The first is its home, under its own name.
struct Replica {
  DevicePtr device;
  Symbol name;
  bool valid;
};

class Copier {
 public:
  Copier(SymbolTablePtr symbols, const DeviceCopyOptions& options)
      : options_(options), fresh_(symbols), places_(*symbols, 0, 0), nesting_(*symbols) {
    for (const BlobDevice& of : options.where) Place(of.blob, of.device);
  }
  void Reserve(const Net& net) { fresh_.Reserve(net); }

  Result<Net> Run(const Net& net) {
    Net out = WithoutOps(net);
    net_ = &net;
    out_ = &out;
    SymbolMap<uint8_t> outside(*net.symbols, net.ops.size(), 0);
    listed_ = &outside;
    for (Symbol blob : net.external_inputs) {
      outside[blob] = 1;
      if (!places_.Get(blob)) Place(blob, net.device);
    }
    for (size_t i = 0; i < net.ops.size(); ++i) {
      at_ = static_cast<int64_t>(i);
      WEFT_TRY_VOID(Move(net.ops[i]));
    }
    at_ = -1;
    // Whoever looks from outside finds the last value under the blob's own name.
    SymbolMap<uint8_t> settled(*net.symbols, 0, 0);
    for (const auto* names : {&net.external_outputs, &net.external_inputs})
      for (Symbol blob : *names) {
        if (settled.Get(blob) || !places_.Get(blob)) continue;
        settled[blob] = 1;
        WEFT_TRY_VOID(Need(blob, ReplicasOf(blob)[0].device));
      }
    return out;
  }

 private:
  std::vector<Replica>& Place(Symbol blob, const DevicePtr& home) {
    replicas_.push_back({{home, blob, true}});
    places_[blob] = static_cast<uint32_t>(replicas_.size());
    return replicas_.back();
  }
  std::vector<Replica>& ReplicasOf(Symbol blob) { return replicas_[places_.Get(blob) - 1]; }

  Replica& ReplicaOn(Symbol blob, const DevicePtr& device) {
    std::vector<Replica>& replicas = ReplicasOf(blob);
    for (Replica& replica : replicas)
      if (SameDevice(replica.device, device)) return replica;
    const Symbol name = fresh_.Make(CopyName(net_->Str(blob), device));
    return replicas.emplace_back(Replica{device, name, false});
  }

  // What an earlier net left there is an input of this one.
  Symbol Read(const Replica& replica) {
    if (!net_->external_inputs.empty() && !listed_->Get(replica.name)) {
      (*listed_)[replica.name] = 1;
      out_->external_inputs.push_back(replica.name);
    }
    return replica.name;
  }

  // The name under which `blob` is on `device` now, after a copy when it is not there yet.
  Result<Symbol> Need(Symbol blob, const DevicePtr& device) {
    Replica& target = ReplicaOn(blob, device);
    if (target.valid) return Read(target);
    const std::vector<Replica>& replicas = ReplicasOf(blob);
    const auto source =
        std::find_if(replicas.begin(), replicas.end(), [](const Replica& r) { return r.valid; });
    Op copy;
    if (IsGpu(source->device) && IsGpu(device)) {
      copy.type = out_->Intern("Copy");
      copy.device = device;
    } else if (IsGpu(source->device) && IsCpu(device)) {
      copy.type = out_->Intern("CopyGPUToCPU");
      copy.device = source->device;
    } else if (IsCpu(source->device) && IsGpu(device)) {
      copy.type = out_->Intern("CopyCPUToGPU");
      copy.device = device;
    } else {
      return Error{ErrorCode::kUnsupported,
                   StrCat(net_->Str(blob), " is on ", Word(source->device), " and needed on ", Word(device),
                          ": there is no copy between these"),
                   at_, std::string(net_->Str(blob))};
    }
    copy.name = out_->Intern("");
    copy.inputs.push_back(Read(*source));
    copy.outputs.push_back(target.name);
    Mark(target.name);
    out_->ops.push_back(std::move(copy));
    target.valid = true;
    return target.name;
  }

  static std::string Word(const DevicePtr& device) { return device ? DeviceToString(device) : "cpu"; }

  Result<void> Move(const Op& op) {
    OpDevices devices = InferOpDevices(*net_, op);
    if (std::find(options_.placeholders.begin(), options_.placeholders.end(), net_->Str(op.type)) !=
        options_.placeholders.end()) {
      devices.inputs.assign(op.inputs.size(), devices.device);
      devices.outputs.assign(op.outputs.size(), devices.device);
    }
    const bool holds_net = HoldsNet(op);
    NestedUses inside;
    if (holds_net) {
      WEFT_TRY_VOID(OnOneDevice(op, devices.device));
      inside = UsesOfNestedNets(*net_, op, nesting_);
    }

    std::vector<std::pair<Symbol, Symbol>> renamed;  // of this operator: blob, its name there
    Op moved = op;
    const auto read = [&](Symbol blob, const DevicePtr& device) -> Result<Symbol> {
      if (!places_.Get(blob)) {
        if (!net_->external_inputs.empty())
          return Error{ErrorCode::kNotFound, StrCat("No device information found for blob ", net_->Str(blob)),
                       at_, std::string(net_->Str(blob))};
        Place(blob, net_->device);
      }
      WEFT_TRY(const Symbol name, Need(blob, device));
      if (name != blob) renamed.push_back({blob, name});
      return name;
    };
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (IsOwnCopy(op, k)) continue;
      WEFT_TRY(moved.inputs[k], read(op.inputs[k], devices.inputs[k]));
    }
    for (Symbol blob : inside.reads) WEFT_TRY_VOID(Discard(read(blob, devices.device)));
    // A branch may leave a blob as it was, so that has to be there, too.
    if (nesting_.Of(op.type) == Nesting::kSameWorkspace)
      for (Symbol blob : op.outputs)
        if (places_.Get(blob)) WEFT_TRY_VOID(Discard(read(blob, devices.device)));
    for (Symbol& blob : moved.control_inputs)
      if (places_.Get(blob)) {
        const std::vector<Replica>& replicas = ReplicasOf(blob);
        blob = std::find_if(replicas.begin(), replicas.end(), [](const Replica& r) { return r.valid; })->name;
      }

    const auto write = [&](Symbol blob, const DevicePtr& device) {
      if (!places_.Get(blob)) Place(blob, device);
      Replica& target = ReplicaOn(blob, device);
      const Symbol name = target.name;
      for (Replica& replica : ReplicasOf(blob)) replica.valid = replica.name == name;
      if (name != blob) renamed.push_back({blob, name});
      Mark(name);
      return name;
    };
    for (size_t k = 0; k < op.outputs.size(); ++k)
      moved.outputs[k] = write(op.outputs[k], devices.outputs[k]);
    for (Symbol blob : inside.writes) write(blob, devices.device);

    if (holds_net && !renamed.empty()) {
      BlobMap map(*net_->symbols, renamed.size());
      for (const auto& [from, to] : renamed) map.Set(from, to);
      const RenameContext context{
          .symbols = net_->symbols, .map = map, .nesting = nesting_, .suffix_nested = false};
      // Inputs and outputs have their names already: names given once are not given again.
      const BlobList inputs = moved.inputs, outputs = moved.outputs;
      const auto controls = moved.control_inputs;
      WEFT_TRY_VOID(RenameInOp(context, moved));
      moved.inputs = inputs;
      moved.outputs = outputs;
      moved.control_inputs = controls;
    }
    out_->ops.push_back(std::move(moved));
    return {};
  }

  static Result<void> Discard(Result<Symbol> name) {
    if (!name) return std::move(name).error();
    return {};
  }

  // A Copy that this pass made reads across GPUs on purpose: from one place of a blob to another.
  bool IsOwnCopy(const Op& op, size_t k) {
    if (net_->Str(op.type) != "Copy" || op.outputs.size() != 1 || k != 0 || !places_.Get(op.inputs[0]))
      return false;
    const std::string_view from = net_->Str(op.inputs[0]), to = net_->Str(op.outputs[0]);
    const DevicePtr& there = ReplicasOf(op.inputs[0])[0].device;
    return IsGpu(there) && from != to && CopiedName(from, there) == CopiedName(to, op.device);
  }

  Result<void> OnOneDevice(const Op& op, const DevicePtr& device) {
    Error error;
    std::function<bool(const Net&, int)> same = [&](const Net& inner, int depth) {
      if (inner.device && !SameDevice(inner.device, device)) return false;
      for (const Op& nested : inner.ops) {
        if (nested.device && !SameDevice(nested.device, device)) return false;
        bool fine = true;
        if (depth < kMaxNesting && HoldsNet(nested))
          ForEachNestedNet(inner, nested, [&](const Net& deeper, std::string_view) {
            fine = fine && same(deeper, depth + 1);
          });
        if (!fine) return false;
      }
      return true;
    };
    std::string place;
    ForEachNestedNet(*net_, op, [&](const Net& inner, std::string_view where) {
      if (place.empty() && !same(inner, 1)) place = where;
    });
    if (place.empty()) return {};
    return Error{ErrorCode::kUnsupported,
                 StrCat("operator ", at_, " (", net_->Str(op.type), ") is on ", Word(device), ", and its ",
                        place, " has operators elsewhere"),
                 at_};
  }

  void Mark(Symbol name) { (*listed_)[name] = 1; }

  const DeviceCopyOptions& options_;
  FreshNames fresh_;
  SymbolMap<uint32_t> places_;  // blob -> index into replicas_, + 1
  std::vector<std::vector<Replica>> replicas_;
  const NestingTypes nesting_;
  const Net* net_ = nullptr;
  Net* out_ = nullptr;
  SymbolMap<uint8_t>* listed_ = nullptr;  // external inputs of this net, and what it has made so far
  int64_t at_ = -1;
};

}  // namespace

OpDevices InferOpDevices(const Net& net, const Op& op) {
  OpDevices devices{op.device ? op.device : net.device, {}, {}};
  devices.inputs.assign(op.inputs.size(), devices.device);
  devices.outputs.assign(op.outputs.size(), devices.device);
  const std::string_view type = net.Str(op.type);
  for (const CpuPort& cpu : kCpuPorts) {
    if (cpu.type != type) continue;
    std::vector<DevicePtr>& ports = cpu.output ? devices.outputs : devices.inputs;
    for (size_t k = 0; k < ports.size(); ++k)
      if (cpu.port == kAll || static_cast<size_t>(cpu.port) == k) ports[k] = nullptr;
  }
  return devices;
}

std::vector<BlobDevice> InferBlobDevices(const Net& net) {
  SymbolMap<uint32_t> index(*net.symbols, net.ops.size(), 0);
  std::vector<BlobDevice> blobs;
  const auto set = [&](Symbol blob, const DevicePtr& device, bool overwrite) {
    uint32_t& at = index[blob];
    if (at == 0) {
      blobs.push_back({blob, device});
      at = static_cast<uint32_t>(blobs.size());
    } else if (overwrite) {
      blobs[at - 1].device = device;
    }
  };
  for (const Op& op : net.ops) {
    const OpDevices devices = InferOpDevices(net, op);
    for (size_t k = 0; k < op.inputs.size(); ++k) set(op.inputs[k], devices.inputs[k], false);
    for (size_t k = 0; k < op.outputs.size(); ++k) set(op.outputs[k], devices.outputs[k], true);
  }
  return blobs;
}

Result<std::vector<Net>> AddDeviceCopiesAmong(std::span<const Net> nets, const DeviceCopyOptions& options) {
  std::vector<Net> out;
  if (nets.empty()) return out;
  Copier copier(nets[0].symbols, options);
  for (const Net& net : nets) {
    if (net.symbols != nets[0].symbols)
      return Error{ErrorCode::kInvalidArgument, "the nets do not share one symbol table"};
    copier.Reserve(net);
  }
  for (const Net& net : nets) {
    WEFT_TRY(Net made, copier.Run(net));
    out.push_back(std::move(made));
  }
  return out;
}

Result<Net> AddDeviceCopies(const Net& net, const DeviceCopyOptions& options) {
  WEFT_TRY(std::vector<Net> nets, AddDeviceCopiesAmong({&net, 1}, options));
  return std::move(nets[0]);
}

}  // namespace weft
