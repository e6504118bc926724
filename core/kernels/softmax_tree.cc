// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Hierarchical softmax: a word is reached by steps through a tree, each of which is a small softmax over rows
// of W. Arguments hold the tree as protobuf bytes: HierarchyProto lists the path of each word, TreeProto is
// the tree itself.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "core/kernels/families.h"
#include "core/kernels/util.h"

namespace weft {

namespace kernels {
namespace {

constexpr double kSmallest = 1e-20;  // probabilities below count as this
constexpr int kDeepest = 100;

// The fields of a protobuf message, one by one. A message that ends early is not `ok` afterwards.
struct Fields {
  std::string_view bytes;
  bool ok = true;
  uint64_t number = 0, value = 0;
  std::string_view text;  // of fields with a length
  bool has_text = false;

  bool Varint(uint64_t& out) {
    out = 0;
    for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(bytes[0]);
      bytes.remove_prefix(1);
      out |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return ok = false;
  }
  bool Skip(size_t size) {
    if (bytes.size() < size) return ok = false;
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return true;
  }
  bool Next() {
    uint64_t tag = 0, size = 0;
    if (bytes.empty() || !Varint(tag)) return false;
    number = tag >> 3;
    has_text = (tag & 7) == 2;
    switch (tag & 7) {
      case 0:
        return Varint(value);
      case 1:
        return Skip(8);
      case 2:
        return Varint(size) && Skip(static_cast<size_t>(std::min<uint64_t>(size, bytes.size() + 1)));
      case 5:
        return Skip(4);
      default:
        return ok = false;
    }
  }
  int64_t Int() const { return static_cast<int32_t>(static_cast<uint32_t>(value)); }
};

struct Step {
  int64_t first = 0, length = 0, target = 0;  // rows of W, and which of them leads on
};

Result<std::map<int64_t, std::vector<Step>>> ReadPaths(const KernelContext& c) {
  const std::string bytes = c.ArgS("hierarchy", "");
  std::map<int64_t, std::vector<Step>> out;
  Fields hierarchy{bytes};
  while (hierarchy.Next()) {
    if (hierarchy.number != 2 || !hierarchy.has_text) continue;
    Fields path{hierarchy.text};
    int64_t word = 0;
    std::vector<Step> steps;
    while (path.Next()) {
      if (path.number == 1) word = path.Int();
      if (path.number != 2 || !path.has_text) continue;
      Fields node{path.text};
      Step step;
      while (node.Next()) {
        if (node.number == 1) step.first = node.Int();
        if (node.number == 2) step.length = node.Int();
        if (node.number == 3) step.target = node.Int();
      }
      path.ok &= node.ok;
      steps.push_back(step);
    }
    WEFT_ENSURE(c, path.ok, "argument hierarchy holds a path that can't be read");
    out[word] = std::move(steps);
  }
  WEFT_ENSURE(c, hierarchy.ok, "argument hierarchy can't be read");
  return out;
}

struct Weights {
  const float* x;
  const float* w;
  const float* b;
  int64_t batch, width, rows;
};

// Inputs X [M, K] or [K], W [N, K], b [N].
Result<Weights> FindWeights(const KernelContext& c) {
  const Tensor& x = c.In(0);
  const Tensor& w = c.In(1);
  WEFT_ENSURE(c, x.ndim() >= 1 && w.ndim() >= 2, "expected X [M, K] and W [N, K], found ",
              DimsToString(x.dims()), " and ", DimsToString(w.dims()));
  Weights out{x.data<float>(), w.data<float>(), c.In<float>(2), x.ndim() > 1 ? x.dim(0) : 1,
              w.SizeFrom(1),   w.dim(0)};
  WEFT_ENSURE(c, x.numel() == out.batch * out.width, "X ", DimsToString(x.dims()), " does not fit W ",
              DimsToString(w.dims()));
  WEFT_ENSURE(c, c.In(2).ndim() == 1 && c.In(2).dim(0) == out.rows, "expected b [", out.rows, "], found ",
              DimsToString(c.In(2).dims()));
  return out;
}

// The step of each sample's path, one after the other.
Result<std::vector<std::vector<Step>>> FindPaths(const KernelContext& c, const Weights& w) {
  WEFT_TRY(const auto paths, ReadPaths(c));
  WEFT_ENSURE(c, c.In(3).numel() == w.batch, "expected ", w.batch, " labels, found ", c.In(3).numel());
  std::vector<std::vector<Step>> out;
  for (int32_t label : c.In(3).values<int32_t>()) {
    const auto path = paths.find(label);
    WEFT_ENSURE(c, path != paths.end(), "the hierarchy has no path to the word ", label);
    for (const Step& step : path->second)
      WEFT_ENSURE(c,
                  step.first >= 0 && step.length > 0 && step.first + step.length <= w.rows &&
                      step.target >= 0 && step.target < step.length,
                  "the path to the word ", label, " leaves W or its own rows");
    out.push_back(path->second);
  }
  return out;
}

// The scores of `length` rows from `first` on, and their softmax.
void RunNode(const Weights& w, int64_t sample, int64_t first, int64_t length, float* scores, float* softmax) {
  double top = -HUGE_VAL, sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    double score = w.b[first + i];
    for (int64_t k = 0; k < w.width; ++k)
      score += double{w.x[sample * w.width + k]} * w.w[(first + i) * w.width + k];
    scores[i] = static_cast<float>(score);
    top = std::max(top, double{scores[i]});
  }
  for (int64_t i = 0; i < length; ++i) sum += std::exp(scores[i] - top);
  for (int64_t i = 0; i < length; ++i) softmax[i] = static_cast<float>(std::exp(scores[i] - top) / sum);
}

// Outputs the loss of each sample; scores and softmax of every step.
Result<void> HSoftmax(KernelContext& c) {
  WEFT_TRY(const Weights w, FindWeights(c));
  WEFT_TRY(const auto paths, FindPaths(c, w));
  int64_t size = 0;
  for (const auto& path : paths)
    for (const Step& step : path) WEFT_TRY_VOID(c.CheckRoom({size += 2 * step.length}));
  std::vector<double> losses(paths.size());
  WEFT_TRY(float* steps, c.Out<float>(1, {size}));
  for (size_t i = 0; i < paths.size(); ++i)
    for (const Step& step : paths[i]) {
      float* softmax = steps + step.length;
      RunNode(w, static_cast<int64_t>(i), step.first, step.length, steps, softmax);
      losses[i] -= std::log(std::max(double{softmax[step.target]}, kSmallest));
      steps = softmax + step.length;
    }
  WEFT_TRY(float* y, c.Out<float>(0, {w.batch}));
  for (double loss : losses) *y++ = static_cast<float>(loss);
  return {};
}

// Inputs X, W, b, labels, the steps, dY; outputs the gradients of X, W, b and of the steps.
Result<void> HSoftmaxGradient(KernelContext& c) {
  WEFT_TRY(const Weights w, FindWeights(c));
  WEFT_TRY(const auto paths, FindPaths(c, w));
  const Tensor& steps = c.In(4);
  WEFT_ENSURE(c, c.In(5).numel() == w.batch, "expected ", w.batch, " gradients, found ", c.In(5).numel());
  std::vector<double> dx(static_cast<size_t>(c.In(0).numel())), dw(static_cast<size_t>(c.In(1).numel())),
      db(static_cast<size_t>(w.rows));
  WEFT_TRY_VOID(c.Allocate(3, DataType::kFloat, steps.dims()));
  float* dsteps = c.Out(3).mutable_data<float>();
  std::fill_n(dsteps, steps.numel(), 0.0f);
  int64_t at = 0;
  for (size_t i = 0; i < paths.size(); ++i)
    for (const Step& step : paths[i]) {
      WEFT_ENSURE(c, at + 2 * step.length <= steps.numel(), "there are ", steps.numel(),
                  " values of steps, fewer than the paths have");
      const float* softmax = steps.data<float>() + at + step.length;
      const double of_target = -c.In<float>(5)[i] / std::max(double{softmax[step.target]}, kSmallest);
      dsteps[at + step.length + step.target] = static_cast<float>(of_target);
      for (int64_t k = 0; k < step.length; ++k) {
        const double through = softmax[step.target] * of_target;
        const double d = ((k == step.target ? of_target : 0) - through) * softmax[k];
        dsteps[at + k] = static_cast<float>(d);
        const int64_t row = step.first + k;
        db[row] += d;
        for (int64_t j = 0; j < w.width; ++j) {
          dw[row * w.width + j] += d * w.x[static_cast<int64_t>(i) * w.width + j];
          dx[static_cast<int64_t>(i) * w.width + j] += d * w.w[row * w.width + j];
        }
      }
      at += 2 * step.length;
    }
  const std::vector<double>* sums[] = {&dx, &dw, &db};
  for (size_t output = 0; output < 3; ++output) {
    WEFT_TRY(float* out, c.Out<float>(output, c.In(output).dims()));
    for (double v : *sums[output]) *out++ = static_cast<float>(v);
  }
  return {};
}

struct Node {
  std::vector<Node> children;
  std::vector<int64_t> words;
  int64_t first = 0;  // rows of W: children, then words
  std::string name;
};

Result<Node> ReadNode(const KernelContext& c, std::string_view bytes, int depth) {
  WEFT_ENSURE(c, depth < kDeepest, "argument tree is deeper than ", kDeepest);
  Node out;
  Fields fields{bytes};
  bool has_first = false, has_name = false;
  while (fields.Next()) {
    if (fields.number == 1 && fields.has_text) {
      WEFT_TRY(Node child, ReadNode(c, fields.text, depth + 1));
      out.children.push_back(std::move(child));
    } else if (fields.number == 2 && fields.has_text) {
      Fields words{fields.text};
      while (!words.bytes.empty() && words.Varint(words.value)) out.words.push_back(words.Int());
      fields.ok &= words.ok;
    } else if (fields.number == 2) {
      out.words.push_back(fields.Int());
    } else if (fields.number == 3) {
      out.first = fields.Int();
      has_first = true;
    } else if (fields.number == 4 && fields.has_text) {
      out.name = std::string(fields.text);
      has_name = true;
    }
  }
  WEFT_ENSURE(c, fields.ok, "argument tree can't be read");
  WEFT_ENSURE(c, has_first && has_name, "a node of argument tree lacks its offset or its name");
  return out;
}

using Found = std::vector<std::pair<std::string, double>>;

// What lies below the node and costs less than `beam` more than its parent.
Result<void> Search(const KernelContext& c, const Weights& w, int64_t sample, const Node& node, double cost,
                    double beam, Found& found) {
  const int64_t children = static_cast<int64_t>(node.children.size()),
                length = children + static_cast<int64_t>(node.words.size());
  WEFT_ENSURE(c, node.first >= 0 && node.first + length <= w.rows, "the node ", node.name, " has rows ",
              node.first, " to ", node.first + length, " of ", w.rows);
  std::vector<float> scores(static_cast<size_t>(length)), softmax(scores.size());
  RunNode(w, sample, node.first, length, scores.data(), softmax.data());
  std::vector<std::pair<const Node*, double>> next;
  for (int64_t i = 0; i < length; ++i) {
    const double reached = cost - std::log(std::max(double{softmax[i]}, kSmallest));
    if (!(reached < cost + beam)) continue;
    found.emplace_back(i < children ? node.children[i].name : std::to_string(node.words[i - children]),
                       reached);
    if (i < children) next.emplace_back(&node.children[i], reached);
  }
  for (const auto& [child, reached] : next) WEFT_TRY_VOID(Search(c, w, sample, *child, reached, beam, found));
  return {};
}

// Outputs, for each sample, the names and costs of the topN cheapest nodes and words.
Result<void> HSoftmaxSearch(KernelContext& c) {
  WEFT_TRY(const Weights w, FindWeights(c));
  const std::string bytes = c.ArgS("tree", "");
  Fields tree{bytes};
  Node root;
  while (tree.Next())
    if (tree.number == 1 && tree.has_text) {
      WEFT_TRY(root, ReadNode(c, tree.text, 0));
    }
  WEFT_ENSURE(c, tree.ok, "argument tree can't be read");
  const double beam = c.ArgF("beam", 0.01f);
  const int64_t top = c.ArgI("topN", 5);
  WEFT_ENSURE(c, top >= 0, "topN must not be negative, found ", top);
  WEFT_TRY_VOID(c.CheckRoom({w.batch, top}));
  std::vector<Found> all;
  for (int64_t i = 0; i < w.batch; ++i) {
    Found& found = all.emplace_back();
    WEFT_TRY_VOID(Search(c, w, i, root, 0, beam, found));
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    found.resize(static_cast<size_t>(top));
  }
  WEFT_TRY(std::string * names, c.Out<std::string>(0, {w.batch, top}));
  for (const Found& found : all)
    for (const auto& [name, cost] : found) *names++ = name;
  WEFT_TRY(float* costs, c.Out<float>(1, {w.batch, top}));
  for (const Found& found : all)
    for (const auto& [name, cost] : found) *costs++ = static_cast<float>(cost);
  return {};
}

void PutVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// A tree of two branches each, whose leaves are the labels: the rarer, the deeper.
struct Huffman {
  struct Item {
    int64_t left = -1, right = -1, label = -1;
  };
  std::vector<Item> items;
  int64_t next_offset = 0;

  bool IsLeaf(int64_t i) const { return items[i].left < 0; }

  // The NodeProto of an inner item.
  std::string Write(int64_t at, int64_t offset) {
    std::string children, words;
    const auto branch = [&](int64_t to, bool right) {
      if (IsLeaf(to)) {
        words.push_back(0x10);
        PutVarint(words, static_cast<uint64_t>(items[to].label));
        if (right) ++next_offset;
        return;
      }
      const int64_t mine = next_offset;
      next_offset += 2;
      const std::string node = Write(to, mine);
      children.push_back(0x0a);
      PutVarint(children, node.size());
      children += node;
    };
    if (!IsLeaf(at)) {
      branch(items[at].left, false);
      branch(items[at].right, true);
    }
    std::string out = children + words;
    out.push_back(0x18);
    PutVarint(out, static_cast<uint64_t>(offset));
    return out;
  }
};

Result<void> HuffmanTreeHierarchy(KernelContext& c) {
  const int64_t classes = c.ArgI("num_classes", -1);
  WEFT_ENSURE(c, classes >= 1, "num_classes must be positive, found ", classes);
  WEFT_ENSURE(c, c.In(0).ndim() == 1, "Input labels must be a vector.");
  WEFT_TRY_VOID(c.CheckRoom({classes, 2}));
  std::vector<int64_t> counts(static_cast<size_t>(classes));
  for (int64_t label : c.In(0).values<int64_t>()) {
    WEFT_ENSURE(c, label >= 0 && label < classes, "Found an input label ", label, " not in range [0,",
                classes, "]");
    ++counts[label];
  }
  Huffman tree;
  // By count, equal ones by age.
  std::map<std::pair<int64_t, size_t>, int64_t> waiting;
  for (int64_t i = 0; i < classes; ++i) {
    waiting[{counts[i], tree.items.size()}] = i;
    tree.items.push_back({-1, -1, i});
  }
  while (waiting.size() > 1) {
    const auto [left, left_item] = *waiting.begin();
    waiting.erase(waiting.begin());
    const auto [right, right_item] = *waiting.begin();
    waiting.erase(waiting.begin());
    waiting[{left.first + right.first, tree.items.size()}] = static_cast<int64_t>(tree.items.size());
    tree.items.push_back({left_item, right_item, -1});
  }
  tree.next_offset = 2;
  const std::string root = tree.Write(static_cast<int64_t>(tree.items.size()) - 1, 0);
  WEFT_TRY(std::string * out, c.Out<std::string>(0, {1}));
  out->assign(1, 0x0a);
  PutVarint(*out, root.size());
  *out += root;
  return {};
}

constexpr KernelRow kRows[] = {
    {"HSoftmax", HSoftmax, "fffi"},
    {"HSoftmaxGradient", HSoftmaxGradient, "fffiff"},
    {"HSoftmaxSearch", HSoftmaxSearch, "f"},
    {"HuffmanTreeHierarchy", HuffmanTreeHierarchy, "l"},
};

}  // namespace
}  // namespace kernels

KernelFamily SoftmaxTreeKernels() { return kernels::kRows; }

}  // namespace weft
