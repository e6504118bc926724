// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/scene_job.h"

#include <algorithm>
#include <utility>

#include "inspector/build/scene_emitter.h"
#include "inspector/build/scene_layout.h"

namespace weft {

namespace {

constexpr uint32_t kInnerBudget = 400;  // boxes of one net in a box that its default expansion may show

class SceneJobImpl : public SceneJob {
 public:
  SceneJobImpl(NetModel& model, NetId net, ViewOptions options, std::vector<ShownNet> shown)
      : model_(model), net_(net), options_(std::move(options)), shown_(std::move(shown)) {
    inner_options_ = options_;
    inner_options_.mode = LayoutMode::kFlow;
    inner_options_.expanded.reset();
    inner_options_.expand_all = false;
    inner_options_.budget = kInnerBudget;
    layouts_.resize(shown_.size());
    at_ = shown_.size() - 1;
    for (const ShownNet& shown : shown_) progress_.total += kParts * (ModelOf(shown).net().ops.size() + 1);
  }

  bool Step(uint64_t units) override {
    uint64_t done = 0;
    while (phase_ != kDone && done < units) {
      const uint64_t cost = std::max<uint64_t>(1, NextCost());
      Advance();
      done += cost;
      progress_.done = std::min(progress_.total - 1, progress_.done + cost);
    }
    if (phase_ == kDone) progress_.done = progress_.total;
    return phase_ == kDone;
  }
  Progress progress() const override { return progress_; }

  Result<Scene> Take() override {
    WEFT_CHECK(phase_ == kDone);
    return std::move(scene_);
  }

 private:
  // Rough shares of the whole: five preparations, layout and emission.
  static constexpr uint64_t kParts = 7;
  enum Phase { kPrepare, kArrange, kLayOut, kEmit, kLink, kFinish, kDone };

  uint64_t NextCost() const {
    switch (phase_) {
      case kLayOut:
        return layouts_[at_]->NextCost();
      case kEmit:
        return emitters_.back()->NextCost();
      default:
        return model_.net().ops.size();
    }
  }

  NetModel& ModelOf(const ShownNet& shown) const {
    return shown.inner != nullptr ? *shown.inner->framed : model_;
  }

  // The nets inside the ops of net `at`, all of which are laid out.
  std::vector<OpenNet> OpenIn(size_t at) const {
    std::vector<OpenNet> open;
    const OpId ports = static_cast<OpId>(ModelOf(shown_[at]).ports().in);
    for (size_t k = at + 1; k < shown_.size(); ++k) {
      if (shown_[k].around != at) continue;
      const InnerNet& inner = *shown_[k].inner;
      const BoxSize size = layouts_[k]->FramedSize(inner.label);
      open.push_back({inner.op + ports, static_cast<uint32_t>(k), size.w, size.h, inner.label});
    }
    return open;
  }

  void StartEmitter(size_t at) {
    emitters_.push_back(std::make_unique<SceneEmitter>(ModelOf(shown_[at]), *layouts_[at], OptionsOf(at),
                                                       model_.known_findings(), shown_[at], writer_));
  }
  const ViewOptions& OptionsOf(size_t at) const { return at == 0 ? options_ : inner_options_; }

  void Advance() {
    switch (phase_) {
      case kPrepare:
        if (!model_.PrepareNext(options_.mode)) phase_ = kArrange;
        break;
      case kArrange: {
        NetModel& model = ModelOf(shown_[at_]);
        const ViewOptions& options = OptionsOf(at_);
        layouts_[at_] =
            std::make_unique<SceneLayout>(model, model.arrangement(options.mode), options, OpenIn(at_));
        phase_ = kLayOut;
        break;
      }
      case kLayOut:
        if (layouts_[at_]->Step()) break;
        phase_ = kArrange;
        if (at_-- > 0) break;
        writer_.op_nodes.assign(shown_.back().first_op + NumOps(shown_.back()), kNone);
        StartEmitter(0);
        emitters_[0]->PlaceStrips();
        phase_ = kEmit;
        break;
      case kEmit:
        if (emitters_.back()->Step()) break;
        for (const SceneEmitter::Spot& spot : emitters_.back()->spots()) spots_.push_back(spot);
        if (next_spot_ < spots_.size()) {
          StartEmitter(spots_[next_spot_].shown);
          emitters_.back()->PlaceAt(spots_[next_spot_++]);
        } else {
          phase_ = kLink;
        }
        break;
      case kLink:
        for (const auto& emitter : emitters_) emitter->Link();
        phase_ = kFinish;
        break;
      case kFinish:
        emitters_[0]->Finish(net_);
        scene_.words = writer_.Finish();
        emitters_.clear();
        layouts_.clear();
        phase_ = kDone;
        break;
      case kDone:
        break;
    }
  }
  uint32_t NumOps(const ShownNet& shown) const {
    return static_cast<uint32_t>((shown.inner != nullptr ? *shown.inner->plain : model_).net().ops.size());
  }

  NetModel& model_;
  const NetId net_;
  const ViewOptions options_;
  ViewOptions inner_options_;
  const std::vector<ShownNet> shown_;
  Phase phase_ = kPrepare;
  Progress progress_;
  std::vector<std::unique_ptr<SceneLayout>> layouts_;  // by net shown; made from the last one on
  size_t at_;
  SceneWriter writer_;
  std::vector<std::unique_ptr<SceneEmitter>> emitters_;
  std::vector<SceneEmitter::Spot> spots_;  // found so far
  size_t next_spot_ = 0;
  Scene scene_;
};

}  // namespace

std::unique_ptr<SceneJob> MakeSceneJob(NetModel& model, NetId net, ViewOptions options,
                                       std::vector<ShownNet> shown) {
  return std::make_unique<SceneJobImpl>(model, net, std::move(options), std::move(shown));
}

}  // namespace weft
