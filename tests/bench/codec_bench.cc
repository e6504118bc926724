// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing nets: the codec beside the classes that protoc generates for the same messages.
#include <cstdio>
#include <cstdlib>

#include "core/base/str.h"
#include "proto/caffe2.pb.h"
#include "proto/codec.h"
#include "proto/validate.h"
#include "tests/bench/bench.h"
#include "tests/support/generate_nets.h"

int main(int argc, char** argv) {
  using namespace weft;
  using namespace weft::testing;
  for (const size_t size : bench::Sizes(argc, argv)) {
    for (const Pass pass : {Pass::kForward, Pass::kTraining}) {
      const Bytes file(SerializeNet(ResidualNet(size, pass)));
      const std::string_view name = pass == Pass::kForward ? "forward" : "training";
      std::printf("%.*s: %s\n", static_cast<int>(name.size()), name.data(), FormatBytes(file.size()).c_str());
      bench::Measure("check", size, [&] {
        if (!Validate(MessageId::kNetDef, file.view())) std::abort();
      });
      bench::Measure("parse", size, [&] {
        if (!ParseNet(file)) std::abort();
      });
      const Net net = *ParseNet(file);
      bench::Measure("serialise", size, [&] {
        if (SerializeNet(net).size() != file.size()) std::abort();
      });
      std::string text;
      bench::Measure("print text", size, [&] { text = NetToText(net); });
      bench::Measure("parse text", size, [&] {
        if (!ParseNetText(text)) std::abort();
      });
      caffe2::NetDef message;
      bench::Measure("protobuf-lite parse", size, [&] {
        caffe2::NetDef fresh;
        if (!fresh.ParseFromArray(file.view().data(), static_cast<int>(file.size()))) std::abort();
        message.Swap(&fresh);
      });
      bench::Measure("protobuf-lite serialise", size, [&] {
        if (message.SerializeAsString().size() != file.size()) std::abort();
      });
    }
  }
}
