// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft diff: two nets compared by what they compute.
#include "core/ssa/diff.h"

#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/check/diagnostic.h"
#include "core/ssa/print.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/io/file.h"

namespace weft::cli {

namespace {

struct Words {
  std::string a, b;
};

class Teller {
 public:
  Teller(const Net& a, const Net& b, const NetDiff& diff) : a_(a), b_(b), diff_(diff), ssa_a_(a), ssa_b_(b) {}

  void Show(Stream& out) const {
    for (const ChangedOp& change : diff_.changed) {
      Op(out, "~", TextClass::kChanged, a_, ssa_a_, change.a, change.b);
      for (const std::string& what : Changes(change)) out.Write(StrCat("       ", what, "\n"));
    }
    for (OpId op : diff_.only_a) Op(out, "-", TextClass::kRemoved, a_, ssa_a_, op);
    for (OpId op : diff_.only_b) Op(out, "+", TextClass::kAdded, b_, ssa_b_, op);
    Names(out, "-", TextClass::kRemoved, "external_input", diff_.inputs_only_a);
    Names(out, "+", TextClass::kAdded, "external_input", diff_.inputs_only_b);
    Names(out, "-", TextClass::kRemoved, "external_output", diff_.outputs_only_a);
    Names(out, "+", TextClass::kAdded, "external_output", diff_.outputs_only_b);
    std::vector<std::string> renamed;
    for (const RenamedBlob& blob : diff_.renamed)
      renamed.push_back(StrCat(a_.Str(blob.a), " -> ", a_.Str(blob.b)));
    if (!renamed.empty())
      out.Write(StrCat("renamed (", renamed.size(), "): ", ListNames(renamed), "\n"), TextClass::kMuted);
    const size_t matched = static_cast<size_t>(
        std::count_if(diff_.match_a.begin(), diff_.match_a.end(), [](OpId op) { return op != kNoOp; }));
    if (diff_.same()) {
      out.Write(StrCat("the same: ", Operators(matched), " in both\n"));
    } else {
      out.Write(StrCat(Operators(matched - diff_.changed.size()), " the same, ", diff_.changed.size(),
                       " changed, ", diff_.only_a.size(), " only in the first, ", diff_.only_b.size(),
                       " only in the second\n"));
    }
  }

  std::string Json() const {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("same").Bool(diff_.same()).Key("changed").BeginArray();
    for (const ChangedOp& change : diff_.changed) {
      json.BeginObject().Key("a").Int(change.a).Key("b").Int(change.b).Key("what").BeginArray();
      for (const std::string& what : Changes(change)) json.String(what);
      json.EndArray().EndObject();
    }
    json.EndArray();
    const auto ops = [&](std::string_view key, const std::vector<OpId>& list) {
      json.Key(key).BeginArray();
      for (OpId op : list) json.Int(op);
      json.EndArray();
    };
    const auto names = [&](std::string_view key, const std::vector<Symbol>& list) {
      json.Key(key).BeginArray();
      for (Symbol name : list) json.String(a_.Str(name));
      json.EndArray();
    };
    ops("only_a", diff_.only_a);
    ops("only_b", diff_.only_b);
    names("inputs_only_a", diff_.inputs_only_a);
    names("inputs_only_b", diff_.inputs_only_b);
    names("outputs_only_a", diff_.outputs_only_a);
    names("outputs_only_b", diff_.outputs_only_b);
    json.Key("renamed").BeginArray();
    for (const RenamedBlob& blob : diff_.renamed)
      json.BeginArray().String(a_.Str(blob.a)).String(a_.Str(blob.b)).EndArray();
    json.EndArray();
    ops("match", diff_.match_a);
    json.EndObject();
    return out;
  }

 private:
  static std::string Operators(size_t count) {
    return StrCat(count, count == 1 ? " operator" : " operators");
  }

  static void Op(Stream& out, std::string_view mark, TextClass text_class, const Net& net, const Ssa& ssa,
                 OpId op, OpId other = kNoOp) {
    const std::string there = other == kNoOp || other == op ? "" : StrCat(" (", other, ")");
    out.Write(StrCat(mark, " ", op, there, "  ", OpListing(net, ssa, op, {}), "\n"), text_class);
  }

  void Names(Stream& out, std::string_view mark, TextClass text_class, std::string_view what,
             const std::vector<Symbol>& names) const {
    for (Symbol name : names) out.Write(StrCat(mark, " ", what, " ", a_.Str(name), "\n"), text_class);
  }

  // What differs between the two, a line each: "kernel 3 -> 5".
  std::vector<std::string> Changes(const ChangedOp& change) const {
    const weft::Op& a = a_.ops[static_cast<size_t>(change.a)];
    const weft::Op& b = b_.ops[static_cast<size_t>(change.b)];
    std::vector<std::string> out;
    const auto value = [&](const Net& net, const ArgList& args, std::string_view name) {
      const Arg* arg = FindArg(*net.symbols, args, name);
      return arg ? ArgListing(*net.symbols, *arg, false) : std::string("(none)");
    };
    for (const ArgChange& arg : change.args) {
      const std::string_view name = a_.Str(arg.name);
      out.push_back(StrCat(name, " ", value(a_, a.args, name), " -> ", value(b_, b.args, name)));
    }
    for (uint32_t place : change.inputs) {
      const auto input = [&](const Net& net, const Ssa& ssa, OpId op) {
        const auto values = ssa.inputs(op);
        return place < values.size() ? ValueName(net, ssa, values[place]) : std::string("(none)");
      };
      out.push_back(
          StrCat("input ", place, " ", input(a_, ssa_a_, change.a), " -> ", input(b_, ssa_b_, change.b)));
    }
    if (change.outputs) out.push_back(StrCat("outputs ", a.outputs.size(), " -> ", b.outputs.size()));
    const auto device = [](const Net& net, const weft::Op& op) {
      const std::string text = DeviceToString(op.device ? op.device : net.device);
      return text.empty() ? std::string("(none)") : text;
    };
    if (change.device) out.push_back(StrCat("device ", device(a_, a), " -> ", device(b_, b)));
    const auto word = [](std::string_view text) {
      return text.empty() ? std::string("(none)") : std::string(text);
    };
    if (change.engine)
      out.push_back(StrCat("engine ", word(a_.Str(a.engine)), " -> ", word(b_.Str(b.engine))));
    if (change.control_inputs) out.push_back("control inputs");
    return out;
  }

  const Net &a_, &b_;
  const NetDiff& diff_;
  const Ssa ssa_a_, ssa_b_;
};

int Run(Main& main, const Words& words) {
  const Result<Net> a = LoadNet(words.a);
  if (!a) return main.Fail(a.error(), words.a);
  const Result<Net> b = LoadNet(words.b);
  if (!b) return main.Fail(b.error(), words.b);
  const NetDiff diff = DiffNets(*a, *b);
  const int exit = diff.same() ? kOk : kInputAtFault;
  const Teller teller(*a, *b, diff);
  if (main.json) {
    PrintJson(main, teller.Json());
    return exit;
  }
  Stream out(STDOUT_FILENO, main.color);
  teller.Show(out);
  out.Flush();
  return out.failed() ? kInputAtFault : exit;
}

}  // namespace

void AddDiff(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "diff", "two nets compared by what they compute",
                                    [&main, words] { return Run(main, *words); });
  command->add_option("A", words->a, "a net")->required()->type_name("");
  command->add_option("B", words->b, "another")->required()->type_name("");
  AddJson(
      *command, main,
      R"({"same","changed":[{a,b,what}],"only_a","only_b",...,"renamed":[[a,b]...],"match":[B's op or -1...]})");
  command->footer(
      "Renamed blobs and reordered independent operators are no difference; the exit code is 1 where there "
      "is one.");
}

}  // namespace weft::cli
