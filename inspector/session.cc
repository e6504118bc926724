// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/session.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/str.h"
#include "core/ssa/captured.h"
#include "inspector/build/scene_job.h"
#include "inspector/build/sketch.h"
#include "inspector/build/visible.h"
#include "inspector/describe.h"
#include "inspector/search.h"
#include "proto/codec.h"
#include "proto/outline.h"

namespace weft {

namespace {

struct OpenedNet {
  NetInfo info;
  std::shared_ptr<const Net> net;
  std::unique_ptr<NetModel> model;  // made when something is asked
  LayoutMode last_mode = LayoutMode::kAuto;
  std::map<std::pair<OpId, size_t>, std::vector<NetId>> nested;  // op, argument -> its nets, once entered
  std::optional<std::vector<NestedNetInfo>> captured;  // of the nets in it, once one is drawn in place
  std::unique_ptr<InnerNet> inner;                     // how it is drawn in place
  std::optional<NetId> init;                           // chosen to fill it, kNone: no net
};

struct OpenedDocument {
  DocumentInfo info;
  bool open = true;
};

Error NoNet(NetId net) { return {ErrorCode::kNotFound, StrCat("there is no net ", net, " in this session")}; }

}  // namespace

struct Session::State {
  explicit State(const OpSet& set) : ops(set) {}

  const OpSet& ops;
  std::vector<OpenedDocument> documents;
  std::vector<OpenedNet> nets;
  bool pairs_known = false;

  DocumentId AddDocument(std::string name, std::string format, uint64_t bytes) {
    const DocumentId id = static_cast<DocumentId>(documents.size());
    documents.push_back({{id, std::move(name), std::move(format), bytes, {}}, true});
    pairs_known = false;
    return id;
  }

  NetId AddNet(DocumentId document, std::shared_ptr<const Net> net, std::string name) {
    const NetId id = static_cast<NetId>(nets.size());
    NetInfo info;
    info.id = id;
    info.document = document;
    info.name = std::move(name);
    info.type = std::string(net->Str(net->type));
    info.num_ops = static_cast<uint32_t>(net->ops.size());
    info.has_gradients = HasGradients(*net);
    nets.push_back({std::move(info), std::move(net), nullptr, LayoutMode::kAuto, {}, {}, nullptr, {}});
    documents[document].info.nets.push_back(id);
    return id;
  }

  /// Takes a document's nets into the session.
  std::function<Result<DocumentId>(Document, uint64_t)> Keeper(std::string name) {
    return [this, name = std::move(name)](Document document, uint64_t bytes) -> Result<DocumentId> {
      const DocumentId id = AddDocument(name, DescribeKind(document), bytes);
      const auto add = [&](std::string key, Net net) {
        if (key.empty()) key = std::string(net.Str(net.name));
        AddNet(id, std::make_shared<const Net>(std::move(net)), std::move(key));
      };
      for (Document::NamedNet& named : document.nets) add(std::move(named.key), std::move(named.net));
      for (Document::NamedPlan& named : document.plans)
        for (Net& net : named.plan.networks) add("", std::move(net));
      return id;
    };
  }

  OpenedNet* Find(NetId net) {
    return net < nets.size() && documents[nets[net].info.document].open ? &nets[net] : nullptr;
  }
  Result<NetModel*> Model(NetId net) {
    OpenedNet* opened = Find(net);
    if (opened == nullptr) return NoNet(net);
    if (!opened->model) opened->model = std::make_unique<NetModel>(opened->net, ops);
    return opened->model.get();
  }
  /// How a net is drawn in its operator's box.
  InnerNet& Inner(OpenedNet& opened) {
    if (opened.inner) return *opened.inner;
    const NetInfo& info = opened.info;
    NetModel& around = **Model(info.parent);
    NetModel& plain = **Model(info.id);
    std::optional<std::vector<NestedNetInfo>>& captured = nets[info.parent].captured;
    if (!captured) captured = FindNestedNets(*nets[info.parent].net);
    const std::string path = StrCat(info.parent_op, ".", info.parent_arg);
    const auto found = std::find_if(captured->begin(), captured->end(),
                                    [&](const NestedNetInfo& nested) { return nested.path == path; });
    opened.inner = FrameNet(info.id, info.parent_op, info.parent_arg, plain, around,
                            found == captured->end() ? std::span<const CapturedBlob>() : found->captured);
    return *opened.inner;
  }
  /// The nets of a scene: `net`, then those of `opened` that are inside.
  std::vector<ShownNet> Shown(NetId net, NetModel& outermost, std::span<const NetId> opened) {
    std::vector<ShownNet> shown(1);
    AddShown(net, 0, outermost, opened, shown);
    return shown;
  }
  // Nesting is 100 deep at the most.
  void AddShown(NetId around, uint32_t index, NetModel& outermost, std::span<const NetId> opened,
                std::vector<ShownNet>& shown) {
    for (const auto& [place, ids] : nets[around].nested) {
      for (const NetId id : ids) {
        if (std::find(opened.begin(), opened.end(), id) == opened.end()) continue;
        AddShownNet(Inner(nets[id]), index, outermost, shown);
        AddShown(id, static_cast<uint32_t>(shown.size()) - 1, outermost, opened, shown);
      }
    }
  }
  Result<NetModel*> Model(NetId net, OpId op) {
    WEFT_TRY(NetModel * model, Model(net));
    if (op < 0 || op >= static_cast<OpId>(model->net().ops.size())) {
      return Error{ErrorCode::kNotFound,
                   StrCat("there is no op ", op, ": the net has ", model->net().ops.size(), " ops")};
    }
    return model;
  }
  Result<NetModel*> Model(NetId net, LayoutMode mode, ScopeId scope) {
    WEFT_TRY(NetModel * model, Model(net));
    const std::vector<ScopeRecord>& scopes = model->arrangement(mode).tree().scopes;
    if (scope >= scopes.size() || scopes[scope].kind == ScopeKind::kDissolved)
      return Error{ErrorCode::kNotFound, StrCat("there is no scope ", scope, " in this net")};
    return model;
  }
};

namespace {

class OpenJobImpl : public OpenJob {
 public:
  using Keep = std::function<Result<DocumentId>(Document, uint64_t bytes)>;
  OpenJobImpl(std::string name, FileSource file, const OpSet& ops, Keep keep)
      : name_(std::move(name)),
        bytes_(file.size),
        opener_(std::in_place, std::make_shared<const FileSource>(std::move(file)), Options()),
        sketch_(std::in_place, ops),
        keep_(std::move(keep)) {
    opener_->OnOp([this](std::string_view op) { sketch_->Add(op); });
  }
  OpenJobImpl(std::string name, Bytes bytes, Keep keep)
      : name_(std::move(name)), bytes_(bytes.size()), whole_(std::move(bytes)), keep_(std::move(keep)) {}

  bool Step(uint64_t units) override {
    if (result_ || (opener_ && !opener_->Step(units))) return result_.has_value();
    Result<Document> document = opener_ ? opener_->Take() : weft::Open(whole_, Options());
    opener_.reset();
    if (document) {
      result_.emplace(keep_(std::move(document).value(), bytes_));
    } else {
      result_.emplace(std::move(document).error());
    }
    return true;
  }
  Progress progress() const override {
    return opener_ ? opener_->progress() : Progress{result_ ? bytes_ : 0, bytes_};
  }
  std::vector<uint32_t> Sketch() override {
    if (!sketch_ || !opener_ || !opener_->walked()) return {};
    std::vector<uint32_t> scene = sketch_->Draw();
    sketch_.reset();
    return scene;
  }
  Result<DocumentId> Take() override {
    WEFT_CHECK(result_.has_value());
    return *std::move(result_);
  }

 private:
  OpenOptions Options() const {
    OpenOptions options;
    options.name = name_;
    return options;
  }

  const std::string name_;
  const uint64_t bytes_;
  const Bytes whole_;
  std::optional<FileOpener> opener_;
  std::optional<weft::Sketch> sketch_;
  const Keep keep_;
  std::optional<Result<DocumentId>> result_;
};

class FailedSceneJob : public SceneJob {
 public:
  explicit FailedSceneJob(Error error) : error_(std::move(error)) {}
  bool Step(uint64_t) override { return true; }
  Progress progress() const override { return {1, 1}; }
  Result<Scene> Take() override { return std::move(error_); }

 private:
  Error error_;
};

}  // namespace

Session::Session(const OpSet& ops) : state_(std::make_unique<State>(ops)) {}
Session::~Session() = default;

std::unique_ptr<OpenJob> Session::Open(std::string name, Bytes bytes) {
  return std::make_unique<OpenJobImpl>(name, std::move(bytes), state_->Keeper(name));
}

std::unique_ptr<OpenJob> Session::Open(std::string name, FileSource file) {
  return std::make_unique<OpenJobImpl>(name, std::move(file), state_->ops, state_->Keeper(name));
}

NetId Session::Add(std::string name, Net net) {
  const DocumentId document = state_->AddDocument(std::move(name), "net in memory", 0);
  std::string net_name(net.Str(net.name));
  return state_->AddNet(document, std::make_shared<const Net>(std::move(net)), std::move(net_name));
}

void Session::Close(DocumentId document) {
  if (document >= state_->documents.size() || !state_->documents[document].open) return;
  state_->documents[document].open = false;
  state_->pairs_known = false;
  for (OpenedNet& net : state_->nets) {
    if (net.init && *net.init != kNone && state_->nets[*net.init].info.document == document) net.init.reset();
    if (net.info.document != document) continue;
    net.inner.reset();
    net.captured.reset();
    net.model.reset();
    net.net.reset();
    net.nested.clear();
  }
}

std::vector<DocumentInfo> Session::documents() const {
  std::vector<DocumentInfo> list;
  for (const OpenedDocument& document : state_->documents)
    if (document.open) list.push_back(document.info);
  return list;
}

std::vector<NetInfo> Session::nets() const {
  std::vector<NetInfo> list;
  for (const OpenedNet& net : state_->nets)
    if (state_->documents[net.info.document].open) list.push_back(net.info);
  return list;
}

Result<NetInfo> Session::DescribeNet(NetId net) const {
  const OpenedNet* opened = state_->Find(net);
  if (opened == nullptr) return NoNet(net);
  return opened->info;
}

const Net* Session::net(NetId net) const {
  const OpenedNet* opened = state_->Find(net);
  return opened != nullptr ? opened->net.get() : nullptr;
}

// A net fills another one when it writes names that the other declares as inputs, and reads little itself.
std::vector<NetPair> Session::Pairs() {
  std::vector<NetPair> pairs;
  std::vector<std::vector<BlobId>> filled(state_->nets.size());
  for (const OpenedNet& init : state_->nets) {
    if (state_->Find(init.info.id) == nullptr || init.info.parent != kNone) continue;
    for (OpenedNet& net : state_->nets) {
      if (state_->Find(net.info.id) == nullptr || net.info.parent != kNone || &net == &init) continue;
      if (net.init && *net.init != init.info.id) continue;
      NetModel& model = *state_->Model(net.info.id).value();
      const Ssa& filler = state_->Model(init.info.id).value()->ssa();
      NetPair pair{init.info.id, net.info.id, 0, 0, net.init.has_value()};
      std::vector<BlobId> blobs;
      std::vector<uint8_t> written(model.ssa().blobs().size(), 0);
      for (const Op& op : init.net->ops) {
        for (Symbol output : op.outputs) {
          const Symbol name = model.net().symbols->Find(init.net->Str(output));
          const BlobId blob = name ? model.ssa().FindBlob(name) : kNoBlob;
          if (blob == kNoBlob || written[blob] || !model.ssa().starts_outside(blob)) continue;
          if (filler.starts_outside(filler.FindBlob(output))) continue;  // an update, not a fill
          written[blob] = 1;
          blobs.push_back(blob);
        }
      }
      pair.matched = static_cast<uint32_t>(blobs.size());
      // The other way round this would be a net that uses what the init net happens to write.
      if (!pair.chosen && (pair.matched == 0 || init.net->ops.size() > 4 * model.net().ops.size() + 64))
        continue;
      uint32_t read_back = 0;
      for (Symbol input : init.net->external_inputs) {
        const Symbol name = model.net().symbols->Find(init.net->Str(input));
        const BlobId blob = name ? model.ssa().FindBlob(name) : kNoBlob;
        read_back += blob != kNoBlob && model.ssa().values()[model.ssa().latest(blob)].version > 0;
      }
      if (!pair.chosen && read_back * 2 > pair.matched) continue;
      for (BlobId b = 0; b < model.ssa().blobs().size(); ++b)
        pair.missing += model.params()[b] && !written[b];
      pairs.push_back(pair);
      std::vector<BlobId>& all = filled[net.info.id];
      all.insert(all.end(), blobs.begin(), blobs.end());
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const NetPair& a, const NetPair& b) { return a.matched > b.matched; });
  if (!state_->pairs_known) {
    for (const OpenedNet& net : state_->nets)
      if (net.model && (net.init || !filled[net.info.id].empty())) net.model->SetFilled(filled[net.info.id]);
    state_->pairs_known = true;
  }
  return pairs;
}

Result<void> Session::ChooseInit(NetId net, std::optional<NetId> init) {
  OpenedNet* const opened = state_->Find(net);
  if (opened == nullptr) return NoNet(net);
  if (init && *init != kNone && state_->Find(*init) == nullptr) return NoNet(*init);
  opened->init = init;
  if (opened->model) opened->model->SetFilled({});
  state_->pairs_known = false;
  return {};
}

std::unique_ptr<SceneJob> Session::BuildScene(NetId net, ViewOptions options) {
  Result<NetModel*> model = state_->Model(net);
  if (!model) return std::make_unique<FailedSceneJob>(std::move(model).error());
  state_->nets[net].last_mode = options.mode;
  std::vector<ShownNet> shown = state_->Shown(net, **model, options.opened);
  return MakeSceneJob(**model, net, std::move(options), std::move(shown));
}

Result<std::vector<SceneNet>> Session::NetsOfScene(NetId net, std::span<const NetId> opened) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  std::vector<SceneNet> nets;
  for (const ShownNet& shown : state_->Shown(net, *model, opened)) {
    NetModel& plain = shown.inner != nullptr ? *shown.inner->plain : *model;
    nets.push_back({shown.inner != nullptr ? shown.inner->id : net,
                    shown.around,
                    shown.inner != nullptr ? shown.inner->op : kNoOp,
                    shown.first_op,
                    static_cast<uint32_t>(plain.net().ops.size()),
                    shown.first_value,
                    static_cast<uint32_t>(plain.ssa().values().size()),
                    {}});
    for (ValueId v = 0; v < shown.value.size(); ++v)
      if (shown.value[v] != shown.first_value + v)
        nets.back().taken.insert(nets.back().taken.end(), {v, shown.value[v]});
  }
  return nets;
}

Result<std::vector<ScopeId>> Session::DefaultExpanded(NetId net, LayoutMode mode, uint32_t budget) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  return DefaultExpansion(model->arrangement(mode), true, budget);
}

Result<ScopeInfo> Session::DescribeScope(NetId net, LayoutMode mode, ScopeId scope) {
  WEFT_TRY(NetModel * model, state_->Model(net, mode, scope));
  return weft::DescribeScope(model->arrangement(mode), scope);
}

Result<ScopeChildren> Session::Children(NetId net, LayoutMode mode, ScopeId scope) {
  WEFT_TRY(NetModel * model, state_->Model(net, mode, scope));
  Arrangement& arrangement = model->arrangement(mode);
  ScopeChildren children;
  for (ScopeChild child : arrangement.tree().scopes[scope].children) {
    if (child.is_scope()) {
      children.scopes.push_back(weft::DescribeScope(arrangement, child.scope()));
    } else {
      children.ops.push_back(child.op());
      const std::span<const OpId> riders = arrangement.riders(child.op());
      children.ops.insert(children.ops.end(), riders.begin(), riders.end());
    }
  }
  return children;
}

Result<std::vector<ScopeId>> Session::ScopesOf(NetId net, LayoutMode mode, OpId op) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  return model->arrangement(mode).ScopesOf(op);
}

Result<ScopeId> Session::Group(NetId net, LayoutMode mode, std::span<const OpId> ops, std::string label) {
  if (ops.empty()) return Error{ErrorCode::kInvalidArgument, "a group needs at least one op"};
  for (OpId op : ops) WEFT_TRY_VOID(state_->Model(net, op));
  WEFT_TRY(NetModel * model, state_->Model(net));
  Arrangement& arrangement = model->arrangement(mode);
  const auto column = [&](OpId op) {
    const ScopeTree& tree = arrangement.tree();
    return tree.scopes[tree.scope_of[arrangement.anchor(op)]].column;
  };
  for (OpId op : ops) {
    if (column(op) != column(ops[0]))
      return Error{ErrorCode::kInvalidArgument, "the operators are on several devices; a group stays on one",
                   op};
  }
  return arrangement.Group(ops, std::move(label));
}

Result<void> Session::Ungroup(NetId net, LayoutMode mode, ScopeId group) {
  WEFT_TRY(NetModel * model, state_->Model(net, mode, group));
  if (!model->arrangement(mode).Ungroup(group))
    return Error{ErrorCode::kInvalidArgument, StrCat("scope ", group, " is not a group of the user's")};
  return {};
}

Result<OpDetails> Session::DescribeOp(NetId net, OpId op) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  OpDetails details = weft::DescribeOp(*model, op, state_->nets[net].last_mode);
  WEFT_TRY_VOID(NestedNets(net, op));
  for (size_t k = 0; k < model->net().ops[op].args.size(); ++k) {
    const auto found = state_->nets[net].nested.find({op, k});
    if (found != state_->nets[net].nested.end()) details.args[k].nets = found->second;
  }
  return details;
}

Result<BlobDetails> Session::DescribeBlob(NetId net, BlobId blob, uint32_t first, uint32_t count) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  if (blob >= model->ssa().blobs().size())
    return Error{ErrorCode::kNotFound, StrCat("there is no blob ", blob, " in this net")};
  return weft::DescribeBlob(*model, blob, first, count);
}

Result<BlobId> Session::FindBlob(NetId net, std::string_view name) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  const Symbol symbol = model->net().symbols->Find(name);
  const BlobId blob = symbol ? model->ssa().FindBlob(symbol) : kNoBlob;
  if (blob == kNoBlob)
    return Error{ErrorCode::kNotFound, StrCat("no op reads or writes a blob '", name, "'"), -1,
                 std::string(name)};
  return blob;
}

Result<BlobId> Session::BlobOfValue(NetId net, ValueId value) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  if (value >= model->ssa().values().size())
    return Error{ErrorCode::kNotFound, StrCat("there is no value ", value, " in this net")};
  return model->ssa().values()[value].blob;
}

Result<std::vector<OpId>> Session::Neighbours(NetId net, OpId op, Direction direction) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  return NeighboursOf(*model, op, direction);
}

Result<std::vector<OpId>> Session::Cone(NetId net, OpId op, Direction direction, uint32_t depth) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  return ConeOf(*model, op, direction, depth);
}

Result<std::unique_ptr<SearchJob>> Session::Search(NetId net, std::string_view query) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  return MakeSearchJob(*model, state_->nets[net].last_mode, query);
}

Result<std::vector<Diagnostic>> Session::Findings(NetId net) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  return model->findings();
}

Result<void> Session::SetOrigins(NetId net, std::vector<OpId> origins) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  if (!origins.empty() && origins.size() != model->net().ops.size()) {
    return Error{ErrorCode::kInvalidArgument, StrCat("origins of ", origins.size(), " ops for a net of ",
                                                     model->net().ops.size(), " ops")};
  }
  model->SetOrigins(std::move(origins));
  return {};
}

Result<std::vector<NetId>> Session::NestedNets(NetId net, OpId op) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  std::vector<NetId> all;
  const weft::Op& o = model->net().ops[op];
  for (size_t k = 0; k < o.args.size(); ++k) {
    if (!(o.args[k].has & (Arg::kHasN | Arg::kHasNets))) continue;
    const std::pair<OpId, size_t> key{op, k};
    if (state_->nets[net].nested.count(key) == 0) {
      const ArgDataPtr data = o.args[k].Load();
      std::vector<NetPtr> nets = data->nets;
      if (data->n) nets.insert(nets.begin(), data->n);
      std::vector<NetId> ids;
      const std::string arg(model->net().Str(o.args[k].name));
      for (const NetPtr& inner : nets) {
        const NetId id =
            state_->AddNet(state_->nets[net].info.document, inner, std::string(inner->Str(inner->name)));
        state_->nets[id].info.parent = net;
        state_->nets[id].info.parent_op = op;
        state_->nets[id].info.parent_arg = arg;
        ids.push_back(id);
      }
      state_->nets[net].nested[key] = std::move(ids);
    }
    const std::vector<NetId>& ids = state_->nets[net].nested[key];
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

Result<std::vector<ListingLine>> Session::Listing(NetId net, uint32_t first, uint32_t count) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  const std::vector<ListingLine> head = ListHead(*model);
  const uint64_t total = head.size() + model->net().ops.size();
  std::vector<ListingLine> lines;
  for (uint64_t line = first; line < std::min<uint64_t>(total, uint64_t{first} + count); ++line)
    lines.push_back(line < head.size() ? head[line] : ListOp(*model, static_cast<OpId>(line - head.size())));
  return lines;
}

Result<std::string> Session::OpText(NetId net, OpId op) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  return OpToText(*model->net().symbols, model->net().ops[op]);
}

Result<uint32_t> Session::NumLines(NetId net) {
  WEFT_TRY(NetModel * model, state_->Model(net));
  return static_cast<uint32_t>(ListHead(*model).size() + model->net().ops.size());
}

Result<uint32_t> Session::LineOf(NetId net, OpId op) {
  WEFT_TRY(NetModel * model, state_->Model(net, op));
  return static_cast<uint32_t>(ListHead(*model).size()) + static_cast<uint32_t>(op);
}

}  // namespace weft
