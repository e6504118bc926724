// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ops/shape_rule.h"

#include <algorithm>
#include <numeric>

#include "core/base/str.h"

namespace weft {

namespace {

class Runner {
 public:
  Runner(const ShapeProgram& program, ShapeContext& context) : program_(program), c_(context) {}

  void Run() {
    for (const ShapeStatement& s : program_.statements) {
      if (!std::all_of(s.when.begin(), s.when.end(), [&](const ShapeCondition& c) { return Holds(c); }))
        continue;
      switch (s.kind) {
        case ShapeStatement::kWord:
          s.word(c_);
          if (s.type.kind != ShapeType::kDefault && c_.num_outputs() > 0) {
            TensorInfo info = c_.Out(0);
            info.type = TypeOf(s.type);
            c_.Set(0, std::move(info));
          }
          break;
        case ShapeStatement::kCheck:
          if (const Dim expected = Number(s.other), given = Number(s.node);
              c_.table.MustDiffer(expected, given))
            c_.Mismatch(InputOf(s.node), StrCat(s.left, " = ", s.right, " = ", c_.table.Text(expected)),
                        c_.table.Text(given));
          break;
        case ShapeStatement::kCheckSame:
          c_.SameDims(Shape(s.other), std::max(InputOf(s.node), 0));
          break;
        case ShapeStatement::kAssign:
          for (const PortRef& target : s.targets) Assign(s, target);
          break;
      }
    }
  }

  Dim Number(int32_t node) {
    const ShapeNode& n = Node(node);
    switch (n.kind) {
      case ShapeNode::kNumber:
        return n.number;
      case ShapeNode::kIntArg:
        return c_.Int(n.name, n.number);
      case ShapeNode::kData:
        return c_.table.FromData();
      case ShapeNode::kExtent:
        return Extent(n);
      case ShapeNode::kCount: {
        const TensorInfo shape = Shape(n.a);
        if (shape.kind == TensorInfo::kDataRank) return c_.table.FromData();
        return shape.tensor() ? c_.table.Product(shape.dims) : Dim();
      }
      case ShapeNode::kRank: {
        const TensorInfo& info = Port(n.port);
        return info.tensor() ? Dim(static_cast<int64_t>(info.rank())) : Dim();
      }
      case ShapeNode::kLength: {
        const Arg* arg = c_.FindArg(n.name);
        if (!arg) return 0;
        const ArgDataPtr data = arg->Load();
        return static_cast<int64_t>(std::max({data->ints.size(), data->floats.size(), data->strings.size()}));
      }
      case ShapeNode::kInputs:
        return static_cast<int64_t>(c_.num_inputs());
      case ShapeNode::kOutputs:
        return static_cast<int64_t>(c_.num_outputs());
      case ShapeNode::kSum:
      case ShapeNode::kMax:
      case ShapeNode::kValue:
        return OfContent(n);
      case ShapeNode::kAdd:
        return c_.table.Add(Number(n.a), Number(n.b));
      case ShapeNode::kSubtract:
        return c_.table.Subtract(Number(n.a), Number(n.b));
      case ShapeNode::kMultiply:
        return c_.table.Multiply(Number(n.a), Number(n.b));
      case ShapeNode::kDivide:
        return c_.table.Divide(Number(n.a), Number(n.b));
      default:
        return {};
    }
  }

  TensorInfo Shape(int32_t node) {
    const ShapeNode& n = Node(node);
    switch (n.kind) {
      case ShapeNode::kPort:
        return Part(n);
      case ShapeNode::kRange:
        return Part(n);
      case ShapeNode::kIntsArg: {
        DimList dims;
        for (const int64_t extent : c_.Ints(n.name)) dims.push_back(extent);
        return TensorInfo::Of(c_.In(0).type, std::move(dims));
      }
      case ShapeNode::kList:
        return List(n);
      case ShapeNode::kCall:
        return Call(n);
      case ShapeNode::kDataRank:
        return TensorInfo::DataRank(c_.In(0).type);
      case ShapeNode::kObject:
        return TensorInfo::Object();
      default:
        return TensorInfo();
    }
  }

 private:
  const ShapeNode& Node(int32_t node) const { return program_.nodes[static_cast<size_t>(node)]; }

  // The place of a port among the operator's inputs or outputs; -1 when it has none.
  int32_t Place(const PortRef& ref) const {
    const int32_t count = static_cast<int32_t>(ref.output ? c_.num_outputs() : c_.num_inputs());
    if (ref.numbered) return ref.port < count ? ref.port : -1;
    if (ref.output ? program_.plain_outputs : program_.plain_inputs) {
      const int32_t place = ref.port + (ref.repeated ? step_ : 0);
      return place < count ? place : -1;
    }
    // Ports that must be there take their places; optional ones and then the repeated one share the rest.
    const std::vector<PortSpec>& ports = ref.output ? program_.outputs : program_.inputs;
    int32_t spare = count, optional = 0, place = 0;
    for (const PortSpec& port : ports) {
      spare -= !port.optional && !port.repeated;
      optional += port.optional && !port.repeated;
    }
    int32_t present = std::min(std::max(spare, 0), optional);
    const int32_t repeated = std::max(spare, 0) - present;
    for (int32_t i = 0; i < ref.port; ++i) {
      const PortSpec& port = ports[static_cast<size_t>(i)];
      if (port.repeated) {
        place += repeated;
      } else if (!port.optional || present-- > 0) {
        ++place;
      }
    }
    const PortSpec& own = ports[static_cast<size_t>(ref.port)];
    if (own.repeated) return step_ < repeated ? place + step_ : -1;
    if (own.optional && present <= 0) return -1;
    return place < count ? place : -1;
  }
  int32_t CountOf(const PortRef& ref) {
    int32_t count = 0;
    const int32_t before = step_;
    for (step_ = 0; Place(ref) >= 0; ++step_) ++count;
    step_ = before;
    return count;
  }
  const TensorInfo& Port(const PortRef& ref) const {
    const int32_t place = Place(ref);
    static const TensorInfo kNothing{};
    if (place < 0) return kNothing;
    return ref.output ? c_.Out(static_cast<size_t>(place)) : c_.In(static_cast<size_t>(place));
  }

  // A number that may be negative: of an axis, of a comparison. Unknown numbers give `otherwise`.
  int64_t Integer(int32_t node, int64_t otherwise) {
    const ShapeNode& n = Node(node);
    switch (n.kind) {
      case ShapeNode::kNumber:
        return n.number;
      case ShapeNode::kIntArg:
        return c_.Int(n.name, n.number);
      case ShapeNode::kAdd:
        return Integer(n.a, otherwise) + Integer(n.b, otherwise);
      case ShapeNode::kSubtract:
        return Integer(n.a, otherwise) - Integer(n.b, otherwise);
      default: {
        const Dim dim = Number(node);
        return dim.known() ? dim.code : otherwise;
      }
    }
  }

  Dim Extent(const ShapeNode& n) {
    const TensorInfo& info = Port(n.port);
    if (info.kind == TensorInfo::kDataRank) return c_.table.FromData();
    if (!info.tensor()) return {};
    const int64_t rank = static_cast<int64_t>(info.rank());
    int64_t at = Integer(n.a, rank);
    if (at < 0) at += rank;
    if (at >= 0 && at < rank) return info.dims[static_cast<size_t>(at)];
    const int32_t place = n.port.output ? -1 : Place(n.port);
    c_.Mismatch(place, StrCat("a dimension ", Integer(n.a, rank)),
                c_.table.Text(std::span<const Dim>(info.dims)));
    return {};
  }

  Dim OfContent(const ShapeNode& n) {
    if (n.items.empty() || Node(n.items[0]).kind != ShapeNode::kPort) return {};
    const TensorInfo& info = Port(Node(n.items[0]).port);
    if (!c_.table.HasContent(info)) return info.kind == TensorInfo::kUnknown ? Dim() : c_.table.FromData();
    const std::span<const Dim> content = c_.table.Content(info);
    if (n.kind == ShapeNode::kValue) {
      const int64_t at = n.items.size() > 1 ? Integer(n.items[1], 0) : 0;
      return at >= 0 && at < static_cast<int64_t>(content.size()) ? content[static_cast<size_t>(at)] : Dim();
    }
    const int64_t most = n.items.size() > 1 ? Integer(n.items[1], -1) : -1;
    Dim result = 0;
    for (const Dim dim : content) {
      if (n.kind == ShapeNode::kSum) {
        result = c_.table.Add(result, most >= 0 && dim.known() ? std::min(dim.code, most) : dim);
      } else if (!dim.known()) {
        return c_.table.FromData();
      } else {
        result = std::max(result.code, dim.code);
      }
    }
    return result;
  }

  // X, or X[a:b].
  TensorInfo Part(const ShapeNode& n) {
    TensorInfo info = Port(n.port);
    info.content = TensorInfo::kNoContent;
    if (n.kind == ShapeNode::kPort || !info.tensor()) return info;
    const int64_t rank = static_cast<int64_t>(info.rank());
    int64_t begin = n.a < 0 ? 0 : Integer(n.a, 0), end = n.b < 0 ? rank : Integer(n.b, rank);
    if (begin < 0) begin += rank;
    if (end < 0) end += rank;
    begin = std::clamp<int64_t>(begin, 0, rank);
    end = std::clamp<int64_t>(end, begin, rank);
    info.dims = DimList(info.dims.begin() + begin, info.dims.begin() + end);
    return info;
  }
  TensorInfo List(const ShapeNode& n) {
    TensorInfo info = TensorInfo::Of(c_.In(0).type, {});
    for (const int32_t item : n.items) {
      if (!Node(item).shape) {
        info.dims.push_back(Number(item));
        continue;
      }
      const TensorInfo part = Shape(item);
      if (part.kind == TensorInfo::kDataRank && info.kind == TensorInfo::kTensor) {
        info.kind = TensorInfo::kDataRank;
      } else if (!part.tensor() && part.kind != TensorInfo::kDataRank) {
        info.kind = TensorInfo::kUnknown;
      }
      info.dims.Append(part.dims.begin(), part.dims.end());
    }
    if (info.kind != TensorInfo::kTensor) info.dims.clear();
    return info;
  }
  TensorInfo Call(const ShapeNode& n) {
    // A handful of operands, of which the shapes need a place to live.
    std::vector<TensorInfo> shapes(n.items.size());
    std::vector<ShapeOperand> operands(n.items.size());
    for (size_t i = 0; i < n.items.size(); ++i) {
      if (Node(n.items[i]).shape) {
        // A port as it is: functions may want its content.
        const ShapeNode& item = Node(n.items[i]);
        shapes[i] = item.kind == ShapeNode::kPort ? Port(item.port) : Shape(n.items[i]);
        operands[i].shape = &shapes[i];
      } else {
        operands[i].number = Integer(n.items[i], 0);
        operands[i].dim = operands[i].number < 0 ? Dim() : Number(n.items[i]);
      }
    }
    return n.call(c_, operands);
  }

  DataType TypeOf(const ShapeType& type) {
    switch (type.kind) {
      case ShapeType::kFixed:
        return type.type;
      case ShapeType::kOfPort:
        return Port(type.port).type;
      case ShapeType::kOfArg:
        return c_.Type(type.name, type.type);
      case ShapeType::kDefault:
        break;
    }
    return DataType::kUndefined;
  }

  void Assign(const ShapeStatement& s, const PortRef& target) {
    const int32_t count = target.repeated ? CountOf(target) : 1;
    for (step_ = 0; step_ < count; ++step_) {
      const int32_t place = Place(target);
      if (place < 0) continue;
      TensorInfo info = Shape(s.node);
      if (s.type.kind != ShapeType::kDefault) {
        info.type = TypeOf(s.type);
        info.content = TensorInfo::kNoContent;
      }
      c_.Set(static_cast<size_t>(place), std::move(info));
    }
    step_ = 0;
  }

  // The input that a checked expression is about: the first that it names.
  int32_t InputOf(int32_t node) const {
    const ShapeNode& n = Node(node);
    if (n.kind == ShapeNode::kExtent || n.kind == ShapeNode::kPort || n.kind == ShapeNode::kRange ||
        n.kind == ShapeNode::kRank)
      return n.port.output ? -1 : Place(n.port);
    for (const int32_t child : {n.a, n.b})
      if (child >= 0)
        if (const int32_t found = InputOf(child); found >= 0) return found;
    for (const int32_t child : n.items)
      if (const int32_t found = InputOf(child); found >= 0) return found;
    return -1;
  }

  bool Holds(const ShapeCondition& c) {
    bool holds = false;
    if (c.has_port) {
      holds = Place(c.port) >= 0;
    } else if (c.node < 0) {
      holds = c_.StringIs(c.name, c.text, c.fallback);
    } else {
      const ShapeNode& n = Node(c.node);
      if (n.kind == ShapeNode::kIntsArg) {
        holds = c_.HasArg(n.name);
      } else {
        if (n.kind == ShapeNode::kRank && !Port(n.port).tensor()) return false;  // nobody knows
        const int64_t value = Integer(c.node, -1);
        switch (c.compare) {
          case ShapeCondition::kTrue:
            holds = value != 0;
            break;
          case ShapeCondition::kEqual:
            holds = value == c.value;
            break;
          case ShapeCondition::kNotEqual:
            holds = value != c.value;
            break;
          case ShapeCondition::kLess:
            holds = value < c.value;
            break;
          case ShapeCondition::kMore:
            holds = value > c.value;
            break;
        }
      }
    }
    return holds != c.negated;
  }

  const ShapeProgram& program_;
  ShapeContext& c_;
  int32_t step_ = 0;  // which of a repeated port
};

}  // namespace

void RunShapeRule(const ShapeProgram& program, ShapeContext& context) { Runner(program, context).Run(); }

Dim BytesOf(ShapeTable& table, const TensorInfo& info) {
  switch (info.kind) {
    case TensorInfo::kObject:
      return 0;
    case TensorInfo::kUnknown:
      return {};
    case TensorInfo::kDataRank:
      return info.type == DataType::kString ? Dim(0) : table.FromData();
    case TensorInfo::kTensor:
      break;
  }
  if (info.type == DataType::kUndefined) return {};
  return table.Multiply(table.Product(info.dims), static_cast<int64_t>(DataTypeSize(info.type)));
}

OpCost RunCost(const ShapeProgram& program, ShapeContext& context) {
  OpCost cost;
  ShapeTable& table = context.table;
  Runner runner(program, context);
  if (program.cost >= 0) cost.flops = runner.Number(program.cost);
  const auto touched = [&](const std::vector<int32_t>& nodes) {
    Dim sum = 0;
    for (const int32_t node : nodes) sum = table.Add(sum, BytesOf(table, runner.Shape(node)));
    return sum;
  };
  if (program.has_reads) {
    cost.read = touched(program.reads);
  } else {
    // One blob read as two inputs is read once.
    const BlobList& names = context.op().inputs;
    std::vector<size_t> reads(context.num_inputs());
    std::iota(reads.begin(), reads.end(), size_t{0});
    std::stable_sort(reads.begin(), reads.end(), [&](size_t a, size_t b) { return names[a] < names[b]; });
    const auto same = [&](size_t a, size_t b) { return names[a] == names[b]; };
    reads.erase(std::unique(reads.begin(), reads.end(), same), reads.end());
    std::sort(reads.begin(), reads.end());
    for (size_t i : reads) cost.read = table.Add(cost.read, BytesOf(table, context.In(i)));
  }
  if (program.has_writes) {
    cost.written = touched(program.writes);
  } else {
    for (size_t i = 0; i < context.num_outputs(); ++i)
      cost.written = table.Add(cost.written, BytesOf(table, context.Out(i)));
  }
  return cost;
}

}  // namespace weft
