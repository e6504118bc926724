// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft example: nets that Weft builds itself, to try things on.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/examples/examples.h"
#include "native/cli/command.h"
#include "native/cli/load.h"

namespace weft::cli {

namespace {

struct Words {
  std::string name, output, init, forward;
};

int Run(Main& main, const Words& words) {
  if (words.name.empty()) {
    Stream out(STDOUT_FILENO, main.color);
    for (const Example& example : Examples()) out.Write(StrCat(example.name, "  ", example.what, "\n"));
    return kOk;
  }
  const Result<ExampleModel> model = MakeExample(words.name, StandardOps());
  if (!model) return main.Fail(model.error());
  FileSet files;
  Result<void> saved = SaveNet(files, words.init, model->init);
  if (saved) saved = SaveNet(files, words.forward, model->forward);
  if (saved) saved = SaveNet(files, words.output, model->train);
  if (saved) saved = files.Commit();
  if (!saved) return main.Fail(saved.error());
  return words.output.empty() || main.json ? EmitNet(main, model->train, "") : kOk;
}

}  // namespace

void AddExample(CLI::App& app, Main& main) {
  auto words = std::make_shared<Words>();
  CLI::App* command = AddSubcommand(app, main, "example", "a small training net to try things on",
                                    [&main, words] { return Run(main, *words); });
  command->add_option("NAME", words->name, "which one; without it they are listed")->type_name("");
  AddOutput(*command, words->output);
  command->add_option("--init", words->init, "where to write the net that fills its parameters")
      ->type_name("OUT");
  command->add_option("--forward", words->forward, "where to write the net up to its loss")->type_name("OUT");
  AddJson(*command, main, R"({"net":"<NetDef text>"})");
  OnlyBeside(*command, main, {"NAME"}, {"--output", "--init", "--forward", "--json"});
}

}  // namespace weft::cli
