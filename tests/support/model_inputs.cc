// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/model_inputs.h"

#include "core/base/check.h"
#include "core/base/str.h"

namespace weft::test {

namespace {

std::vector<std::string> Gpus(int count, const std::vector<std::string>& inputs) {
  std::vector<std::string> all;
  for (int gpu = 0; gpu < count; ++gpu)
    for (const std::string& input : inputs) all.push_back(StrCat("gpu_", gpu, "/", input));
  return all;
}

}  // namespace

std::vector<ModelInputs> AllModelInputs() {
  const std::vector<std::string> image = {"data=N,3,224,224", "label=N:int32"};
  const std::vector<std::string> larger = {"data=N,3,231,231", "label=N:int32"};
  std::vector<std::string> dlrm = {"dense=N,13", "label=N,1"};
  for (int i = 0; i < 26; ++i) {
    dlrm.push_back(StrCat("ids_", i, "=M", i, ":int64"));
    dlrm.push_back(StrCat("lens_", i, "=N:int32"));
  }
  std::vector<std::string> shards = Gpus(2, image);
  shards.push_back("store_handler=object");
  return {
      {"alexnet_train", image},
      {"vgga_train", larger},
      {"overfeat_train", larger},
      {"inception_train", image},
      {"resnet50_train", image},
      {"resnet50_train_2gpu", Gpus(2, image)},
      {"resnet50_train_8gpu", Gpus(8, image)},
      {"resnet50_train_2gpu_4shards_gloo", shards},
      {"char_rnn_2",
       {"seq=T,N,32", "h0=1,N,64", "c0=1,N,64", "len=N:int32", "h1=1,N,64", "c1=1,N,64", "target=P:int32"}},
      {"dlrm_26", dlrm}};
}

std::string WithNumbers(std::string_view input) {
  const size_t extents = input.find('=') + 1;
  const size_t end = std::min(input.find(':', extents), input.size());
  std::string out(input.substr(0, extents));
  for (const std::string_view extent : StrSplit(input.substr(extents, end - extents), ',')) {
    if (out.size() > extents) out += ',';
    StrAppend(out, extent == "N"             ? "32"
                   : extent == "T"           ? "25"
                   : extent == "P"           ? "800"
                   : extent.starts_with("M") ? "128"
                                             : extent);
  }
  return out.append(input.substr(end));
}

std::vector<GivenBlob> GivenOfModel(const Net& net, const Net& init, const std::vector<std::string>& inputs,
                                    ShapeTable& table) {
  std::vector<GivenBlob> given;
  for (const std::string& input : inputs) {
    const Result<GivenBlob> blob = ParseGivenBlob(input, *net.symbols, table);
    WEFT_CHECK(blob.has_value());
    given.push_back(*blob);
  }
  const std::vector<GivenBlob> filled = FinalShapes(InferShapes(init, given, table));
  given.insert(given.end(), filled.begin(), filled.end());
  return given;
}

}  // namespace weft::test
