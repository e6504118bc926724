// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "inspector/build/scene_job.h"

#include <algorithm>
#include <utility>

#include "inspector/build/scene_emitter.h"
#include "inspector/build/scene_layout.h"

namespace weft {

namespace {

class SceneJobImpl : public SceneJob {
 public:
  SceneJobImpl(NetModel& model, NetId net, ViewOptions options)
      : model_(model), net_(net), options_(std::move(options)) {
    progress_.total = kParts * (model.net().ops.size() + 1);
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
  enum Phase { kPrepare, kArrange, kLayOut, kEmit, kFinish, kDone };

  uint64_t NextCost() const {
    switch (phase_) {
      case kLayOut:
        return layout_->NextCost();
      case kEmit:
        return emitter_->NextCost();
      default:
        return model_.net().ops.size();
    }
  }

  void Advance() {
    switch (phase_) {
      case kPrepare:
        if (!model_.PrepareNext(options_.mode)) phase_ = kArrange;
        break;
      case kArrange:
        layout_ = std::make_unique<SceneLayout>(model_, model_.arrangement(options_.mode), options_);
        phase_ = kLayOut;
        break;
      case kLayOut:
        if (layout_->Step()) break;
        emitter_ = std::make_unique<SceneEmitter>(model_, *layout_, options_);
        phase_ = kEmit;
        break;
      case kEmit:
        if (!emitter_->Step()) phase_ = kFinish;
        break;
      case kFinish:
        scene_.words = emitter_->Finish(net_);
        emitter_.reset();
        layout_.reset();
        phase_ = kDone;
        break;
      case kDone:
        break;
    }
  }

  NetModel& model_;
  const NetId net_;
  const ViewOptions options_;
  Phase phase_ = kPrepare;
  Progress progress_;
  std::unique_ptr<SceneLayout> layout_;
  std::unique_ptr<SceneEmitter> emitter_;
  Scene scene_;
};

}  // namespace

std::unique_ptr<SceneJob> MakeSceneJob(NetModel& model, NetId net, ViewOptions options) {
  return std::make_unique<SceneJobImpl>(model, net, std::move(options));
}

}  // namespace weft
