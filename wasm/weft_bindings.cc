// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft.wasm: the Session as plain JavaScript values, described in weft.d.ts. Every function answers {ok:
// true, value} or {ok: false, error}; arrays are copied, no view of this module's memory leaves it. The
// calling worker's thread only.
#include <emscripten/bind.h>

#include <map>
#include <memory>
#include <utility>

#include "core/ops/op_set.h"
#include "inspector/session.h"
#include "wasm/values.h"

namespace weft::wasm {
namespace {

using emscripten::val;

/// A job that JavaScript steps, and how to turn what it made into a value.
struct Running {
  std::unique_ptr<Job> job;
  val (*take)(Job&);
  val (*peek)(Job&);
};

class SessionBinding {
 public:
  SessionBinding() : session_(std::make_unique<Session>(StandardOps())) {}

  // Jobs.

  val Open(std::string name, val bytes) {
    return Start(session_->Open(std::move(name), Bytes(TakeBytes(bytes))),
                 [](Job& job) { return Answer(static_cast<OpenJob&>(job).Take()); });
  }
  /// `read(offset, size)` gives a Uint8Array of the file, at once.
  val OpenFile(std::string name, double size, val read) {
    FileSource file{static_cast<uint64_t>(size), [read](uint64_t offset, uint64_t count) {
                      return TakeBytes(read(static_cast<double>(offset), static_cast<double>(count)));
                    }};
    return Start(
        session_->Open(std::move(name), std::move(file)),
        [](Job& job) { return Answer(static_cast<OpenJob&>(job).Take()); },
        [](Job& job) { return Ok(Copy(std::span<const uint32_t>(static_cast<OpenJob&>(job).Sketch()))); });
  }
  val BuildScene(NetId net, val options) {
    return Start(session_->BuildScene(net, OptionsFrom(options)), [](Job& job) {
      Result<Scene> scene = static_cast<SceneJob&>(job).Take();
      return scene ? Ok(Copy(std::span<const uint32_t>(scene->words))) : Fail(scene.error());
    });
  }
  val Search(NetId net, std::string query) {
    Result<std::unique_ptr<SearchJob>> job = session_->Search(net, query);
    if (!job) return Fail(job.error());
    const auto value = [](Job& any) {
      const SearchJob& search = static_cast<const SearchJob&>(any);
      val out = val::object();
      out.set("ops", Copy(std::span<const OpId>(search.ops())));
      out.set("blobs", Copy(std::span<const BlobId>(search.blobs())));
      return Ok(out);
    };
    return Start(
        std::move(job).value(),
        [](Job& job) {
          const SearchJob& search = static_cast<const SearchJob&>(job);
          val out = val::object();
          out.set("ops", Copy(std::span<const OpId>(search.ops())));
          out.set("blobs", Copy(std::span<const BlobId>(search.blobs())));
          return Ok(out);
        },
        value);
  }
  /// Does about `units` of a job: {finished, done, total}.
  val Step(uint32_t id, double units) {
    const auto at = running_.find(id);
    if (at == running_.end()) return NoJob();
    val out = val::object();
    out.set("finished", at->second.job->Step(static_cast<uint64_t>(units)));
    const Progress progress = at->second.job->progress();
    out.set("done", static_cast<double>(progress.done));
    out.set("total", static_cast<double>(progress.total));
    return Ok(out);
  }
  /// What a search found so far; a sketch of the net that is being opened.
  val Peek(uint32_t id) {
    const auto at = running_.find(id);
    if (at == running_.end() || at->second.peek == nullptr) return NoJob();
    return at->second.peek(*at->second.job);
  }
  /// What a finished job made; the job is gone then.
  val Take(uint32_t id) {
    const auto at = running_.find(id);
    if (at == running_.end()) return NoJob();
    val out = at->second.take(*at->second.job);
    running_.erase(at);
    return out;
  }
  void Drop(uint32_t id) { running_.erase(id); }

  // Documents and nets.

  val Documents() const { return Ok(ListOf(session_->documents())); }
  val Nets() const { return Ok(ListOf(session_->nets())); }
  val DescribeNet(NetId net) { return Answer(session_->DescribeNet(net)); }
  val Pairs() { return Ok(ListOf(session_->Pairs())); }
  val ChooseInit(NetId net, int32_t init) {
    const Result<void> chosen =
        session_->ChooseInit(net, init < -1 ? std::nullopt : std::optional<NetId>(static_cast<NetId>(init)));
    return chosen ? Ok(val::undefined()) : Fail(chosen.error());
  }
  val Close(DocumentId document) {
    session_->Close(document);
    return Ok(val::undefined());
  }

  // Scopes.

  val NetsOfScene(NetId net, val opened) {
    const std::vector<NetId> chosen = emscripten::convertJSArrayToNumberVector<NetId>(opened);
    return Answer(session_->NetsOfScene(net, chosen));
  }
  val DefaultExpanded(NetId net, uint32_t mode, uint32_t budget) {
    return Answer(session_->DefaultExpanded(net, static_cast<LayoutMode>(mode), budget));
  }
  val DescribeScope(NetId net, uint32_t mode, ScopeId scope) {
    return Answer(session_->DescribeScope(net, static_cast<LayoutMode>(mode), scope));
  }
  val Children(NetId net, uint32_t mode, ScopeId scope) {
    return Answer(session_->Children(net, static_cast<LayoutMode>(mode), scope));
  }
  val ScopesOf(NetId net, uint32_t mode, OpId op) {
    return Answer(session_->ScopesOf(net, static_cast<LayoutMode>(mode), op));
  }
  val Group(NetId net, uint32_t mode, val ops, std::string label) {
    const std::vector<OpId> chosen = emscripten::convertJSArrayToNumberVector<OpId>(ops);
    return Answer(session_->Group(net, static_cast<LayoutMode>(mode), chosen, std::move(label)));
  }
  val Ungroup(NetId net, uint32_t mode, ScopeId group) {
    const Result<void> done = session_->Ungroup(net, static_cast<LayoutMode>(mode), group);
    return done ? Ok(val::undefined()) : Fail(const_cast<Result<void>&>(done).error());
  }

  // Questions.

  val DescribeOp(NetId net, OpId op) { return Answer(session_->DescribeOp(net, op)); }
  val DescribeBlob(NetId net, BlobId blob) { return Answer(session_->DescribeBlob(net, blob)); }
  val FindBlob(NetId net, std::string name) { return Answer(session_->FindBlob(net, name)); }
  val BlobOfValue(NetId net, ValueId value) { return Answer(session_->BlobOfValue(net, value)); }
  val Neighbours(NetId net, OpId op, uint32_t direction) {
    return Answer(session_->Neighbours(net, op, static_cast<Direction>(direction)));
  }
  val Cone(NetId net, OpId op, uint32_t direction, uint32_t depth) {
    return Answer(session_->Cone(net, op, static_cast<Direction>(direction), depth));
  }
  /// The types of some ops and the first blob that each writes (else its name), to name them by.
  val OpLabels(NetId net, val ops) {
    const Net* ir = session_->net(net);
    if (ir == nullptr) return Fail({ErrorCode::kNotFound, "no such net"});
    std::vector<std::string> types, names;
    for (OpId op : emscripten::convertJSArrayToNumberVector<OpId>(ops)) {
      const bool there = op >= 0 && static_cast<size_t>(op) < ir->ops.size();
      if (!there) {
        types.emplace_back();
        names.emplace_back();
        continue;
      }
      const Op& found = ir->ops[static_cast<size_t>(op)];
      types.emplace_back(ir->Str(found.type));
      names.emplace_back(ir->Str(found.outputs.empty() ? found.name : found.outputs[0]));
    }
    val out = val::object();
    out.set("types", ListOf(types));
    out.set("names", ListOf(names));
    return Ok(out);
  }
  val Findings(NetId net) { return Answer(session_->Findings(net)); }
  val NestedNets(NetId net, OpId op) { return Answer(session_->NestedNets(net, op)); }
  val Listing(NetId net, uint32_t first, uint32_t count) {
    return Answer(session_->Listing(net, first, count));
  }
  val NumLines(NetId net) { return Answer(session_->NumLines(net)); }
  val OpText(NetId net, OpId op) { return Answer(session_->OpText(net, op)); }
  val LineOf(NetId net, OpId op) { return Answer(session_->LineOf(net, op)); }

 private:
  /// One copy, by the engine's memcpy; embind would copy byte by byte.
  static std::string TakeBytes(const val& bytes) {
    std::string text(bytes["length"].as<size_t>(), '\0');
    val view(emscripten::typed_memory_view(text.size(), reinterpret_cast<uint8_t*>(text.data())));
    view.call<void>("set", bytes);
    return text;
  }
  val Start(std::unique_ptr<Job> job, val (*take)(Job&), val (*peek)(Job&) = nullptr) {
    const uint32_t id = next_++;
    running_.emplace(id, Running{std::move(job), take, peek});
    return Ok(val(id));
  }
  static val NoJob() { return Fail({ErrorCode::kNotFound, "no such job"}); }

  std::unique_ptr<Session> session_;
  std::map<uint32_t, Running> running_;
  uint32_t next_ = 1;
};

}  // namespace

EMSCRIPTEN_BINDINGS(weft) {
  emscripten::class_<SessionBinding>("Session")
      .constructor<>()
      .function("startOpen", &SessionBinding::Open)
      .function("startOpenFile", &SessionBinding::OpenFile)
      .function("startScene", &SessionBinding::BuildScene)
      .function("startSearch", &SessionBinding::Search)
      .function("step", &SessionBinding::Step)
      .function("peek", &SessionBinding::Peek)
      .function("take", &SessionBinding::Take)
      .function("drop", &SessionBinding::Drop)
      .function("documents", &SessionBinding::Documents)
      .function("nets", &SessionBinding::Nets)
      .function("describeNet", &SessionBinding::DescribeNet)
      .function("pairs", &SessionBinding::Pairs)
      .function("chooseInit", &SessionBinding::ChooseInit)
      .function("close", &SessionBinding::Close)
      .function("netsOfScene", &SessionBinding::NetsOfScene)
      .function("defaultExpanded", &SessionBinding::DefaultExpanded)
      .function("describeScope", &SessionBinding::DescribeScope)
      .function("children", &SessionBinding::Children)
      .function("scopesOf", &SessionBinding::ScopesOf)
      .function("group", &SessionBinding::Group)
      .function("ungroup", &SessionBinding::Ungroup)
      .function("describeOp", &SessionBinding::DescribeOp)
      .function("describeBlob", &SessionBinding::DescribeBlob)
      .function("findBlob", &SessionBinding::FindBlob)
      .function("blobOfValue", &SessionBinding::BlobOfValue)
      .function("neighbours", &SessionBinding::Neighbours)
      .function("cone", &SessionBinding::Cone)
      .function("opLabels", &SessionBinding::OpLabels)
      .function("findings", &SessionBinding::Findings)
      .function("nestedNets", &SessionBinding::NestedNets)
      .function("listing", &SessionBinding::Listing)
      .function("numLines", &SessionBinding::NumLines)
      .function("opText", &SessionBinding::OpText)
      .function("lineOf", &SessionBinding::LineOf);
}

}  // namespace weft::wasm
