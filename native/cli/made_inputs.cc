// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "native/cli/made_inputs.h"

#include <unistd.h>

#include <algorithm>

#include "core/pass/shapes.h"
#include "native/cli/load.h"

namespace weft::cli {

namespace {

struct Said {
  std::string blob;
  Dims dims;
  std::optional<DataType> type;
};

Result<Said> ParseShape(const std::string& text) {
  SymbolTable symbols;
  ShapeTable table;
  Result<GivenBlob> given = ParseGivenBlob(text, symbols, table);
  if (!given) return Error{given.error().code, StrCat("--shape ", text, ": ", given.error().message)};
  Said said{std::string(symbols.Str(given->blob)), {}, {}};
  const TensorInfo& info = given->info;
  if (!info.tensor() || !std::all_of(info.dims.begin(), info.dims.end(), [](Dim d) { return d.known(); }))
    return Error{ErrorCode::kInvalidArgument,
                 StrCat("--shape ", text, ": expected numbers, as in --shape data=8,1,28,28:float")};
  for (const Dim dim : info.dims) said.dims.push_back(dim.code);
  if (text.find(':', text.rfind('=')) != std::string::npos) said.type = info.type;
  return said;
}

}  // namespace

Result<std::vector<RunInput>> FindInputs(Program& program, const Setup& setup, const Feeds& feeds,
                                         const KnownBlobs& known_blobs) {
  const Net* net = program.net();
  std::optional<InputFinder> finder;
  std::vector<RunInput> inputs;
  if (net) inputs = finder.emplace(*net, known_blobs, feeds).Inputs();
  const auto place_of = [&](const char* option, const std::string& blob) -> Result<RunInput*> {
    std::vector<std::string_view> known;
    for (RunInput& input : inputs) {
      if (input.blob == blob && input.from == RunInput::kFeed)
        return Error{ErrorCode::kInvalidArgument, StrCat(option, ": ", blob, " is fed already"), -1, blob};
      if (input.blob == blob) return &input;
      known.push_back(input.blob);
    }
    if (!net) {  // a plan's steps decide what comes from outside
      inputs.emplace_back().blob = blob;
      return &inputs.back();
    }
    Error error = NoSuchBlob(option, blob, known);
    if (program.Mentions(blob)) error.message = StrCat(option, ": ", blob, " is no input of the net");
    return error;
  };
  std::string general;
  for (const std::string& word : setup.fills) {
    const size_t equals = word.rfind('=');
    const std::string how = equals == std::string::npos ? word : word.substr(equals + 1);
    if (const Result<void> valid = CheckFill(how); !valid)
      return Error{valid.error().code, StrCat("--fill ", valid.error().message)};
    if (equals == std::string::npos) {
      general = how;
      continue;
    }
    WEFT_TRY(RunInput * input, place_of("--fill", word.substr(0, equals)));
    input->from = RunInput::kMade;
    input->fill = how;
  }
  for (const std::string& text : setup.shapes) {
    WEFT_TRY(const Said said, ParseShape(text));
    WEFT_TRY(RunInput * input, place_of("--shape", said.blob));
    input->from = RunInput::kMade;
    input->dims = said.dims;
    if (said.type) input->type = *said.type;
  }
  for (RunInput& input : inputs) {
    if (input.from == RunInput::kNothing && !general.empty()) input.from = RunInput::kMade;
    if (!input.fill.empty()) continue;
    const bool random = general == "uniform" || general == "normal";
    input.fill = general.empty() || (random && !IsFloating(input.type)) ? "zeros" : general;
  }
  if (finder) finder->FindShapes(inputs);
  const auto unknown = [](const RunInput& input) { return input.from == RunInput::kMade && !input.dims; };
  if (finder && !setup.shapes.empty() && std::any_of(inputs.begin(), inputs.end(), unknown))
    if (const std::string why = finder->WhyNot(inputs); !why.empty())
      return Error{ErrorCode::kInvalidArgument, StrCat("--shape: ", why)};
  return inputs;
}

Result<void> MakeInputs(const std::vector<RunInput>& inputs, uint64_t seed, Feeds& feeds,
                        Workspace& workspace) {
  for (const RunInput& input : inputs) {
    if (input.from != RunInput::kMade) continue;
    if (!input.dims)
      return Error{ErrorCode::kInvalidArgument,
                   StrCat("--fill: the shape of ", input.blob, " is not known; say it (--shape ", input.blob,
                          "=8,1,28,28)"),
                   -1, input.blob};
    Result<Tensor> tensor = MakeInput(input, seed);
    if (!tensor)
      return Error{
          tensor.error().code,
          StrCat(tensor.error().code == ErrorCode::kLimit ? "--shape " : "--fill ", tensor.error().message),
          -1, input.blob};
    workspace.Feed(input.blob, tensor->Clone());
    feeds.emplace_back(input.blob, *std::move(tensor));
  }
  return {};
}

int ShowInputs(Main& main, const std::vector<RunInput>& inputs) {
  constexpr std::string_view kFrom[] = {"init", "feed", "made", "nothing"};
  if (main.json) {
    std::string out;
    JsonWriter json(out);
    json.BeginObject().Key("inputs").BeginArray();
    for (const RunInput& input : inputs) {
      json.BeginObject().Key("blob").String(input.blob).Key("from").String(kFrom[input.from]);
      json.Key("type").String(DataTypeName(input.type)).Key("shape");
      if (input.dims) {
        json.BeginArray();
        for (const int64_t d : *input.dims) json.Int(d);
        json.EndArray();
      } else {
        json.Null();
      }
      json.Key("found").Bool(input.found).Key("fill").String(input.fill);
      json.Key("op").Int(input.reader).Key("op_type").String(input.reader_type).EndObject();
    }
    json.EndArray().EndObject();
    return PrintJson(main, out);
  }
  Stream out(STDOUT_FILENO, main.color);
  for (const RunInput& input : inputs) {
    out.Write(input.blob, TextClass::kInput);
    out.Write(StrCat("  ", DataTypeName(input.type), " ",
                     input.dims ? DimsToString(*input.dims) : "of a shape that is not known",
                     input.found ? " (fits)" : "", "  "));
    out.Write(input.from == RunInput::kInit   ? "filled by the init net"
              : input.from == RunInput::kFeed ? "fed"
              : input.from == RunInput::kMade ? input.fill
                                              : StrCat("nothing gives it: --feed ", input.blob,
                                                       "=X.npy or --fill ", input.blob, "=", input.fill),
              input.from == RunInput::kNothing ? TextClass::kWarning : TextClass::kMuted);
    out.Write(input.reader_type.empty()
                  ? "\n"
                  : StrCat("  read by op ", input.reader, " ", input.reader_type, "\n"));
  }
  out.Flush();
  return out.failed() ? kInputAtFault : kOk;
}

}  // namespace weft::cli
