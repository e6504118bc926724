// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_net.h"

#include <algorithm>
#include <random>

#include "core/base/check.h"
#include "core/base/str.h"
#include "core/ir/control_builder.h"

namespace weft::test {

namespace {

constexpr int64_t kRows = 2, kColumns = kRandomNetColumns, kTableRows = 4;
constexpr int kExternals = 3;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Net Make() {
    Net net;
    net.name = net.Intern("r");
    std::vector<Symbol> blobs;
    for (int k = 0; k < kExternals; ++k) blobs.push_back(net.Intern(StrCat("x", k)));
    blobs.push_back(net.Intern("table"));
    net.external_inputs = blobs;
    blobs.pop_back();
    net.external_inputs.push_back(net.Intern("rows"));
    Block(net, blobs, 3 + Below(6), 2);
    std::vector<Symbol> sum;
    for (int k = 0; k < 2; ++k) sum.push_back(Pick(blobs));
    sum.push_back(blobs.back());
    Add(net, "Sum", sum, net.Intern("total"));
    Add(net, "AveragedLoss", {net.Intern("total")}, net.Intern("loss"));
    return net;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  Symbol Pick(const std::vector<Symbol>& blobs) {
    return blobs[static_cast<size_t>(Below(static_cast<int>(blobs.size())))];
  }

  void Add(Net& net, std::string_view type, const std::vector<Symbol>& inputs, Symbol output,
           std::vector<Arg> args = {}) {
    Op& op = net.ops.emplace_back();
    op.type = net.Intern(type);
    op.inputs = BlobList(std::span<const Symbol>(inputs));
    op.outputs = {output};
    op.args = ArgList(std::move(args));
  }

  // Appends `count` statements to `net`; new blobs become visible in `blobs`. `depth`: how deep control flow
  // may nest.
  void Block(Net& net, std::vector<Symbol>& blobs, int count, int depth) {
    for (int k = 0; k < count; ++k) {
      const int kind = Below(10);
      if (kind == 0 && depth > 0)
        If(net, blobs, depth);
      else if (kind == 1 && depth > 0)
        While(net, blobs, depth);
      else
        Statement(net, blobs);
    }
  }

  void Statement(Net& net, std::vector<Symbol>& blobs) {
    static constexpr std::string_view kUnary[] = {"Tanh",     "Sigmoid", "Sin",   "Sqr",
                                                  "Negative", "Copy",    "Scale", "Cos"};
    static constexpr std::string_view kBinary[] = {"Add", "Sub", "Mul", "Sum"};
    const bool unary = Below(2) == 0;
    const std::string_view type = unary ? kUnary[Below(8)] : kBinary[Below(4)];
    std::vector<Symbol> inputs = {Pick(blobs)};
    if (!unary) inputs.push_back(Pick(blobs));
    // A new blob, an old one overwritten, or the first input in place where the operator allows it.
    Symbol output;
    switch (Below(4)) {
      case 0:
        output = Pick(blobs);
        break;
      case 1:
        output = inputs[0];
        break;
      default:
        output = net.Intern(StrCat("b", next_++));
    }
    const bool in_place_ok = type != "Sin" && type != "Cos" && type != "Copy";
    for (size_t k = 0; k < inputs.size(); ++k)
      if (output == inputs[k] && (!in_place_ok || k > 0)) output = net.Intern(StrCat("b", next_++));
    std::vector<Arg> args;
    if (type == "Scale") args.push_back(MakeArg(net.Intern("scale"), 0.6f));
    if (Below(12) == 0) {
      Add(net, "Gather", {net.Intern("table"), net.Intern("rows")}, output);
    } else {
      Add(net, type, inputs, output, std::move(args));
    }
    if (std::find(blobs.begin(), blobs.end(), output) == blobs.end()) blobs.push_back(output);
  }

  // A branch or body sees the blobs around it; what it makes anew stays inside.
  Net Body(const Net& net, const std::vector<Symbol>& blobs, int depth) {
    Net body(net.symbols);
    body.name = net.symbols->Intern(StrCat("body", next_++));
    std::vector<Symbol> inside = blobs;
    Block(body, inside, 1 + Below(3), depth - 1);
    return body;
  }

  void If(Net& net, const std::vector<Symbol>& blobs, int depth) {
    const Symbol cond = net.Intern(StrCat("c", next_++));
    Add(net, "ConstantFill", {}, cond,
        {MakeArg(net.Intern("dtype"), int64_t{5}), MakeArg(net.Intern("value"), int64_t{Below(2)}),
         MakeArg(net.Intern("shape"), std::vector<int64_t>{1})});
    const Net then_body = Body(net, blobs, depth), else_body = Body(net, blobs, depth);
    WEFT_CHECK(AppendIf(net, cond, then_body, Below(3) ? &else_body : nullptr, blobs).has_value());
  }

  void While(Net& net, const std::vector<Symbol>& blobs, int depth) {
    const Symbol i = net.Intern(StrCat("i", next_++)), one = net.Intern("one_" + std::to_string(next_)),
                 limit = net.Intern(StrCat("n", next_)), cond = net.Intern(StrCat("go", next_++));
    const auto fill = [&](Symbol blob, int64_t value) {
      Add(net, "ConstantFill", {}, blob,
          {MakeArg(net.Intern("dtype"), int64_t{10}), MakeArg(net.Intern("value"), value),
           MakeArg(net.Intern("shape"), std::vector<int64_t>{1})});
    };
    fill(i, 0);
    fill(one, 1);
    fill(limit, Below(4));
    Net condition(net.symbols);
    condition.name = net.Intern("condition");
    Add(condition, "Add", {i, one}, i);
    Add(condition, "LE", {i, limit}, cond);
    const Net body = Body(net, blobs, depth);
    WEFT_CHECK(AppendWhile(net, cond, condition, body, blobs).has_value());
  }

  std::mt19937 random_;
  int next_ = 0;
};

}  // namespace

Net RandomNet(uint32_t seed) { return Generator(seed).Make(); }

Feeds RandomFeeds(uint32_t seed) {
  std::mt19937 random(seed);
  Feeds feeds;
  const auto floats = [&](const std::string& name, int64_t rows) {
    std::vector<float> values(static_cast<size_t>(rows * kColumns));
    for (float& v : values) v = static_cast<float>(random() % 2000) / 1000.0f - 1.0f;
    const int64_t dims[] = {rows, kColumns};
    feeds.tensors.push_back({name, Tensor::Of<float>(dims, values)});
  };
  for (int k = 0; k < kExternals; ++k) floats(StrCat("x", k), kRows);
  floats("table", kTableRows);
  const int64_t dims[] = {kRows};
  const int32_t rows[] = {static_cast<int32_t>(random() % kTableRows),
                          static_cast<int32_t>(random() % kTableRows)};
  feeds.tensors.push_back({"rows", Tensor::Of<int32_t>(dims, rows)});
  return feeds;
}

}  // namespace weft::test
