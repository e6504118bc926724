// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/base/str.h"
#include "core/check/check_net.h"

namespace weft {

namespace {

struct FillType {
  std::string_view op;
  std::string_view holds;  // what a message calls the contents
};
constexpr FillType kNotFloatFills[] = {
    {"GivenTensorStringFill", "strings"}, {"GivenTensorByteStringToUInt8Fill", "bytes"},
    {"GivenTensorIntFill", "int32"},      {"GivenTensorInt64Fill", "int64"},
    {"GivenTensorInt16Fill", "int16"},    {"GivenTensorBoolFill", "bool"},
    {"UniformIntFill", "int32"},
};

// Operators all of whose inputs are floating-point tensors, with the rank of the first one (0: any).
struct FloatOp {
  std::string_view op;
  int rank;
};
constexpr FloatOp kFloatOps[] = {
    {"Conv", 4},      {"ConvTranspose", 4}, {"MaxPool", 4}, {"AveragePool", 4},
    {"SpatialBN", 4}, {"LRN", 4},           {"FC", 0},      {"MatMul", 0},
    {"Relu", 0},      {"Sigmoid", 0},       {"Tanh", 0},    {"Softmax", 0},
    {"Dropout", 0},
};

// What is known about one blob name across the nets.
struct Blob {
  int32_t first_writer = -1;  // net
  OpId writer_op = kNoOp;
  int32_t known_to = -1;  // the first net that names it without writing it
  bool fed = false;
  bool read_later = false;  // by a net behind its writer, or by the writer itself
};

class SequenceChecker {
 public:
  SequenceChecker(std::span<const NamedNet> nets, std::span<const std::string> fed, Findings& findings)
      : nets_(nets), findings_(findings), any_fed_(!fed.empty()) {
    for (const std::string& name : fed) At(name).fed = true;
    for (size_t k = 0; k < nets.size(); ++k) {
      effects_.push_back(EffectsOf(*nets[k].net));
      for (const Effect& write : effects_[k].writes) {
        Blob& blob = At(Str(k, write.blob));
        if (blob.first_writer < 0) {
          blob.first_writer = static_cast<int32_t>(k);
          blob.writer_op = write.op;
        }
      }
      for (const Effect& read : effects_[k].reads) Know(k, read.blob);
      for (Symbol name : nets[k].net->external_inputs) Know(k, name);
      for (Symbol name : nets[k].net->external_outputs) Know(k, name);
    }
  }

  void Run() {
    for (size_t k = 0; k < nets_.size(); ++k)
      for (const Effect& read : effects_[k].reads) CheckRead(k, read);
    for (size_t k = 0; k + 1 < nets_.size(); ++k) CheckUnused(k);
  }

 private:
  std::string_view Str(size_t k, Symbol name) const { return nets_[k].net->Str(name); }
  Blob& At(std::string_view name) {
    const Symbol symbol = names_.Intern(name);
    if (symbol.id >= blobs_.size()) blobs_.resize(symbol.id + symbol.id / 2 + 1);
    return blobs_[symbol.id];
  }
  void Know(size_t k, Symbol name) {
    Blob& blob = At(Str(k, name));
    if (blob.known_to < 0) blob.known_to = static_cast<int32_t>(k);
  }
  const std::string& NetName(int32_t k) const { return nets_[static_cast<size_t>(k)].name; }

  void CheckRead(size_t k, const Effect& read) {
    const std::string name(Str(k, read.blob));
    Blob& blob = At(name);
    const int32_t here = static_cast<int32_t>(k);
    const Net& net = *nets_[k].net;
    if (blob.first_writer >= 0 && blob.first_writer < here) {
      blob.read_later = true;
      if (!blob.fed) CheckType(k, read, blob, name);
      return;
    }
    if (blob.fed) return;
    if (blob.first_writer > here) {
      if (findings_.Wants(FindingCode::kRunOrder))
        Add(FindingCode::kRunOrder, Severity::kError, k, read.op, name,
            StrCat(OpLabel(net, read.op), " reads ", name, ", which only ", NetName(blob.first_writer),
                   " writes (", OpLabel(*nets_[static_cast<size_t>(blob.first_writer)].net, blob.writer_op),
                   "), and that runs later"),
            StrCat("run ", NetName(blob.first_writer), " before ", NetName(here)));
      return;
    }
    const bool known = blob.known_to >= 0 && blob.known_to < here;
    const FindingCode code = known ? FindingCode::kNeverFilled : FindingCode::kNotFed;
    if (!findings_.Wants(code)) return;
    std::string message = StrCat(OpLabel(net, read.op), " reads ", name);
    if (known) {
      StrAppend(message, "; ", NetName(blob.known_to),
                " names it but puts nothing in it, so it exists and is empty");
    } else if (here == 0) {
      StrAppend(message, ", which nothing has written and nobody feeds");
    } else {
      StrAppend(message, ", which ", EarlierNames(here), here == 1 ? " does" : " do",
                " not write and nobody feeds");
    }
    // Once the caller has said what it feeds, what is left is missing; before that it is what there is to
    // feed.
    const Severity severity = known || any_fed_ ? Severity::kWarning : Severity::kNote;
    Add(code, severity, k, read.op, name, std::move(message),
        known ? "run or load what fills it (a training net's init, a checkpoint), or feed it"
              : StrCat("feed it, or fill it in an init net: ConstantFill() -> ", name, " {shape=[...]}"));
  }

  std::string EarlierNames(int32_t here) const {
    std::vector<std::string> names;
    for (int32_t k = 0; k < here; ++k) names.push_back(NetName(k));
    return ListNames(names, 2);
  }

  void CheckType(size_t k, const Effect& read, const Blob& blob, const std::string& name) {
    const Net& net = *nets_[k].net;
    const Net& from = *nets_[static_cast<size_t>(blob.first_writer)].net;
    const std::string_view fill = from.Str(from.ops[static_cast<size_t>(blob.writer_op)].type);
    const std::string_view reader = net.Str(net.ops[static_cast<size_t>(read.op)].type);
    for (const FillType& type : kNotFloatFills) {
      if (type.op != fill) continue;
      for (const FloatOp& op : kFloatOps) {
        if (op.op != reader || !findings_.Wants(FindingCode::kWrongType)) continue;
        const bool first = net.ops[static_cast<size_t>(read.op)].inputs[0] == read.blob;
        Add(FindingCode::kWrongType, Severity::kError, k, read.op, name,
            StrCat(name, " holds ", type.holds, " (", NetName(blob.first_writer), ", ",
                   OpLabel(from, blob.writer_op), "); ", OpLabel(net, read.op), " expects a float tensor",
                   first && op.rank > 0 ? StrCat(" of rank ", op.rank) : ""),
            "fill or feed it with floats");
      }
    }
  }

  void CheckUnused(size_t k) {
    // What a net makes from inputs is a result; what it makes from nothing is for others.
    if (!effects_[k].reads.empty()) return;
    SymbolMap<uint8_t> own(*nets_[k].net->symbols, nets_[k].net->ops.size(), 0);
    for (const Op& op : nets_[k].net->ops)
      for (Symbol input : op.inputs) own[input] = true;
    for (const Effect& write : effects_[k].writes) {
      const std::string_view name = Str(k, write.blob);
      const Blob& blob = At(name);
      if (blob.read_later || own.Get(write.blob) || blob.first_writer != static_cast<int32_t>(k)) continue;
      if (!findings_.Wants(FindingCode::kUnusedParameter)) continue;
      Add(FindingCode::kUnusedParameter, Severity::kNote, k, write.op, std::string(name),
          StrCat(OpLabel(*nets_[k].net, write.op), " writes ", name, ", which no later net reads"), "");
    }
  }

  void Add(FindingCode code, Severity severity, size_t k, OpId op, std::string blob, std::string message,
           std::string remedy) {
    findings_.Add(
        {code, severity, op, std::move(blob), std::move(message), std::move(remedy), nets_[k].name});
  }

  std::span<const NamedNet> nets_;
  Findings& findings_;
  const bool any_fed_;
  std::vector<NetEffects> effects_;
  SymbolTable names_;
  std::vector<Blob> blobs_;  // by id in names_
};

}  // namespace

bool Fills(const Net& init, const Net& net) {
  const NetEffects filler = EffectsOf(init);
  if (!filler.reads.empty() || filler.writes.empty()) return false;
  SymbolTable names;
  for (const Effect& write : filler.writes) names.Intern(init.Str(write.blob));
  for (const Effect& read : EffectsOf(net).reads)
    if (names.Find(net.Str(read.blob))) return true;
  return false;
}

std::vector<Diagnostic> CheckSequence(std::span<const NamedNet> nets, std::span<const std::string> fed,
                                      const CheckOptions& options) {
  Findings findings(options.per_code);
  SequenceChecker(nets, fed, findings).Run();
  return findings.Take();
}

}  // namespace weft
