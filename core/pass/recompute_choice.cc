// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/pass/recompute_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace weft::internal {

namespace {

using Flags = std::vector<uint8_t>;  // by operator before the turn

// Where the forward pass can be cut: place j is in front of operator j.
class Cuts {
 public:
  explicit Cuts(const RecomputeModel& model) : model_(model) {
    const size_t turn = static_cast<size_t>(model.turn());
    cross_.assign(turn + 1, 0);
    std::vector<int32_t> barred(turn + 1, 0);
    size_.assign(turn + 1, 0);
    for (const RecomputeModel::Made& made : model.made()) {
      if (!model.may(made.def) || made.last_forward_use == made.def) continue;
      const size_t from = static_cast<size_t>(made.def) + 1, to = static_cast<size_t>(made.last_forward_use);
      cross_[from] += made.bytes;
      cross_[to + 1] -= made.bytes;
      if (!made.gone) continue;
      ++barred[from];
      --barred[to + 1];
    }
    int64_t crossing = 0;
    int32_t bars = 0;
    for (size_t j = 0; j <= turn; ++j) {
      cross_[j] = crossing += cross_[j];
      bars += barred[j];
      const OpId before = static_cast<OpId>(j) - 1;
      if (j > 0) size_[j] = size_[j - 1] + (model.may(before) ? model.stored(before) : 0);
      if (bars == 0 || j == 0 || j == turn) places_.push_back(j);
    }
  }

  int64_t total() const { return size_.back(); }

  /// The cheapest cuts with at most `most` bytes between two of them where that is possible: what crosses
  /// the cuts is kept, all else may run again.
  Flags Segments(int64_t most) const {
    const size_t n = places_.size();
    std::vector<int64_t> best(n, 0);
    std::vector<size_t> from(n, 0), window;  // window: places worth coming from, best values rising
    size_t head = 0;
    for (size_t k = 1; k < n; ++k) {
      while (window.size() > head && best[window.back()] >= best[k - 1]) window.pop_back();
      window.push_back(k - 1);
      while (window[head] + 1 < k && size_[places_[k]] - size_[places_[window[head]]] > most) ++head;
      from[k] = window[head];
      best[k] = best[from[k]] + cross_[places_[k]];
    }
    Flags again(size_.size() - 1, 1);
    std::vector<uint32_t> cuts(size_.size() + 1, 0);  // in front of place j
    for (size_t k = n - 1; k > 0; k = from[k])
      if (from[k] > 0) ++cuts[places_[from[k]] + 1];
    std::partial_sum(cuts.begin(), cuts.end(), cuts.begin());
    for (const RecomputeModel::Made& made : model_.made())
      if (cuts[static_cast<size_t>(made.last_forward_use) + 1] > cuts[static_cast<size_t>(made.def) + 1])
        again[static_cast<size_t>(made.def)] = 0;
    for (size_t i = 0; i < again.size(); ++i) again[i] &= model_.may(static_cast<OpId>(i));
    return again;
  }

 private:
  const RecomputeModel& model_;
  std::vector<int64_t> cross_, size_;  // by place: bytes that cross it; bytes stored in front of it
  std::vector<size_t> places_;         // where cutting is possible, both ends too
};

// The most of a range of numbers, to ranges of which something is added.
class MaxTree {
 public:
  explicit MaxTree(const std::vector<int64_t>& values)
      : size_(values.size()), most_(4 * size_), added_(4 * size_) {
    Build(1, 0, size_, values);
  }
  int64_t Most(size_t from, size_t to) const { return Most(1, 0, size_, from, to); }
  void Add(size_t from, size_t to, int64_t value) { Add(1, 0, size_, from, to, value); }

 private:
  // Node `at` stands for [low, high); recursion is as deep as the logarithm of the size.
  void Build(size_t at, size_t low, size_t high, const std::vector<int64_t>& values) {
    if (high - low <= 1) {
      if (low < high) most_[at] = values[low];
      return;
    }
    const size_t middle = (low + high) / 2;
    Build(2 * at, low, middle, values);
    Build(2 * at + 1, middle, high, values);
    most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }
  int64_t Most(size_t at, size_t low, size_t high, size_t from, size_t to) const {
    if (from >= high || to <= low) return std::numeric_limits<int64_t>::min() / 2;
    if (from <= low && high <= to) return most_[at];
    const size_t middle = (low + high) / 2;
    return added_[at] +
           std::max(Most(2 * at, low, middle, from, to), Most(2 * at + 1, middle, high, from, to));
  }
  void Add(size_t at, size_t low, size_t high, size_t from, size_t to, int64_t value) {
    if (from >= high || to <= low) return;
    if (from <= low && high <= to) {
      most_[at] += value;
      added_[at] += value;
      return;
    }
    const size_t middle = (low + high) / 2;
    Add(2 * at, low, middle, from, to, value);
    Add(2 * at + 1, middle, high, from, to, value);
    most_[at] = added_[at] + std::max(most_[2 * at], most_[2 * at + 1]);
  }

  size_t size_;
  std::vector<int64_t> most_, added_;
};

class Chooser {
 public:
  Chooser(const RecomputeModel& model, std::span<const RecomputeBounds> bounds) : model_(model) {
    for (OpId op = 0; op < model.turn(); ++op)
      if (model.may(op) && model.stored(op) > 0) dearest_.push_back(op);
    std::stable_sort(dearest_.begin(), dearest_.end(),
                     [&](OpId a, OpId b) { return model.price(a) > model.price(b); });
    const Flags none(static_cast<size_t>(model.turn()), 0);
    const RecomputeModel::Trial as_it_is = model.Try(none);
    best_.push_back({{}, none, as_it_is});
    for (const RecomputeBounds& bound : bounds) best_.push_back({bound, none, as_it_is});
  }

  std::vector<Flags> Run() {
    const int64_t highest = best_[0].trial.peak;
    if (!dearest_.empty()) TrySegments();
    Refine(best_[0], 0);
    std::vector<Flags> out;
    for (size_t i = 1; i < best_.size(); ++i) {
      // From the lowest peak up: what is left to run again when there is more room.
      const auto offer = [&](int64_t most) {
        Flags again = best_[0].again;
        const RecomputeModel::Trial trial = GiveBack(best_[0].trial, most, again);
        Offer(best_[i], again, trial);
        return static_cast<double>(trial.flops) <= best_[i].bound.flops;
      };
      int64_t low = std::max(best_[0].trial.peak, best_[i].bound.bytes), high = highest;
      for (int step = 0; step < 6 && low < high && !offer(low); ++step) {
        const int64_t middle = low + (high - low) / 2;
        offer(middle) ? high = middle : low = middle + 1;
      }
      Refine(best_[i], best_[i].trial.peak / 200);
      out.push_back(std::move(best_[i].again));
    }
    return out;
  }

 private:
  struct Best {
    RecomputeBounds bound;
    Flags again;
    RecomputeModel::Trial trial;
  };

  void TrySegments() {
    const Cuts cuts(model_);
    // Prices from which on results are kept: none, then those above which an eighth, a quarter, ... lies.
    std::vector<double> prices = {std::numeric_limits<double>::infinity()};
    for (size_t eighth = 1; eighth < 8; ++eighth)
      prices.push_back(model_.price(dearest_[dearest_.size() * eighth / 8]));
    prices.erase(std::unique(prices.begin(), prices.end()), prices.end());
    int in_vain = 0;
    for (int64_t most = cuts.total(); most > 0 && in_vain < 8; most -= (most + 2) / 3) {
      const Flags segments = cuts.Segments(most);
      ++in_vain;
      for (const double price : prices) {
        Flags again = segments;
        for (size_t i = 0; i < again.size(); ++i) again[i] &= model_.price(static_cast<OpId>(i)) < price;
        const RecomputeModel::Trial trial = model_.Try(again);
        for (Best& best : best_)
          if (Offer(best, again, trial)) in_vain = 0;
      }
    }
  }

  static bool Offer(Best& best, const Flags& again, const RecomputeModel::Trial& trial) {
    if (static_cast<double>(trial.flops) > best.bound.flops) return false;
    const int64_t peak = std::max(trial.peak, best.bound.bytes);
    const int64_t before = std::max(best.trial.peak, best.bound.bytes);
    if (std::tuple(peak, trial.flops, trial.peak) >= std::tuple(before, best.trial.flops, best.trial.peak))
      return false;
    best.trial = trial;
    best.again = again;
    return true;
  }

  // Keeps what there is room for. A peak that is a little higher, and none above the budget, is as good: what
  // holds next to nothing must not run again for a few bytes.
  void Refine(Best& best, int64_t little) {
    const int64_t peak = best.trial.peak, bytes = best.bound.bytes;
    const int64_t most = peak <= bytes ? bytes : peak + little;
    for (int round = 0; round < 3 && best.trial.flops > 0; ++round) {
      Flags again = best.again;
      RecomputeModel::Trial trial = GiveBack(best.trial, most, again);
      if (trial.flops >= best.trial.flops || trial.peak > most) break;
      best.again = std::move(again);
      best.trial = std::move(trial);
    }
  }

  // Takes out of `again`, whose trial it is, what may be kept all the same with a peak of `most`, dearest
  // first.
  RecomputeModel::Trial GiveBack(const RecomputeModel::Trial& trial, int64_t most, Flags& again) const {
    MaxTree live(trial.live);
    for (const OpId op : dearest_) {
      const size_t i = static_cast<size_t>(op);
      if (trial.at[i] < 0) continue;
      // Moments for which a result has to be kept: from the end of its first life to where it would be made.
      const auto from = [&](uint32_t m) { return static_cast<size_t>(model_.made()[m].forward_end) + 1; };
      const size_t to = static_cast<size_t>(trial.at[i]);
      const auto wanted = [&](uint32_t m) {
        return model_.made()[m].last_back != kNoOp || trial.last_read[m] >= 0;
      };
      int64_t bytes = 0;
      bool fits = true;
      for (const uint32_t m : model_.Makes(op)) {
        if (!wanted(m)) continue;
        bytes += model_.made()[m].bytes;
        fits = fits && !model_.made()[m].gone;
      }
      for (const uint32_t m : model_.Makes(op))
        fits = fits && (!wanted(m) || live.Most(from(m), to) + bytes <= most);
      if (!fits) continue;
      again[i] = 0;
      for (const uint32_t m : model_.Makes(op))
        if (wanted(m)) live.Add(from(m), to, model_.made()[m].bytes);
    }
    return model_.Try(again);
  }

  const RecomputeModel& model_;
  std::vector<OpId> dearest_;  // what may run again and makes something for the backward pass
  std::vector<Best> best_;     // the first without bounds, then one for each
};

}  // namespace

std::vector<std::vector<uint8_t>> ChooseRecomputed(const RecomputeModel& model,
                                                   std::span<const RecomputeBounds> bounds) {
  return Chooser(model, bounds).Run();
}

}  // namespace weft::internal
