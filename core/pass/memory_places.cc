// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
// Which lives share a place: an interval colouring where a place costs as much as its largest life. Several
// greedy orders are tried and the cheapest result is taken.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "core/pass/memory_reuse.h"

namespace weft::internal {

namespace {

using Places = std::vector<uint32_t>;
// Comparisons that all searches over places together may make, so that a million blobs end soon.
constexpr size_t kMostProbes = 20'000'000;
// Shuffled orders that are tried, and lives that all of them together may place.
constexpr size_t kMostRounds = 100, kMostShuffled = 100'000;

int64_t CostOf(const std::vector<Life>& lives, const Places& places) {
  std::vector<int64_t> bytes;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (places[i] >= bytes.size()) bytes.resize(places[i] + 1, 0);
    bytes[places[i]] = std::max(bytes[places[i]], lives[i].bytes);
  }
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

std::vector<uint32_t> ByStart(const std::vector<Life>& lives) {
  std::vector<uint32_t> order(lives.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return lives[a].first < lives[b].first; });
  return order;
}

// In order of time: the smallest free place that is large enough, else the largest free one grows (or stays
// as it is and a new place is made), else a new place.
Places InTime(const std::vector<Life>& lives, bool grow) {
  Places places(lives.size());
  std::set<std::pair<int64_t, uint32_t>> free;  // bytes, place
  std::multimap<int32_t, uint32_t> busy;        // last operator, place
  std::vector<int64_t> bytes;
  for (uint32_t id : ByStart(lives)) {
    const Life& life = lives[id];
    while (!busy.empty() && busy.begin()->first < life.first) {
      free.insert({bytes[busy.begin()->second], busy.begin()->second});
      busy.erase(busy.begin());
    }
    auto found = free.lower_bound({life.bytes, 0});
    if (found == free.end() && grow && !free.empty()) found = std::prev(free.end());
    uint32_t place = static_cast<uint32_t>(bytes.size());
    if (found != free.end()) {
      place = found->second;
      free.erase(found);
      bytes[place] = std::max(bytes[place], life.bytes);
    } else {
      bytes.push_back(life.bytes);
    }
    places[id] = place;
    busy.insert({life.last, place});
  }
  return places;
}

// The lives of one place, by start.
class Timeline {
 public:
  bool Fits(const Life& life) const {
    auto next = lives_.upper_bound(life.last);  // the first that starts behind
    return next == lives_.begin() || std::prev(next)->second < life.first;
  }
  /// How long the place stays empty around the life: smaller is tighter.
  int64_t Gap(const Life& life, int32_t end) const {
    auto next = lives_.upper_bound(life.last);
    const int64_t after = next == lives_.end() ? end : next->first;
    const int64_t before = next == lives_.begin() ? -1 : std::prev(next)->second;
    return after - before;
  }
  void Add(const Life& life) { lives_[life.first] = life.last; }

 private:
  std::map<int32_t, int32_t> lives_;  // first -> last
};

// Each life in this order into the place where it fits that grows least, and of those the tightest one.
class Placer {
 public:
  Placer(const std::vector<Life>& lives, size_t& probes)
      : lives_(lives), places_(lives.size()), probes_(probes) {
    for (const Life& life : lives) end_ = std::max(end_, life.last + 1);
  }
  /// False when the search has become too long.
  bool Place(uint32_t id, bool tightest) {
    const Life& life = lives_[id];
    size_t best = timelines_.size();
    int64_t least_growth = INT64_MAX, least_gap = INT64_MAX;
    for (size_t place = 0; place < timelines_.size(); ++place) {
      if (probes_ == 0) return false;
      --probes_;
      if (!timelines_[place].Fits(life)) continue;
      const int64_t growth = std::max<int64_t>(0, life.bytes - bytes_[place]);
      const int64_t gap = tightest ? timelines_[place].Gap(life, end_) : 0;
      if (growth > least_growth || (growth == least_growth && gap >= least_gap)) continue;
      best = place;
      least_growth = growth;
      least_gap = gap;
    }
    if (best == timelines_.size()) {
      timelines_.emplace_back();
      bytes_.push_back(0);
    }
    timelines_[best].Add(life);
    bytes_[best] = std::max(bytes_[best], life.bytes);
    places_[id] = static_cast<uint32_t>(best);
    return true;
  }
  Places Take() { return std::move(places_); }

 private:
  const std::vector<Life>& lives_;
  Places places_;
  std::vector<Timeline> timelines_;
  std::vector<int64_t> bytes_;
  int32_t end_ = 0;
  size_t& probes_;  // left
};

std::optional<Places> InOrder(const std::vector<Life>& lives, const std::vector<uint32_t>& order,
                              bool tightest, size_t& probes) {
  Placer placer(lives, probes);
  for (uint32_t id : order)
    if (!placer.Place(id, tightest)) return std::nullopt;
  return placer.Take();
}

// The largest first; of equal ones the earliest, or the longest.
std::vector<uint32_t> BySize(const std::vector<Life>& lives, bool longest_first) {
  std::vector<uint32_t> order = ByStart(lives);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (lives[a].bytes != lives[b].bytes) return lives[a].bytes > lives[b].bytes;
    return longest_first && lives[a].last - lives[a].first > lives[b].last - lives[b].first;
  });
  return order;
}

// Those that live when most is alive first, and there the largest first.
std::vector<uint32_t> ByCrowd(const std::vector<Life>& lives) {
  std::map<int32_t, int64_t> change;
  for (const Life& life : lives) {
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  std::vector<std::pair<int32_t, int64_t>> level;  // from this operator on
  for (const auto& [time, bytes] : change)
    level.push_back({time, bytes + (level.empty() ? 0 : level.back().second)});
  std::vector<std::vector<int64_t>> most = {{}};  // [k][i]: the most in level i .. i + 2^k - 1
  for (const auto& [time, bytes] : level) most[0].push_back(bytes);
  for (size_t k = 1; (size_t{1} << k) <= level.size(); ++k) {
    const size_t half = size_t{1} << (k - 1);
    std::vector<int64_t>& row = most.emplace_back(level.size() - 2 * half + 1);
    for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(most[k - 1][i], most[k - 1][i + half]);
  }
  const auto at = [&](int32_t time) {
    return static_cast<size_t>(std::upper_bound(level.begin(), level.end(), std::pair(time, INT64_MAX)) -
                               level.begin() - 1);
  };
  std::vector<int64_t> crowd;
  for (const Life& life : lives) {
    const size_t first = at(life.first), last = at(life.last);
    size_t k = 0;
    while ((size_t{2} << k) <= last - first + 1) ++k;
    crowd.push_back(std::max(most[k][first], most[k][last + 1 - (size_t{1} << k)]));
  }
  std::vector<uint32_t> order = BySize(lives, false);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return crowd[a] > crowd[b]; });
  return order;
}

// By size, where sizes that differ by a few percent may change places: in the same way on every run.
std::vector<uint32_t> Shuffled(const std::vector<Life>& lives, uint32_t round) {
  const uint32_t spread = 10u << (round % 7);
  uint32_t state = round * 2654435761u + 1;
  std::vector<double> key;
  for (const Life& life : lives) {
    state = state * 1664525u + 1013904223u;
    key.push_back(static_cast<double>(life.bytes) * (100 + static_cast<double>((state >> 8) % spread)));
  }
  std::vector<uint32_t> order = ByStart(lives);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key[a] > key[b]; });
  return order;
}

// Places whose times lie apart as a whole become one, until none do: so that reusing twice changes nothing.
Places MergePlaces(const std::vector<Life>& lives, Places places) {
  for (;;) {
    std::vector<Life> hulls;
    for (size_t i = 0; i < lives.size(); ++i) {
      if (places[i] >= hulls.size()) hulls.resize(places[i] + 1, {INT32_MAX, -1, 0});
      Life& hull = hulls[places[i]];
      hull.first = std::min(hull.first, lives[i].first);
      hull.last = std::max(hull.last, lives[i].last);
      hull.bytes = std::max(hull.bytes, lives[i].bytes);
    }
    const Places merged = InTime(hulls, /*grow=*/true);
    for (uint32_t& place : places) place = merged[place];
    const size_t left = merged.empty() ? 0 : *std::max_element(merged.begin(), merged.end()) + size_t{1};
    if (left == hulls.size()) return places;
  }
}

}  // namespace

int64_t LargestLiveSet(const std::vector<Life>& lives) {
  std::map<int32_t, int64_t> change;
  for (const Life& life : lives) {
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  int64_t now = 0, most = 0;
  for (const auto& [time, bytes] : change) most = std::max(most, now += bytes);
  return most;
}

int64_t LeastOfPlaces(const std::vector<Life>& lives) {
  if (lives.empty()) return 0;
  // The most lives at once, as ever smaller ones come in: a tree of maxima over the operators, in which each
  // node keeps what was added to all of its operators.
  int32_t end = 0;
  for (const Life& life : lives) end = std::max(end, life.last + 1);
  size_t leaves = 1;
  while (leaves < static_cast<size_t>(end)) leaves *= 2;
  std::vector<int64_t> added(2 * leaves, 0), most(2 * leaves, 0);
  const auto renew = [&](size_t node) {
    most[node] = added[node] + (node < leaves ? std::max(most[2 * node], most[2 * node + 1]) : 0);
  };
  const auto add = [&](size_t from, size_t to) {  // both included
    from += leaves;
    to += leaves;
    const size_t first = from, last = to;
    for (; from <= to; from /= 2, to /= 2) {
      if (from % 2 == 1) ++added[from], renew(from++);
      if (to % 2 == 0) ++added[to], renew(to--);
    }
    for (size_t node = first / 2; node > 0; node /= 2) renew(node);
    for (size_t node = last / 2; node > 0; node /= 2) renew(node);
  };
  int64_t least = 0, places = 0;
  for (uint32_t id : BySize(lives, false)) {
    add(static_cast<size_t>(lives[id].first), static_cast<size_t>(lives[id].last));
    // One more place, of this size, as soon as so many lives of at least this size are there at once.
    least += (most[1] - places) * lives[id].bytes;
    places = most[1];
  }
  return least;
}

std::vector<uint32_t> AssignPlaces(const std::vector<Life>& lives) {
  const int64_t bound = LeastOfPlaces(lives);
  Places best;
  int64_t best_cost = INT64_MAX;
  size_t probes = kMostProbes;
  const auto consider = [&](std::optional<Places> places) {
    if (!places || best_cost == bound) return;
    Places merged = MergePlaces(lives, std::move(*places));
    const int64_t cost = CostOf(lives, merged);
    if (cost >= best_cost) return;
    best_cost = cost;
    best = std::move(merged);
  };
  consider(InTime(lives, true));
  if (best_cost > bound) consider(InTime(lives, false));
  for (bool tightest : {false, true}) {
    if (best_cost > bound) consider(InOrder(lives, BySize(lives, false), tightest, probes));
    if (best_cost > bound) consider(InOrder(lives, BySize(lives, true), tightest, probes));
    if (best_cost > bound) consider(InOrder(lives, ByCrowd(lives), tightest, probes));
  }
  const size_t rounds = std::min<size_t>(kMostRounds, kMostShuffled / (lives.size() + 1));
  for (uint32_t round = 0; round < rounds && best_cost > bound; ++round)
    consider(InOrder(lives, Shuffled(lives, round), round % 2 == 1, probes));
  // Numbers by first use.
  std::vector<uint32_t> number(lives.size(), UINT32_MAX);
  uint32_t next = 0;
  for (uint32_t id : ByStart(lives)) {
    if (number[best[id]] == UINT32_MAX) number[best[id]] = next++;
  }
  for (uint32_t& place : best) place = number[place];
  return best;
}

}  // namespace weft::internal
