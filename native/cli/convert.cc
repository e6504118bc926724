// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft convert: binary <-> text.
#include <unistd.h>

#include <memory>

#include "core/base/str.h"
#include "core/check/report.h"
#include "native/cli/command.h"
#include "native/cli/load.h"
#include "native/io/file.h"

namespace weft::cli {

namespace {

struct Options {
  std::string in, out;
  std::string to;
};

int Run(Main& main, const Options& options) {
  const Result<Document> document = Load(options.in);
  if (!document) return main.Fail(document.error(), options.in);
  const bool text = options.to.empty() ? IsTextName(options.out) : options.to == "text";
  const Result<std::string> bytes = Save(*document, text ? Document::kText : Document::kBinary);
  if (!bytes) return main.Fail(bytes.error(), options.in);
  const Result<void> written = WriteFile(options.out, *bytes);
  if (!written) return main.Fail(written.error());
  if (main.json && options.out != "-") {
    std::string json;
    JsonWriter writer(json);
    writer.BeginObject().Key("kind").String(DescribeKind(*document)).Key("out").String(options.out);
    writer.Key("bytes").Int(bytes->size()).Key("notes").BeginArray();
    for (const Diagnostic& note : NotesAsFindings(*document)) writer.String(note.message);
    writer.EndArray().EndObject();
    return PrintJson(main, json);
  }
  // What was read leniently is now written as Caffe2 writes it; the user should know where the two differ.
  Stream err(STDERR_FILENO, main.color);
  const std::vector<Diagnostic> notes = NotesAsFindings(*document);
  PrintFindings(notes, {.width = err.width()}, err.Emitter());
  return kOk;
}

}  // namespace

void AddConvert(CLI::App& app, Main& main) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddSubcommand(app, main, "convert", "binary to text and back, for any of Caffe2's messages",
                    [&main, options] { return Run(main, *options); });
  command->add_option("IN", options->in, "a file in either format; - is standard input")
      ->required()
      ->type_name("");
  command
      ->add_option(
          "OUT", options->out,
          "text when its name ends in .pbtxt, .prototxt or .txt, binary otherwise; - is standard output, "
          "as text")
      ->required()
      ->type_name("");
  command->add_option("--to", options->to, "text or binary, whatever OUT is called")
      ->check(CLI::IsMember({"text", "binary"}))
      ->type_name("FORM");
  AddJson(*command, main, R"({"kind","out","bytes","notes":[...]})");
}

}  // namespace weft::cli
