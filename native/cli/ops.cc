// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft ops: the operator table.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/check/diagnostic.h"
#include "core/ops/describe.h"
#include "native/cli/command.h"

namespace weft::cli {

namespace {

struct Words {
  std::string name;
  bool names = false, markdown = false;
};

// One line each: name, inputs -> outputs, what its gradient is, the first words of its text.
void List(Stream& out, const std::vector<const OpDef*>& ops) {
  size_t name_width = 0;
  for (const OpDef* def : ops) name_width = std::max(name_width, def->name.size());
  name_width = std::min<size_t>(name_width, 40);
  const size_t columns = out.width() > 0 ? static_cast<size_t>(out.width()) : 120;
  const auto short_arity = [](Arity arity) {
    return arity.max == kAny        ? StrCat(arity.min, "+")
           : arity.min == arity.max ? std::to_string(arity.min)
                                    : StrCat(arity.min, "-", arity.max);
  };
  const auto padded = [](std::string text, size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    return text;
  };
  for (const OpDef* def : ops) {
    out.Write(padded(std::string(def->name), name_width), TextClass::kType);
    out.Write(padded(StrCat("  ", short_arity(def->in), " -> ", short_arity(def->out)), 14));
    out.Write(padded(std::string(GradientPolicyName(def->policy)), 17), TextClass::kMuted);
    std::string_view doc = def->doc.substr(0, def->doc.find(". "));
    const size_t room = columns > name_width + 33 ? columns - name_width - 33 : 20;
    out.Write(doc.size() <= room ? std::string(doc) : StrCat(doc.substr(0, room - 3), "..."));
    out.Write("\n");
  }
}

int Json(Main& main, const std::vector<const OpDef*>& ops) {
  std::string json;
  JsonWriter writer(json);
  writer.BeginObject().Key("ops").BeginArray();
  for (const OpDef* def : ops) WriteOp(writer, *def);
  writer.EndArray().EndObject();
  return PrintJson(main, json);
}

int Run(Main& main, const Words& words) {
  const OpSet& ops = StandardOps();
  std::vector<const OpDef*> found;
  const OpDef* exact = words.name.empty() ? nullptr : ops.Find(words.name);
  if (exact) {
    found = {exact};
  } else {
    found = SearchOps(ops, words.name);
  }
  if (found.empty()) {
    std::vector<std::string> near;
    for (std::string_view name : ops.Nearest(words.name)) near.emplace_back(name);
    return main.Fail({ErrorCode::kUnknownOperator,
                      StrCat("there is no operator called ", words.name,
                             near.empty() ? "" : StrCat("; did you mean ", ListNames(near), "?"))});
  }
  if (main.json) return Json(main, found);
  Stream out(STDOUT_FILENO, main.color);
  if (words.names) {
    for (const OpDef* def : found) out.Write(StrCat(def->name, "\n"));
  } else if (words.markdown) {
    for (const OpDef* def : found) out.Write(StrCat(OpMarkdown(*def), def == found.back() ? "" : "\n"));
  } else if (exact) {
    out.Write(OpPage(*exact, out.width() > 0 ? out.width() : 100));
  } else {
    List(out, found);
    out.Write(StrCat(found.size(), found.size() == 1 ? " operator\n" : " operators\n"), TextClass::kMuted);
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace

void AddOps(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "ops", "the operators that Weft knows, or one operator's page",
                                    [&main, words] { return Run(main, *words); });
  command->add_option("NAME", words->name, "an operator, or a word to look for")->type_name("");
  command->add_flag("--names", words->names, "names alone, one a line");
  command->add_flag("--md,--markdown", words->markdown, "pages as Markdown");
  AddJson(*command, main,
          R"({"ops":[{name,doc,inputs,outputs,args,inplace,enforced,gradient,shape,cost,tier,flags}]})");
}

}  // namespace weft::cli
