// SPDX-FileCopyrightText: The Weft authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/base/str.h"
#include "core/check/check_plan.h"
#include "tests/support/compact_net.h"

namespace weft {
namespace {

using testing::CompactNet;

// "severity code [path] opN blob: message | remedy", a line each.
std::string Text(const std::vector<Diagnostic>& findings) {
  std::string out;
  for (const Diagnostic& d : findings) {
    StrAppend(out, SeverityName(d.severity), " ", FindingCodeName(d.code));
    if (!d.path.empty()) StrAppend(out, " [", d.path, "]");
    if (d.op >= 0) StrAppend(out, " op", d.op);
    if (!d.blob.empty()) StrAppend(out, " ", d.blob);
    StrAppend(out, ": ", d.message, d.remedy.empty() ? "" : " | ", d.remedy, "\n");
  }
  return out;
}
std::string Check(const Net& net) { return Text(CheckNet(net, {})); }

TEST(Check, SoundNetHasNoFindings) {
  EXPECT_EQ(Check(CompactNet("name n; in x w b; out y; FC(x, w, b) -> h; Relu(h) -> h; Softmax(h) -> y")),
            "");
}

TEST(Check, ReadBeforeWritten) {
  EXPECT_EQ(
      Check(CompactNet("name n; in w; out z; Relu(x) -> y; Relu(w) -> x; Mul(y, x) -> z")),
      "error read_before_write op0 x: op 0 Relu reads x@0 before anything has written it; op 1 Relu writes "
      "x@1 later | move op 1 ahead of op 0, or list x in external_input if it comes from outside\n");
  // Without declared inputs Caffe2 takes everything from the workspace.
  EXPECT_EQ(
      Check(CompactNet("name n; out x; Relu(x) -> x")),
      "warning read_before_write op0 x: op 0 Relu updates x in place, but nothing has written it before | "
      "list x in external_input if it comes from outside\n");
}

TEST(Check, EndsOfTheNet) {
  EXPECT_EQ(
      Check(CompactNet("in data dat w w; out y z; Conv(data, w) -> y; FC(y, b) -> q")),
      "warning no_name: the net has no name; Caffe2 refuses to create it | set name (weft clone FILE --name "
      "NAME)\n"
      "warning repeated_external w: external_input lists w 2 times | keep one\n"
      "error missing_output z: external_output z is written by no operator and is no external_input | remove "
      "it from external_output\n"
      "note unused_input dat: external_input dat is never read | remove it from external_input\n"
      "error undeclared_input op1 b: op 1 FC reads b, which no operator writes and external_input does not "
      "list | add it to external_input\n");
  EXPECT_EQ(
      Check(CompactNet("name n; FC(x, w, b) -> y")),
      "note no_external_outputs: the net declares no external_output: whoever runs it gets nothing back | "
      "declare what is written and never read: y\n"
      "note no_external_inputs: the net declares no external_input, and takes 3 blobs from its workspace: x, "
      "w, b | list them in external_input, so that a missing one is found before the run\n");
}

}  // namespace
}  // namespace weft
