// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// weft clone, weft extract: copies of a net under other names, whole or in part.
#include "core/ssa/clone.h"

#include <charconv>
#include <memory>

#include "core/base/str.h"
#include "native/cli/command.h"
#include "native/cli/load.h"

namespace weft::cli {

namespace {

Error Usage(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message)}; }

// "a=b" or "a", which stays a.
BlobRename ParseRename(Net& net, std::string_view text) {
  const size_t equals = text.find('=');
  const Symbol from = net.Intern(text.substr(0, equals));
  return {from, equals == std::string_view::npos ? from : net.Intern(text.substr(equals + 1))};
}

Result<std::vector<OpId>> ParseOps(const std::vector<std::string>& words) {
  std::vector<OpId> ops;
  for (const std::string& word : words) {
    for (std::string_view piece : StrSplit(word, ',')) {
      OpId op = kNoOp;
      const auto [end, error] = std::from_chars(piece.data(), piece.data() + piece.size(), op);
      if (error != std::errc() || end != piece.data() + piece.size())
        return Usage(StrCat("--ops: expected operator numbers, found ", QuoteBytes(piece)));
      ops.push_back(op);
    }
  }
  return ops;
}

struct CloneWords {
  std::string file, name, prefix, output;
  std::vector<std::string> rename, ops;
};

Result<Net> MakeClone(const CloneWords& words, Net net) {
  CloneOptions options{.name = words.name};
  for (const std::string& word : words.rename) {
    if (word.find('=') == std::string::npos)
      return Usage(StrCat("--rename: expected OLD=NEW, found ", QuoteBytes(word)));
    options.rename.push_back(ParseRename(net, word));
  }
  if (!words.ops.empty()) {
    WEFT_TRY(options.ops, ParseOps(words.ops));
  }
  if (!words.prefix.empty()) {
    WEFT_TRY(BoundClone bound,
             CloneAndBind(net, {.name = words.name, .prefix = words.prefix, .rename = options.rename}));
    if (!options.ops) return std::move(bound.net);
    options.rename = std::move(bound.rename);
  }
  return Clone(net, options);
}

int RunClone(Main& main, const CloneWords& words) {
  Result<Net> net = LoadNet(words.file);
  if (!net) return main.Fail(net.error(), words.file);
  const Result<Net> clone = MakeClone(words, std::move(net).value());
  return clone ? EmitNet(main, *clone, words.output) : main.Fail(clone.error(), words.file);
}

struct ExtractWords {
  std::string file, name, output;
  std::vector<std::string> inputs, outputs;
};

int RunExtract(Main& main, const ExtractWords& words) {
  Result<Net> net = LoadNet(words.file);
  if (!net) return main.Fail(net.error(), words.file);
  ClonePartialOptions options{.name = words.name};
  for (const std::string& word : words.inputs)
    for (std::string_view piece : StrSplit(word, ',')) options.inputs.push_back(ParseRename(*net, piece));
  for (const std::string& word : words.outputs)
    for (std::string_view piece : StrSplit(word, ',')) options.outputs.push_back(net->Intern(piece));
  const Result<PartialClone> part = ClonePartial(*net, options);
  return part ? EmitNet(main, part->net, words.output) : main.Fail(part.error(), words.file);
}

}  // namespace

void AddClone(CLI::App& app, Main& main) {
  auto words = std::make_shared<CloneWords>();
  CLI::App* command = AddSubcommand(app, main, "clone", "a copy of a net, its blobs renamed",
                                    [&main, words] { return RunClone(main, *words); });
  AddFile(*command, words->file);
  command->add_option("--name", words->name, "the clone's name")->required()->type_name("NAME");
  command
      ->add_option("--prefix", words->prefix,
                   "put before the names of all blobs that the net makes; those from outside keep theirs")
      ->type_name("PREFIX");
  AddRepeated(*command, "--rename", words->rename, "one blob's new name")->type_name("OLD=NEW");
  AddRepeated(*command, "--ops", words->ops, "only these operators, by number")->type_name("I,J,...");
  AddOutput(*command, words->output);
  AddJson(*command, main, R"({"net":"<NetDef text>"})");
}

void AddExtract(CLI::App& app, Main& main) {
  auto words = std::make_shared<ExtractWords>();
  CLI::App* command =
      AddSubcommand(app, main, "extract", "the part of a net that computes some blobs from others",
                    [&main, words] { return RunExtract(main, *words); });
  AddFile(*command, words->file);
  command->add_option("--name", words->name, "the part's name; blobs made inside are called NAME/blob")
      ->required()
      ->type_name("NAME");
  AddRepeated(*command, "--inputs", words->inputs, "blobs that will be given, and what to call them")
      ->type_name("A[=B],...");
  AddRepeated(*command, "--outputs", words->outputs, "blobs wanted")->required()->type_name("Y,...");
  AddOutput(*command, words->output);
  AddJson(*command, main, R"({"net":"<NetDef text>"})");
}

}  // namespace weft::cli
