// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "core/ssa/print.h"

#include <algorithm>

#include "core/base/str.h"
#include "core/ssa/print_internal.h"

namespace weft {

namespace {

// Signatures longer than this do not push the arguments of the other operators to the right.
constexpr size_t kMostSignature = 56;
constexpr int kMostNesting = 100;

std::string Plural(size_t count, std::string_view noun) {
  return StrCat(count, " ", noun, count == 1 ? "" : "s");
}

class Printer {
 public:
  Printer(const PrintOptions& options, const EmitPiece& emit) : options_(options), emit_(emit) {}

  void Text(std::string_view text, TextClass text_class = TextClass::kPlain) { Emit({text, text_class}); }
  void Emit(const Piece& piece) {
    at_ = piece.text.ends_with('\n') ? 0 : at_ + piece.text.size();
    emit_(piece);
  }
  void Line(size_t indent, std::string_view label) {
    Spaces(indent);
    Text(label, TextClass::kLabel);
  }
  void Spaces(size_t count) {
    constexpr std::string_view kBlanks = "                                                                ";
    while (count > 0) {
      const size_t n = std::min(count, kBlanks.size());
      Text(kBlanks.substr(0, n));
      count -= n;
    }
  }

  // `heading`: the words before the operators' count; printed by the caller.
  void NetBody(const Net& net, size_t indent, int depth) {
    const Ssa ssa(net);
    const DevicePtr shared = SharedDevice(net);
    NetFacts(net, ssa, shared, indent);
    if (depth == 0) Text("\n");

    size_t column = 0;
    for (OpId op = 0; op < static_cast<OpId>(net.ops.size()); ++op)
      column = std::max(column, std::min(SignatureWidth(net, ssa, op), kMostSignature));
    const size_t digits = net.ops.empty() ? 1 : std::to_string(net.ops.size() - 1).size();
    for (OpId op = 0; op < static_cast<OpId>(net.ops.size()); ++op) {
      const std::string number = std::to_string(op);
      Spaces(indent + 2 + digits - number.size());
      Text(number, TextClass::kIndex);
      Spaces(2);
      OpLine(net, ssa, op, column, indent + 2 + digits + 6, shared != nullptr);
      Text("\n");
      if (options_.nested) Nested(net, net.ops[static_cast<size_t>(op)], indent + digits + 4, depth);
    }
  }

  // `column`: where attributes start, behind the signature; `hang`: where the line goes on when it is broken.
  void OpLine(const Net& net, const Ssa& ssa, OpId id, size_t column, size_t hang, bool hide_device) {
    const Op& op = net.ops[static_cast<size_t>(id)];
    const bool gradient = op.is_gradient_op.value_or(false);
    Emit({op.type ? net.Str(op.type) : "(no type)", gradient ? TextClass::kGradientType : TextClass::kType,
          op.type});
    Text("(");
    Blobs(net, ssa, ssa.inputs(id), TextClass::kInput, hang);
    Text(")");
    if (!op.outputs.empty()) {
      Text(Break(4 + BlobsWidth(net, ssa, ssa.outputs(id).first(1)), hang) ? "-> " : " -> ");
      Blobs(net, ssa, ssa.outputs(id), TextClass::kOutput, hang);
    }
    Attributes(net, op, SignatureWidth(net, ssa, id), column, hang, hide_device);
  }

  void Nested(const Net& net, const Op& op, size_t indent, int depth) {
    for (const Arg& arg : op.args) {
      if (!(arg.has & (Arg::kHasN | Arg::kHasNets))) continue;
      const ArgDataPtr data = arg.Load();
      const auto one = [&](const Net& inner, const std::string& place) {
        Line(indent, place);
        if (!net.Str(inner.name).empty()) {
          Text(" ");
          Text(net.Str(inner.name), TextClass::kHeading);
        }
        if (depth + 1 > kMostNesting) {
          Text("  nested too deep to list\n", TextClass::kMuted);
          return;
        }
        Text("  ");
        NetBody(inner, indent, depth + 1);
      };
      const std::string name(net.Str(arg.name));
      if (data->n) one(*data->n, name);
      for (size_t k = 0; k < data->nets.size(); ++k)
        if (data->nets[k]) one(*data->nets[k], StrCat(name, "[", k, "]"));
    }
  }

 private:
  // Goes to a new line when `need` columns more are too many for this one. True when it did.
  bool Break(size_t need, size_t hang) {
    if (options_.width <= 0 || at_ <= hang || at_ + need <= static_cast<size_t>(options_.width)) return false;
    Text("\n");
    Spaces(hang);
    return true;
  }

  bool Versioned(const Ssa& ssa, ValueId v) const {
    if (options_.ssa) return true;
    const Value& value = ssa.values()[v];
    const uint32_t first = ssa.starts_outside(value.blob) ? 0 : 1;
    return value.version > 0 && ssa.values()[ssa.latest(value.blob)].version > first;
  }

  void Blobs(const Net& net, const Ssa& ssa, std::span<const ValueId> values, TextClass text_class,
             size_t hang) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) {
        Text(",");
        if (!Break(2 + BlobsWidth(net, ssa, values.subspan(i, 1)), hang)) Text(" ");
      }
      const Value& value = ssa.values()[values[i]];
      const Symbol name = ssa.blobs()[value.blob];
      Emit({net.Str(name).empty() ? "\"\"" : net.Str(name), text_class, name, values[i]});
      if (Versioned(ssa, values[i])) Emit({StrCat("@", value.version), TextClass::kVersion, name, values[i]});
    }
  }

  size_t BlobsWidth(const Net& net, const Ssa& ssa, std::span<const ValueId> values) const {
    size_t width = values.empty() ? 0 : 2 * (values.size() - 1);
    for (ValueId v : values) {
      const Value& value = ssa.values()[v];
      width += std::max<size_t>(net.Str(ssa.blobs()[value.blob]).size(),
                                2 * net.Str(ssa.blobs()[value.blob]).empty());
      if (Versioned(ssa, v)) width += 1 + (value.version < 10 ? 1 : std::to_string(value.version).size());
    }
    return width;
  }

  size_t SignatureWidth(const Net& net, const Ssa& ssa, OpId id) const {
    const Op& op = net.ops[static_cast<size_t>(id)];
    const size_t outputs = op.outputs.empty() ? 0 : 4 + BlobsWidth(net, ssa, ssa.outputs(id));
    return (op.type ? net.Str(op.type).size() : 9) + 2 + BlobsWidth(net, ssa, ssa.inputs(id)) + outputs;
  }

  void Attributes(const Net& net, const Op& op, size_t width, size_t column, size_t hang, bool hide_device) {
    bool any = false;
    // The first attribute of a line starts in the common column.
    const auto next = [&](size_t gap, size_t need) {
      const size_t blanks = any ? gap : 2 + (width < column ? column - width : 0);
      if (!Break(blanks + need, hang)) Spaces(blanks);
      any = true;
    };
    const auto field = [&](std::string_view label, std::string_view value, TextClass text_class,
                           size_t gap = 2) {
      next(gap, label.size() + value.size() + 1);
      Text(label, TextClass::kLabel);
      if (!label.empty()) Text(" ");
      Text(value, text_class);
    };
    const auto name = [&](std::string_view label, Symbol value) {
      if (!net.Str(value).empty())
        field(label, internal::StringText(net.Str(value), options_.full), TextClass::kString);
    };
    for (const Arg& arg : op.args) {
      if (options_.nested && (arg.has & (Arg::kHasN | Arg::kHasNets))) continue;
      const std::string value = ArgListing(*net.symbols, arg, options_.full);
      next(1, net.Str(arg.name).size() + 1 + value.size());
      Emit({net.Str(arg.name), TextClass::kArgument, arg.name});
      Text("=");
      const bool number = (arg.has & ~(Arg::kHasF | Arg::kHasI | Arg::kHasFloats | Arg::kHasInts)) == 0;
      Text(value, number ? TextClass::kNumber : TextClass::kString);
    }
    if (op.device && !hide_device) field("", StrCat("@", DeviceToString(op.device)), TextClass::kDevice);
    name("engine", op.engine);
    name("name", op.name);
    for (size_t i = 0; i < op.control_inputs.size(); ++i)
      field(i == 0 ? "after" : "", net.Str(op.control_inputs[i]), TextClass::kInput, i == 0 ? 2 : 1);
    if (op.is_gradient_op.value_or(false)) field("", "[G]", TextClass::kMuted);
    name("domain", op.rest().domain);
    if (op.rest().op_version) field("op_version", std::to_string(*op.rest().op_version), TextClass::kNumber);
    if (options_.full) name("debug_info", op.rest().debug_info);
    if (!op.rest().unknown.empty())
      field("", StrCat("<unknown fields, ", FormatBytes(op.rest().unknown.size()), ">"), TextClass::kMuted);
  }

  // The device of all operators, when they agree and there are several: said once instead of on every line.
  static DevicePtr SharedDevice(const Net& net) {
    if (net.ops.size() < 2 || !net.ops[0].device) return nullptr;
    for (const Op& op : net.ops)
      if (!op.device || !(op.device == net.ops[0].device || *op.device == *net.ops[0].device)) return nullptr;
    return net.ops[0].device;
  }

  void NetFacts(const Net& net, const Ssa& ssa, const DevicePtr& shared, size_t indent) {
    Text(Plural(net.ops.size(), "operator"), TextClass::kMuted);
    Text(StrCat(", ", Plural(ssa.blobs().size(), "blob")), TextClass::kMuted);
    if (!net.Str(net.type).empty()) Fact("type", net.Str(net.type));
    if (net.num_workers) Fact("workers", std::to_string(*net.num_workers));
    if (net.device) Fact("device", DeviceToString(net.device));
    if (shared) Fact("every operator on", DeviceToString(shared));
    Text("\n");
    const std::string inputs = StrCat("(", net.external_inputs.size(), ")");
    const std::string outputs = StrCat("(", net.external_outputs.size(), ")");
    const size_t column = std::max(net.external_inputs.empty() ? 0 : 15 + inputs.size(),
                                   net.external_outputs.empty() ? 0 : 16 + outputs.size());
    Names(net, "external_input", inputs, net.external_inputs, indent + 2, column);
    Names(net, "external_output", outputs, net.external_outputs, indent + 2, column);
    for (const Arg& arg : net.args) {
      Line(indent + 2, "arg");
      Text(" ");
      Emit({net.Str(arg.name), TextClass::kArgument, arg.name});
      Text("=");
      Text(ArgListing(*net.symbols, arg, options_.full), TextClass::kString);
      Text("\n");
    }
    if (!net.partition_info.empty()) {
      Line(indent + 2, "partition_info");
      Text(StrCat(" (", net.partition_info.size(), ")\n"), TextClass::kMuted);
    }
    if (!net.unknown.empty()) {
      Line(indent + 2, "unknown fields");
      Text(StrCat(" ", FormatBytes(net.unknown.size()), "\n"), TextClass::kMuted);
    }
  }

  void Fact(std::string_view label, std::string_view value) {
    Text(", ", TextClass::kMuted);
    Text(label, TextClass::kMuted);
    Text(" ");
    Text(value, TextClass::kString);
  }

  // As many names to a line as fit; at most three lines of them unless everything is asked for.
  void Names(const Net& net, std::string_view label, std::string_view count, const std::vector<Symbol>& names,
             size_t indent, size_t column) {
    if (names.empty()) return;
    Line(indent, label);
    Text(" ");
    Text(count, TextClass::kMuted);
    Spaces(column - label.size() - 1 - count.size());
    const size_t start = indent + column;
    const size_t width = options_.width > 0 ? static_cast<size_t>(options_.width) : 100;
    size_t at = start;
    int lines = 1;
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string_view name = net.Str(names[i]).empty() ? "\"\"" : net.Str(names[i]);
      const size_t room = 2 + name.size();
      if (at > start && at + room > width) {
        if (!options_.full && lines == 3) {
          Text(StrCat("  ... ", names.size() - i, " more"), TextClass::kMuted);
          break;
        }
        Text("\n");
        Spaces(start);
        at = start;
        ++lines;
      }
      Spaces(2);
      Emit({name, TextClass::kInput, names[i]});
      at += room;
    }
    Text("\n");
  }

  const PrintOptions& options_;
  const EmitPiece& emit_;
  size_t at_ = 0;  // column
};

void PrintStep(Printer& out, const Plan& plan, const Step& step, size_t indent, int depth) {
  out.Line(indent, "step");
  out.Text(" ");
  out.Text(step.name ? plan.Str(step.name) : "(no name)", TextClass::kHeading);
  const auto fact = [&](std::string_view label, std::string_view value, TextClass text_class) {
    out.Text("  ");
    out.Text(label, TextClass::kLabel);
    if (value.empty()) return;
    out.Text(" ");
    out.Text(value, text_class);
  };
  const auto number = [&](std::string_view label, const auto& value) {
    if (value) fact(label, std::to_string(*value), TextClass::kNumber);
  };
  number("num_iter", step.num_iter);
  if (step.should_stop_blob) fact("until", plan.Str(step.should_stop_blob), TextClass::kInput);
  if (step.only_once.value_or(false)) fact("only_once", "", TextClass::kPlain);
  if (step.concurrent_substeps.value_or(false)) fact("concurrent", "", TextClass::kPlain);
  number("instances", step.num_concurrent_instances);
  if (step.create_workspace.value_or(false)) fact("own workspace", "", TextClass::kPlain);
  if (step.run_every_ms) fact("every", StrCat(*step.run_every_ms, " ms"), TextClass::kNumber);
  if (step.report_net) {
    fact("report_net", plan.Str(step.report_net), TextClass::kHeading);
    if (step.report_interval) fact("every", StrCat(*step.report_interval, " s"), TextClass::kNumber);
  }
  if (step.criteria_network) fact("criteria_network", plan.Str(step.criteria_network), TextClass::kHeading);
  out.Text("\n");
  for (Symbol net : step.networks) {
    out.Line(indent + 2, "net");
    out.Text(" ");
    out.Text(plan.Str(net), TextClass::kHeading);
    out.Text("\n");
  }
  if (depth >= kMostNesting && !step.substeps.empty()) {
    out.Spaces(indent + 2);
    out.Text("nested too deep to list\n", TextClass::kMuted);
    return;
  }
  for (const Step& substep : step.substeps) PrintStep(out, plan, substep, indent + 2, depth + 1);
}

void NetWithHeading(Printer& out, const Net& net) {
  out.Text("net", TextClass::kLabel);
  out.Text(" ");
  out.Text(net.Str(net.name).empty() ? "(no name)" : net.Str(net.name), TextClass::kHeading);
  out.Text("  ");
  out.NetBody(net, 0, 0);
}

template <typename Print>
std::string Joined(Print print) {
  std::string text;
  print([&text](const Piece& piece) { text.append(piece.text); });
  return text;
}

}  // namespace

void PrintNet(const Net& net, const PrintOptions& options, const EmitPiece& emit) {
  Printer out(options, emit);
  NetWithHeading(out, net);
}

void PrintPlan(const Plan& plan, const PrintOptions& options, const EmitPiece& emit) {
  Printer out(options, emit);
  out.Text("plan", TextClass::kLabel);
  out.Text(" ");
  out.Text(plan.Str(plan.name).empty() ? "(no name)" : plan.Str(plan.name), TextClass::kHeading);
  out.Text(StrCat("  ", Plural(plan.networks.size(), "net"), ", ", Plural(plan.steps.size(), "step"), "\n"),
           TextClass::kMuted);
  for (const Step& step : plan.steps) PrintStep(out, plan, step, 2, 0);
  if (!options.nets) return;
  for (const Net& net : plan.networks) {
    out.Text("\n");
    NetWithHeading(out, net);
  }
}

void PrintOp(const Net& net, const Ssa& ssa, OpId op, const PrintOptions& options, const EmitPiece& emit) {
  PrintOptions inner = options;
  inner.nested = false;
  Printer(inner, emit).OpLine(net, ssa, op, 0, 4, false);
}

std::string NetListing(const Net& net, const PrintOptions& options) {
  return Joined([&](const EmitPiece& emit) { PrintNet(net, options, emit); });
}
std::string PlanListing(const Plan& plan, const PrintOptions& options) {
  return Joined([&](const EmitPiece& emit) { PrintPlan(plan, options, emit); });
}
std::string OpListing(const Net& net, const Ssa& ssa, OpId op, const PrintOptions& options) {
  return Joined([&](const EmitPiece& emit) { PrintOp(net, ssa, op, options, emit); });
}

std::string OpSignature(const Net& net, const Ssa& ssa, OpId op) {
  const Op& o = net.ops[static_cast<size_t>(op)];
  std::string out(o.type ? net.Str(o.type) : "(no type)");
  const auto blobs = [&](std::span<const ValueId> values) {
    for (size_t i = 0; i < values.size(); ++i)
      StrAppend(out, i > 0 ? ", " : "", ValueName(net, ssa, values[i]));
  };
  out += '(';
  blobs(ssa.inputs(op));
  out += ')';
  if (!o.outputs.empty()) out += " -> ";
  blobs(ssa.outputs(op));
  return out;
}

}  // namespace weft
